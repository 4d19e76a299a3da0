"""Cells merge into topics as Ward's method has it, then settle; the order of cells is no matter."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.cluster.hierarchy import fcluster, ward

from calipers.explain.merging import _ward, merged


def same(one, two):
    pairs = set(zip(one.tolist(), two.tolist(), strict=True))
    return len(pairs) == len(set(one.tolist())) == len(set(two.tolist()))


def cost(points, weights, groups):
    return sum(
        (
            weights[groups == each]
            * (
                (
                    points[groups == each]
                    - np.average(points[groups == each], axis=0, weights=weights[groups == each])
                )
                ** 2
            ).sum(axis=1)
        ).sum()
        for each in np.unique(groups)
    )


@settings(max_examples=15, deadline=None)
@given(st.integers(0, 10_000), st.integers(2, 40), st.integers(1, 8))
def test_equal_weights_give_scipys_ward(seed, k, groups):
    points = np.random.default_rng(seed).standard_normal((k, 3))
    found = _ward(points, np.ones(k), min(groups, k))
    assert same(found, fcluster(ward(points), min(groups, k), "maxclust"))


@settings(max_examples=15, deadline=None)
@given(st.integers(0, 10_000))
def test_a_weight_is_as_many_points_at_one_place(seed):
    rng = np.random.default_rng(seed)
    points, weights = rng.standard_normal((12, 2)), rng.integers(1, 6, 12)
    whole = fcluster(ward(np.repeat(points, weights, axis=0)), 4, "maxclust")
    first = np.cumsum(weights) - weights
    assert same(_ward(points, weights.astype(float), 4), whole[first])


@settings(max_examples=15, deadline=None)
@given(st.integers(0, 10_000), st.integers(1, 12))
def test_settling_lowers_the_cost_and_empties_nothing(seed, groups):
    rng = np.random.default_rng(seed)
    points, weights = rng.standard_normal((30, 4)), rng.integers(1, 9, 30).astype(float)
    before, after = _ward(points, weights, groups), merged(points, weights, groups)
    assert cost(points, weights, after) <= cost(points, weights, before) + 1e-9
    assert sorted(set(after.tolist())) == list(range(groups))


def test_the_order_of_the_cells_does_not_matter():
    rng = np.random.default_rng(1)
    points, weights = rng.standard_normal((60, 5)), rng.integers(1, 20, 60)
    order = rng.permutation(60)
    assert same(merged(points, weights, 7)[order], merged(points[order], weights[order], 7))


@pytest.mark.parametrize("groups", [1, 3, 9])
def test_points_that_are_all_one(groups):
    found = merged(np.ones((5, 2)), np.ones(5, int), groups)
    assert len(found) == 5
    assert found.max() < groups


def test_a_single_point():
    assert merged(np.zeros((1, 3)), np.array([4]), 12).tolist() == [0]
