"""Exact distances, panels, products and the sieve over shapes that fill no panel and no vector."""

import os
import subprocess
import sys

import numpy as np
import pytest

from calipers.estimate.measures import NEAR, settle_products
from calipers.numeric import native
from calipers.numeric.distances import (
    centre_and_scale,
    column_sums,
    farthest,
    lay_out_panels,
    sieves,
    squared_of_pairs,
    sum_rows,
)
from calipers.numeric.panels import PANEL
from calipers.numeric.threads import Workers

DTYPES = [np.float32, np.float64]
SHAPES = [(1, 1), (2, 7), (47, 8), (48, 16), (49, 17), (97, 31), (5, 33), (131, 389)]


def rows_of(rng, n, d, dtype):
    return (rng.standard_normal((n, d)) + 3).astype(dtype)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize(("n", "d"), [(0, 3), *SHAPES])
def test_sums_and_deviations_are_those_of_numpy(rng, n, d, dtype):
    rows, sums, centre = rows_of(rng, n, d, dtype), np.full(d, np.nan), rng.standard_normal(d)
    sum_rows(rows, sums)
    np.testing.assert_allclose(sums, rows.sum(axis=0, dtype=np.float64), rtol=1e-13)
    deviations = np.abs(rows.astype(np.float64) - centre)
    assert farthest(rows, centre) == deviations.max(initial=0.0)
    for place in range(0, n * d, max(1, n * d // 7)):  # wherever the farthest stands
        far = rows.copy()
        far.flat[place] = -100
        assert farthest(far, centre) == np.abs(far.astype(np.float64) - centre).max()


@pytest.mark.parametrize("dtype", DTYPES)
def test_the_centre_does_not_depend_on_how_rows_are_shared_out(rng, dtype):
    rows = rows_of(rng, 2500, 5, dtype)
    alone = column_sums(rows, Workers.alone())
    np.testing.assert_allclose(alone, rows.sum(axis=0, dtype=np.float64), rtol=1e-13)
    centre, exponent = centre_and_scale([rows], Workers.alone())
    assert np.abs(rows - centre).max() <= 2.0**exponent


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize(("n", "d"), SHAPES)
def test_rows_are_laid_out_side_by_side(rng, n, d, dtype):
    rows, centre = rows_of(rng, n, d, dtype), rng.standard_normal(d)
    count = -(-n // PANEL)
    panels, low = np.zeros((count, d, PANEL), np.float32), np.full(n, np.nan, np.float32)
    lay_out_panels(rows, centre, 0.25, 0.5, panels, low)
    expected = (rows.astype(np.float64) - centre) * 0.25
    laid = panels.transpose(0, 2, 1).reshape(-1, d)
    np.testing.assert_array_equal(laid[:n], expected.astype(np.float32))
    assert not laid[n:].any()
    np.testing.assert_allclose(low, 0.5 * (expected**2).sum(axis=1), rtol=1e-6)


@pytest.mark.parametrize("dtypes", [(x, y) for x in DTYPES for y in DTYPES])
@pytest.mark.parametrize("d", [1, 7, 15, 16, 17, 32, 389])
def test_exact_distances_are_those_of_differences(rng, d, dtypes):
    left, right = rows_of(rng, 11, d, dtypes[0]), rows_of(rng, 13, d, dtypes[1])
    i, j = (grid.ravel() for grid in np.meshgrid(np.arange(11), np.arange(13)))
    squared = squared_of_pairs(left, i, right, j)
    gaps = left[i].astype(np.float64) - right[j]
    np.testing.assert_allclose(squared, (gaps**2).sum(axis=1), rtol=1e-14)
    np.testing.assert_array_equal(squared_of_pairs(right, j, left, i), squared)
    assert len(squared_of_pairs(left, i[:0], right, j[:0])) == 0
    np.testing.assert_array_equal(  # every second pair: views that are not contiguous
        squared_of_pairs(left, i[::2], right, j[::2]), squared[::2]
    )


@pytest.mark.parametrize("dtypes", [(x, y) for x in DTYPES for y in DTYPES])
@pytest.mark.parametrize(("n", "m", "d"), [(0, 2, 3), (1, 1, 1), (7, 5, 19), (3, 0, 2)])
def test_products_become_squared_distances(rng, n, m, d, dtypes):
    left, right = rows_of(rng, n, d, dtypes[0]), rows_of(rng, m, d, dtypes[1])
    right[: min(n, m) // 2] = left[: min(n, m) // 2]  # distances of 0, which products miss
    wide = left.astype(np.float64), right.astype(np.float64)
    tile = wide[0] @ wide[1].T
    squares = [(side**2).sum(axis=1) for side in wide]
    settle_products(tile, left, squares[0], right, squares[1], NEAR)
    expected = ((wide[0][:, None] - wide[1]) ** 2).sum(axis=2)
    np.testing.assert_allclose(tile, expected, rtol=1e-11, atol=0)


DISTANCES = """
import sys
import numpy as np
from calipers.numeric.distances import sieves, squared_of_pairs
rng = np.random.default_rng(5)
made = {}
for d in (1, 7, 16, 53):
    for dtype in ("f4", "f8"):
        rows = rng.standard_normal((61, d)).astype(dtype)
        i, j = (grid.ravel() for grid in np.meshgrid(np.arange(61), np.arange(61)))
        (points,) = sieves(rows, threads=1)
        made[f"squared {d} {dtype}"] = squared_of_pairs(rows, i, rows, j)
        made[f"panels {d} {dtype}"], made[f"low {d} {dtype}"] = points.panels, points.low
np.savez(sys.argv[1], **made)
"""


def assert_same_bits_with_all_sets(code: str, folder) -> None:
    """Hold what some code saves, run with each instruction set, against each other."""
    results = []
    for name in native.available_sets():
        path = folder / f"{name}.npz"
        environment = os.environ | {native.VARIABLE: name}
        subprocess.run([sys.executable, "-c", code, str(path)], check=True, env=environment)
        with np.load(path) as saved:
            results.append({key: saved[key] for key in saved.files})
    for result in results[1:]:
        assert result.keys() == results[0].keys()
        for key, values in result.items():
            np.testing.assert_array_equal(values, results[0][key], err_msg=key)


def test_all_instruction_sets_give_the_same_bits(tmp_path):
    assert_same_bits_with_all_sets(DISTANCES, tmp_path)


def test_panels_hold_the_rows(rng):
    rows = rng.standard_normal((100, 7)).astype(np.float32)
    (points,) = sieves(rows)
    assert points.panels.shape == (3, 7, PANEL)
    centred = (rows - rows.mean(axis=0)) * np.sqrt(2 * points.half_scale)
    np.testing.assert_allclose(points.rows, centred, atol=1e-6)
    np.testing.assert_array_equal(points.panels[1, :, 3], points.rows[51])
    assert not points.panels[2, :, 4:].any()
    assert np.isinf(points.low[100:]).all()
