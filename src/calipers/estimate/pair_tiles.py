"""Sums over all pairs of rows in float64, tile by tile: what kernel and energy distances are of.

Rows are centred on the mean of both sets, so that an offset costs no digits, and squared distances
come from products, |x|² + |y|² − 2x·y. Where that loses digits, because two rows lie much closer
to each other than to the centre, the squared distance is summed up again from the differences of
the rows as given: no pair is off by more than some 1e-12 of its own value. Memory grows with n + m,
not with n·m.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from calipers.estimate.distances import Points, squared_distance
from calipers.estimate.jit import kernel
from calipers.estimate.tiles import Span, Workers, rectangle, spans, triangle, workers

Floats = NDArray[np.float64]
NEAR = 1e-3  # of |x|² + |y|²: below, digits are lost


@dataclass(frozen=True)
class Rows:
    """Rows as they were given, less a centre in float64, and the squared lengths of the latter.

    Shapes ``(n, d)``, ``(n, d)`` and ``(n,)``.
    """

    given: Points
    points: Floats
    squares: Floats

    @classmethod
    def of(cls, points: Points, centre: Floats | float = 0.0) -> Rows:
        """Take the rows less a centre."""
        moved = points.astype(np.float64) - centre
        return cls(points, moved, np.einsum("ij,ij->i", moved, moved))

    def span(self, span: Span) -> Rows:
        """Some consecutive rows."""
        return self.take(slice(*span))

    def take(self, rows: slice | NDArray[np.intp]) -> Rows:
        """Some of the rows, in the given order."""
        return Rows(self.given[rows], self.points[rows], self.squares[rows])

    @classmethod
    def joined(cls, one: Rows, other: Rows) -> Rows:
        """The rows of two sets, one set after the other."""
        return cls(
            np.concatenate([one.given, other.given]),
            np.concatenate([one.points, other.points]),
            np.concatenate([one.squares, other.squares]),
        )


Measure = Callable[[Rows, Rows], Floats]


@dataclass(frozen=True)
class PairSums:
    """Sums of a symmetric measure over pairs of different rows within the sets, and across them.

    Attributes
    ----------
    reference, generated
        Sum over all ordered pairs of two different rows of the set.
    across
        Sum over all pairs of a reference and a generated row.
    n, m
        Rows of the reference and of the generated set.
    """

    reference: float
    generated: float
    across: float
    n: int
    m: int

    def unbiased(self) -> float:
        """E[k(x, x')] + E[k(y, y')] − 2E[k(x, y)], the U-statistic: no row meets itself."""
        within = self.reference / (self.n * (self.n - 1)) + self.generated / (self.m * (self.m - 1))
        return within - 2 * self.across / (self.n * self.m)


def centred(reference: Points, generated: Points) -> tuple[Rows, Rows]:
    """Both sets in float64 about the mean of all rows."""
    total = sum(side.sum(axis=0, dtype=np.float64) for side in (reference, generated))
    centre = total / (len(reference) + len(generated))
    return Rows.of(reference, centre), Rows.of(generated, centre)


def squared_distances(left: Rows, right: Rows) -> Floats:
    """Squared distances of all pairs in float64, shape ``(n, m)``."""
    tile = left.points @ right.points.T
    _settle(tile, left.given, left.squares, right.given, right.squares)
    return tile


def pair_sums(
    reference: Rows, generated: Rows, measure: Measure, *, threads: int | None = None
) -> PairSums:
    """Sum a symmetric measure over all pairs; the number of threads changes no bit.

    Parameters
    ----------
    reference, generated
        Both sets, centred where the measure allows it.
    measure
        From two blocks of rows to the values of their pairs, shape ``(rows, rows)``. Where they,
        or their sum, overflow, the sum is NaN.
    threads
        Number of threads (default: all cores).
    """
    sides = [spans(len(side.squares)) for side in (reference, generated)]
    with workers(threads) as pool:
        one, other = (
            _total(rows, rows, triangle(cut), measure, pool, symmetric=True)
            for rows, cut in zip((reference, generated), sides, strict=True)
        )
        across = _total(reference, generated, rectangle(*sides), measure, pool)
    return PairSums(one, other, across, len(reference.squares), len(generated.squares))


def _total(
    left: Rows,
    right: Rows,
    tiles: list[tuple[Span, Span]],
    measure: Measure,
    pool: Workers,
    *,
    symmetric: bool = False,
) -> float:
    def work(tile: tuple[Span, Span]) -> float:
        values = measure(left.span(tile[0]), right.span(tile[1]))
        if symmetric and tile[0] == tile[1]:
            np.fill_diagonal(values, 0.0)
        twice = symmetric and tile[0] != tile[1]
        with np.errstate(over="ignore", invalid="ignore"):  # told of by NaN
            return float(values.sum()) * (2 if twice else 1)

    return _sum(list(pool.map(work, tiles)))


def _sum(totals: list[float]) -> float:
    """The sum, rounded once; NaN where it, or one of its parts, overflows."""
    if not all(map(math.isfinite, totals)):
        return math.nan
    try:
        return math.fsum(totals)
    except OverflowError:
        return math.nan


@kernel
def _settle(tile: Any, x: Any, x_squares: Any, y: Any, y_squares: Any) -> None:
    """Turn products into squared distances, and sum up anew those that lose digits."""
    for i in range(tile.shape[0]):
        for j in range(tile.shape[1]):
            lengths = x_squares[i] + y_squares[j]
            tile[i, j] = lengths - 2.0 * tile[i, j]
            if tile[i, j] < NEAR * lengths:
                tile[i, j] = squared_distance(x, i, y, j)
