"""Sets of rows seen as one, and the numbers of their different rows."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from calipers.numeric.row_sets import RowSets, row_ranks


def by_bytes(rows):
    """Numbers of the different rows by the bytes of whole rows, as numpy sorts them."""
    plain = np.ascontiguousarray(rows + 0.0)
    raw = plain.view(np.dtype((np.void, plain.itemsize * plain.shape[1]))).ravel()
    return np.unique(raw, return_inverse=True)[1].ravel()


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("d", [1, 2, 3, 9])
@settings(max_examples=25)
@given(
    seed=st.integers(0, 10_000),
    n=st.integers(0, 60),
    m=st.integers(1, 60),
    values=st.sampled_from([1, 2, 5, 1_000]),
)
def test_ranks_are_those_of_the_bytes(dtype, d, seed, n, m, values):
    rng = np.random.default_rng(seed)
    sets = [rng.integers(-values, values, (size, d)).astype(dtype) / 7 for size in (n, m)]
    np.testing.assert_array_equal(row_ranks(*sets), by_bytes(np.concatenate(sets)))


def test_rows_that_differ_in_the_last_column_alone(rng):
    rows = np.repeat(rng.standard_normal((1, 41)).astype(np.float32), 9, axis=0)
    rows[:, -1] = [3, 1, 2, 3, 1, 1, 2, 0, 0]
    np.testing.assert_array_equal(row_ranks(rows), by_bytes(rows))


def test_zeros_of_either_sign_are_equal():
    rows = np.array([[0.0, 1.0], [-0.0, 1.0], [0.0, -0.0]])
    ranks = row_ranks(rows)
    assert ranks[0] == ranks[1] != ranks[2]


def test_copies_take_no_look_at_every_column(rng, monkeypatch):
    looked = []
    take = RowSets.take
    monkeypatch.setattr(
        RowSets, "take", lambda self, *given: looked.append(len(given)) or take(self, *given)
    )
    rows = np.repeat(rng.standard_normal((2, 400)), 50, axis=0)
    assert row_ranks(rows).max() == 1
    assert looked.count(2) == 1  # a stretch of columns; whole rows settle the rest


def test_rows_of_several_sets(rng):
    sets = tuple(rng.standard_normal((size, 3)) for size in (5, 0, 7))
    rows, whole = RowSets(sets), np.concatenate(sets)
    index = np.array([11, 0, 5, 4, 4])
    np.testing.assert_array_equal(rows.take(index), whole[index])
    np.testing.assert_array_equal(rows.take(index, slice(1, 3)), whole[index, 1:3])
    copied = rows.copied(index, np.float32)
    np.testing.assert_array_equal(copied, whole[index].astype(np.float32))


@pytest.mark.parametrize("n", [1, 4096, 9_000])
def test_blocks_are_all_rows_in_their_order(n):
    sets = np.arange(n)[:, None].astype(float), np.arange(n, n + 5)[:, None].astype(float)
    found = np.concatenate([part for _, part in RowSets(sets).blocks()])
    np.testing.assert_array_equal(found[:, 0], np.arange(n + 5))
    index = np.arange(n + 5)[::-1]
    placed = np.empty(n + 5)
    for place, part in RowSets(sets).blocks(index):
        placed[place] = part[:, 0]
    np.testing.assert_array_equal(placed, index)
