"""Kernels of pairs of rows, tile by tile: the Gaussian with its median width, and KID's cubic.

k(x, y) = exp(−|x − y|²/(2h²)), and (x·y/d + 1)³. `exact_tiles` is in float64, with distances as in
:mod:`calipers.estimate.pair_tiles`. `swift_tiles` takes the products of the Gaussian in float32, at
about half the time: a value is off by some 1e-7 times the larger squared length about the centre
over h², and the errors of many pairs cancel in a sum.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from calipers.estimate.pair_tiles import Floats, Measure, Rows, squared_distances
from calipers.estimate.tiles import Span, Workers, spans

Tiles = Callable[[Span, Span], NDArray[Any]]
STRIP = 250  # rows of a strip of distances for the median


def gaussian(width: float) -> Measure:
    """Give the kernel as a measure of two blocks of rows, in float64."""

    def measure(one: Rows, other: Rows) -> Floats:
        values = squared_distances(one, other)
        # Divided twice: the square of a small bandwidth may be 0; exp(−∞) is the 0 that is meant
        with np.errstate(over="ignore"):
            values /= width
            values /= -2 * width
        return np.exp(values, out=values)

    return measure


def cubic(d: int) -> Measure:
    """Give KID's kernel of rows of d numbers, in float64; NaN or infinite where it overflows."""

    def measure(one: Rows, other: Rows) -> Floats:
        with np.errstate(over="ignore", invalid="ignore"):  # found in the sum
            values = one.points @ other.points.T
            values /= d
            values += 1
            return values * values * values

    return measure


def exact_tiles(rows: Rows, measure: Measure) -> Tiles:
    """Values of a measure for all pairs of two spans of the same rows."""
    return lambda one, other: measure(rows.span(one), rows.span(other))


def swift_tiles(rows: Rows, width: float) -> Tiles:
    """Values of the Gaussian kernel for all pairs of two spans of the same rows, in float32."""
    scaled, half = rows.points / width, -0.5 * rows.squares / width**2
    one = np.ones(len(half))
    # The product of a left and a right row is the whole exponent
    left = np.column_stack([scaled, half, one]).astype(np.float32)
    right = np.column_stack([scaled, one, half]).astype(np.float32)

    def tile(rows: Span, columns: Span) -> NDArray[np.float32]:
        values: NDArray[np.float32] = left[slice(*rows)] @ right[slice(*columns)].T
        return np.exp(values, out=values)

    return tile


def median_distance(rows: tuple[Rows, Rows], pool: Workers, *, seed: int, most: int) -> float:
    """Median distance of different rows of both sets together.

    Of more than `most` rows, a seeded sample of so many counts.
    """
    points = np.concatenate([side.points for side in rows])
    if len(points) > most:
        drawn = np.random.default_rng(seed).choice(len(points), most, replace=False)
        points = points[np.sort(drawn)]
    if len(points) < 2:
        return 0.0
    return _middle(_distinct_pairs(Rows.of(points), pool))


def _distinct_pairs(rows: Rows, pool: Workers) -> Floats:
    """Squared distances of all unordered pairs of different rows."""
    n = len(rows.squares)

    def work(span: Span) -> Floats:
        squares = squared_distances(rows.span(span), rows.span((span[0], n)))
        return np.concatenate([row[i + 1 :] for i, row in enumerate(squares)])

    return np.concatenate(list(pool.map(work, spans(n, STRIP))))


def _middle(squares: Floats) -> float:
    """The median of the roots; of two in the middle their mean, and not the root of the mean."""
    middle = [(len(squares) - 1) // 2, len(squares) // 2]
    return float(np.mean(np.sqrt(np.partition(squares, middle)[middle])))
