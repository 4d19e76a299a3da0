"""Errors about a sample, on their way from an embedder to a person."""

import pickle

import numpy as np
import pytest

from calipers.embed import EncodedBatch, embed_samples, processes
from calipers.embed.pipeline import SampleError
from calipers.samples import SampleSet


class Picky:
    """Reads token ids below 10."""

    name, views, identity = "picky", ("meaning",), "picky"
    signature = {"embedder": "picky"}  # noqa: RUF012
    reads = frozenset({"tokens"})

    def embed(self, samples):
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
