"""Sums over pairs of rows, in tiles and by group, against whole matrices."""

import numpy as np
import pytest

from calipers.estimate.pairwise import (
    Rows,
    _sum,
    centred,
    exact_tiles,
    gaussian,
    group_sums,
    median_distance,
    pair_sums,
    squared_distances,
    swift_tiles,
)
from calipers.numeric.threads import Workers, workers


def exact(x, y):
    wide = np.asarray(x, np.longdouble), np.asarray(y, np.longdouble)
    return np.array([((row - wide[1]) ** 2).sum(axis=1) for row in wide[0]])


@pytest.mark.parametrize("offset", [0.0, 1e6, -1e90])
def test_squared_distances_keep_their_digits(rng, offset):
    x = rng.standard_normal((60, 5)) * 1e-3 + offset
    y = np.concatenate([x[:20], x[20:40] + 1e-9, rng.standard_normal((9, 5)) + offset])
    found, expected = squared_distances(*centred(x, y)), exact(x, y).astype(float)
    np.testing.assert_allclose(found, expected, rtol=1e-11, atol=0)
    assert found[0, 0] == 0


def test_two_far_modes_of_tiny_spread(rng):
    modes = np.repeat([[0.0], [1e6]], 30, axis=0)
    x, y = (modes + rng.standard_normal((60, 3)) * 1e-6 for _ in range(2))
    np.testing.assert_allclose(
        squared_distances(*centred(x, y)), exact(x, y).astype(float), rtol=1e-9
    )


def test_sums_over_tiles(rng, monkeypatch):
    monkeypatch.setattr("calipers.estimate.pairwise.spans", lambda n: [(0, 7), (7, 20), (20, n)])
    x, y = rng.standard_normal((45, 4)), rng.standard_normal((38, 4))
    sums = pair_sums(*centred(x, y), squared_distances, threads=3)
    assert sums.reference == pytest.approx(float(exact(x, x).sum()), rel=1e-12)
    assert sums.generated == pytest.approx(float(exact(y, y).sum()), rel=1e-12)
    assert sums.across == pytest.approx(float(exact(x, y).sum()), rel=1e-12)


def test_no_row_meets_itself(rng):
    x, y = rng.standard_normal((5, 2)), rng.standard_normal((4, 2))
    sums = pair_sums(
        *centred(x, y),
        lambda one, other: np.ones((len(one.squares), 4 + (len(other.squares) == 5))),
    )
    assert (sums.reference, sums.generated, sums.across) == (20, 12, 20)
    assert sums.unbiased() == 0


@pytest.mark.parametrize("totals", [[np.inf, -np.inf], [1e308, 1e308], [np.nan, 1.0]])
def test_sums_that_overflow_are_nan(totals):
    assert np.isnan(_sum(totals))


def test_threads_change_no_bit_of_a_sum(rng):
    x, y = rng.standard_normal((2100, 3)), rng.standard_normal((1500, 3))
    one, more = (pair_sums(*centred(x, y), squared_distances, threads=t) for t in (1, 4))
    assert one == more


def kernel_of(rows, width):
    apart = ((rows[:, None] - rows) ** 2).sum(axis=2)
    kernel = np.exp(-apart / (2 * width**2))
    np.fill_diagonal(kernel, 0)
    return kernel


@pytest.mark.parametrize("size", [1, 7, 16, 100])
def test_as_brute_force(rng, size):
    rows, labels = rng.standard_normal((53, 3)), np.sort(rng.integers(6, size=53))
    labels[labels == 2] = 1  # a group without rows
    member = labels[:, None] == np.arange(6)
    expected = member.T @ kernel_of(rows, 1.5) @ member
    tiles = exact_tiles(Rows.of(rows), gaussian(1.5))
    found = group_sums(tiles, labels, 6, Workers.alone(), size=size)
    np.testing.assert_allclose(found, expected, atol=1e-12)


def test_swift_tiles_are_those_of_float64(rng):
    rows = rng.standard_normal((300, 20)) * 5
    whole, part = (0, 300), (40, 90)
    moved = Rows.of(rows, rows.mean(axis=0))
    found = swift_tiles(moved, 12.0)(part, whole)
    assert found.dtype == np.float32
    exact = exact_tiles(moved, gaussian(12.0))(part, whole)
    np.testing.assert_allclose(found, exact, atol=2e-6)
    assert abs(found.mean(dtype=np.float64) - exact.mean()) < 1e-7


def test_threads_change_no_bit_of_a_group(rng):
    rows = Rows.of(rng.standard_normal((1_000, 4)))
    labels, found = np.arange(1_000) // 10, []
    for threads in (1, 3):
        with workers(threads) as pool:
            found.append(group_sums(swift_tiles(rows, 2.0), labels, 100, pool))
    np.testing.assert_array_equal(*found)


@pytest.mark.parametrize("n", [2, 3, 251, 600])
def test_the_median_is_that_of_numpy(rng, n):
    rows = rng.standard_normal((n, 3))
    sides = Rows.of(rows[: n // 2]), Rows.of(rows[n // 2 :])
    apart = np.sqrt(((rows[:, None] - rows) ** 2).sum(axis=2))[np.triu_indices(n, 1)]
    found = median_distance(sides, Workers.alone(), seed=0, most=1_000)
    assert found == pytest.approx(np.median(apart), rel=1e-12)


def test_a_single_row_has_no_distance():
    one, none = Rows.of(np.ones((1, 2))), Rows.of(np.ones((0, 2)))
    assert median_distance((one, none), Workers.alone(), seed=0, most=10) == 0
