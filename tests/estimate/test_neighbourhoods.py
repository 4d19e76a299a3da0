"""Neighbours, balls and counts against brute force: all supports, both distances, every k."""

import importlib.util
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from calipers.errors import InputError
from calipers.estimate import Supports, neighbourhoods
from calipers.estimate.knn.nearest import (
    Candidates,
    nearest_between,
    nearest_in_tile,
    nearest_neighbours,
    settle,
)
from calipers.numeric.blocks import Blocks
from calipers.numeric.distances import sieve_limits, sieves, squared_of_pairs
from calipers.numeric.threads import available_threads, workers
from calipers.numeric.tiles import panel_spans, spans, triangle
from calipers.numeric.validation import check_points
from extras import need

_spec = importlib.util.spec_from_file_location(
    "brute_force", Path(__file__).with_name("brute_force.py")
)
oracle = importlib.util.module_from_spec(_spec)
_spec.loader.exec_module(oracle)


def counts_of(near, k):
    return (
        near.reference.held[:, k - 1],
        near.reference.inside[:, k - 1],
        near.generated.held[:, k - 1],
        near.generated.inside[:, k - 1],
    )


def assert_counts(near, expected, k):
    for found, wanted in zip(counts_of(near, k), expected, strict=True):
        np.testing.assert_array_equal(found, wanted)


def test_four_points_by_hand():
    # Reference 0, 1, 3, 7 on a line: nearest-neighbour radii 1, 1, 2, 4.
    # Generated 2, 4, 5, 20: radii 2, 1, 1, 15.
    near = neighbourhoods([[0.0], [1], [3], [7]], [[2.0], [4], [5], [20]], k=1)
    np.testing.assert_array_equal(near.reference.radii[:, 0], [1, 1, 2, 4])
    np.testing.assert_array_equal(near.generated.radii[:, 0], [2, 1, 1, 15])
    # 2 lies in the balls of 1 (on the rim) and 3; 4 and 5 in those of 3 and 7; 20 in none
    np.testing.assert_array_equal(near.reference.inside[:, 0], [2, 2, 2, 0])
    np.testing.assert_array_equal(near.reference.held[:, 0], [0, 1, 3, 2])
    # 0 lies in the ball of 2; 1 likewise; 3 in those of 2 and 4 (rim); 7 in that of 20 alone
    np.testing.assert_array_equal(near.generated.inside[:, 0], [1, 1, 2, 1])


def test_open_balls_leave_the_rim_out():
    near = neighbourhoods([[0.0], [1], [3], [7]], [[2.0], [4], [5], [20]], k=1, ties="open")
    np.testing.assert_array_equal(near.reference.inside[:, 0], [1, 2, 1, 0])


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("closed", [True, False])
@pytest.mark.parametrize(("n", "m", "d"), [(300, 200, 5), (157, 411, 64), (90, 90, 1)])
def test_equals_brute_force(rng, dtype, closed, n, m, d):
    reference = rng.standard_normal((n, d)).astype(dtype)
    generated = (rng.standard_normal((m, d)) * 1.2 + 0.1).astype(dtype)
    ties = "closed" if closed else "open"
    near = neighbourhoods(reference, generated, k=2, k_max=6, ties=ties, block_size=64)
    for k in range(1, 7):
        assert_counts(near, oracle.counts(reference, generated, k, closed=closed), k)


@pytest.mark.parametrize("offset", [0.0, 1e3, 1e6])
@pytest.mark.parametrize("scale", [1e-30, 1.0, 1e12])
def test_equals_brute_force_far_from_the_origin(rng, offset, scale):
    reference = ((rng.standard_normal((120, 16)) + offset) * scale).astype(np.float32)
    generated = ((rng.standard_normal((100, 16)) + offset) * scale).astype(np.float32)
    near = neighbourhoods(reference, generated, k=3)
    assert_counts(near, oracle.counts(reference, generated, 3), 3)


@pytest.mark.parametrize("closed", [True, False])
def test_equals_brute_force_with_many_ties(rng, closed):
    reference = rng.integers(0, 3, (150, 4)).astype(np.float32)
    generated = rng.integers(0, 3, (130, 4)).astype(np.float32)
    near = neighbourhoods(reference, generated, k=4, ties="closed" if closed else "open")
    assert_counts(near, oracle.counts(reference, generated, 4, closed=closed), 4)


def test_near_ties_below_float32_resolution_are_settled(rng):
    # Points on a sphere about a far centre: all distances agree to about 1e-7
    directions = rng.standard_normal((200, 40))
    shell = directions / np.linalg.norm(directions, axis=1, keepdims=True)
    reference = np.concatenate([np.zeros((1, 40)), shell[:100] * (1 + 1e-9)])
    generated = shell[100:]
    near = neighbourhoods(reference, generated, k=5)
    assert_counts(near, oracle.counts(reference, generated, 5), 5)


def test_constant_and_duplicate_rows():
    same = np.ones((40, 8), np.float32)
    near = neighbourhoods(same, same, k=4)
    assert (near.reference.radii == 0).all()
    assert (near.reference.inside[:, 3] == 40).all()
    assert (neighbourhoods(same, same, k=4, ties="open").reference.inside == 0).all()


@settings(max_examples=40)
@given(
    arrays(np.float32, st.tuples(st.integers(6, 25), st.just(3)), elements=st.integers(-3, 3)),
    arrays(np.float32, st.tuples(st.integers(6, 25), st.just(3)), elements=st.integers(-3, 3)),
    st.integers(1, 5),
)
def test_equals_brute_force_on_small_grids(reference, generated, k):
    assert_counts(
        neighbourhoods(reference, generated, k=k), oracle.counts(reference, generated, k), k
    )


@pytest.mark.parametrize("threads", [1, 3])
@pytest.mark.parametrize("block_size", [17, 100, 1024])
def test_neither_threads_nor_blocks_change_anything(rng, threads, block_size):
    reference, generated = rng.standard_normal((2, 230, 12)).astype(np.float32)
    labels = Blocks.balanced(230, seed=1), Blocks.balanced(230, seed=1)
    plain = neighbourhoods(reference, generated, k=4, blocks=labels, threads=1)
    other = neighbourhoods(
        reference, generated, k=4, blocks=labels, threads=threads, block_size=block_size
    )
    for side in ("reference", "generated"):
        one, two = getattr(plain, side), getattr(other, side)
        np.testing.assert_array_equal(one.radii, two.radii)
        for name in ("held_without", "held_from", "inside_without"):
            np.testing.assert_array_equal(
                getattr(one.replicates, name), getattr(two.replicates, name)
            )


def test_row_order_changes_nothing(rng):
    reference, generated = rng.standard_normal((2, 150, 7)).astype(np.float32)
    shuffle = rng.permutation(150)
    plain = neighbourhoods(reference, generated, k=3)
    moved = neighbourhoods(reference[shuffle], generated[::-1], k=3)
    np.testing.assert_array_equal(moved.reference.held, plain.reference.held[shuffle])
    np.testing.assert_array_equal(moved.reference.inside, plain.reference.inside[::-1])
    np.testing.assert_array_equal(moved.generated.inside, plain.generated.inside[shuffle])


def test_swapping_the_sides_swaps_the_balls(rng):
    reference, generated = rng.standard_normal((120, 6)), rng.standard_normal((80, 6))
    one = neighbourhoods(reference, generated, k=3)
    two = neighbourhoods(generated, reference, k=3)
    np.testing.assert_array_equal(one.reference.held, two.generated.held)
    np.testing.assert_array_equal(one.generated.inside, two.reference.inside)


@pytest.mark.parametrize("ties", ["closed", "open"])
def test_replicates_equal_a_run_without_the_block(rng, ties):
    reference, generated = rng.standard_normal((2, 160, 6)).astype(np.float32)
    labels = Blocks.balanced(160, seed=3, count=8)
    near = neighbourhoods(reference, generated, k=4, ties=ties, blocks=(labels, labels))
    for block in range(8):
        kept = labels.labels != block
        fewer = neighbourhoods(reference[kept], generated, k=4, ties=ties)
        replicates = near.reference.replicates
        np.testing.assert_array_equal(
            replicates.inside_without[:, block], fewer.reference.inside[:, 3]
        )
        np.testing.assert_array_equal(
            replicates.held_without[kept, block], fewer.reference.held[:, 3]
        )
        np.testing.assert_array_equal(near.generated.inside[kept, 3], fewer.generated.inside[:, 3])
        np.testing.assert_array_equal(
            near.generated.held[:, 3] - near.generated.replicates.held_from[:, block],
            fewer.generated.held[:, 3],
        )


@pytest.mark.parametrize("block", [48, None])
def test_the_nearest_rows_of_another_set_are_found_on_both_sides(rng, block):
    sets = rng.integers(0, 4, (130, 3)).astype(np.float32), rng.standard_normal((70, 3))
    left, right = sieves(*sets)
    squared = ((sets[0][:, None].astype(float) - sets[1]) ** 2).sum(axis=2)
    found = nearest_between(left, right, k=6, threads=2, block=block)
    for nearest, apart in zip(found, (squared, squared.T), strict=True):
        order = np.argsort(apart, axis=1, kind="stable")[:, :6]
        np.testing.assert_array_equal(nearest.index, order)
        np.testing.assert_allclose(nearest.squared, np.take_along_axis(apart, order, axis=1))


def test_of_a_small_set_all_rows_are_nearest():
    left, right = sieves(np.array([[0.0], [5.0]]), np.array([[1.0], [2.0], [9.0]]))
    ours, theirs = nearest_between(left, right, k=3, threads=1)
    assert ours.index.tolist() == [[0, 1, 2], [1, 0, 2]]
    assert theirs.index.tolist() == [[0, 1], [0, 1], [1, 0]]


def test_tiles_merge_in_any_order_from_empty_lists(rng):
    (points,) = sieves(rng.standard_normal((200, 9)).astype(np.float32))
    whole = nearest_neighbours(points, k=5, threads=1)
    tiles = triangle(panel_spans(200, 60))
    found = Candidates.empty(200, 5)
    for place in rng.permutation(len(tiles)):
        rows, columns = tiles[place]
        nothing = Candidates.empty(200, 5)
        left, right = nearest_in_tile((points,) * 2, (rows, columns), (nothing,) * 2, same_set=True)
        found.merge(rows, left)
        found.merge(columns, right)
    with workers(1) as pool:
        merged = settle(found, points, points, 5, pool, same_set=True)
    np.testing.assert_array_equal(merged.squared, whole.squared)
    np.testing.assert_array_equal(merged.index, whole.index)


def test_equal_distances_are_ordered_by_index():
    (points,) = sieves(np.array([[0.0], [1], [-1], [2], [-2]], np.float32))
    nearest = nearest_neighbours(points, k=4)
    np.testing.assert_array_equal(nearest.index[0], [1, 2, 3, 4])


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_the_distance_is_symmetric_to_the_bit_and_the_same_in_every_kernel(rng, dtype):
    rows = rng.standard_normal((60, 37)).astype(dtype)
    (points,) = sieves(rows)
    nearest = nearest_neighbours(points, k=59)
    for i in range(60):
        others, same = nearest.index[i], np.full(59, i)
        for squared in (
            squared_of_pairs(rows, same, rows, others),
            squared_of_pairs(rows, others, rows, same),
        ):
            np.testing.assert_array_equal(squared, nearest.squared[i])


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"k": 0}, "k .*at least 1.* 0"),
        ({"k": 5}, "k = 5 .*6 samples.*the reference set has 5"),
        ({"k": 2, "ties": "half"}, "unknown value for ties 'half'"),
    ],
)
def test_bad_options(options, words):
    five = np.arange(10.0).reshape(5, 2)
    with pytest.raises(InputError, match=words):
        neighbourhoods(five, np.arange(14.0).reshape(7, 2), **options)


@pytest.mark.parametrize(
    ("generated", "words"),
    [
        (np.zeros(5), r"generated .*shape \(samples, dimensions\).* \(5,\)"),
        (np.zeros((5, 3)), "same number of columns.* 2 and 3"),
        (np.full((5, 2), np.nan), r"5 row\(s\) do not, counted from 1: 1, 2, 3, 4, 5"),
        (np.array([[0, 1], [2, np.inf]]), r"1 row\(s\) do not, counted from 1: 2"),
        (np.array([["a", "b"]]), "real numbers.* dtype <U1"),
        (np.array([[object(), 1]]), "real numbers.* dtype object"),
        (np.zeros((0, 2)), r"at least one row and one column.* \(0, 2\)"),
    ],
)
def test_bad_arrays(generated, words):
    with pytest.raises(InputError, match=words):
        neighbourhoods(np.zeros((5, 2)), generated, k=1)


def test_read_only_strided_and_half_precision_arrays(rng):
    reference = rng.standard_normal((60, 20)).astype(np.float16)
    generated = np.asfortranarray(rng.standard_normal((50, 20)))[:, ::2]
    generated.flags.writeable = False
    near = neighbourhoods(reference[:, ::2], generated, k=3)
    expected = oracle.counts(reference[:, ::2].astype(np.float32), generated, 3)
    assert_counts(near, expected, 3)


def test_replicates_are_of_k_and_not_of_k_max(rng):
    reference = rng.standard_normal((150, 5)).astype(np.float32)
    generated = rng.standard_normal((120, 5)).astype(np.float32)
    labels = Blocks.balanced(150, seed=3, count=6), Blocks.balanced(120, seed=4, count=6)
    near = neighbourhoods(reference, generated, k=2, k_max=5, blocks=labels)
    assert near.reference_blocks is labels[0]
    assert near.generated_blocks is labels[1]
    for block in range(6):
        rows, columns = (side.labels != block for side in labels)
        fewer = neighbourhoods(reference[rows], generated, k=2)
        replicates = near.reference.replicates
        np.testing.assert_array_equal(
            replicates.inside_without[:, block], fewer.reference.inside[:, 1]
        )
        np.testing.assert_array_equal(
            replicates.held_without[rows, block], fewer.reference.held[:, 1]
        )
        fewer = neighbourhoods(reference, generated[columns], k=2)
        np.testing.assert_array_equal(
            near.reference.held[:, 1] - near.reference.replicates.held_from[:, block],
            fewer.reference.held[:, 1],
        )
    assert neighbourhoods(reference, generated, k=2).reference.replicates is None


def test_radii_without_a_block_that_holds_most_of_the_nearest_rows():
    # The eight nearest rows of 0 are all in block 1; without it the ball reaches to 100
    reference = np.array([[0.0], *([x / 10] for x in range(1, 9)), [100.0], [200.0]])
    labels = Blocks(np.array([0] + [1] * 8 + [0, 0]), 2)
    generated = np.array([[50.0], [99.0], [150.0]])
    near = neighbourhoods(reference, generated, k=1, blocks=(labels, Blocks(np.arange(3) % 2, 2)))
    assert near.reference.held[0, 0] == 0
    assert near.reference.replicates.held_without[0, 1] == 2


def test_k_max_never_lies_below_k(rng):
    rows = rng.standard_normal((20, 2))
    assert neighbourhoods(rows, rows, k=5, k_max=2).k_max == 5
    with pytest.raises(InputError, match=r"k = 20 .*21 samples"):
        neighbourhoods(rows, rows, k=3, k_max=20)


def test_sets_of_different_precision_are_compared_in_float64():
    # Both reference radii are 1; the generated row lies a hair outside, which float32 cannot tell
    reference, generated = np.array([[0], [1]], np.float32), np.array([[2 + 1e-12], [9.0]])
    assert neighbourhoods(reference, generated, k=1).reference.inside[0, 0] == 0


def test_rows_that_are_not_usable_are_named_wherever_they_stand():
    rows = np.zeros((9000, 1))
    rows[[4095, 5000, 8999]] = [[np.nan], [1e101], [np.inf]]
    with pytest.raises(InputError, match=r"3 row\(s\) .*: 4096, 5001, 9000$"):
        neighbourhoods(np.zeros((5, 1)), rows, k=1)


def test_there_is_always_a_thread():
    assert available_threads(0) == 1
    assert available_threads(3) == 3
    assert available_threads() >= 1


@pytest.mark.parametrize("threads", [1, 2])
def test_workers_give_every_result_in_order(threads):
    with workers(threads) as pool:
        assert list(pool.map(lambda piece: 2 * piece, range(50))) == list(range(0, 100, 2))


def test_a_triangle_holds_every_pair_of_spans_once():
    rows = spans(25, 10)
    assert rows == [(0, 10), (10, 20), (20, 25)]
    assert set(triangle(rows)) == {(rows[i], rows[j]) for i in range(3) for j in range(i, 3)}
    assert len(triangle(rows)) == 6


@pytest.mark.parametrize("scale", [1e-60, 1e30, 1e60, 1e99])
def test_equals_brute_force_where_float32_squares_would_not_fit(rng, scale):
    reference, generated = rng.standard_normal((2, 60, 5)) * scale
    near = neighbourhoods(reference, generated, k=3)
    assert_counts(near, oracle.counts(reference, generated, 3), 3)


@pytest.mark.parametrize(
    ("given", "taken"),
    [("f2", "f4"), ("f4", "f4"), ("f8", "f8"), ("i1", "f4"), ("u2", "f4"), ("i4", "f8")],
)
def test_numbers_are_converted_once_to_a_float_that_holds_them(given, taken):
    assert check_points(np.ones((2, 2), given), "x").dtype == np.dtype(taken)


@pytest.mark.parametrize("block", [7, 16, 1024])
def test_of_equally_near_rows_those_of_lowest_index_are_kept(rng, block):
    rows = rng.integers(0, 3, (80, 3)).astype(np.float32)
    (points,) = sieves(rows)
    nearest = nearest_neighbours(points, k=3, threads=1, block=block)
    squared = oracle.squared_distances(rows, rows)
    np.fill_diagonal(squared, np.inf)
    order = np.argsort(squared, axis=1, kind="stable")[:, :3]
    np.testing.assert_array_equal(nearest.index, order)
    np.testing.assert_array_equal(nearest.squared, np.take_along_axis(squared, order, axis=1))


@pytest.mark.parametrize("d", [1, 24, 300])
@pytest.mark.parametrize("offset", [0.0, 50.0])
def test_a_bound_of_the_sieve_never_lies_above_the_distance(rng, d, offset):
    # Rows in two far clusters: within one, the float32 products cancel nearly all of the lengths
    rows = rng.standard_normal((120, d)) + offset * np.repeat([[-1], [1]], 60, axis=0)
    (points,) = sieves(rows)
    products = points.rows @ points.rows.T
    low = points.low[:120]
    sums = low[:, None] + low[None, :]
    bounds = sums - products
    squared = oracle.squared_distances(rows, rows)
    assert (bounds < points.threshold(squared)).all()
    assert (bounds + points.gap * sums >= points.half_scale * squared).all()
    # Nor far below it, or everything would pass
    assert (bounds >= points.half_scale * squared - 1e-3 * low.max()).all()


def test_thresholds_are_rounded_up(rng):
    squared = np.concatenate([rng.random(2000) * 10.0 ** rng.integers(-20, 20, 2000), [0.0]])
    for half_scale in (0.5, 2.0**-41, 2.0**31):
        assert (sieve_limits(squared, half_scale) >= squared * half_scale).all()
    assert sieve_limits(np.array([np.nan, np.inf]), 0.5).tolist() == [np.inf, np.inf]


def test_a_hair_closer_is_closer_also_once_the_limit_is_tight():
    # Twenty pairs of twins around the last row, each pair closer to it by two parts in 10⁸
    shell = np.concatenate([np.eye(10), -np.eye(10)]) * (1 - 2e-8 * np.arange(20))[:, None]
    rows = np.concatenate([np.stack([shell, shell * 1.001], axis=1).reshape(40, 10), [[0.0] * 10]])
    (points,) = sieves(rows)
    nearest = nearest_neighbours(points, k=1, threads=1)
    assert nearest.index[40, 0] == 38


def test_tensors_come_without_gradients_and_half_precision_once():
    torch = need("torch")
    rows = torch.linspace(0, 1, 12).reshape(4, 3)
    for tensor in (rows, rows.requires_grad_(), rows.bfloat16(), rows.half()):
        taken = check_points(tensor, "x")
        assert taken.dtype == np.float32
        np.testing.assert_allclose(taken, rows.detach().numpy(), atol=4e-3)


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ([[1.0, 2.0], [3.0]], "x .*an array of numbers"),
        (np.ma.masked_equal([[1.0, 2.0], [3.0, 4.0]], 2), "x .*no masked values.* 1"),
        (np.array([["a", "b"]]), "x .*real numbers.* dtype <U1"),
    ],
)
def test_what_is_no_array_of_numbers_is_refused(given, message):
    with pytest.raises(InputError, match=message):
        check_points(given, "x")


ALL = Supports(capped=3, smaller=3, spread=(3, 1.2))


def assert_supports(reference, generated, *, ties="closed", exact=True, **options):
    near = neighbourhoods(reference, generated, k=2, supports=ALL, ties=ties, **options)
    for balls, owners, guests in (
        (near.reference, reference, generated),
        (near.generated, generated, reference),
    ):
        capped, depth, missed, own = oracle.supports(
            owners, guests, 3, 1.2, closed=ties == "closed"
        )
        if exact:
            np.testing.assert_array_equal(balls.capped, capped)
            np.testing.assert_array_equal(balls.capped_own, own)
        np.testing.assert_allclose(balls.realism, depth, rtol=1e-6)
        np.testing.assert_allclose(balls.missed, missed, atol=2e-6)
        across = oracle.squared_distances(owners, guests)
        np.testing.assert_array_equal(balls.nearest, across.argmin(axis=0))
        np.testing.assert_allclose(balls.distance**2, across.min(axis=0), rtol=1e-12)
        within = oracle.squared_distances(owners, owners)
        np.fill_diagonal(within, np.inf)
        np.testing.assert_array_equal(balls.own_nearest, within.argmin(axis=1))


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("ties", ["closed", "open"])
@pytest.mark.parametrize(("n", "m", "d"), [(130, 210, 6), (96, 48, 90), (60, 61, 1)])
def test_equal_brute_force(rng, dtype, ties, n, m, d):
    reference = rng.standard_normal((n, d)).astype(dtype)
    generated = (rng.standard_normal((m, d)) * 1.2 + 0.1).astype(dtype)
    generated[:3] = reference[:3]
    assert_supports(reference, generated, ties=ties, block_size=64)


def test_equal_brute_force_in_tight_clusters_far_apart(rng):
    # From cluster to cluster 2,000, within them about 0.01: float32 products tell nothing there
    centres = np.array([[1e3, 0, 0], [-1e3, 0, 0]])
    reference = centres[np.arange(80) % 2] + rng.standard_normal((80, 3)) * 0.01
    generated = centres[np.arange(70) % 2] + rng.standard_normal((70, 3)) * 0.01
    assert_supports(reference, generated, block_size=48)


@settings(max_examples=40)
@given(
    arrays(np.float32, st.tuples(st.integers(5, 25), st.just(2)), elements=st.integers(-2, 2)),
    arrays(np.float32, st.tuples(st.integers(5, 25), st.just(2)), elements=st.integers(-2, 2)),
)
def test_equal_brute_force_on_small_grids(reference, generated):
    # A median between two radii is rounded, and a tie with it may fall either way
    assert_supports(reference, generated, exact=False)


def test_supports_of_four_points_by_hand():
    # Radii of the reference 0, 1, 3, 7 for k = 1: 1, 1, 2, 4; median 1.5, mean 2
    near = neighbourhoods(
        [[0.0], [1], [3], [7]],
        [[2.0], [4], [5.5], [20]],
        k=1,
        supports=Supports(capped=1, smaller=1, spread=(1, 1.0)),
    )
    balls = near.reference
    assert balls.capped.tolist() == [2, 1, 1, 0]  # 2 in those of 1 and 3, 4 in 3's, 5.5 in 7's
    assert balls.capped_own.tolist() == [1, 1, 0, 0]
    assert balls.realism.tolist() == [1, 1 / 3, 1 / 4.5, 1 / 19]  # from 1, whose ball is smaller
    np.testing.assert_allclose(balls.missed, [1 / 4, 1 / 2, 3 / 4, 1])  # 2: d = 2, 1, 1, R = 2
    assert balls.nearest.tolist() == [1, 2, 3, 3]
    assert balls.distance.tolist() == [1, 1, 1.5, 13]
    assert balls.own_nearest.tolist() == [1, 0, 1, 2]
    assert balls.first.tolist() == [1, 1, 1, 2]


def test_what_was_not_asked_for_is_not_there(rng):
    near = neighbourhoods(*rng.standard_normal((2, 20, 3)), k=2)
    assert near.reference.capped is None
    assert near.reference.capped_own is None
    assert near.generated.realism is None
    assert near.generated.missed is None


def test_the_smallest_k_whose_ball_holds_a_guest(rng):
    reference, generated = rng.standard_normal((50, 3)), rng.standard_normal((40, 3)) + 1
    near = neighbourhoods(reference, generated, k=6)
    for guest, first in enumerate(near.reference.first):
        inside = [k for k in range(1, 7) if near.reference.inside[guest, k - 1]]
        assert first == (inside[0] if inside else 7)
    assert {1, 7} <= set(near.reference.first.tolist())


@pytest.mark.parametrize("threads", [1, 3])
@pytest.mark.parametrize("block_size", [48, 100, 1024])
def test_neither_threads_nor_blocks_change_the_supports(rng, threads, block_size):
    reference, generated = rng.standard_normal((2, 230, 12)).astype(np.float32)
    plain = neighbourhoods(reference, generated, supports=ALL, threads=1).reference
    other = neighbourhoods(
        reference, generated, supports=ALL, threads=threads, block_size=block_size
    ).reference
    for name in ("capped", "capped_own", "realism", "nearest", "distance"):
        np.testing.assert_array_equal(getattr(plain, name), getattr(other, name))
    np.testing.assert_allclose(plain.missed, other.missed, atol=1e-6)


def test_capped_balls_of_a_set_with_more_ties_than_are_kept():
    # 30 copies of one point: far more lie on the rim of its ball than neighbours are kept
    reference = np.concatenate([np.zeros((30, 2)), np.eye(2), 5 * np.eye(2)])
    near = neighbourhoods(reference, reference[:10], k=2, supports=Supports(capped=2))
    assert near.reference.capped_own.tolist() == [29] * 30 + [0] * 4
    assert near.reference.capped.tolist() == [30] * 10


def test_many_near_ties_leave_the_nearest_exact():
    # A shell whose radii differ by less than float32 can tell, so the candidates do not suffice
    rng = np.random.default_rng(5)
    shell = rng.standard_normal((60, 30))
    shell *= ((1 + 1e-10 * rng.permutation(60)) / np.linalg.norm(shell, axis=1))[:, None]
    near = neighbourhoods(shell, np.zeros((3, 30)), k=1)
    lengths = (shell**2).sum(axis=1)
    assert near.reference.nearest[0] == lengths.argmin()
    assert near.reference.distance[0] == pytest.approx(np.sqrt(lengths.min()), rel=1e-15)


@pytest.mark.parametrize("ties", ["closed", "open"])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_cosine_is_one_less_the_cosine(rng, ties, dtype):
    reference = rng.standard_normal((90, 8)).astype(dtype) * rng.uniform(0.1, 9, (90, 1))
    generated = (rng.standard_normal((70, 8)) + 0.3).astype(reference.dtype)
    near = neighbourhoods(reference, generated, k=3, distance="cosine", ties=ties, supports=ALL)
    one, two = (x / np.linalg.norm(x, axis=1, keepdims=True) for x in (reference, generated))
    cosine = 1 - one @ two.T
    np.testing.assert_allclose(near.reference.distance, cosine.min(axis=0), atol=1e-12)
    own = np.sort(1 - one @ one.T, axis=1)[:, 1:4]
    np.testing.assert_allclose(near.reference.radii, own, atol=1e-12)
    holds = cosine <= own[:, 2:] if ties == "closed" else cosine < own[:, 2:]
    np.testing.assert_array_equal(near.reference.inside[:, 2], holds.sum(axis=0))
    radius = 1.2 * own[:, 2].mean()
    missed = np.where(cosine <= radius, cosine / radius, 1).prod(axis=0)
    np.testing.assert_allclose(near.reference.missed, missed, atol=2e-6)


def test_the_length_of_a_row_does_not_matter_to_the_cosine(rng):
    reference, generated = rng.standard_normal((2, 60, 5))
    plain = neighbourhoods(reference, generated, distance="cosine")
    scaled = neighbourhoods(reference * 2.0 ** rng.integers(-9, 9, (60, 1)), generated,
                            distance="cosine")  # fmt: skip
    np.testing.assert_array_equal(plain.reference.inside, scaled.reference.inside)
    np.testing.assert_array_equal(plain.generated.inside, scaled.generated.inside)


def test_rows_of_zeros_have_no_direction():
    rows = np.eye(6)
    rows[3] = 0
    with pytest.raises(InputError, match=r"generated: .*zero; 1 row\(s\).* row 4$"):
        neighbourhoods(np.eye(6), rows, k=1, distance="cosine")


def test_bad_choices_are_refused(rng):
    pair = rng.standard_normal((2, 20, 3))
    with pytest.raises(InputError, match="value for distance 'l1'"):
        neighbourhoods(*pair, distance="l1")
    with pytest.raises(InputError, match=r"k of capped .*at least 1"):
        neighbourhoods(*pair, supports=Supports(capped=0))
    with pytest.raises(InputError, match=r"factor of spread .*1e\+06; found -1"):
        neighbourhoods(*pair, supports=Supports(spread=(4, -1)))
    with pytest.raises(InputError, match="k = 20 needs at least 21 samples"):
        neighbourhoods(*pair, supports=Supports(smaller=20))
