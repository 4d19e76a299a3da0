"""The vectors that come with Calipers for the demo's texts: all of them, and the embedder's own."""

from __future__ import annotations

from itertools import chain

import numpy as np
import pytest

from calipers.commands.demo.run import demo
from calipers.demo import carried as module
from calipers.demo.carried import (
    CarriedVectors,
    DemoEmbedder,
    carried,
    embedder_of,
    hashed,
    is_carried,
    listed,
)
from calipers.demo.corpora import paragraphs
from calipers.demo.systems import systems
from calipers.embedders.embedder import EncodedBatch
from calipers.embedders.minilm import MiniLM
from calipers.embedders.reading import ReadingCounts


def texts_of_demo(seed=0):
    reference, generated = systems(seed, listed(paragraphs()))
    return [*reference, *chain.from_iterable(generated.values())]


@pytest.fixture(scope="module")
def every():
    texts = texts_of_demo()
    if len(texts) < 2 * carried().paragraphs:
        pytest.skip("this Python's documentation lacks some of the paragraphs")
    return texts


def test_every_text_of_the_demo_has_its_vectors(every):
    assert len(every) == 1000
    assert sorted(set(carried().rows(every).tolist())) == list(range(len(carried().hashes)))
    assert not DemoEmbedder(every).kept


def test_they_are_those_that_the_embedder_computes(every):
    """To 0.001 of their length; what was read of each text is equal."""
    texts = every[::83]
    ours, computed = carried().take(carried().rows(texts)), MiniLM(device="cpu").encode(texts)
    for view, vectors in computed.views.items():
        off = np.linalg.norm(ours.views[view] - vectors, axis=1)
        assert (off < 1e-3 * np.linalg.norm(vectors, axis=1)).all()
        assert ours.views[view].dtype == np.float32
    assert not computed.truncated.any()
    np.testing.assert_array_equal(ours.truncated, computed.truncated)
    np.testing.assert_array_equal(ours.reading.words, computed.reading.words)
    np.testing.assert_array_equal(ours.reading.unread, computed.reading.unread)


@pytest.mark.slow
def test_all_of_them_are(every):
    ours, computed = carried().take(carried().rows(every)), MiniLM(device="cpu").encode(every)
    for view, vectors in computed.views.items():
        off = np.linalg.norm(ours.views[view] - vectors, axis=1)
        assert (off < 1e-3 * np.linalg.norm(vectors, axis=1)).all()
    np.testing.assert_array_equal(ours.reading.words, computed.reading.words)
    np.testing.assert_array_equal(ours.reading.unread, computed.reading.unread)


def few(monkeypatch, texts=("one", "two", "three"), paragraphs=2):
    """Let so few texts come with Calipers, each with vectors of its number."""
    n = len(texts)
    numbers = np.arange(1, n + 1)
    made = CarriedVectors(
        hashed(texts),
        paragraphs,
        {view: np.outer(numbers, np.ones(384)).astype("f2") for view in MiniLM.views},
        numbers.astype(np.int32),
        np.zeros(n, np.int32),
        module.REVISION,
    )
    monkeypatch.setattr(module, "carried", lambda: made)
    return made


def test_what_has_no_vectors_is_computed(monkeypatch):
    few(monkeypatch)
    asked = []

    def encode(self, prepared):
        asked.append(list(prepared))
        n = len(prepared)
        views = {view: np.full((n, 384), -1, "f4") for view in MiniLM.views}
        return EncodedBatch(views, np.ones(n, np.bool_), ReadingCounts.of([(9, 8)] * n))

    monkeypatch.setattr(MiniLM, "encode", encode)
    batch = DemoEmbedder(["two"]).encode(["two", "other", "one", "more"])
    assert asked == [["other", "more"]]
    for vectors in batch.views.values():
        np.testing.assert_array_equal(vectors[:, 0], [2, -1, 1, -1])
    np.testing.assert_array_equal(batch.truncated, [False, True, False, True])
    np.testing.assert_array_equal(batch.reading.words, [2, 9, 1, 9])
    np.testing.assert_array_equal(batch.reading.unread, [0, 8, 0, 8])


def test_vectors_are_kept_in_the_cache_where_some_are_computed(monkeypatch):
    few(monkeypatch)
    assert not embedder_of(["one", "two"], device="auto", dtype="float32").kept
    assert embedder_of(["one", "other"], device="cpu", dtype="float32").kept


def test_its_vectors_are_not_taken_for_those_of_minilm(monkeypatch):
    few(monkeypatch)
    ours, usual = DemoEmbedder(["one"]), MiniLM(device="cpu")
    assert ours.name == usual.name == "minilm"
    assert ours.identity != usual.identity
    assert is_carried({"embedding": ours.signature})
    assert not is_carried({"embedding": usual.signature})
    assert not is_carried({})


@pytest.mark.parametrize(
    ("texts", "device", "dtype"),
    [
        (["other"], "cpu", "float32"),
        (["one"], "cuda", "float32"),
        (["one"], "cpu", "auto"),
    ],
)
def test_the_usual_embedder_computes_all_else(monkeypatch, texts, device, dtype):
    few(monkeypatch)
    assert embedder_of(texts, device=device, dtype=dtype) is None


def test_vectors_of_another_model_are_not_taken(monkeypatch):
    few(monkeypatch)
    monkeypatch.setattr(module, "REVISION", "another")
    assert embedder_of(["one"], device="cpu", dtype="float32") is None


def test_listed_paragraphs_come_in_the_order_of_the_list(monkeypatch):
    few(monkeypatch)
    assert listed(["three", "two", "new", "one"]) == ["one", "two"]
    assert listed(["new", "two"]) == ["two"]


def test_a_python_with_other_documentation_has_its_own_paragraphs(monkeypatch):
    few(monkeypatch, ("one", "two", "three"), paragraphs=3)
    assert listed(["new", "three", "newer"]) == ["new", "three", "newer"]
    assert listed(["new", "three", "one"]) == ["one", "three"]


def test_a_file_gives_back_what_was_written(monkeypatch, tmp_path):
    made = few(monkeypatch)
    made.save(tmp_path / "vectors.npz")
    read = CarriedVectors.load(tmp_path / "vectors.npz")
    assert (read.paragraphs, read.revision) == (made.paragraphs, made.revision)
    for name in ("hashes", "words", "unread"):
        np.testing.assert_array_equal(getattr(read, name), getattr(made, name))
        assert getattr(read, name).dtype == getattr(made, name).dtype
    for view, vectors in made.views.items():
        np.testing.assert_array_equal(read.views[view], vectors)


@pytest.mark.slow
def test_the_demo_shows_each_fault_beyond_noise(every):
    """The other human texts are near; the chain's form and the copies' variety are not."""
    result = demo()
    scores = {name: result[name].scores for name in ("held_out", "markov_chain", "near_copies")}
    assert is_carried(result.settings)
    for view in ("", "form."):
        for name in ("precision", "recall", "coverage", "mauve_star"):
            assert scores["held_out"][f"{view}{name}"].value > 0.8
        assert scores["near_copies"][f"{view}recall"].interval[1] < 0.1
        assert scores["near_copies"][f"{view}precision"].value > 0.9
    assert scores["markov_chain"]["form.recall"].interval[1] < 0.5
    assert scores["markov_chain"]["recall"].value > 0.5
