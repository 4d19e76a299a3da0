"""Kernel densities at the samples, and how far they would wander if the set were drawn again.

The kernel is the cosine with a compact support: a point at distance t ≤ h of the place counts
cos(πt / 2h), one beyond the bandwidth h nothing. Densities are means of the kernel over the set,
1 at most; the constant (π/4h)^d that would make them integrate to one overflows in high
dimensions and cancels wherever densities of one set are compared, so it is left out.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from calipers.estimate.distances import Sieve, squared_distance
from calipers.estimate.jit import kernel
from calipers.estimate.microkernel import PANEL, lowest_bit
from calipers.estimate.panels import Gates, multiply_panels, sift
from calipers.estimate.tiles import BLOCK, Span, panel_spans, workers


@dataclass(frozen=True)
class ConfidentDensity:
    """The density of a set at its own rows, and the level above which it is no chance.

    Attributes
    ----------
    own
        Mean of the kernel at every row of the set, itself included, shape ``(n,)``, in (0, 1].
    band
        Half-width of the confidence band: rows with a density above it are significant.
    """

    own: NDArray[np.float64]
    band: float

    @property
    def significant(self) -> NDArray[np.bool_]:
        """Which rows lie where the density is above the band, shape ``(n,)``."""
        return self.own > self.band


def confident_density(
    points: Sieve,
    *,
    bandwidth: float,
    counts: NDArray[np.float64],
    alpha: float,
    threads: int | None = None,
    block: int = BLOCK,
) -> ConfidentDensity:
    """Estimate the density of a set at its own rows, and its bootstrap confidence band.

    The band is the (1 − alpha) quantile over the resamples of the largest deviation of a
    resampled density from the density, over the rows of the set.

    Parameters
    ----------
    points
        The set, prepared by :func:`calipers.estimate.distances.sieves`.
    bandwidth
        Radius of the kernel, above 0.
    counts
        How often every row occurs in each resample, shape ``(n, repeats)``; see
        :func:`resample_counts`.
    alpha
        Share of the resamples that may leave the band, in (0, 1).
    threads, block
        Where and in what pieces the work is done; up to rounding, neither changes the result.
    """
    weights = np.column_stack([np.ones(len(counts)), counts])
    sums = kernel_sums(points, points, bandwidth, weights, threads=threads, block=block)
    densities = sums / len(counts)
    deviations = np.abs(densities[:, 1:] - densities[:, :1]).max(axis=0)
    return ConfidentDensity(densities[:, 0], float(np.quantile(deviations, 1 - alpha)))


def density_at(
    places: Sieve,
    points: Sieve,
    *,
    bandwidth: float,
    threads: int | None = None,
    block: int = BLOCK,
) -> NDArray[np.float64]:
    """Mean over a set of the kernel at other places, shape ``(places,)``, in [0, 1].

    Both must have been prepared by one call of :func:`calipers.estimate.distances.sieves`.
    """
    n = len(points.points)
    sums = kernel_sums(places, points, bandwidth, np.ones((n, 1)), threads=threads, block=block)
    return sums[:, 0] / n


def resample_counts(n: int, repeats: int, rng: np.random.Generator) -> NDArray[np.float64]:
    """How often each of n rows occurs in resamples of n rows with replacement, ``(n, repeats)``."""
    drawn = (np.bincount(rng.integers(n, size=n), minlength=n) for _ in range(repeats))
    return np.stack(list(drawn), axis=1).astype(np.float64)


def kernel_sums(
    places: Sieve,
    points: Sieve,
    bandwidth: float,
    weights: NDArray[np.float64],
    *,
    threads: int | None = None,
    block: int = BLOCK,
) -> NDArray[np.float64]:
    """Sum the kernel over the points, once for each column of weights, at every place.

    Parameters
    ----------
    places, points
        Where, and over what; prepared together, m and n rows.
    weights
        Shape ``(n, r)``.

    Returns
    -------
    ndarray
        Shape ``(m, r)``.
    """
    # Only the limits of the places count here
    columns = Gates.shut(points.low)

    def work(rows: Span) -> NDArray[np.float64]:
        sums = np.zeros((rows[1] - rows[0], weights.shape[1]))
        limit = places.limits(np.full(len(sums), bandwidth**2))
        gates = Gates.of(places.low[rows[0] : rows[0] + len(limit)], limit)
        sides = (places.panels, points.panels, places.points, points.points)
        _add(sides, gates, columns, rows[0], bandwidth, weights, sums)
        return sums

    with workers(threads) as pool:
        return np.concatenate(list(pool.map(work, panel_spans(len(places.points), block))))


@kernel
def _add(
    sides: Any, rows: Any, columns: Any, row0: int, bandwidth: float, weights: Any, sums: Any
) -> None:
    left_panels, right_panels, places, points = sides
    products = np.empty((PANEL, PANEL), np.float32)
    passing = np.empty(PANEL, np.uint64)
    for column in range(0, columns.low.shape[0], PANEL):
        for row in range(0, rows.low.shape[0], PANEL):
            multiply_panels(
                left_panels, (row0 + row) // PANEL, right_panels, column // PANEL, products
            )
            if sift(products, rows, columns, row, column, passing) == 0:
                continue
            for r in range(row, row + PANEL):
                bits = passing[r - row]
                while bits:
                    c = column + lowest_bit(bits)
                    bits &= bits - np.uint64(1)
                    distance = np.sqrt(squared_distance(places, row0 + r, points, c))
                    if distance < bandwidth:
                        height = np.cos(0.5 * np.pi * distance / bandwidth)
                        for t in range(weights.shape[1]):
                            sums[r, t] += height * weights[c, t]
