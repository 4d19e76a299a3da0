"""The innermost loops against NumPy, in the shapes in which the kernels call them."""

import numba
import numpy as np
import pytest

from calipers.numeric.distances import sieves
from calipers.numeric.simd import (
    HEIGHT,
    LANES,
    PANEL,
    WIDTH,
    Thresholds,
    lowest_bit,
    multiply_panels,
    sift,
)


@numba.njit
def products_of(left, right):
    products = np.full((PANEL, PANEL), np.nan, np.float32)
    multiply_panels(left, 1, right, 0, products)
    return products


@numba.njit
def passing_of(products, rows, columns, row0, column0):
    passing = np.zeros(PANEL, np.uint64)
    found = sift(products, rows, columns, row0, column0, passing)
    return found, passing


@numba.njit
def lowest(mask):
    return lowest_bit(mask)


def test_patches_fill_a_panel():
    assert PANEL % HEIGHT == 0
    assert PANEL % WIDTH == 0
    assert PANEL % LANES == 0


@pytest.mark.parametrize("depth", [1, 2, 17, 384])
def test_products_are_those_of_numpy(rng, depth):
    left, right = rng.standard_normal((2, 2, depth, PANEL)).astype(np.float32)
    expected = left[1].T.astype(np.float64) @ right[0]
    np.testing.assert_allclose(products_of(left, right), expected, atol=2e-6 * depth)


@pytest.mark.parametrize(("row0", "column0"), [(0, 0), (48, 96)])
def test_pairs_pass_by_limit_or_by_gain(rng, row0, column0):
    rows, columns = (
        Thresholds(*rng.standard_normal((4, 144)).astype(np.float32)) for _ in range(2)
    )
    products = rng.standard_normal((PANEL, PANEL)).astype(np.float32)
    found, passing = passing_of(products, rows, columns, row0, column0)
    r, c = slice(row0, row0 + PANEL), slice(column0, column0 + PANEL)
    bound = (rows.low[r, None] + columns.low[c]) - products
    expected = (bound < rows.limit[r, None]) | (bound < columns.limit[c])
    expected |= bound * columns.gain[c] < rows.reach[r, None]
    expected |= bound * rows.gain[r, None] < columns.reach[c]
    bits = (passing[:, None] >> np.arange(PANEL, dtype=np.uint64)) & np.uint64(1)
    np.testing.assert_array_equal(bits.astype(bool), expected)
    assert found == np.count_nonzero(passing)
    assert 0 < expected.mean() < 1


def test_rows_that_only_fill_a_panel_never_pass(rng):
    (points,) = sieves(rng.standard_normal((50, 3)))
    thresholds = Thresholds.of(points.low, np.full(96, np.inf, np.float32))
    _, passing = passing_of(np.zeros((PANEL, PANEL), np.float32), thresholds, thresholds, 0, 48)
    assert passing.tolist() == [0b11] * PANEL  # the two rows that are there
    assert passing_of(np.zeros((PANEL, PANEL), np.float32), thresholds, thresholds, 48, 0)[0] == 2


@pytest.mark.parametrize("place", [0, 1, 5, 47, 63])
def test_the_lowest_bit(place):
    assert lowest(np.uint64(1 << place)) == place
    assert lowest(np.uint64((1 << place) | (1 << 63))) == place


def test_panels_hold_the_rows(rng):
    rows = rng.standard_normal((100, 7)).astype(np.float32)
    (points,) = sieves(rows)
    assert points.panels.shape == (3, 7, PANEL)
    centred = (rows - rows.mean(axis=0)) * np.sqrt(2 * points.half_scale)
    np.testing.assert_allclose(points.rows, centred, atol=1e-6)
    np.testing.assert_array_equal(points.panels[1, :, 3], points.rows[51])
    assert not points.panels[2, :, 4:].any()
    assert np.isinf(points.low[100:]).all()
