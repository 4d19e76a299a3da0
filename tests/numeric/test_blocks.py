"""Blocks and halves of rows and of clusters: balanced, never parted, alike in all sets."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from calipers.errors import InputError
from calipers.numeric.blocks import HALVINGS, Blocks, Clusters, cluster_sets


def bits(codes):
    """In which half every row lies, shape ``(halvings, rows)``."""
    return np.array([(codes >> np.uint64(h)) & np.uint64(1) for h in range(HALVINGS)], int)


def test_with_equal_cells_any_two_halvings_have_half_of_each_half_in_common():
    halves = bits(Blocks.balanced(96, seed=3).halves)
    assert (halves.sum(axis=1) == 48).all()
    signs = 1 - 2 * halves
    np.testing.assert_array_equal(signs @ signs.T, 96 * np.eye(HALVINGS, dtype=int))


@given(st.integers(32, 400), st.integers(0, 10**6))
@settings(max_examples=40)
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
@settings(max_examples=50)
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


def labels(count, each, start=0):
    return [f"c{start + row // each}" for row in range(count * each)]


def blocks_of(clusters, count=20, seed=3):
    return Blocks.of(len(clusters), clusters, seed=seed, count=count)


def placed(names, values):
    """The one value of every label."""
    found = {}
    for name, value in zip(names, values.tolist(), strict=True):
        assert found.setdefault(name, value) == value
    return found


def test_no_cluster_is_parted_and_blocks_are_balanced():
    rng = np.random.default_rng(0)
    names = rng.permutation(labels(90, 3)).tolist()
    (clusters,) = cluster_sets([names])
    for count in (5, 10, 20):
        blocks = blocks_of(clusters, count)
        each = placed(names, blocks.labels)
        held = np.bincount(list(each.values()), minlength=count)
        assert held.min() >= 90 // count
        assert held.max() <= -(-90 // count)
    halves = blocks_of(clusters).halves
    for halving in range(31):
        inside = placed(names, (halves >> np.uint64(halving)) & np.uint64(1))
        assert abs(sum(inside.values()) - 45) <= 3
        assert 0 < sum(inside.values()) < 90


def test_one_label_lies_in_one_place_in_all_sets_and_new_ones_are_balanced():
    reference, first = labels(80, 2), labels(80, 3)[::-1]
    second = labels(40, 2) + labels(60, 2, start=1000)
    third = labels(60, 5, start=1000) + labels(50, 1, start=5000)
    sets = [reference, first, second, third]
    found = cluster_sets(sets)
    every = [name for names in sets for name in names]
    for values in (
        np.concatenate([each.numbers for each in found]),
        np.concatenate([blocks_of(each).labels for each in found]),
        np.concatenate([blocks_of(each).halves for each in found]),
    ):
        placed(every, values)
    numbers = placed(every, np.concatenate([each.numbers for each in found]))
    assert len(set(numbers.values())) == len(numbers)
    fresh = placed(second[80:], blocks_of(found[2]).labels[80:])
    assert set(np.bincount(list(fresh.values()), minlength=20).tolist()) == {3}


def test_names_decide_nothing_and_a_later_system_moves_no_earlier_one():
    sets = [labels(70, 2), labels(50, 3), labels(50, 2, start=900)]
    renamed = [[name[::-1] for name in names] for names in sets]
    for one, other in zip(cluster_sets(sets), cluster_sets(renamed), strict=True):
        np.testing.assert_array_equal(blocks_of(one).labels, blocks_of(other).labels)
        np.testing.assert_array_equal(blocks_of(one).halves, blocks_of(other).halves)
    for one, other in zip(cluster_sets(sets[:2]), cluster_sets(sets), strict=False):
        np.testing.assert_array_equal(blocks_of(one).labels, blocks_of(other).labels)


@pytest.mark.parametrize("given", [120, [f"{row}" for row in range(120)]])
def test_clusters_of_one_row_are_dealt_as_rows_are(given):
    _, clusters = cluster_sets([[f"r{row}" for row in range(100)], given])
    alone = Blocks.balanced(120, seed=3)
    np.testing.assert_array_equal(blocks_of(clusters).labels, alone.labels)
    np.testing.assert_array_equal(blocks_of(clusters).halves, alone.halves)
    rng = np.random.default_rng(5)
    np.testing.assert_array_equal(clusters.shuffled(rng), np.random.default_rng(5).permutation(120))
    np.testing.assert_array_equal(clusters.one_each(0), np.arange(120))


def test_how_many_blocks():
    def blocks(*counts):
        return [each.blocks for each in cluster_sets([labels(c, 2, 1000 * c) for c in counts])]

    assert blocks(40, 60) == [20, 20]
    assert blocks(39, 60) == [10, 10]
    assert blocks(20, 60) == [10, 10]
    assert blocks(19, 60) == [0, 20]
    assert blocks(19, 30, 60) == [0, 10, 10]
    one_large = ["large"] * 500 + labels(60, 2)
    (clusters,) = cluster_sets([one_large])
    assert clusters.worth == 620**2 // (500**2 + 60 * 4) == 1
    assert clusters.blocks == 0


def test_rows_that_are_taken_stay_where_they_were():
    (clusters,) = cluster_sets([labels(50, 4)])
    rows = np.array([7, 3, 150, 151, 20])
    kept = clusters.take(rows)
    np.testing.assert_array_equal(blocks_of(kept).labels, blocks_of(clusters).labels[rows])
    assert kept.sizes.tolist() == [1, 1, 2, 1]


def test_one_row_of_each_and_whole_clusters_in_a_row():
    names = np.random.default_rng(1).permutation(labels(30, 4))
    (clusters,) = cluster_sets([names.tolist()])
    drawn = [clusters.one_each(seed) for seed in range(40)]
    assert all(sorted(names[rows]) == sorted(set(names)) for rows in drawn)
    assert all((np.diff(rows) > 0).all() for rows in drawn)
    assert len(set(np.concatenate(drawn).tolist())) > 110  # of 120 rows: any of them may be drawn
    order = clusters.shuffled(np.random.default_rng(0))
    assert sorted(order.tolist()) == list(range(120))
    assert np.count_nonzero(np.diff(clusters.numbers[order])) == 29


def test_which_sets_correspond_row_by_row():
    one, same, apart, turned = cluster_sets(
        [labels(20, 2), labels(20, 2), labels(20, 2, start=500), labels(20, 2)[::-1]]
    )
    assert one.alike(same)
    assert one.alike(apart)
    assert not one.alike(turned)
    assert not one.alike(apart.take(np.arange(10)))
    assert isinstance(one, Clusters)
