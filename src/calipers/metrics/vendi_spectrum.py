"""Eigenvalues of the similarities of rows, and the sum of their squares, in float64."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from calipers.estimate.distances import Points
from calipers.estimate.pair_tiles import Rows, squared_distances
from calipers.estimate.preprocess import unit_rows
from calipers.estimate.tiles import (
    Span,
    available_threads,
    limit_threads,
    spans,
    triangle,
    workers,
)
from calipers.estimate.validate import check_whole

Floats = NDArray[np.float64]

STEP = 2048  # rows of a product
SMALL = 1024  # columns of matrices that one thread works on


def spectrum(points: Points, *, normalise: bool = True, threads: int | None = None) -> Floats:
    """The eigenvalues of the cosine similarities of all rows over n, without those that must be 0.

    Parameters
    ----------
    points
        Rows, shape ``(n, d)``, none of them zero.
    normalise
        Scale them to length 1 first.
    threads
        Number of threads (default: all cores).

    Returns
    -------
    array
        Shape ``(min(n, d),)``, float64, ascending.
    """
    return eigenvalues(_gram(points, normalise=normalise, threads=threads), threads)


def eigenvalues(matrix: Floats, threads: int | None = None) -> Floats:
    """The eigenvalues of a symmetric matrix, ascending."""
    # BLAS meets at barriers all along this, so that one busy core holds up all: leave half idle
    half = max(1, available_threads(threads) // 2)
    with limit_threads(1 if len(matrix) <= SMALL else half):
        return np.asarray(np.linalg.eigvalsh(matrix), np.float64)


def _gram(points: Points, *, normalise: bool, threads: int | None) -> Floats:
    """Xᵀ·X/n or X·Xᵀ/n, whichever is smaller."""
    check_whole("threads", 1 if threads is None else threads, 1)
    n, d = points.shape
    scale = 1.0 if normalise else float(np.abs(points).max())  # so that no square overflows
    if n <= d:
        rows = _wide(points, scale, normalise=normalise)
        with limit_threads(threads):
            return np.asarray(rows @ rows.T / n, np.float64)

    def work(span: Span) -> Floats:
        rows = _wide(points[slice(*span)], scale, normalise=normalise)
        return np.asarray(rows.T @ rows, np.float64)

    if d > SMALL:  # one product at a time, on all threads: each takes memory for d x d numbers
        with limit_threads(threads):
            return _mean(map(work, spans(n, STEP)), d, n)
    with workers(threads) as pool:
        return _mean(pool.map(work, spans(n, STEP)), d, n)


def _mean(parts: Iterable[Floats], d: int, n: int) -> Floats:
    total = np.zeros((d, d))
    for part in parts:
        total += part
    total /= n
    return total


def _wide(points: Points, scale: float, *, normalise: bool) -> Floats:
    rows = points.astype(np.float64)
    return np.asarray(unit_rows(rows) if normalise else rows / scale, np.float64)


def cosine_energy(points: Points, threads: int | None) -> float:
    """Mean squared cosine over all pairs of rows."""
    return float(np.sum(_gram(points, normalise=True, threads=threads) ** 2))


def gaussian_energy(points: Points, bandwidth: float, threads: int | None) -> float:
    """Mean squared Gaussian kernel over all pairs of rows, in tiles."""
    check_whole("threads", 1 if threads is None else threads, 1)
    rows = Rows.of(points, points.mean(axis=0, dtype=np.float64))

    def work(tile: tuple[Span, Span]) -> float:
        squared = squared_distances(rows.span(tile[0]), rows.span(tile[1]))
        # Divided twice: the square of a small bandwidth may be 0; exp(−∞) is the 0 that is meant
        with np.errstate(over="ignore"):
            total = float(np.exp(-squared / bandwidth / bandwidth).sum())
        return total if tile[0] == tile[1] else 2 * total

    with workers(threads) as pool:
        totals = list(pool.map(work, triangle(spans(len(points)))))
    return sum(totals) / len(points) ** 2


def rounding(points: Points) -> float:
    """The share of the largest eigenvalue that rounding of products and of the rows may reach."""
    own: Any = np.finfo(points.dtype).eps
    return float(max(points.shape) * max(np.finfo(np.float64).eps, own**2))
