import numpy as np
import pytest

from calipers.numeric.threads import Workers, workers
from calipers.uncertainty.two_sample import permuted, subsets


def test_all_subsets_are_equally_likely(rng):
    drawn = subsets(rng, 60_000, 2, 4)
    assert (drawn.sum(axis=1) == 2).all()
    _, counts = np.unique(drawn @ [1, 2, 4, 8], return_counts=True)
    assert len(counts) == 6
    assert np.abs(counts - 10_000).max() < 5 * np.sqrt(10_000)


@pytest.mark.parametrize("size", [0, 5])
def test_none_and_all(rng, size):
    assert (subsets(rng, 3, size, 5) == bool(size)).all()


def test_labels_as_they_are_come_first_and_strata_keep_their_sizes():
    seen = []

    def statistic(chosen):
        seen.append(chosen)
        return chosen[:, 0].astype(float)

    value, null = permuted(statistic, [(2, 3), (1, 4)], 150, Workers.alone(), seed=0)
    chosen = np.vstack(seen)
    assert chosen[0].tolist() == [True] * 2 + [False] * 3 + [True] + [False] * 4
    assert value == 1
    assert null.shape == (150,)
    assert (chosen[:, :5].sum(axis=1) == 2).all()
    assert (chosen[:, 5:].sum(axis=1) == 1).all()


def test_threads_and_seed():
    def place(chosen):
        return chosen @ np.arange(10.0)

    def null(seed, threads):
        with workers(threads) as pool:
            return permuted(place, [(5, 5)], 300, pool, seed=seed)[1]

    assert np.array_equal(null(0, 1), null(0, 3))
    assert not np.array_equal(null(0, 1), null(1, 1))
    assert len(np.unique(null(0, 1)[:64] - null(0, 1)[64:128])) > 5  # chunks differ
