"""The Fréchet distance with a block of rows left out, from moments, against that of the rest."""

from __future__ import annotations

import numpy as np
import pytest

from calipers.estimate.moments import Moments
from calipers.metrics.frechet import frechet_distance, frechet_score, frechet_without
from calipers.numeric.blocks import Blocks


def without(sets, blocks):
    whole = [Moments.of(points) for points in sets]
    parts = [Moments.by_block(points, labels) for points, labels in zip(sets, blocks, strict=True)]
    return frechet_without(*whole, *parts)


def rest_of(sets, blocks, place, block):
    rest = list(sets)
    rest[place] = sets[place][blocks[place].labels != block]
    return rest


@pytest.mark.parametrize(("n", "m", "d"), [(60, 45, 3), (200, 210, 20), (40, 50, 1)])
def test_equals_the_distance_of_the_rest(rng, n, m, d):
    sets = rng.standard_normal((n, d)) * 3, rng.standard_normal((m, d)) + 0.5
    blocks = tuple(Blocks.balanced(size, seed=0, count=5) for size in (n, m))
    for place, values in enumerate(without(sets, blocks)):
        wanted = [frechet_distance(*rest_of(sets, blocks, place, b)).value for b in range(5)]
        np.testing.assert_allclose(values, wanted, rtol=1e-6)


def test_fewer_rows_than_dimensions(rng):
    sets = rng.standard_normal((30, 50)), rng.standard_normal((30, 50)) + 0.2
    blocks = (Blocks.balanced(30, seed=0, count=3),) * 2
    for place, values in enumerate(without(sets, blocks)):
        wanted = [frechet_distance(*rest_of(sets, blocks, place, b)).value for b in range(3)]
        np.testing.assert_allclose(values, wanted, rtol=1e-6)


def test_by_hand_in_one_dimension():
    # Without the block of 4: mean 1, variance 2 against mean 1, variance 2
    sets = np.array([[0.0], [2.0], [4.0]]), np.array([[0.0], [2.0]])
    blocks = Blocks(np.array([0, 0, 1]), 2), Blocks(np.array([0, 1]), 2)
    ours, theirs = without(sets, blocks)
    assert ours[1] == pytest.approx(0.0, abs=1e-12)
    # The whole reference (mean 2, variance 4) against the single row 2, then 0
    assert theirs == pytest.approx([0 + 4, 4 + 4])


def test_a_set_against_itself_stays_near_zero(rng):
    points = rng.standard_normal((100, 6))
    blocks = (Blocks.balanced(100, seed=0),) * 2
    ours, theirs = without((points, points), blocks)
    np.testing.assert_allclose(ours, theirs, rtol=1e-6)
    assert frechet_score(Moments.of(points), Moments.of(points)).value < 1e-9 < ours.min()


def test_constant_rows_score_zero_without_a_block():
    points = np.ones((40, 3))
    blocks = (Blocks.balanced(40, seed=0, count=4),) * 2
    for values in without((points, points), blocks):
        np.testing.assert_allclose(values, 0, atol=1e-12)
