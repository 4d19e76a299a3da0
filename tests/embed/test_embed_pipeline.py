"""From a sample set to its vectors: pieces, errors about a sample, work ahead, batches."""

import pickle
import threading
from contextlib import contextmanager
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from calipers.embed import (
    Cache,
    Embedder,
    EncodedBatch,
    as_embedder,
    embed_samples,
    processes,
)
from calipers.embed.embedder import SampleError
from calipers.embed.pipeline import ahead
from calipers.embed.states.batches import plan_batches
from calipers.errors import CalipersError, InputError
from calipers.samples import SampleSet


class Watch:
    def __init__(self):
        self.tasks = []

    @contextmanager
    def task(self, description, total):
        steps = []
        self.tasks.append((description, total, steps))
        yield steps.append


def test_each_row_holds_its_own_text(stub, samples, texts):
    found = embed_samples(samples, stub())
    whole = stub().embed(texts)
    assert list(found.views) == ["zeta", "alpha"]
    for view, vectors in found.views.items():
        assert vectors.dtype == np.float32
        assert np.array_equal(vectors, whole.views[view])
    assert found.signature == {"embedder": "stub", "max_length": "9"}
    assert found.view_signature == {"zeta": "hashed", "alpha": "length"}


def test_progress_counts_texts_in_small_steps(stub, samples):
    watch = Watch()
    embed_samples(samples, stub(), progress=watch)
    ((description, total, steps),) = watch.tasks
    assert description == "Embedding human"
    assert total == sum(steps) == len(samples)
    assert max(steps) <= 256


@pytest.mark.parametrize(
    ("texts", "note"),
    [
        (["short", "short", "0123456789"], "1 of 3 texts was cut at 9 tokens"),
        (["0123456789"] * 1500, "1,500 of 1,500 texts were cut at 9 tokens"),
    ],
)
def test_texts_that_were_cut_are_counted(stub, texts, note, tmp_path):
    from calipers.embed import Cache

    samples = SampleSet.from_texts(texts, name="x")
    assert embed_samples(samples, stub(), cache=Cache(tmp_path)).notes == (note,)
    assert embed_samples(samples, stub(), cache=Cache(tmp_path)).notes == (note,)


def test_an_embedder_that_loses_rows_is_found_out(stub, samples):
    class Careless(stub):
        def embed(self, texts):
            return super().embed(texts[1:])

    with pytest.raises(CalipersError, match="must give one row for each of 256 samples"):
        embed_samples(samples, Careless())


def test_an_embedder_that_changes_its_width_is_found_out(stub, samples):
    class Growing(stub):
        def embed(self, texts):
            width = 1 + (len(self.calls) > 2)
            self.calls.append(texts)
            rows = np.zeros((len(texts), width), np.float32)
            return EncodedBatch(dict.fromkeys(self.views, rows), np.zeros(len(texts), np.bool_))

    with pytest.raises(CalipersError, match="have 1 numbers at first, and 2 from row 769 on"):
        embed_samples(samples, Growing())


def test_an_embedder_needs_no_signature_of_its_views(stub, samples):
    class Plain(stub):
        @property
        def view_signature(self):
            raise AttributeError

    assert embed_samples(samples, Plain()).view_signature == {}


def test_preparing_and_encoding_give_what_embedding_gives(stub, samples):
    class Halved(stub):
        at_once = 100

        def prepare(self, texts):
            return [text.upper() for text in texts]

        def encode(self, prepared):
            return super().embed([text.lower() for text in prepared])

        def embed(self, texts):
            raise AssertionError("the halves are there")

    halved, whole = Halved(), stub()
    found, expected = (embed_samples(samples, each).views for each in (halved, whole))
    assert all(np.array_equal(found[view], expected[view]) for view in expected)
    assert max(map(len, halved.calls)) == 100


def test_words_that_are_unknown_are_told(stub):
    class Glove(stub):
        def embed(self, texts):
            batch = super().embed(texts)
            return replace(batch, unknown=np.array([0, 0.5, 1, 0.5], dtype=np.float32))

    samples = SampleSet.from_texts(["a", "b", "c", "d"], name="x")
    notes = embed_samples(samples, Glove()).notes
    assert notes == ("stub does not know 50.0% of the words; 1 text has no word that it knows",)


def test_what_is_as_cheap_to_make_is_not_kept(stub, samples, tmp_path):
    class Cheap(stub):
        kept = False

    embed_samples(samples, Cheap(), cache=Cache(tmp_path))
    assert list(tmp_path.rglob("*")) == []


def test_an_embedder_learns_where_it_may_keep_what_was_paid_for(stub, samples, tmp_path):
    class Paid(stub):
        folder = None

        def keep_in(self, folder):
            self.folder = folder

        def told(self):
            return ("3 texts were paid for",)

    paid = Paid()
    embedded = embed_samples(samples, paid, cache=Cache(tmp_path))
    assert paid.folder == tmp_path
    assert embedded.notes[-1] == "3 texts were paid for"
    assert embed_samples(samples, Paid()).notes == embedded.notes


@pytest.mark.parametrize(
    ("reads", "message"),
    [
        ({"images"}, "holds texts, but the embedder 'stub' reads images; choose one that reads te"),
        ({"texts", "tokens"}, None),
    ],
)
def test_samples_of_another_kind_are_refused(stub, reads, message):
    class Other(stub):
        pass

    Other.reads = frozenset(reads)
    samples = SampleSet.from_texts(["a"], name="x")
    if message is None:
        assert len(embed_samples(samples, Other()).views["zeta"]) == 1
        return
    with pytest.raises(InputError, match=message):
        embed_samples(samples, Other())


def test_everything_comes_in_order():
    assert list(ahead(range(5), lambda number: number**2)) == [(i, i**2) for i in range(5)]
    assert list(ahead([], str)) == []


def test_the_next_item_is_made_while_the_present_one_is_used():
    begun = {1: threading.Event(), 2: threading.Event()}

    def make(number):
        begun[number].set()
        return number

    items = ahead([1, 2], make)
    next(items)
    assert begun[2].wait(10)


def test_no_more_than_one_item_is_made_in_advance():
    made = []
    items = ahead(range(10), made.append)
    next(items)
    assert len(made) <= 2


def test_an_error_comes_when_its_turn_comes():
    def make(number):
        if number == 2:
            raise ValueError("two")
        return number

    items = ahead(range(5), make)
    assert [next(items), next(items)] == [(0, 0), (1, 1)]
    with pytest.raises(ValueError, match="two"):
        next(items)


class Picky(Embedder):
    """Reads token ids below 10."""

    name, views, identity = "picky", ("meaning",), "picky"
    signature = {"embedder": "picky"}  # noqa: RUF012
    reads = frozenset({"tokens"})

    def encode(self, samples):
        for row, sample in enumerate(samples):
            if sample.max() >= 10:
                raise SampleError(row, f"found {sample.max()}")
        rows = np.ones((len(samples), 2), np.float32)
        return EncodedBatch({"meaning": rows}, np.zeros(len(samples), dtype=np.bool_))


def test_an_error_says_which_sample_and_survives_another_process():
    error = SampleError(4, "found 12")
    assert str(error) == "sample 5: found 12"
    assert str(error.behind(2_000, "human")) == "human: sample 2,005: found 12"
    assert str(pickle.loads(pickle.dumps(error.behind(1, "x")))) == "x: sample 6: found 12"  # noqa: S301


@pytest.mark.parametrize("row", [0, 300, 1_023, 1_024, 2_999])
def test_samples_are_counted_from_the_beginning_of_their_set(row):
    ids = [[1]] * 3_000
    ids[row] = [12]
    samples = SampleSet.from_tokens(ids, name="human")
    with pytest.raises(SampleError, match=rf"^human: sample {row + 1:,}: found 12$"):
        embed_samples(samples, Picky())


def test_a_process_counts_from_the_first_sample_of_all(monkeypatch):
    monkeypatch.setitem(processes._own, "embedder", Picky())
    with pytest.raises(SampleError, match=r"^sample 514: found 12$"):
        processes._embed(512, [np.array([1]), np.array([12])])


lengths = st.lists(st.integers(1, 60), max_size=80)


@given(lengths=lengths, max_tokens=st.integers(1, 300), max_texts=st.none() | st.integers(1, 9))
def test_each_text_is_in_one_batch_and_the_bounds_hold(lengths, max_tokens, max_texts):
    lengths = np.array(lengths, dtype=np.intp)
    batches = list(plan_batches(lengths, max_tokens=max_tokens, max_texts=max_texts))
    rows = [row for batch in batches for row in batch.rows]
    assert sorted(rows) == list(range(len(lengths)))
    for batch in batches:
        assert len(batch.rows) <= (max_texts or len(lengths))
        assert len(batch.rows) == 1 or lengths[batch.rows].sum() <= max_tokens


@given(lengths=lengths, max_tokens=st.integers(1, 300))
def test_runs_tile_the_tokens_with_texts_of_their_length(lengths, max_tokens):
    lengths = np.array(lengths, dtype=np.intp)
    for batch in plan_batches(lengths, max_tokens=max_tokens):
        told = [run.length for run in batch.runs for _ in range(run.texts)]
        assert told == lengths[batch.rows].tolist()
        edges = [run.tokens.start for run in batch.runs] + [batch.runs[-1].tokens.stop]
        assert [run.tokens.stop for run in batch.runs] == edges[1:]
        assert (edges[0], edges[-1]) == (0, sum(told))
        assert len({run.length for run in batch.runs}) == len(batch.runs)


def test_batches_are_filled_before_another_is_opened():
    batches = list(plan_batches(np.array([4, 2, 4, 2, 1]), max_tokens=8))
    assert [batch.rows.tolist() for batch in batches] == [[0, 2], [1, 3, 4]]
    assert [tuple(run) for run in batches[1].runs] == [(0, 2, 2), (4, 1, 1)]


def test_a_subclass_needs_no_more_than_names_and_vectors(stub, samples):
    class Own(Embedder):
        name, views, identity = "own", ("zeta", "alpha"), "own"
        signature = {"embedder": "own"}  # noqa: RUF012

        def encode(self, prepared):
            return stub().embed(prepared)

    own, foreign = embed_samples(samples, Own()), embed_samples(samples, stub())
    assert np.array_equal(own.views["zeta"], foreign.views["zeta"])
    assert (Own().kept, Own().reads, Own().told()) == (True, {"texts"}, ())
    assert Own().fitted(samples).name == "own"
    assert as_embedder(given := Own()) is given


def test_an_embedder_that_is_no_subclass_is_given_the_defaults_that_it_lacks(stub):
    foreign = as_embedder(stub())
    assert (foreign.name, foreign.views, foreign.identity) == ("stub", ("zeta", "alpha"), "stub-1")
    assert (foreign.reads, foreign.at_once, foreign.kept) == ({"texts"}, 256, True)
    assert not foreign.needs_fitting
    assert foreign.fitted(["a"]) is foreign

    class Fitting(stub):
        def fitted(self, samples):
            return stub(identity=f"fitted to {len(samples)}")

    assert as_embedder(Fitting()).needs_fitting
    assert as_embedder(Fitting()).fitted(["a", "b"]).identity == "fitted to 2"
    with pytest.raises(InputError, match="must have a method 'embed'; found 5"):
        as_embedder(5)
