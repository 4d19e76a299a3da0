"""The sieve spares work: what it settles it does not look at again, whatever the answer is.

Results stay exact where it does not, so no comparison with a brute force can see the difference.
"""

import numpy as np
import pytest

from calipers.estimate import Supports, neighbourhoods
from calipers.estimate.knn import passes
from calipers.estimate.knn.ball_counts import BallCounts, count_tile
from calipers.estimate.knn.balls import radii_of
from calipers.estimate.knn.nearest import Candidates, nearest_neighbours, settle
from calipers.estimate.knn.neighbourhoods import Work
from calipers.estimate.knn.passes import LocalPasses
from calipers.numeric.blocks import Blocks
from calipers.numeric.distances import sieves
from calipers.numeric.threads import Workers


def candidates(bound, which):
    return Candidates(np.array(bound, np.float32), np.array(which, np.int64))


def test_merging_keeps_the_smallest_bounds_of_both():
    bound = [[1, 4, 6], [1, 2, 3], [5, np.inf, np.inf]]
    found = candidates(bound, [[1, 4, 6], [1, 2, 3], [5, -1, -1]])
    part = candidates([[2, 5, 9], [4, 5, 6], [3, 4, np.inf]], [[20, 50, 90], [4, 5, 6], [3, 4, -1]])
    found.merge((0, 3), part)
    assert found.bound.tolist() == [[1, 2, 4], [1, 2, 3], [3, 4, 5]]
    assert found.which.tolist() == [[1, 20, 4], [1, 2, 3], [3, 4, 5]]


def test_merging_touches_no_other_rows():
    found = Candidates.empty(3, 1)
    found.merge((1, 2), candidates([[0.5]], [[7]]))
    assert found.which[:, 0].tolist() == [-1, 7, -1]


def test_a_row_is_compared_with_all_others_only_where_its_candidates_leave_it_open():
    # The candidates leave out the true nearest, 1, which would not be missed if all were looked at
    guests, owners = sieves(np.array([[0.0], [0.0]]), np.array([[4.0], [1.0], [3.0]]))
    sure, unsure = 4.0 * 4 * owners.half_scale, 3.0 * 3 * owners.half_scale
    given = candidates([[0, sure], [0, unsure]], [[2, 0], [2, 0]])
    found = settle(given, guests, owners, 1, Workers.alone(), same_set=False)
    assert found.index[:, 0].tolist() == [2, 1]
    assert found.squared[:, 0].tolist() == [9, 1]


@pytest.mark.parametrize(("kept", "short"), [(2, 3), (3, 0)])
def test_radii_are_short_only_where_too_few_neighbours_are_known(kept, short):
    # The two nearest of 0, -5.5 and 9 all lie in the block that is not their own: without it,
    # their nearest is the third. A row's own block is never taken away from it.
    (points,) = sieves(np.array([[0.0], [1.0], [2.1], [-5.0], [-5.5], [9.0]]))
    nearest = nearest_neighbours(points, k=kept, threads=1)
    blocks = Blocks(np.array([0, 1, 1, 0, 1, 0]), 2)
    found = radii_of(nearest, k=1, k_max=1, blocks=blocks, supports=Supports())
    assert found[1] == short


def test_near_ties_across_tiles_leave_the_nearest_exact():
    # Five owners that float32 cannot tell apart, the nearest in a later tile than the others.
    # Their balls are small and five guests lie nearer to it, so only its bound lets it through.
    for seed in range(40):
        rng = np.random.default_rng(seed)
        rows = rng.standard_normal((96, 30))
        rows /= np.linalg.norm(rows, axis=1)[:, None]
        rows[:4] *= 1 + 1e-10 * rng.uniform(1, 2, (4, 1))
        rows[4:8], rows[49] = rows[:4] * 1.001, rows[48] * 1.001
        rows[8:48] *= 2
        rows[50:] *= 2
        guests = np.concatenate([np.repeat(rows[48:49] * 0.95, 48, axis=0), np.zeros((2, 30))])
        near = neighbourhoods(rows, guests, k=1, block_size=48, threads=1)
        assert near.reference.nearest[48:].tolist() == [48, 48]


def test_the_deepest_ball_may_be_one_whose_distance_was_not_computed_again():
    # 10 lies 1/2 from 9.5, so close that the product cancels, and 3 from 13, good as it is
    right = np.array([9.25, 9.5, 13.0, 15.0, 40.0, 50.0])  # radii 1/4, 1/4, 2, 2, 10, 10
    reference, generated = np.r_[right, -right][:, None], np.array([[10.0], [-10.0]])
    near = neighbourhoods(reference, generated, k=1, supports=Supports(smaller=1))
    np.testing.assert_allclose(near.reference.realism, [2 / 3, 2 / 3])


def test_the_pass_across_finds_the_nearest_on_both_sides_by_their_bounds(rng):
    work = Work(2, 2, True, "euclidean", Supports(), LocalPasses(1, 48))
    sets = rng.standard_normal((110, 4)), rng.standard_normal((70, 4))
    sides = [
        work.side(points, Blocks.none(len(points.points))) for points in sieves(*sets, threads=1)
    ]
    apart = np.array([((row - sets[1]) ** 2).sum(axis=1) for row in sets[0]])
    of_reference, of_generated = work.count_across(*sides)
    assert of_reference.counts.which[:, 0].tolist() == apart.argmin(axis=0).tolist()
    assert of_generated.counts.which[:, 0].tolist() == apart.argmin(axis=1).tolist()


@pytest.mark.parametrize("turned", [False, True])
def test_of_equally_deep_balls_the_first_counts_in_any_order_of_tiles(turned):
    parts = [BallCounts.empty(4, 3, (1, 0, 0), 1) for _ in range(2)]
    parts[0].ratio[:], parts[0].deepest[:] = [2, 3, 1], [0, 1, 0]
    parts[1].ratio[:], parts[1].deepest[:] = [2, 2, 4], [3, 2, 2]
    total = BallCounts.empty(4, 3, (1, 0, 0), 1)
    for part in parts[::-1] if turned else parts:
        total.add(part, slice(0, 4), slice(0, 3))
    assert total.ratio.tolist() == [2, 3, 4]
    assert total.deepest.tolist() == [0, 1, 2]


def test_a_block_size_cuts_the_pass_across_into_such_tiles(rng, monkeypatch):
    seen = []
    monkeypatch.setattr(
        passes,
        "count_tile",
        lambda *tile, **more: seen.append(tile[2:4]) or count_tile(*tile, **more),
    )
    neighbourhoods(*rng.standard_normal((2, 60, 3)), block_size=48, threads=1)
    both = [(0, 48), (48, 60)]
    assert seen == [(rows, columns) for rows in both for columns in both]


def test_where_a_block_leaves_too_few_rows_the_radius_is_the_farthest_one():
    # Without block 0, row 5 has no neighbour: its ball ends at 0, the farthest that it had
    rows = np.arange(6.0)[:, None]
    blocks = Blocks(np.array([0, 0, 0, 0, 0, 1]), 2)
    near = neighbourhoods(rows, [[0.5], [9.5], [10.5], [99], [99], [99]], k=3, blocks=(blocks,) * 2)
    assert near.reference.replicates.held_without[5].tolist() == [2, 0]
