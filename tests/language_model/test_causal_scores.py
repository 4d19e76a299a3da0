"""Log-probabilities by causal models: those of plain code, whatever stands beside a text."""

import numpy as np
import pytest

from calipers.embedders.options import EmbedderOptions
from calipers.errors import CalipersError, InputError, MissingExtraError
from calipers.language_model.decoding import Decoding
from calipers.language_model.model import Passage
from extras import need

torch = need("torch")
transformers = need("transformers")

from calipers.language_model import causal, causal_scoring  # noqa: E402
from calipers.language_model.causal import load_causal  # noqa: E402

KINDS = ["gpt2", "llama", "opt", "gemma", "gemma2", "mistral", "dynamic", "bloom", "mamba"]
LONG = " ".join(["A bird sings in the morning, and then another one."] * 12)


def scores_of(model, texts, **how):
    found = model.score([Passage(text) for text in texts], **how)
    return [
        found.log_probability[a:b] for a, b in zip(found.starts, found.starts[1:], strict=False)
    ]


def ids_of(zoo, kind, text):
    return zoo.tokenizer(kind)(text, add_special_tokens=False)["input_ids"]


def by_windows(zoo, kind, ids, context, stride, first=1):
    """The windows of transformers' guide to perplexity, one at a time."""
    found, done = [], first
    for start in range(0, len(ids), stride):
        stop = min(start + context, len(ids))
        if done < stop:
            scores = zoo.plain_scores(zoo.plain(kind), ids[start:stop])
            found.append(scores[done - start - 1 :])
            done = stop
        if stop == len(ids):
            break
    return np.concatenate(found)


@pytest.mark.parametrize("kind", KINDS)
def test_they_are_those_of_plain_code_whatever_the_batch_and_the_order(kind, zoo):
    texts = [*zoo.TEXTS, "", "A", *(LONG[:n] for n in (20, 40, 41, 60))]
    expected = []
    for text in texts:
        ids = ids_of(zoo, kind, text)
        one = np.empty(0) if len(ids) < 2 else zoo.plain_scores(zoo.plain(kind), ids)
        expected.append(one)
    for how in ({}, {"batch_size": 1}, {"batch_size": 3}):
        model = zoo.load(kind, **how)
        order = np.random.default_rng(0).permutation(len(texts))
        found = scores_of(model, [texts[row] for row in order])
        for row, scores in zip(order, found, strict=True):
            assert scores.dtype == np.float64
            assert scores.shape == expected[row].shape
            assert np.abs(scores - expected[row]).max(initial=0) < 1e-5
            assert (scores <= 0).all()


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("stride", [None, 1, 7, 47])
def test_long_texts_are_read_through_windows(kind, stride, zoo):
    model = zoo.load(kind)
    ids = ids_of(zoo, kind, LONG)
    assert len(ids) > 2 * zoo.LIMIT
    context = model.context or len(ids)
    assert (model.context is None) == (kind in ("bloom", "mamba"))
    expected = by_windows(zoo, kind, ids, context, stride or context // 2)
    found, short = scores_of(model, [LONG, "The cat sat"], stride=stride)
    assert len(found) == len(ids) - 1
    assert np.abs(found - expected).max() < 1e-5
    assert np.abs(short - scores_of(model, ["The cat sat"])[0]).max() < 1e-5


@pytest.mark.parametrize("kind", ["gpt2", "llama", "mamba"])
def test_the_token_that_begins_texts_stands_before_them_if_asked(kind, zoo):
    ids = ids_of(zoo, kind, LONG)
    context = zoo.load(kind).context or len(ids) + 1
    found, empty = scores_of(zoo.load(kind), [LONG, ""], first="bos")
    assert len(found) == len(ids)
    assert len(empty) == 0
    expected = by_windows(zoo, kind, [0, *ids], context, context // 2)
    assert np.abs(found - expected).max() < 1e-5


@pytest.mark.parametrize("kind", ["gpt2", "llama", "mamba"])
def test_the_token_that_ends_texts_is_scored_if_asked(kind, zoo):
    model, end = zoo.load(kind), zoo.tokenizer(kind).eos_token_id
    assert model.scores_end
    texts = ["The cat sat", "A bird sings in the morning", ""]
    found = model.score([Passage(text, ended=True) for text in texts])
    assert found.tokens[2] == 0
    for place, text in enumerate(texts[:2]):
        expected = zoo.plain_scores(zoo.plain(kind), [*ids_of(zoo, kind, text), end])
        own = found.log_probability[found.starts[place] : found.starts[place + 1]]
        assert np.abs(own - expected).max() < 1e-5
    (alone,) = model.score([Passage("", "The cat", ended=True)]).log_probability
    ids = [*ids_of(zoo, kind, "The cat"), end]
    assert abs(alone - zoo.plain_scores(zoo.plain(kind), ids)[-1]) < 1e-5


def test_a_model_with_an_end_alone_begins_texts_with_it(zoo, tmp_path):
    zoo.save_model(tmp_path, "gpt2")
    zoo.save_tokenizer(tmp_path, eos_token="</s>")
    ids = ids_of(zoo, "gpt2", "The cat sat")
    (found,) = scores_of(
        load_causal(str(tmp_path), EmbedderOptions()), ["The cat sat"], first="bos"
    )
    assert np.abs(found - zoo.plain_scores(zoo.plain("gpt2"), [1, *ids])).max() < 1e-5


def test_a_model_without_either_says_so(zoo, tmp_path):
    zoo.save_model(tmp_path / "bare", "gpt2")
    zoo.save_tokenizer(tmp_path / "bare")
    model = load_causal(str(tmp_path / "bare"), EmbedderOptions())
    message = "'bare' has neither a token that begins texts .* so first must be 'skip'; found 'bos'"
    with pytest.raises(InputError, match=message):
        model.score([Passage("The cat")], first="bos")
    with pytest.raises(InputError, match=r"first .*'skip' or 'bos'.*'none'"):
        model.score([Passage("The cat")], first="none")
    assert len(scores_of(model, ["The cat"])[0])
    assert not model.scores_end
    with pytest.raises(InputError, match=r"no token .*EOS"):
        model.score([Passage("The cat", ended=True)])


def test_a_mark_that_the_tokenizer_puts_before_texts_is_read_and_not_scored(zoo, tmp_path):
    zoo.save(tmp_path, "llama", opens=True)
    model = load_causal(str(tmp_path), EmbedderOptions())
    ids = transformers.AutoTokenizer.from_pretrained(tmp_path)("The cat sat")["input_ids"]
    assert ids[0] == 0
    expected = zoo.plain_scores(zoo.plain("llama"), ids)
    for first in ("skip", "bos"):
        (found,) = scores_of(model, ["The cat sat"], first=first)
        assert np.abs(found - expected).max() < 1e-5
    prompted = model.score([Passage(" sat", "The cat")]).log_probability
    assert np.abs(prompted - expected[-len(prompted) :]).max() < 1e-5


@pytest.mark.parametrize("fast", [True, False])
@pytest.mark.parametrize(
    ("prompt", "text", "scored"),
    [
        ("The cat", " sat on the mat", " sat on the mat"),
        ("The cat ", "sat on the mat", " sat on the mat"),  # the token " sat" holds the space
        ("The cat", "s sing", None),
        ("", "The cat sat", None),
        ("The cat", "", ""),
        ("naïve caf", "é 🎉", None),
    ],
)
def test_prompt_and_text_are_tokenised_together(fast, prompt, text, scored, zoo, monkeypatch):
    model = zoo.load("gpt2")
    tokenizer = zoo.tokenizer("gpt2")
    ids = tokenizer(prompt + text)["input_ids"]
    if not fast:
        monkeypatch.setattr(type(model._tokens._tokenizer), "is_fast", False, raising=False)
    found = model.score([Passage(LONG[:30]), Passage(text, prompt), Passage("One")])
    own = found.log_probability[found.starts[1] : found.starts[2]]
    assert len(found) == 3
    if scored is not None:
        assert len(own) == len(tokenizer(scored)["input_ids"])
    if not text:
        assert len(own) == 0
        return
    if not prompt:
        assert len(own) == len(ids) - 1
    # What is scored, and the tokens before it, are all there is; and what is scored covers the text
    if prompt:
        assert tokenizer.decode(ids[len(ids) - len(own) :]).endswith(text.lstrip()[1:])
    assert prompt.startswith(tokenizer.decode(ids[: len(ids) - len(own)])[: len(prompt)])
    expected = zoo.plain_scores(zoo.plain("gpt2"), ids)[-len(own) :]
    assert np.abs(own - expected).max() < 1e-5


def test_a_prompt_stands_before_a_text_in_its_windows(zoo):
    model, ids = zoo.load("llama"), ids_of(zoo, "llama", LONG)
    prompt = LONG[:50]
    before = len(ids_of(zoo, "llama", prompt))
    found = model.score([Passage(LONG[50:], prompt)], stride=5).log_probability
    expected = by_windows(zoo, "llama", ids, zoo.LIMIT, 5, first=before)
    assert len(found) == len(ids) - before
    assert np.abs(found - expected).max() < 1e-5
    with pytest.raises(InputError, match="text 2: its prompt"):
        model.score([Passage("a"), Passage(" sings", LONG)])


def numpy_distribution(logits, before, decoding):
    """The truncated, renormalised distribution by its definition."""
    p = np.exp(logits - logits.max())
    p /= p.sum()
    for name, value in decoding.parameters:
        if name == "temperature":
            p = p ** (1 / value)
        elif name == "top_k":
            p[p < np.sort(p)[-int(value)]] = 0
        elif name == "top_p":
            order = np.argsort(-p)
            kept = int((np.cumsum(p[order]) < value).sum()) + 1
            p[order[kept:]] = 0
        elif name == "min_p":
            p[p < value * p.max()] = 0
        elif name == "no_repeat_ngram":
            n = int(value)
            for start in range(len(before) - n + 1):
                gram = before[start : start + n]
                if n == 1 or gram[:-1] == before[-(n - 1) :]:
                    p[gram[-1]] = 0
        p /= p.sum()
    return p


@pytest.mark.parametrize(
    "decoding",
    [
        "ancestral",
        "temperature=0.7,top_k=20",
        "top_p=0.6",
        "top_p=0.9,top_k=5",
        "min_p=0.2",
        "top_p=0.9,no_repeat_ngram=2",
    ],
)
def test_the_decoders_own_probabilities_are_those_of_its_definition(decoding, zoo):
    decoding = Decoding.parse(decoding)
    texts = [*zoo.TEXTS[:3], LONG[:80]]
    found = zoo.load("gpt2").score([Passage(text) for text in texts], decoding=decoding)
    plain = zoo.load("gpt2").score([Passage(text) for text in texts])
    assert np.abs(found.log_probability - plain.log_probability).max() < 1e-6
    expected, squares = [], []
    for text in texts:
        ids = ids_of(zoo, "gpt2", text)
        with torch.inference_mode():
            logits = zoo.plain("gpt2")(input_ids=torch.tensor([ids])).logits[0].double().numpy()
        for place in range(1, len(ids)):
            p = numpy_distribution(logits[place - 1], ids[:place], decoding)
            expected.append(p[ids[place]])
            squares.append((p**2).sum())
    assert np.abs(found.decoded - expected).max() < 1e-5
    assert np.abs(found.squares - squares).max() < 1e-5
    if str(decoding) == "ancestral":
        assert np.allclose(found.decoded, np.exp(found.log_probability))


def test_greedy_decoding_puts_all_on_the_likeliest_token(zoo):
    found = zoo.load("gpt2").score([Passage(zoo.TEXTS[0])], decoding=Decoding.parse("greedy"))
    ids = ids_of(zoo, "gpt2", zoo.TEXTS[0])
    with torch.inference_mode():
        best = zoo.plain("gpt2")(input_ids=torch.tensor([ids])).logits[0, :-1].argmax(-1).numpy()
    assert found.decoded.tolist() == (best == ids[1:]).astype(float).tolist()
    assert (found.squares == 1).all()


@pytest.mark.parametrize("decoding", ["beam=2", "contrastive=0.5,top_k=3", "adversarial=9"])
def test_searches_have_no_distribution_of_tokens(decoding, zoo):
    with pytest.raises(InputError, match="distribution of single tokens"):
        zoo.load("gpt2").score([Passage("a")], decoding=Decoding.parse(decoding))


def test_texts_are_counted_once(zoo):
    counts = []
    texts = [LONG, "", "The cat sat", LONG[:70]]
    zoo.load("gpt2").score([Passage(text) for text in texts], advance=counts.append, stride=3)
    assert sum(counts) == len(texts)
    assert zoo.load("gpt2").score([]).starts.tolist() == [0]


def test_what_the_scores_are_of_is_said(zoo):
    found = zoo.load("gpt2").score([Passage("The cat sat")])
    assert found.vocabulary == zoo.VOCABULARY
    assert found.decoded is None is found.squares


@pytest.mark.parametrize("kind", ["dynamic", "mamba"])
def test_some_kinds_are_never_filled_up(kind, zoo, monkeypatch):
    model = zoo.load(kind)
    lengths = []
    score = causal_scoring._Scorer.score

    def seen(self, windows):
        lengths.append({window.stop - window.start for window in windows})
        return score(self, windows)

    monkeypatch.setattr(causal_scoring._Scorer, "score", seen)
    scores_of(model, [LONG[:n] for n in (20, 20, 21, 25, 30)])
    assert all(len(each) == 1 for each in lengths)


def test_a_batch_that_does_not_fit_in_memory_is_halved(zoo, monkeypatch):
    model = zoo.load("gpt2")
    expected = scores_of(model, zoo.TEXTS)
    sizes = []
    score = causal_scoring._Scorer.score

    def small(self, windows):
        sizes.append(len(windows))
        if len(windows) > 2:
            raise torch.OutOfMemoryError("CUDA out of memory")
        return score(self, windows)

    monkeypatch.setattr(causal_scoring._Scorer, "score", small)
    found = scores_of(model, zoo.TEXTS)
    assert sizes[0] > 4
    for one, other in zip(expected, found, strict=True):  # float32: batches of other sizes round
        np.testing.assert_allclose(other, one, rtol=5e-7, atol=1e-6)

    def none(self, windows):
        raise MemoryError

    monkeypatch.setattr(causal_scoring._Scorer, "score", none)
    with pytest.raises(InputError, match="memory to score"):
        model.score([Passage(zoo.TEXTS[0])])


def test_damaged_weights_are_noticed(zoo, tmp_path):
    from safetensors.torch import load_file, save_file

    zoo.save(tmp_path, "gpt2")
    tensors = load_file(tmp_path / "model.safetensors")
    tensors["transformer.ln_f.weight"][:] = torch.nan
    save_file(tensors, tmp_path / "model.safetensors", metadata={"format": "pt"})
    with pytest.raises(CalipersError, match="not finite"):
        load_causal(str(tmp_path), EmbedderOptions()).score([Passage("The cat")])


def test_faster_layers_that_compute_something_else_are_not_used(zoo, monkeypatch):
    from calipers.embedders.states import dense

    def wrong(model, dtype, once):
        torch.nn.init.zeros_(model.lm_head.weight)

    monkeypatch.setattr(dense, "quicken", wrong)
    model = load_causal(str(zoo.folder("gpt2")), EmbedderOptions(device="cpu"))
    (found,) = scores_of(model, [zoo.TEXTS[0]])
    expected = zoo.plain_scores(zoo.plain("gpt2"), ids_of(zoo, "gpt2", zoo.TEXTS[0]))
    assert np.abs(found - expected).max() < 1e-5


def test_bfloat16_is_close_and_says_that_seeds_do_not_hold(zoo, monkeypatch):
    monkeypatch.setattr(causal, "choose_dtype", lambda *which: "bfloat16")
    model = load_causal(str(zoo.folder("llama")), EmbedderOptions(device="cpu", dtype="auto"))
    assert model.signature["dtype"] == "bfloat16"
    assert "in bfloat16 the rounding of a model's numbers depends" in model.reproducible
    exact = zoo.load("llama")
    assert exact.reproducible is True
    one, two = (np.concatenate(scores_of(each, zoo.TEXTS[:2])) for each in (model, exact))
    assert 0 < np.abs(one - two).mean() < 0.2


def test_the_signature_pins_the_model(zoo):
    model = zoo.load("gpt2")
    assert model.signature == {
        "model": "gpt2", "revision": model.revision, "dtype": "float32", "device": "cpu",
    }  # fmt: skip
    assert (model.name, model.context) == ("gpt2", zoo.LIMIT)


def bert(zoo, folder):
    sizes = {"vocab_size": zoo.VOCABULARY, "hidden_size": 32, "num_hidden_layers": 1}
    sizes |= {"num_attention_heads": 4, "intermediate_size": 32, "initializer_range": 0.3}
    return transformers.BertConfig(**sizes)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (transformers.BertForMaskedLM, r"bert model \(BertForMaskedLM\)"),
        (transformers.BertModel, r"bert model \(BertModel\)"),
        (transformers.BertLMHeadModel, "depends on later ones"),
    ],
)
def test_a_model_that_is_not_causal_is_refused(make, message, zoo, tmp_path):
    make(bert(zoo, tmp_path)).save_pretrained(tmp_path / "bert")
    zoo.save_tokenizer(tmp_path / "bert", bos_token="<s>", eos_token="</s>")
    with pytest.raises(InputError, match=message):
        load_causal(str(tmp_path / "bert"), EmbedderOptions(device="cpu"))


def test_an_encoder_decoder_is_refused(zoo, tmp_path):
    config = transformers.T5Config(
        vocab_size=zoo.VOCABULARY, d_model=16, d_ff=16, num_layers=1, num_heads=2, d_kv=8
    )
    transformers.T5ForConditionalGeneration(config).save_pretrained(tmp_path / "t5")
    zoo.save_tokenizer(tmp_path / "t5", eos_token="</s>")
    with pytest.raises(InputError, match=r"'t5' .*causal"):
        load_causal(str(tmp_path / "t5"), EmbedderOptions(device="cpu"))


def test_a_model_without_its_head_that_is_not_tied_is_refused(zoo, tmp_path):
    model = transformers.AutoModel.from_pretrained(zoo.folder("llama"))
    model.save_pretrained(tmp_path)
    zoo.save_tokenizer(tmp_path)
    with pytest.raises(InputError, match=r"lack 1 tensors.*lm_head\.weight"):
        load_causal(str(tmp_path), EmbedderOptions(device="cpu"))


def test_a_tied_model_saved_without_its_head_is_whole(zoo, tmp_path):
    transformers.AutoModel.from_pretrained(zoo.folder("gpt2")).save_pretrained(tmp_path)
    zoo.save_tokenizer(tmp_path)
    model = load_causal(str(tmp_path), EmbedderOptions(device="cpu"))
    one, two = (scores_of(each, ["The cat sat"])[0] for each in (model, zoo.load("gpt2")))
    assert np.abs(one - two).max() < 1e-6


def test_a_folder_without_a_tokenizer_is_refused(zoo, tmp_path):
    zoo.save_model(tmp_path, "gpt2")
    with pytest.raises(InputError, match=r"gpt2 model.*tokenizer"):
        load_causal(str(tmp_path), EmbedderOptions(device="cpu"))


def test_a_tokenizer_of_another_model_is_noticed(zoo, tmp_path):
    zoo.save(tmp_path / "other", "gpt2", vocab_size=270)
    model = load_causal(str(tmp_path / "other"), EmbedderOptions(device="cpu"))
    message = r"other: the tokenizer and the model do not belong together: there is a token \d+, b"
    with pytest.raises(InputError, match=message):
        model.score([Passage(zoo.TEXTS[0])])


def test_texts_that_are_none_are_named(zoo):
    with pytest.raises(InputError, match="text 2 must be valid Unicode"):
        zoo.load("gpt2").score([Passage("a"), Passage("\ud800")])


def test_without_torch_the_extra_is_named(zoo, monkeypatch):
    import importlib

    find = importlib.import_module

    def without(name, *more):
        if name == "torch":
            raise ModuleNotFoundError("No module named 'torch'", name="torch")
        return find(name, *more)

    monkeypatch.setattr("calipers.errors.importlib.import_module", without)
    with pytest.raises(MissingExtraError, match=r"pip install 'calipers\[models\]'"):
        load_causal(str(zoo.folder("gpt2")), EmbedderOptions(device="cpu"))


@pytest.mark.parametrize("kind", KINDS)
def test_a_body_and_its_head_give_what_all_logits_give(kind, zoo, monkeypatch):
    """Gemma 2 bends its logits, so its head alone does not give them."""
    model = zoo.load(kind)
    assert model._divided == (kind != "gemma2")
    for decoding in (None, Decoding.parse("top_p=0.7"), Decoding.parse("no_repeat_ngram=2")):
        found = model.score([Passage(text) for text in zoo.TEXTS], decoding=decoding)
        with monkeypatch.context() as patch:
            patch.setattr(model, "_divided", False)
            whole = model.score([Passage(text) for text in zoo.TEXTS], decoding=decoding)
        near = {"rtol": 1e-6, "atol": 3e-6}
        np.testing.assert_allclose(found.log_probability, whole.log_probability, **near)
        if decoding is not None:
            np.testing.assert_allclose(found.decoded, whole.decoded, **near)
            np.testing.assert_allclose(found.squares, whole.squares, **near)


@pytest.mark.parametrize(("rows", "size"), [(3, 7), (1, 8192), (200, 8193), (70, 20_000)])
@pytest.mark.parametrize("scale", [1, 60])
def test_log_probabilities_are_those_of_float64(rows, size, scale):
    rng = np.random.default_rng(0)
    logits = (scale * rng.standard_normal((rows, size))).astype(np.float32)
    logits[0, :] = -3.25
    tokens = rng.integers(0, size, rows)
    exact = logits.astype(np.float64)
    highest = exact.max(1)
    sums = np.log(np.exp(exact - highest[:, None]).sum(1))
    expected = exact[np.arange(rows), tokens] - highest - sums
    found = causal_scoring.log_probabilities(torch.from_numpy(logits), torch.from_numpy(tokens))
    assert found.dtype == torch.float64
    np.testing.assert_allclose(found.numpy(), expected, rtol=0, atol=5e-7 * max(scale, 1))
    assert found[0] == pytest.approx(-np.log(size), abs=1e-6)
