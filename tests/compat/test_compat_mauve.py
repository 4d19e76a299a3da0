"""The drop-in for mauve-text: by hand, and against the package itself with its own cells."""

import inspect

import numpy as np
import pytest

from calipers.compat.faiss_cells import _split, faiss_cells
from calipers.compat.mauve import MauveResult, compute_mauve
from calipers.errors import InputError
from extras import need

SCORES = ("mauve", "mauve_star", "frontier_integral", "frontier_integral_star", "divergence_curve")


@pytest.fixture
def peer():
    return need("mauve")


def topics(rng, n, m, d, dtype="float64"):
    """Two sets over twenty topics, of which the second lacks eight."""
    middles = rng.standard_normal((20, d))
    p = middles[rng.choice(20, n)] + 0.6 * rng.standard_normal((n, d))
    q = middles[rng.choice(12, m)] + 0.6 * rng.standard_normal((m, d))
    return p.astype(dtype), q.astype(dtype)


def assert_equal_results(ours, theirs):
    assert set(vars(ours)) == set(vars(theirs))
    assert ours.num_buckets == theirs.num_buckets
    np.testing.assert_array_equal(ours.p_hist, theirs.p_hist)
    np.testing.assert_array_equal(ours.q_hist, theirs.q_hist)
    for name in SCORES:
        np.testing.assert_allclose(
            getattr(ours, name), getattr(theirs, name), rtol=0, atol=1e-12, err_msg=name
        )


def test_two_far_groups_by_hand():
    # Cells of (3, 1) and (1, 3) rows: FI of (¾, ¼) and (¼, ¾) is 2·2·(¼·1 − ½·3⁄16·ln 3/½)
    p = np.array([[1.0, 0], [1, 0.01], [1, 0.02], [0, 1]])
    q = np.array([[1.0, 0.03], [0, 1], [0.01, 1], [0.02, 1]])
    out = compute_mauve(p_features=p, q_features=q, num_buckets=2, seed=1)
    assert sorted(out.p_hist) == [0.25, 0.75]
    assert out.p_hist.tolist() == out.q_hist[::-1].tolist()
    assert out.frontier_integral == pytest.approx(4 * (0.25 - 0.5 * 3 / 16 * np.log(3) / 0.5))
    assert out.divergence_curve[0].tolist() == [1, 0]
    assert out.divergence_curve[-1].tolist() == [0, 1]
    assert out.divergence_curve.shape == (27, 2)


@pytest.mark.slow
def test_arguments_and_their_defaults_are_those_of_mauve_text(peer):
    def named(function):
        return {name: each.default for name, each in inspect.signature(function).parameters.items()}

    assert named(compute_mauve) == named(peer.compute_mauve)
    assert list(named(compute_mauve)) == list(named(peer.compute_mauve))


@pytest.mark.slow
@pytest.mark.parametrize(
    "options",
    [
        {},
        {"seed": 3},
        {"pca_max_data": 300},
        {"num_buckets": 12, "kmeans_num_redo": 2, "kmeans_max_iter": 3},
        {"kmeans_num_redo": 1, "kmeans_explained_var": 0.6, "mauve_scaling_factor": 2},
        {"divergence_curve_discretization_size": 7},
        {"num_buckets": 2, "seed": 0},  # more than 256 rows for each cell: faiss draws some
    ],
    ids=str,
)
@pytest.mark.parametrize("dtype", ["float64", "float32"])
def test_features_score_as_in_mauve_text(peer, rng, options, dtype):
    p, q = topics(rng, 400, 350, 32, dtype)
    assert_equal_results(
        compute_mauve(p_features=p, q_features=q, **options),
        peer.compute_mauve(p_features=p, q_features=q, **options),
    )


@pytest.mark.slow
def test_scores_are_equal_over_many_seeds(peer):
    for seed in range(30):
        p, q = topics(np.random.default_rng(seed), 600, 500, 64, "float32")
        assert_equal_results(compute_mauve(p, q, seed=seed), peer.compute_mauve(p, q, seed=seed))


@pytest.mark.slow
def test_copies_of_some_rows_score_as_in_mauve_text(peer, rng):
    p, q = topics(rng, 300, 300, 16)
    q[:6] = q[6]
    assert_equal_results(compute_mauve(p, q), peer.compute_mauve(p, q))


def test_equal_histograms_score_one(rng):
    # mauve-text gives 0.75 for a single cell, and 0.75 or 1 for equal sets
    rows = rng.standard_normal((200, 6))
    for out in (compute_mauve(rows, rows), compute_mauve(rows, rows + 1, num_buckets=1)):
        assert (out.mauve, out.mauve_star, out.frontier_integral) == (1, 1, 0)


def test_cells_are_those_of_faiss(rng):
    faiss = need("faiss")
    for n, d, cells, rounds in [
        (500, 9, 40, 500),
        (900, 4, 3, 500),
        (300, 5, 20, 2),
        (30, 3, 30, 5),
    ]:
        rows = rng.standard_normal((n, d)).astype(np.float32) + 2
        theirs = faiss.Kmeans(d, cells, niter=rounds, nredo=3, update_index=True, seed=11)
        theirs.train(rows)
        labels = faiss_cells(rows, cells, restarts=3, max_iterations=rounds, seed=11)
        assert labels.tolist() == theirs.index.search(rows, 1)[1][:, 0].tolist()


def test_a_cell_without_rows_takes_half_of_another():
    # Only the second cell can be halved, whatever is drawn: (10 - 1) / (10 - 2) is above 1
    centres = _split(np.array([[1, 1], [4, 8]], np.float32), np.array([0, 10]))
    up, down = 1 + 1 / 1024, 1 - 1 / 1024
    assert centres.tolist() == [[4 * up, 8 * down], [4 * down, 8 * up]]
    assert centres.dtype == np.float32


def test_equal_rows_fill_one_cell_each_however_many_are_asked_for(rng):
    distinct = rng.standard_normal((4, 3)).astype(np.float32)
    rows = distinct[rng.integers(0, 4, 60)]
    labels = faiss_cells(rows, 9, max_iterations=20, seed=0)
    _, which = np.unique(rows, axis=0, return_inverse=True)
    assert len({*zip(labels.tolist(), which.ravel().tolist(), strict=True)}) == 4


# Tokens and texts ----------------------------------------------------------------------------

WORDS = ["</s>", "<unk>", "a", "bird", "sings", "in", "the", "morning", "and", "one", "two"]


@pytest.fixture(scope="module")
def model(tmp_path_factory):
    """A tiny GPT-2 with random weights; mauve-text asks for "gpt2" in its name."""
    torch, transformers = need("torch"), need("transformers")
    tokenizers = need("tokenizers")
    folder = tmp_path_factory.mktemp("gpt2-tiny")
    torch.manual_seed(0)
    config = transformers.GPT2Config(
        vocab_size=len(WORDS), n_embd=16, n_layer=2, n_head=2, n_positions=16,
        bos_token_id=0, eos_token_id=0, initializer_range=0.5,
    )  # fmt: skip
    transformers.GPT2Model(config).save_pretrained(folder)
    words = {word: place for place, word in enumerate(WORDS)}
    made = tokenizers.Tokenizer(tokenizers.models.WordLevel(words, unk_token="<unk>"))
    made.pre_tokenizer = tokenizers.pre_tokenizers.WhitespaceSplit()
    transformers.PreTrainedTokenizerFast(tokenizer_object=made, eos_token="</s>").save_pretrained(
        folder
    )
    return str(folder)


def sentences(rng, count, words):
    return [" ".join(rng.choice(WORDS[2:words], rng.integers(2, 9))) for _ in range(count)]


@pytest.mark.slow
def test_texts_and_tokens_score_as_in_mauve_text(peer, rng, model, monkeypatch):
    torch = need("torch")
    monkeypatch.setenv("DISABLE_TQDM", "1")
    p, q = sentences(rng, 60, 11), ["", *sentences(rng, 50, 8)]
    options = {"featurize_model_name": model, "num_buckets": 6, "batch_size": 4}
    for given in (
        {"p_text": p, "q_text": q},
        {"p_text": p, "q_text": q, "max_text_length": 3},
        {
            "p_tokens": [
                torch.tensor([[WORDS.index(word) for word in text.split()]]) for text in p
            ],
            "q_text": q,
        },
    ):
        ours, theirs = compute_mauve(**given, **options), peer.compute_mauve(**given, **options)
        np.testing.assert_array_equal(ours.p_hist, theirs.p_hist)
        assert ours.mauve == pytest.approx(theirs.mauve, abs=1e-12)


def test_features_go_before_tokens_and_these_before_texts(rng):
    p, q = topics(rng, 40, 40, 4)
    plain = compute_mauve(p, q, num_buckets=3)
    both = compute_mauve(p, q, p_text=["not read"], q_tokens=[[0]], num_buckets=3)
    assert both.mauve == plain.mauve


@pytest.mark.slow
def test_token_ids_beyond_the_model_are_refused(model):
    with pytest.raises(InputError, match=r"p_tokens: text 2 .*20 tokens"):
        compute_mauve(p_tokens=[[2, 3], [2] * 20], q_tokens=[[2], [3]], featurize_model_name=model)


@pytest.mark.slow
def test_a_model_that_is_not_on_disk_is_refused():
    need("transformers")
    with pytest.raises(InputError, match="gpt2-large"):
        compute_mauve(p_text=["a b"], q_text=["c d"])


def test_verbose_says_what_takes_how_long(rng, capsys):
    p, q = topics(rng, 30, 30, 4)
    compute_mauve(p, q, num_buckets=2)
    assert capsys.readouterr().out == ""
    compute_mauve(p, q, num_buckets=2, verbose=True)
    assert "k-means with 2 cells in" in capsys.readouterr().out


ROWS = np.eye(6)


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"q_features": ROWS}, "give one of p_features, p_tokens and p_text"),
        ({"p_features": ROWS}, "give one of q_features, q_tokens and q_text"),
        ({"num_buckets": "many"}, "num_buckets must be 'auto' or a whole number; found 'many'"),
        ({"num_buckets": 0}, "num_buckets must be a whole number of at least 1; found 0"),
        ({"num_buckets": 13}, "num_buckets must be at most the 12 samples; found 13"),
        ({"pca_max_data": 0}, "pca_max_data must be a whole number from 1, or negative for all"),
        ({"kmeans_explained_var": 1.0}, "kmeans_explained_var must lie between 0 and 1; found 1.0"),
        ({"kmeans_num_redo": 0}, "kmeans_num_redo must be a whole number of at least 1; found 0"),
        ({"kmeans_max_iter": 0}, "kmeans_max_iter must be a whole number of at least 1; found 0"),
        ({"divergence_curve_discretization_size": 0}, "divergence_curve_discretization_size must"),
        ({"mauve_scaling_factor": 0}, "mauve_scaling_factor must be above 0 and finite; found 0"),
        ({"verbose": "yes"}, "verbose must be True or False; found 'yes'"),
        ({"seed": -1}, "seed must be a whole number of at least 0; found -1"),
        ({"q_features": [[1.0], [np.inf]]}, "q_features must hold finite numbers"),
        ({"p_features": ROWS[:, :3]}, "the same number of columns; found 3 and 6"),
    ],
    ids=str,
)
def test_bad_input_is_refused(given, message):
    sides = {} if message.startswith("give one") else {"p_features": ROWS, "q_features": ROWS}
    with pytest.raises(InputError) as caught:
        compute_mauve(**{**sides, **given})
    assert message in str(caught.value)


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"p_text": ["", ""]}, "p_text must hold a text that is not empty; found none"),
        ({"p_tokens": []}, "p_tokens must hold at least one text; found none"),
        ({"p_text": ["a"], "use_float64": True}, "use_float64 must be False"),
        ({"p_text": ["a"], "batch_size": 0}, "batch_size must be a whole number of at least 1"),
        ({"p_text": ["a"], "max_text_length": 0}, "max_text_length must be a whole number"),
        ({"p_text": ["a"], "featurize_model_name": "pixels"}, "pixels"),
    ],
    ids=str,
)
def test_texts_that_cannot_be_read_are_refused(given, message):
    with pytest.raises(InputError) as caught:
        compute_mauve(q_features=ROWS, **given)
    assert message in str(caught.value)


def test_the_result_has_the_attributes_of_mauve_text():
    assert set(MauveResult.__dataclass_fields__) == {
        *("p_hist", "q_hist", "divergence_curve", "num_buckets", "mauve", "mauve_star"),
        *("frontier_integral", "frontier_integral_star"),
    }
