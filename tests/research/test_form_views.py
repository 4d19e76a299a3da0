import json
from collections import Counter
from types import SimpleNamespace

import numpy as np
import pytest

from extras import need

TEXT = "The old clock stopped. Nobody in the house noticed it! Was it late? It was."
SHORT = ["Rain is expected.", "Nobody knew, and nobody asked.", "", "Markets fell again today."]


@pytest.fixture(scope="module")
def scripts(experiments):
    """The script's modules, which find each other beside it."""
    need("torch")
    import form_views
    import form_views_models
    import form_views_scores
    import form_views_tables
    import form_views_texts

    return SimpleNamespace(
        main=form_views,
        models=form_views_models,
        scores=form_views_scores,
        tables=form_views_tables,
        texts=form_views_texts,
    )


@pytest.fixture(scope="module")
def minilm(scripts):
    return scripts.models.MiniLM()


def states(minilm, ids):
    import torch

    from calipers.embedders.states.batches import LengthRun

    with torch.inference_mode():
        found = minilm.states(torch.tensor(ids), [LengthRun(0, 1, len(ids))])
        return np.array([each.numpy() for each in found])


@pytest.mark.slow
@pytest.mark.parametrize("change", ["words shuffled", "neighbours swapped", "sentences shuffled"])
def test_shuffles_keep_all_words_and_change_their_order(scripts, change):
    (first, second) = scripts.texts.changed([TEXT, TEXT], change)
    assert Counter(first.split()) == Counter(TEXT.split())
    assert first != TEXT
    assert [first, second] == scripts.texts.changed([TEXT, TEXT], change)


def test_neighbours_move_one_place_and_sentences_stay_whole(scripts):
    words = [str(i) for i in range(101)]
    (swapped,) = scripts.texts.changed([" ".join(words)], "neighbours swapped")
    moves = np.array(swapped.split(), dtype=int) - np.arange(101)
    assert np.abs(moves).max() == 1
    assert 20 <= (moves > 0).sum() <= 30
    (shuffled,) = scripts.texts.changed([TEXT], "sentences shuffled")
    assert "Nobody in the house noticed it!" in shuffled
    (shuffled,) = scripts.texts.changed([TEXT + " And the"], "sentences shuffled")
    assert shuffled.endswith(" And the")
    assert not shuffled.startswith(TEXT)


def test_cuts_typos_and_casing(scripts):
    words = ["caterpillar"] * 1000 + ["cat"] * 1000
    (cut,) = scripts.texts.changed([" ".join(words)], "cut in half")
    assert cut.split() == words[:1000]
    (typed,) = scripts.texts.changed([" ".join(words)], "typos")
    assert typed.split()[1000:] == words[1000:]
    assert {"".join(sorted(word)) for word in typed.split()[:1000]} == {"".join(sorted(words[0]))}
    wrong = sum(word != words[0] for word in typed.split()[:1000])
    assert 60 <= wrong <= 140
    assert scripts.texts.changed(["A B"], "lower case") == ["a b"]
    for change in scripts.texts.CHANGES:
        assert scripts.texts.changed([""], change) == [""]


def test_texts_are_read_with_their_topics(scripts, tmp_path):
    (tmp_path / "ag_news").mkdir()
    lines = [f'{topic},"T{topic}","item {i}"' for topic in (1, 2, 3, 4) for i in range(5)]
    (tmp_path / "ag_news" / "test.csv").write_text("\n".join(lines), encoding="utf-8")
    texts, topics = scripts.texts.headlines(tmp_path, 12)
    assert topics.tolist() == [1, 1, 1, 2, 2, 2, 3, 3, 3, 4, 4, 4]
    assert all(
        text.startswith(f"T{topic}. item") for text, topic in zip(texts, topics, strict=True)
    )
    assert len(set(texts)) == 12
    (tmp_path / "writing_prompts").mkdir()
    line = json.dumps({"id": 0, "text": "Once."})
    (tmp_path / "writing_prompts" / "human.jsonl").write_text(f"{line}\n{line}\n", encoding="utf-8")
    assert scripts.texts.stories(tmp_path, "human") == ["Once.", "Once."]


def test_pooled_states_hold_the_views_of_the_library(scripts, minilm):
    from calipers.embedders import load_embedder

    vectors = scripts.models.pooled(minilm, minilm.tokens(SHORT, 256))
    assert vectors.shape == (4, 7, 5, 384)
    views = load_embedder("minilm", device="cpu").embed(SHORT).views
    np.testing.assert_allclose(scripts.models.view(vectors, 4, "mean"), views["form"], atol=1e-5)
    last = scripts.models.view(vectors, 6, "mean")
    last /= np.linalg.norm(last, axis=1, keepdims=True)
    np.testing.assert_allclose(last, views["meaning"], atol=1e-5)


def test_poolings_by_hand(scripts, minilm):
    ids = minilm.tokens(SHORT, 256)
    vectors = scripts.models.pooled(minilm, ids)
    layers = states(minilm, ids[1])
    for pooling, expected in {
        "first token": layers[3, 0],
        "last token": layers[3, -1],
        "maximum": layers[3].max(axis=0),
        "mean and std": np.concatenate([layers[3].mean(axis=0), layers[3].std(axis=0)]),
    }.items():
        found = scripts.models.view(vectors[[1]], 3, pooling)[0]
        np.testing.assert_allclose(found, expected, atol=1e-5)


@pytest.mark.slow
def test_any_folder_gives_the_states_of_transformers(scripts, minilm):
    from calipers.embedders.minilm import find_model

    folder = scripts.models.Folder(find_model())
    assert (folder.layers, folder.width) == (6, 384)
    assert folder.tokens(SHORT, 6) == minilm.tokens(SHORT, 6)
    assert max(map(len, folder.tokens(SHORT, 6))) == 6
    ids = folder.tokens(SHORT, 256)
    vectors = scripts.models.pooled(folder, ids)
    np.testing.assert_allclose(vectors, scripts.models.pooled(minilm, ids), atol=1e-4)


def test_states_are_kept_by_their_tokens(scripts, minilm, tmp_path, monkeypatch):
    found = scripts.models.kept(minilm, SHORT, 256, tmp_path)
    scripts.models.kept(minilm, SHORT, 4, tmp_path)
    assert len(list(tmp_path.glob("*.npy"))) == 2
    monkeypatch.setattr(scripts.models, "pooled", None)
    np.testing.assert_array_equal(scripts.models.kept(minilm, SHORT, 256, tmp_path), found)


def corpus(scripts, name, others, whole=(), topics=None):
    rng = np.random.default_rng(0)
    plain = rng.standard_normal((180, 1, 5, 3)).astype(np.float32)
    if topics is not None:
        plain[:, 0, 0, 0] += 20 * topics
    found = {each: plain + np.float32(shift) for each, shift in others.items()}
    return scripts.scores.Corpus(name, plain, found, whole, topics)


def separations(scripts, sets, share=1.0):
    view = scripts.scores.Candidate(0, "mean", "none")
    how = {"n": 60, "splits": 2, "halves": 4, "share": share, "threads": 1}
    return scripts.scores.separations(sets, view, **how)


def test_what_moves_is_told_apart_and_what_does_not_is_not(scripts):
    sets = corpus(scripts, "news", {"words shuffled": 5.0, "typos": 0.0}, topics=np.arange(180) % 2)
    found = separations(scripts, sets)
    assert list(found) == ["news: words shuffled", "news: typos", scripts.scores.TOPIC]
    assert found["news: typos"] == pytest.approx(np.zeros((2, 4)))
    assert (found["news: words shuffled"][:, 0] > 10).all()
    assert (found[scripts.scores.TOPIC][:, 0] > 10).all()


def test_a_share_is_changed_but_machines_stand_whole(scripts):
    sets = corpus(scripts, "stories", {"words shuffled": 50.0, "GPT-2 XL": 50.0}, ("GPT-2 XL",))
    view = scripts.scores.Candidate(0, "mean", "none")
    rest = np.arange(100)
    found = dict(scripts.scores.systems(sets, view, rest, 40, 0.25, 0))
    assert (found["stories: words shuffled"] > 20).all(axis=1).sum() == 10
    assert (found["stories: GPT-2 XL"] > 20).all()
    assert (found["as they were"] < 20).all()


def test_a_split_has_no_row_on_both_sides(scripts):
    reference, rest = corpus(scripts, "news", {}).halves(60, 1)
    assert sorted([*reference, *rest]) == list(range(180))
    assert len(reference) == 60


def results(scripts, **values):
    """Made-up separations: form and topic of the views of layers 1, 2, ..."""
    found = {}
    for layer, (seen, missing) in enumerate(values.values(), start=1):
        sets = dict.fromkeys(scripts.scores.FORM, np.full((3, 4), float(seen)))
        found[scripts.scores.Candidate(layer, "mean")] = {
            **sets,
            scripts.scores.TOPIC: np.full((3, 4), float(missing)),
        }
    return found


def test_form_is_a_geometric_mean_that_counts_what_is_unseen_as_one(scripts):
    found = next(iter(results(scripts, one=(4, 2)).values()))
    assert scripts.scores.form(found) == pytest.approx(np.full((3, 4), 4.0))
    found[scripts.scores.FORM[0]] = np.full((3, 4), -3.0)
    assert scripts.scores.form(found)[0, 0] == pytest.approx(4 ** (6 / 7))


def test_a_view_is_better_only_where_neither_side_is_lower(scripts):
    made = results(scripts, present=(8, 4), more=(10, 5), blind=(7, 1), little=(9, 4), ratio=(8, 3))
    lines = scripts.tables.table(made, next(iter(made)))
    assert lines[2].startswith("| **mean** | 1 | 8.0 | 4.0 | 2.00 | present |")
    wins = [line.split(" | ")[5] for line in lines[3:-1]]
    assert wins == ["3 of 3", "0 of 3", "0 of 3", "3 of 3"]
    shown = scripts.tables.details(made, "mean", 0)
    assert shown[2].endswith("| 8.0 | 10.0 | 7.0 | 9.0 | 8.0 |")
    assert len(shown) == 2 + len(scripts.scores.FORM) + 1 + 1


def test_the_present_view_is_always_among_the_candidates(scripts):
    view = scripts.scores.Candidate(8, "mean")
    assert scripts.main.candidates(12, ["maximum"], [2], quick=True) == [
        view,
        scripts.scores.Candidate(2, "maximum"),
    ]
    every = scripts.main.candidates(12, list(scripts.models.POOLINGS), None, quick=False)
    assert len(every) == len(set(every)) == 13 * 6
