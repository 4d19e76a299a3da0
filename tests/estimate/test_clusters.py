"""Clusters in blocks and halves: never parted, balanced, one place for one label in all sets."""

import numpy as np
import pytest

from calipers.numeric.blocks import Blocks, Clusters, cluster_sets


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
