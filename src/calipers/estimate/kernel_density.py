"""Kernel densities at the samples, and how far they would wander if the set were drawn again.

The kernel is the cosine with a compact support: a point at distance t ≤ h of the place counts
cos(πt / 2h), one beyond the bandwidth h nothing. Densities are means of the kernel over the set,
1 at most; the constant (π/4h)^d that would make them integrate to one overflows in high
dimensions and cancels wherever densities of one set are compared, so it is left out.

The balloon bandwidth of a set is the median distance of its rows to their (5 d)-th nearest other
row, found in memory O(n).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from calipers.numeric.compile import kernel
from calipers.numeric.distances import FLOOR, Sieve, fill_panels, squared_distance
from calipers.numeric.simd import PANEL, Thresholds, lowest_bit, multiply_panels, sift
from calipers.numeric.threads import workers
from calipers.numeric.tiles import BLOCK, Span, panel_spans

NEIGHBOURS_PER_DIMENSION = 5


def balloon_neighbour(n: int, d: int) -> int:
    """Which neighbour the balloon bandwidth looks at: five for each dimension, at most all."""
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
    found = np.full((count, 2 * k), np.inf)
    open_to_all = fill_panels(np.full(count, np.inf, np.float32), 0.0)
    thresholds = Thresholds.of(points.low[rows[0] : rows[0] + len(open_to_all)], open_to_all)
    # Only the limits of the rows count here: each pair is seen from both of its sides
    columns = Thresholds.shut(points.low)
    _collect(
        points.panels, points.points, thresholds, columns, rows[0], points.half_scale, found, k
    )
    nearest: NDArray[np.float64] = np.partition(found, k - 1, axis=1)[:, k - 1]
    return nearest


@kernel
def _collect(
    panels: Any,
    points: Any,
    rows: Any,
    columns: Any,
    row0: int,
    half_scale: float,
    found: Any,
    k: int,
) -> None:
    products = np.empty((PANEL, PANEL), np.float32)
    passing = np.empty(PANEL, np.uint64)
    filled = np.zeros(found.shape[0], np.int64)
    for column in range(0, columns.low.shape[0], PANEL):
        for row in range(0, rows.low.shape[0], PANEL):
            multiply_panels(panels, (row0 + row) // PANEL, panels, column // PANEL, products)
            if sift(products, rows, columns, row, column, passing) == 0:
                continue
            for r in range(row, row + PANEL):
                bits = passing[r - row]
                while bits:
                    c = column + lowest_bit(bits)
                    bits &= bits - np.uint64(1)
                    bound = rows.low[r] + columns.low[c] - products[r - row, c - column]
                    if bound < rows.limit[r] and row0 + r != c:
                        found[r, filled[r]] = squared_distance(points, row0 + r, points, c)
                        filled[r] += 1
                        if filled[r] == 2 * k:
                            last = _drop_farther(found[r], k)
                            filled[r] = k
                            # Rounded up, so that no row that could still be nearer falls through
                            reach = last * half_scale * (1 + 2.0**-22) + FLOOR
                            rows.limit[r] = min(rows.limit[r], np.float32(reach))


@kernel
def _drop_farther(squared: Any, k: int) -> float:
    """Move the k smallest to the front, forget the others, and return the largest that stays.

    Hoare's selection: NumPy's own takes five seconds to compile.
    """
    low, high = 0, squared.shape[0] - 1
    while low < high:
        pivot, left, right = squared[(low + high) // 2], low, high
        while left <= right:
            while squared[left] < pivot:
                left += 1
            while squared[right] > pivot:
                right -= 1
            if left <= right:
                squared[left], squared[right] = squared[right], squared[left]
                left += 1
                right -= 1
        if k - 1 <= right:
            high = right
        elif k - 1 >= left:
            low = left
        else:
            break
    squared[k:] = np.inf
    return float(squared[k - 1])


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
    """Mean over a set of the kernel at other places, shape ``(places,)``, in [0, 1].

    Both must have been prepared by one call of :func:`calipers.numeric.distances.sieves`.
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
    columns = Thresholds.shut(points.low)

    def work(rows: Span) -> NDArray[np.float64]:
        sums = np.zeros((rows[1] - rows[0], weights.shape[1]))
        limit = places.limits(np.full(len(sums), bandwidth**2))
        thresholds = Thresholds.of(places.low[rows[0] : rows[0] + len(limit)], limit)
        sides = (places.panels, points.panels, places.points, points.points)
        _add(sides, thresholds, columns, rows[0], bandwidth, weights, sums)
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
