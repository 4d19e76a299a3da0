from contextlib import contextmanager
from dataclasses import replace

import numpy as np
import pytest

from calipers.embed import Cache, EncodedBatch, embed_samples
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
