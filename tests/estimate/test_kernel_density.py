import tracemalloc

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from calipers.estimate.kernel_density import (
    balloon_bandwidth,
    balloon_neighbour,
    confident_density,
    density_at,
    kernel_sums,
    kth_squared,
    resample_counts,
)
from calipers.numeric.distances import sieves


def distances(x, y):
    left, right = np.asarray(x, np.float64), np.asarray(y, np.float64)
    return np.array([np.sqrt(((row - right) ** 2).sum(axis=1)) for row in left])


def kernels(places, points, bandwidth):
    apart = distances(places, points)
    return np.where(apart < bandwidth, np.cos(np.pi / 2 * apart / bandwidth), 0.0)


def test_three_points_by_hand():
    points, places = sieves(np.array([[0.0], [1.0], [3.0]]), np.array([[-1.0], [2.0], [9.0]]))
    half = np.cos(np.pi / 4)  # one apart, where two is the bandwidth
    np.testing.assert_allclose(
        density_at(points, points, bandwidth=2.0), np.array([1 + half, 1 + half, 1]) / 3
    )
    np.testing.assert_allclose(
        density_at(places, points, bandwidth=2.0),
        np.array([half, half + half, 0]) / 3,
        atol=1e-15,
    )
    weights = np.array([[1.0, 0.0], [1.0, 0.0], [1.0, 3.0]])
    sums = kernel_sums(points, points, 2.0, weights)
    np.testing.assert_allclose(sums, [[1 + half, 0], [1 + half, 0], [1, 3]], atol=1e-15)


def test_the_bandwidth_by_hand():
    # In one dimension the fifth nearest other row, 5, 4, 3, 3, 4 and 5 away
    rows, few = sieves(np.array([[0.0], [1], [2], [3], [4], [5]]), np.array([[0.0], [3.0], [4.0]]))
    assert kth_squared(rows, 5).tolist() == [25, 16, 9, 9, 16, 25]
    assert balloon_bandwidth(rows) == 4
    assert balloon_neighbour(3, 1) == 2  # where there are fewer, the farthest
    assert balloon_bandwidth(few) == 4


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize(("offset", "scale"), [(0.0, 1.0), (1e4, 1.0), (0.0, 1e-30)])
def test_equals_the_dense_sums(rng, dtype, offset, scale):
    x = ((rng.standard_normal((150, 6)) + offset) * scale).astype(dtype)
    y = ((rng.standard_normal((90, 6)) * 0.7 + offset) * scale).astype(dtype)
    points, places = sieves(x, y)
    bandwidth = balloon_bandwidth(points)
    expected = np.sort(distances(x, x), axis=1)[:, 30]
    assert bandwidth == pytest.approx(np.median(expected), rel=1e-12)
    weights = rng.random((150, 4))
    sums = kernel_sums(places, points, bandwidth, weights)
    np.testing.assert_allclose(sums, kernels(y, x, bandwidth) @ weights, rtol=1e-9, atol=1e-12)


@settings(max_examples=25)
@given(
    seed=st.integers(0, 2**32 - 1),
    block=st.integers(1, 150),
    threads=st.integers(1, 3),
    grid=st.booleans(),
)
def test_neither_blocks_nor_threads_matter(seed, block, threads, grid):
    rows = np.random.default_rng(seed).standard_normal((130, 3))
    rows = np.round(rows) if grid else rows  # many equal distances
    (points,) = sieves(rows)
    squared = kth_squared(points, 4, block=block, threads=threads)
    np.testing.assert_allclose(np.sqrt(squared), np.sort(distances(rows, rows), axis=1)[:, 4])
    np.testing.assert_array_equal(squared, kth_squared(points, 4, threads=1))
    np.testing.assert_allclose(
        density_at(points, points, bandwidth=1.5, block=block, threads=threads),
        density_at(points, points, bandwidth=1.5, threads=1),
        rtol=1e-13,
    )


def test_copies_are_at_distance_zero():
    (points,) = sieves(np.repeat([[0.1, 0.2], [0.3, 0.7]], 12, axis=0))
    assert kth_squared(points, 11).tolist() == [0.0] * 24
    assert balloon_bandwidth(points) == 0.0
    assert kth_squared(points, 12).min() > 0


def test_the_band_is_a_quantile_of_the_largest_deviations(rng):
    rows = rng.standard_normal((80, 4))
    counts = resample_counts(80, 7, np.random.default_rng(5))
    (points,) = sieves(rows)
    found = confident_density(points, bandwidth=1.7, counts=counts, alpha=0.2)
    drawn = np.random.default_rng(5)
    samples = [rows[drawn.integers(80, size=80)] for _ in range(7)]
    own = kernels(rows, rows, 1.7).mean(axis=1)
    largest = [np.abs(kernels(rows, s, 1.7).mean(axis=1) - own).max() for s in samples]
    np.testing.assert_allclose(found.own, own)
    assert found.band == pytest.approx(np.quantile(largest, 0.8))
    np.testing.assert_array_equal(found.significant, own > np.quantile(largest, 0.8))


def test_resamples_have_the_size_of_the_set():
    counts = resample_counts(50, 9, np.random.default_rng(0))
    assert counts.shape == (50, 9)
    assert counts.sum(axis=0).tolist() == [50] * 9
    assert (np.ptp(counts, axis=1) > 0).any()
    again = resample_counts(50, 9, np.random.default_rng(0))
    np.testing.assert_array_equal(counts, again)


@pytest.mark.slow
def test_memory_stays_far_below_a_matrix_of_all_pairs(rng):
    (points,) = sieves(rng.standard_normal((4000, 3)).astype(np.float32))
    density_at(points, points, bandwidth=balloon_bandwidth(points), threads=1)  # loads
    tracemalloc.start()
    density_at(points, points, bandwidth=balloon_bandwidth(points, threads=1), threads=1)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 4000 * 4000 * 4 / 5
