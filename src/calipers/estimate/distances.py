"""Squared Euclidean distances: exact ones in float64, and float32 bounds that never miss one.

The float32 products of BLAS are fast but cancel. They are used only as a sieve: for centred and
scaled rows z, half the squared distance of two rows lies above ``low_i + low_j - z_i . z_j``,
where ``low = (1 - slack) * |z|^2 / 2``. The slack is the worst case of a d-term float32 sum, so
no pair that matters can fall through; every pair that passes is computed again in float64, on
the numbers as given.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from calipers.estimate.jit import kernel, summation

Points = NDArray[np.float32] | NDArray[np.float64]

UNIT = 2.0**-24  # unit roundoff of float32


@summation
def squared_distance(x: Any, y: Any) -> float:
    """Sum of squared differences in float64; swapping the arguments changes no bit."""
    total = 0.0
    for t in range(x.shape[0]):
        difference = np.float64(x[t]) - np.float64(y[t])
        total += difference * difference
    return total


@kernel
def any_within(products: Any, low: float, column_low: Any, limit: float, limits: Any) -> bool:
    """Tell whether any pair of a row and some columns passes the sieve, in vector lanes."""
    hits = 0
    for c in range(products.shape[0]):
        bound = low + column_low[c] - products[c]
        hits += (bound <= limit) | (bound <= limits[c])
    return hits > 0


@dataclass(frozen=True)
class Sieve:
    """The float32 side of a set of points: what BLAS multiplies, and the bounds it allows.

    Attributes
    ----------
    points
        The rows as given, shape ``(n, d)``, float32 or float64: the exact distances use these.
    rows
        Centred and scaled rows, shape ``(n, d)``, float32, of absolute value at most about 1.
    low
        ``(1 - slack) * |row|^2 / 2``, shape ``(n,)``, float32.
    half_scale
        Factor from a squared distance of `points` to half a squared distance of `rows`; a power
        of two, so that it rounds nothing.
    """

    points: Points
    rows: NDArray[np.float32]
    low: NDArray[np.float32]
    half_scale: float

    def threshold(self, squared_radius: NDArray[np.float64]) -> NDArray[np.float32]:
        """Bring squared radii to the scale of the bounds, rounded up."""
        return thresholds(squared_radius, self.half_scale)


def thresholds(squared_radius: NDArray[np.float64], half_scale: float) -> NDArray[np.float32]:
    """Half squared radii in the scale of the sieve, float32, never below the true value."""
    with np.errstate(over="ignore"):
        scaled = (squared_radius * (half_scale * (1 + 4 * UNIT)) + 1e-36).astype(np.float32)
    return np.where(np.isnan(squared_radius), np.float32(np.inf), scaled)


def sieves(*sets: Points) -> tuple[Sieve, ...]:
    """Prepare sets of points for the sieve, with one centre and one scale for all.

    Parameters
    ----------
    *sets
        Arrays of shape ``(n_s, d)``, float32 or float64, finite.
    """
    total = sum(len(points) for points in sets)
    centre = sum(points.sum(axis=0, dtype=np.float64) for points in sets) / total
    largest = max(float(_largest_deviation(points, centre)) for points in sets)
    scale = 2.0 ** -float(np.clip(np.frexp(largest)[1], -400, 400))
    return tuple(_sieve(points, centre, scale) for points in sets)


def low_halves(rows: Points) -> NDArray[np.float32]:
    """``(1 - slack) * |row|^2 / 2``, with the worst case of a float32 product as slack."""
    slack = (rows.shape[1] + 16) * UNIT * 1.01
    half = 0.5 * np.einsum("ij,ij->i", rows, rows, dtype=np.float64)
    low: NDArray[np.float32] = (half * (1 - slack)).astype(np.float32)
    return low


def _sieve(points: Points, centre: NDArray[np.float64], scale: float) -> Sieve:
    rows = np.empty(points.shape, np.float32)
    low = np.empty(len(points), np.float32)
    for start in range(0, len(points), 1024):
        block = (points[start : start + 1024] - centre) * scale
        rows[start : start + 1024] = block
        low[start : start + 1024] = low_halves(block)
    return Sieve(points, rows, low, 0.5 * scale * scale)


def _largest_deviation(points: Points, centre: NDArray[np.float64]) -> float:
    return max(
        float(np.abs(points[start : start + 1024] - centre).max())
        for start in range(0, len(points), 1024)
    )
