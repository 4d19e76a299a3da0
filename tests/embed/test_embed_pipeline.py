from contextlib import contextmanager

import numpy as np
import pytest

from calipers.embed import EncodedBatch, embed_samples
from calipers.errors import CalipersError
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

    with pytest.raises(CalipersError, match="must give one row for each of 256 texts"):
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
