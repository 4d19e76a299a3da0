import importlib.util
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from calipers.errors import InputError
from calipers.estimate import neighbourhoods
from calipers.estimate.blocks import Blocks
from calipers.estimate.distances import sieves, squared_distance
from calipers.estimate.nearest import (
    Nearest,
    merge_nearest,
    nearest_in_tile,
    nearest_neighbours,
)
from calipers.estimate.tiles import spans, triangle

_spec = importlib.util.spec_from_file_location("oracle", Path(__file__).with_name("oracle.py"))
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


@settings(max_examples=40, deadline=None)
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


def test_tiles_merge_in_any_order_from_empty_lists(rng):
    (points,) = sieves(rng.standard_normal((200, 9)).astype(np.float32))
    whole = nearest_neighbours(points, k=5, threads=1)
    tiles = triangle(spans(200, 60))
    merged = Nearest.empty(200, 5)
    for place in rng.permutation(len(tiles)):
        rows, columns = tiles[place]
        left, right = nearest_in_tile(points, (rows, columns), Nearest.empty(200, 5))
        merge_nearest(merged, rows, left)
        merge_nearest(merged, columns, right)
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
        for squared, j in zip(nearest.squared[i], nearest.index[i], strict=True):
            assert (
                squared_distance(rows[i], rows[j]) == squared_distance(rows[j], rows[i]) == squared
            )


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"k": 0}, "k must be at least 1; found 0"),
        ({"k": 5}, "k = 5 needs at least 6 samples in each set; the reference set has 5"),
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
        (np.zeros(5), r"generated must have shape \(samples, dimensions\); found \(5,\)"),
        (np.zeros((5, 3)), "same number of columns; found 2 and 3"),
        (np.full((5, 2), np.nan), r"5 row\(s\) do not, counted from 1: 1, 2, 3, 4, 5"),
        (np.array([[0, 1], [2, np.inf]]), r"1 row\(s\) do not, counted from 1: 2"),
        (np.array([["a", "b"]]), "must hold real numbers; found dtype <U1"),
        (np.array([[object(), 1]]), "must hold real numbers; found dtype object"),
        (np.zeros((0, 2)), r"at least one row and one column; found \(0, 2\)"),
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
