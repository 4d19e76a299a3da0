"""How rows are cut into blocks and halves."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from calipers.errors import InputError
from calipers.numeric.blocks import HALVINGS, Blocks, cluster_sets


def bits(codes):
    """In which half every row lies, shape ``(halvings, rows)``."""
    return np.array([(codes >> np.uint64(h)) & np.uint64(1) for h in range(HALVINGS)], int)


def test_with_equal_cells_any_two_halvings_have_half_of_each_half_in_common():
    halves = bits(Blocks.balanced(96, seed=3).halves)
    assert (halves.sum(axis=1) == 48).all()
    signs = 1 - 2 * halves
    np.testing.assert_array_equal(signs @ signs.T, 96 * np.eye(HALVINGS, dtype=int))


@given(st.integers(32, 400), st.integers(0, 10**6))
@settings(max_examples=40, deadline=None)
def test_of_any_size_they_do_up_to_rounding(n, seed):
    halves = bits(Blocks.balanced(n, seed=seed).halves)
    low, high = n // 32, -(-n // 32)
    for one, other in combinations(halves, 2):
        for a in (0, 1):
            assert 16 * low <= (one == a).sum() <= 16 * high
            for b in (0, 1):
                assert 8 * low <= ((one == a) & (other == b)).sum() <= 8 * high


def test_no_bit_beyond_the_last_halving_is_set_and_all_cells_differ():
    codes = Blocks.balanced(320, seed=0).halves
    assert codes.dtype == np.uint64
    assert (codes >> np.uint64(HALVINGS) == 0).all()
    found, counts = np.unique(codes, return_counts=True)
    assert len(found) == HALVINGS + 1
    assert (counts == 10).all()


def test_the_deal_depends_on_size_and_seed_alone():
    codes = Blocks.balanced(200, seed=5).halves
    np.testing.assert_array_equal(codes, Blocks.balanced(200, seed=5).halves)
    np.testing.assert_array_equal(codes, Blocks.balanced(200, seed=5).halves)
    np.testing.assert_array_equal(codes, Blocks.balanced(200, seed=5, count=7).halves)
    assert (codes != Blocks.balanced(200, seed=6).halves).mean() > 0.9
    assert (codes != Blocks.balanced(201, seed=5).halves[:200]).mean() > 0.9


def test_neither_the_order_of_rows_nor_the_block_tells_the_half(rng):
    blocks = Blocks.balanced(640, seed=0)
    halves = bits(blocks.halves)
    order = np.arange(640) - 319.5
    by_order = np.abs((1 - 2 * halves) @ order) / np.sqrt(640 * (order**2).sum() / 640)
    assert by_order.max() < 4
    by_block = np.array([[(h[blocks.labels == b]).sum() for b in range(20)] for h in halves])
    assert by_block.min() >= 4  # of 32; where blocks were dealt as the cells are, 0 or 32
    assert by_block.max() <= 28


@given(
    st.lists(st.integers(0, 40), min_size=1, max_size=120),
    st.integers(0, 100),
)
@settings(max_examples=50, deadline=None)
def test_clusters_are_never_parted_and_dealt_as_rows_are(labels, seed):
    (clusters,) = cluster_sets([labels])
    halves = Blocks.of(len(labels), clusters, seed=seed, count=10).halves
    for label in set(labels):
        assert len(np.unique(halves[np.array(labels) == label])) == 1
    order = list(dict.fromkeys(labels))
    alone = Blocks.balanced(len(order), seed=seed).halves
    np.testing.assert_array_equal(halves, alone[[order.index(label) for label in labels]])


def test_both_halves_are_all_rows():
    blocks = Blocks.balanced(101, seed=2)
    for halving in range(blocks.halvings):
        first, second = (blocks.half(halving, which) for which in (0, 1))
        np.testing.assert_array_equal(first, ~second)
        np.testing.assert_array_equal(second, bits(blocks.halves)[halving] == 1)
    assert blocks.halvings == HALVINGS == 31


def test_blocks_that_were_not_halved():
    for blocks in (Blocks.none(9), Blocks(np.arange(9) % 3, 3)):
        assert blocks.halvings == 0
        with pytest.raises(InputError, match="the set was not halved"):
            blocks.half(0, 1)
