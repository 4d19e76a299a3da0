"""Kernel densities at the samples, with bootstrap confidence bands.

The kernel is the cosine with a compact support: a point at distance t ≤ h of the place counts
cos(πt / 2h), one beyond the bandwidth h nothing. Densities are means of the kernel over the set,
1 at most; the constant (π/4h)^d that would make them integrate to one overflows in high
dimensions and cancels wherever densities of one set are compared, so it is left out.

The balloon bandwidth of a set is the median distance of its rows to their (5 d)-th nearest other
row, found in memory O(n).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from calipers.numeric import native
from calipers.numeric.distances import Sieve, fill_panels
from calipers.numeric.panels import Thresholds
from calipers.numeric.threads import workers
from calipers.numeric.tiles import BLOCK, Span, panel_spans

NEIGHBOURS_PER_DIMENSION = 5


def balloon_neighbour(n: int, d: int) -> int:
    """Return the neighbour that sets the balloon bandwidth: five per dimension, at most all."""
    return min(NEIGHBOURS_PER_DIMENSION * d, n - 1)


def balloon_bandwidth(points: Sieve, *, threads: int | None = None, block: int = BLOCK) -> float:
    """Return the median distance of the rows to their (5 d)-th nearest other row.

    Parameters
    ----------
    points
        At least two rows, prepared by :func:`calipers.numeric.distances.sieves`.
    threads, block
        Where and in what pieces the work is done; neither changes the result.
    """
    k = balloon_neighbour(*points.points.shape)
    return float(np.median(np.sqrt(kth_squared(points, k, threads=threads, block=block))))


def kth_squared(
    points: Sieve, k: int, *, threads: int | None = None, block: int = BLOCK
) -> NDArray[np.float64]:
    """Squared distance of every row to its k-th nearest other row, exact, shape ``(n,)``.

    Where :func:`calipers.estimate.knn.nearest.nearest_neighbours` keeps sorted lists of all rows,
    this keeps loose ones of the rows in work, since k is large and nothing but the k-th is wanted.
    """

    def work(rows: Span) -> NDArray[np.float64]:
        return _kth_of(points, rows, k)

    with workers(threads) as pool:
        return np.concatenate(list(pool.map(work, panel_spans(len(points.points), block))))


def _kth_of(points: Sieve, rows: Span, k: int) -> NDArray[np.float64]:
    """Keep at most 2 k candidates of each row; the k nearest among them are never dropped."""
    count = rows[1] - rows[0]
    squared, filled = np.full((count, 2 * k), np.inf), np.zeros(count, np.int64)
    open_to_all = fill_panels(np.full(count, np.inf, np.float32), 0.0)
    thresholds = Thresholds.of(points.low[rows[0] : rows[0] + len(open_to_all)], open_to_all)
    # Only the limits of the rows count here: each pair is seen from both of its sides
    columns = Thresholds.shut(points.low)
    spans = thresholds, columns, rows[0]
    _collect(points.panels, points.points, *spans, points.half_scale, k, squared, filled)
    nearest: NDArray[np.float64] = np.partition(squared, k - 1, axis=1)[:, k - 1]
    return nearest


_collect = native.kernel(
    "collect_nearest",
    "panels f4[panel_count, d, 48]",
    "points reals[n, d]",
    "rows thresholds",
    "columns thresholds",
    "row0 int",
    "half_scale float",
    "k int",
    "squared f8[count, room] out",
    "filled i8[count] out",
)


@dataclass(frozen=True)
class ConfidentDensity:
    """The density of a set at its own rows, and the level above which it is significant.

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
        """Which rows have a density above the confidence band, shape ``(n,)``."""
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
        The set, prepared by :func:`calipers.numeric.distances.sieves`.
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
    """Return the mean of the kernel over a set at other points, shape ``(places,)``, in [0, 1].

    Both must have been prepared by one call of :func:`calipers.numeric.distances.sieves`.
    """
    n = len(points.points)
    sums = kernel_sums(places, points, bandwidth, np.ones((n, 1)), threads=threads, block=block)
    return sums[:, 0] / n


def resample_counts(n: int, repeats: int, rng: np.random.Generator) -> NDArray[np.float64]:
    """Draw how often each of n rows occurs in resamples with replacement, ``(n, repeats)``."""
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
    """Sum the kernel over the points at every place, for each column of weights.

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
    columns = Thresholds.shut(points.low)

    def work(rows: Span) -> NDArray[np.float64]:
        sums = np.zeros((rows[1] - rows[0], weights.shape[1]))
        limit = places.limits(np.full(len(sums), bandwidth**2))
        thresholds = Thresholds.of(places.low[rows[0] : rows[0] + len(limit)], limit)
        sides = places.panels, points.panels, places.points, points.points
        _add(*sides, thresholds, columns, rows[0], bandwidth, weights, sums)
        return sums

    with workers(threads) as pool:
        return np.concatenate(list(pool.map(work, panel_spans(len(places.points), block))))


_add = native.kernel(
    "add_kernels",
    "place_panels f4[place_panel_count, d, 48]",
    "point_panels f4[point_panel_count, d, 48]",
    "places reals[m, d]",
    "points reals[n, d]",
    "rows thresholds",
    "columns thresholds",
    "row0 int",
    "bandwidth float",
    "weights f8[n, repeats]",
    "sums f8[count, repeats] out",
)
