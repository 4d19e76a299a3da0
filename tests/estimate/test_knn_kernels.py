"""The loops of the neighbour engine against plain Python, over shapes that fill no panel."""

import importlib.util
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from calipers.estimate import Supports, neighbourhoods
from calipers.estimate.knn.ball_counts import BallCounts
from calipers.estimate.knn.balls import Radii
from calipers.estimate.knn.kernels import (
    count_listed,
    count_members,
    count_own,
    enter_close,
    exact_ratios,
    merge_candidates,
    radii_of_halves,
    radii_without_blocks,
    settle_listed,
    take_neighbours,
)
from calipers.estimate.knn.nearest import nearest_between, nearest_neighbours
from calipers.estimate.knn.ratios import count_within
from calipers.numeric import native
from calipers.numeric.distances import sieves, squared_of_pairs

_spec = importlib.util.spec_from_file_location(
    "brute_force", Path(__file__).with_name("brute_force.py")
)
oracle = importlib.util.module_from_spec(_spec)
_spec.loader.exec_module(oracle)

DTYPES = [np.float32, np.float64]


def grid_rows(rng, n, d, dtype=np.float64):
    """Rows on a coarse grid, so that many distances tie."""
    return (rng.integers(-3, 4, (n, d)) / 2).astype(dtype)


def first_nearest(squared, k):
    """The k nearest of each row, equal ones by index."""
    order = np.ascontiguousarray(np.argsort(squared, axis=1, kind="stable")[:, :k])
    return np.take_along_axis(squared, order, axis=1), order


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize(
    ("n", "d", "k"), [(2, 1, 1), (3, 2, 2), (47, 5, 3), (48, 16, 4), (49, 3, 48), (211, 19, 7)]
)
@pytest.mark.parametrize("block", [48, None])
def test_the_nearest_within_a_set(rng, n, d, k, dtype, block):
    for rows in (grid_rows(rng, n, d, dtype), rng.standard_normal((n, d)).astype(dtype)):
        (points,) = sieves(rows)
        nearest = nearest_neighbours(points, k=k, block=block)
        squared = oracle.squared_distances(rows, rows)
        np.fill_diagonal(squared, np.inf)
        expected, order = first_nearest(squared, k)
        np.testing.assert_allclose(nearest.squared, expected, rtol=1e-13)
        if rows.std() and np.array_equal(rows, np.round(2 * rows) / 2):  # exact on the grid
            np.testing.assert_array_equal(nearest.index, order)


@pytest.mark.parametrize(
    ("n", "m", "d", "k"), [(1, 1, 1, 1), (5, 97, 3, 4), (49, 48, 17, 2), (131, 53, 40, 6)]
)
def test_the_nearest_of_another_set(rng, n, m, d, k):
    left, right = grid_rows(rng, n, d, np.float32), grid_rows(rng, m, d)
    found = nearest_between(*sieves(left, right), k=k, block=48)
    squared = oracle.squared_distances(left, right)
    for nearest, distances in zip(found, (squared, squared.T), strict=True):
        expected, order = first_nearest(distances, min(k, distances.shape[1]))
        np.testing.assert_array_equal(nearest.squared, expected)
        np.testing.assert_array_equal(nearest.index, order)


@pytest.mark.parametrize(("n", "m", "d", "k"), [(97, 5, 3, 4), (49, 148, 17, 2), (131, 53, 40, 6)])
def test_what_lies_within_a_limit_is_found_and_little_else(rng, n, m, d, k):
    left, right = grid_rows(rng, n, d, np.float32), grid_rows(rng, m, d)
    squared = oracle.squared_distances(left, right)
    limits = []
    for distances in (squared, squared.T):  # some equal a distance, some shut out all, some none
        limit = first_nearest(distances, min(k, distances.shape[1]))[0][:, -1]
        limit[::3], limit[1::5] = -1.0, np.inf
        limits.append(limit)
    found = nearest_between(*sieves(left, right), k=k, within=tuple(limits), block=48)
    for nearest, distances, limit in zip(found, (squared, squared.T), limits, strict=True):
        expected, order = first_nearest(distances, min(k, distances.shape[1]))
        inside = expected <= limit[:, None]
        np.testing.assert_array_equal(nearest.squared[inside], expected[inside])
        np.testing.assert_array_equal(nearest.index[inside], order[inside])
        places = nearest.index >= 0
        np.testing.assert_array_equal(np.isfinite(nearest.squared), places)
        row = np.broadcast_to(np.arange(len(limit))[:, None], places.shape)[places]
        np.testing.assert_array_equal(
            nearest.squared[places], distances[row, nearest.index[places]]
        )
        assert not places[limit < 0].all()


@pytest.mark.parametrize("ties", ["closed", "open"])
@pytest.mark.parametrize(
    ("n", "m", "d"), [(3, 2, 1), (47, 49, 2), (48, 96, 16), (97, 60, 33), (211, 7, 5)]
)
def test_counts_of_all_balls(rng, n, m, d, ties):
    for one, other in (
        (grid_rows(rng, n, d), grid_rows(rng, m, d, np.float32)),
        rng.standard_normal((2, max(n, m), d)).astype(np.float32),
    ):
        reference, generated = one[:n], other[:m]
        near = neighbourhoods(reference, generated, k=1, ties=ties, block_size=48)
        expected = oracle.counts(reference, generated, 1, closed=ties == "closed")
        found = (near.reference.held, near.reference.inside, near.generated.held)
        for counts, right in zip((*found, near.generated.inside), expected, strict=True):
            np.testing.assert_array_equal(counts[:, 0], right)


@pytest.mark.parametrize(("n", "m", "d"), [(5, 3, 2), (48, 47, 16), (61, 101, 7)])
def test_further_supports(rng, n, m, d):
    reference, generated = rng.standard_normal((n, d)), rng.standard_normal((m, d)) * 0.9
    generated[: min(n, m) // 3] = reference[: min(n, m) // 3]  # copies, and what comes near them
    generated[-1] = reference[-1] + 1e-4
    supports = Supports(capped=1, smaller=1, spread=(1, 1.2))
    near = neighbourhoods(reference, generated, k=1, supports=supports)
    capped, depth, missed, _ = oracle.supports(reference, generated, 1, 1.2)
    np.testing.assert_array_equal(near.reference.capped, capped)
    np.testing.assert_allclose(near.reference.realism, depth, rtol=1e-6)
    np.testing.assert_allclose(near.reference.missed, missed, rtol=2e-5, atol=1e-12)


@pytest.mark.parametrize(("n", "kept", "part"), [(0, 3, 2), (1, 1, 1), (13, 5, 7), (50, 21, 4)])
def test_merged_candidates_are_the_smallest(rng, n, kept, part):
    bounds = np.sort(rng.standard_normal((n, kept)).astype(np.float32), axis=1)
    more = np.sort(rng.standard_normal((n, part)).astype(np.float32), axis=1)
    index = rng.integers(0, 99, (n, kept))
    more_index = rng.integers(100, 200, (n, part))
    both, which = np.hstack([bounds, more]), np.hstack([index, more_index])
    order = np.argsort(both, axis=1)[:, :kept]
    merge_candidates(bounds, index, more, more_index)
    np.testing.assert_array_equal(bounds, np.take_along_axis(both, order, axis=1))
    np.testing.assert_array_equal(index, np.take_along_axis(which, order, axis=1))


@pytest.mark.parametrize(("n", "known", "blocks"), [(0, 1, 2), (1, 1, 1), (17, 5, 3), (40, 9, 0)])
def test_radii_without_a_block(rng, n, known, blocks):
    squared = np.sort(rng.random((n, known)), axis=1)
    index = rng.integers(0, max(n, 1), (n, known))
    labels = rng.integers(0, max(blocks, 1), n)
    k, without = 2, np.full((n, blocks), np.nan)
    lacking = radii_without_blocks(squared, index, labels, labels, k, without)
    expected_lacking = 0
    for i in range(n):
        for block in range(blocks):
            others = np.flatnonzero(labels[index[i]] != block)
            enough = len(others) >= k
            assert without[i, block] == squared[i, others[k - 1] if enough else -1]
            expected_lacking += not enough and labels[i] != block
    assert lacking == expected_lacking
    assert radii_without_blocks(squared, index, labels, None, k, without) == 0


@pytest.mark.parametrize(("n", "known", "halvings"), [(0, 1, 2), (1, 1, 1), (17, 6, 64), (9, 4, 0)])
def test_radii_of_halves(rng, n, known, halvings):
    squared = np.sort(rng.random((n, known)), axis=1)
    index = rng.integers(0, max(n, 1), (n, known))
    codes = rng.integers(0, 2**64, n, dtype=np.uint64)
    k, halves = 2, np.full((n, halvings), np.nan)
    lacking = radii_of_halves(squared, index, codes, k, halves)
    expected_lacking = 0
    for i in range(n):
        for halving in range(halvings):
            apart = [(int(codes[i]) ^ int(codes[j])) >> halving & 1 for j in index[i]]
            mates = [place for place, differs in enumerate(apart) if not differs]
            enough = len(mates) >= k
            assert halves[i, halving] == squared[i, mates[k - 1] if enough else -1]
            expected_lacking += not enough
    assert lacking == expected_lacking


@pytest.mark.parametrize("closed", [True, False])
@pytest.mark.parametrize(("n", "known"), [(2, 1), (13, 3), (50, 49)])
def test_rows_in_capped_balls_of_their_own_set(rng, n, known, closed):
    rows = grid_rows(rng, n, 2)
    squared = oracle.squared_distances(rows, rows)
    np.fill_diagonal(squared, np.inf)
    nearest, index = first_nearest(squared, known)
    capped = np.where(rng.random(n) < 0.5, nearest[:, -1], nearest[:, 0])
    counts = np.zeros(n, np.int32)
    count_own(nearest, index, capped, rows, closed, counts)
    compare = np.less_equal if closed else np.less
    np.testing.assert_array_equal(counts, compare(squared, capped[:, None]).sum(axis=0))


def radii(rng, n, k_max, blocks, halvings):
    """Some radii, each row's ascending, as wide as the rows lie apart."""
    squared = np.sort(rng.integers(0, 20, (n, k_max)), axis=1) / 4
    without, halves = (rng.integers(0, 20, (n, size)) / 4 for size in (blocks, halvings))
    largest = np.max(np.hstack([squared, without, halves]), axis=1)
    capped = np.minimum(squared[:, -1], 2)
    smaller = np.where(squared[:, -1] < 3, squared[:, -1], -1)
    labels = rng.integers(0, max(blocks, 1), n)
    codes = rng.integers(0, 2**63, n, dtype=np.uint64)
    return Radii(squared, without, largest, capped, smaller, labels, halves, codes)


@pytest.mark.parametrize("closed", [True, False])
@pytest.mark.parametrize("sizes", [(1, 0, 0), (3, 2, 5), (2, 4, 0)])
def test_listed_pairs_count_for_the_balls_of_both(rng, sizes, closed):
    n, m, k = 13, 17, 1
    points = grid_rows(rng, n, 2, np.float32), grid_rows(rng, m, 2)
    owners, others = radii(rng, n, *sizes), radii(rng, m, *sizes)
    counts = BallCounts.empty(n, m, sizes, 1), BallCounts.empty(m, n, sizes, 1)
    rows, columns = np.divmod(rng.permutation(n * m)[: n * m // 2], m)
    count_listed(points, rows, columns, (owners, others), counts, k, closed)
    listed = np.zeros((n, m), bool)
    listed[rows, columns] = True
    squared = oracle.squared_distances(*points)
    for which, (mine, theirs) in enumerate(((owners, others), (others, owners))):
        seen = listed if which == 0 else listed.T
        apart = squared if which == 0 else squared.T
        compare = np.less_equal if closed else np.less
        inside = compare(apart[:, :, None], mine.squared[:, None, :]) & seen[:, :, None]
        first = inside & (np.cumsum(inside, axis=2) == 1)
        np.testing.assert_array_equal(counts[which].held, first.sum(axis=1))
        np.testing.assert_array_equal(counts[which].inside, first.sum(axis=0))
        capped = compare(apart, mine.capped[:, None]) & seen
        np.testing.assert_array_equal(counts[which].capped, capped.sum(axis=0))
        left = compare(apart[:, :, None], mine.without[:, None, :]) & seen[:, :, None]
        left &= mine.labels[:, None, None] != np.arange(sizes[1])
        np.testing.assert_array_equal(counts[which].held_without, left.sum(axis=1))
        np.testing.assert_array_equal(counts[which].inside_without, left.sum(axis=0))
        of_k = inside[:, :, k - 1, None] & (theirs.labels[:, None] == np.arange(sizes[1]))
        np.testing.assert_array_equal(counts[which].held_from, of_k.sum(axis=1))
        bits = (mine.codes[:, None] ^ theirs.codes)[:, :, None]
        bits = bits >> np.arange(sizes[2], dtype=np.uint64) & np.uint64(1)
        half = compare(apart[:, :, None], mine.halves[:, None, :]) & seen[:, :, None] & (bits == 0)
        np.testing.assert_array_equal(counts[which].held_halves, half.sum(axis=1))
        np.testing.assert_array_equal(counts[which].inside_halves, half.sum(axis=0))


@pytest.mark.parametrize("spreads", [(2.0, 3.0), (-1.0, -1.0)])
def test_close_pairs_enter_depths_and_misses(rng, spreads):
    n, m = 11, 7
    points = grid_rows(rng, n, 2), grid_rows(rng, m, 2)
    owners, others = radii(rng, n, 1, 0, 0), radii(rng, m, 1, 0, 0)
    counts = BallCounts.empty(n, m, (1, 0, 0), 1), BallCounts.empty(m, n, (1, 0, 0), 1)
    rows, columns = (grid.ravel() for grid in np.meshgrid(np.arange(n), np.arange(m)))
    enter_close(points, rows, columns, (owners, others), np.array(spreads), counts)
    squared = oracle.squared_distances(*points)
    for which, mine in enumerate((owners, others)):
        apart = squared if which == 0 else squared.T
        with np.errstate(divide="ignore", invalid="ignore"):
            depth = np.where(apart > 0, mine.smaller[:, None] / apart, np.inf)
        depth[mine.smaller < 0] = -1
        best = np.maximum(depth.max(axis=0), 0)
        np.testing.assert_array_equal(counts[which].ratio, best)
        expected = np.where(best > 0, depth.argmax(axis=0), counts[which].deepest)
        np.testing.assert_array_equal(counts[which].deepest, expected)
        missed = np.minimum(apart / spreads[which], 1).prod(axis=0) if spreads[0] > 0 else 1
        np.testing.assert_allclose(counts[which].missed, missed, rtol=1e-12)


def test_listed_others_are_sorted_by_exact_distance(rng):
    points, others = grid_rows(rng, 19, 3, np.float32), grid_rows(rng, 23, 3)
    rows, k = rng.permutation(19)[:11], 4
    which = np.array([rng.permutation(23)[:9] for _ in rows])
    which[rng.random(which.shape) < 0.3] = -1
    squared, index = np.full((11, k), np.inf), np.full((11, k), -1)
    settle_listed(points, rows, others, which, squared, index)
    for r, row in enumerate(rows):
        listed = np.sort(which[r][which[r] >= 0])
        apart = oracle.squared_distances(points[row : row + 1], others[listed])[0]
        order = np.argsort(apart, kind="stable")[:k]
        assert index[r].tolist() == [*listed[order], *[-1] * (k - len(order))]
        np.testing.assert_array_equal(squared[r, : len(order)], apart[order])


def test_the_deepest_ball_is_settled_exactly(rng):
    owners, guests = grid_rows(rng, 9, 2), grid_rows(rng, 31, 2)
    deepest, smaller = rng.integers(-1, 9, 31), rng.random(9)
    ratio = np.full(31, 7.0)
    exact_ratios(owners, guests, smaller, deepest, ratio)
    known = deepest >= 0
    squared = squared_of_pairs(owners, deepest[known], guests, np.flatnonzero(known))
    with np.errstate(divide="ignore"):
        np.testing.assert_array_equal(ratio[known], smaller[deepest[known]] / squared)
    assert (ratio[~known] == 7).all()


@pytest.mark.parametrize("first", [0, 5, 23])
def test_rows_of_both_sets_within_a_radius(rng, first):
    union = grid_rows(rng, 23, 2)
    rows = rng.permutation(23)[:7]
    squared = oracle.squared_distances(union, union)
    radius = squared[rows, rng.integers(0, 23, 7)]
    counts = np.zeros((7, 2), np.int64)
    count_within(union, first, rows, radius, counts)
    inside = squared[rows] <= radius[:, None]
    inside[np.arange(7), rows] = False
    expected = [inside[:, :first].sum(axis=1), inside[:, first:].sum(axis=1)]
    np.testing.assert_array_equal(counts, np.transpose(expected))


@pytest.mark.parametrize(("n", "k", "first"), [(5, 1, 2), (29, 4, 13), (37, 36, 0)])
def test_tiles_of_distances_give_the_nearest_and_who_ties_with_the_last(rng, n, k, first):
    apart = oracle.squared_distances(*[grid_rows(rng, n, 2)] * 2)
    distance, index = np.full((n, k), np.inf), np.full((n, k), -1)
    beyond = np.zeros((n, 2), np.int64)
    for row in range(0, n, 11):
        for column in range(0, n, 7):
            tile = np.ascontiguousarray(apart[row : row + 11, column : column + 7])
            take_neighbours(tile, row, column, distance, index, beyond, first)
    np.fill_diagonal(apart, np.inf)
    expected, order = first_nearest(apart, k)
    np.testing.assert_array_equal(distance, expected)
    np.testing.assert_array_equal(index, order)
    tied = apart == expected[:, -1:]
    tied[np.repeat(np.arange(n), k), order.ravel()] = False
    np.testing.assert_array_equal(beyond[:, 0], tied[:, :first].sum(axis=1))
    np.testing.assert_array_equal(beyond[:, 1], tied[:, first:].sum(axis=1))


@pytest.mark.parametrize("closed", [True, False])
@pytest.mark.parametrize("k_max", [1, 5])
def test_members_of_balls_from_tiles_of_distances(rng, k_max, closed):
    n, m = 13, 9
    apart = rng.integers(0, 9, (n, m)).astype(float)
    levels = np.sort(rng.integers(0, 9, (n + m, k_max)), axis=1).astype(float)
    members, inside = np.zeros((2, n + m, k_max), np.int32)
    for row in range(0, n, 5):
        tile = np.ascontiguousarray(apart[row : row + 5])
        count_members(tile, row, n, levels, closed, members, inside)
    compare = np.less_equal if closed else np.less
    for owners, guests, distances in (
        (slice(0, n), slice(n, n + m), apart),
        (slice(n, n + m), slice(0, n), apart.T),
    ):
        held = compare(distances[:, :, None], levels[owners][:, None, :])
        first = held & (np.cumsum(held, axis=2) == 1)
        np.testing.assert_array_equal(members[owners], first.sum(axis=1))
        np.testing.assert_array_equal(inside[guests], first.sum(axis=0))


EVERYTHING = """
import sys
import numpy as np
from calipers.estimate import Supports, neighbourhoods
from calipers.numeric.blocks import Blocks
rng = np.random.default_rng(11)
made = {}
for n, m, d in ((61, 97, 7), (100, 53, 40)):
    one, other = rng.standard_normal((n, d)), rng.standard_normal((m, d)).astype(np.float32)
    other[:9] = one[:9] + 1e-3
    blocks = Blocks(np.arange(n) % 3, 3), Blocks(np.arange(m) % 3, 3)
    supports = Supports(capped=2, smaller=2, spread=(2, 1.2), across=True)
    near = neighbourhoods(one, other, k=3, k_max=5, blocks=blocks, supports=supports)
    for side in ("reference", "generated"):
        for name, values in vars(getattr(near, side)).items():
            if isinstance(values, np.ndarray):
                made[f"{side} {name} {n}"] = values
assert any(key.startswith("generated missed") for key in made)
np.savez(sys.argv[1], **made)
"""


def test_all_instruction_sets_give_the_same_bits(tmp_path):
    results = []
    for name in native.available_sets():
        path = tmp_path / f"{name}.npz"
        environment = os.environ | {native.VARIABLE: name}
        subprocess.run([sys.executable, "-c", EVERYTHING, str(path)], check=True, env=environment)
        with np.load(path) as saved:
            results.append({key: saved[key] for key in saved.files})
    for result in results[1:]:
        for key, values in result.items():
            np.testing.assert_array_equal(values, results[0][key], err_msg=key)
