"""Symmetric functions summed over pairs of rows: kernels, and distances of the energy distance.

Rows are taken about the mean of both sets, so that an offset costs no digits, and squared distances
come from products, |x|² + |y|² − 2x·y. In float64, where that loses digits because two rows lie
much closer to each other than to the centre, the squared distance is summed up again from the
differences of the rows as given: no pair is off by more than some 1e-12 of its own value.

A set stays as it was given, and only the rows of a tile are brought to float64, so that no second
copy of a large set is made.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from calipers.lazy import lazily
from calipers.numeric import native
from calipers.numeric.arrays import Floats
from calipers.numeric.distances import Points
from calipers.numeric.row_sets import RowSets
from calipers.numeric.scratch import scratch
from calipers.numeric.tiles import Span, spans

NEAR = 1e-3
"""Share of |x|² + |y|² below which a squared distance from products loses digits."""

settle_products = native.kernel(
    "settle_products",
    "tile f8[n, m] out",
    "x reals[n, d]",
    "x_squares f8[n]",
    "y reals[m, d]",
    "y_squares f8[m]",
    "near float",
)


@dataclass(frozen=True)
class CentredRows:
    """Rows as given, and the centre that is subtracted from them.

    Attributes
    ----------
    given
        Shape ``(n, d)``.
    centre
        What is taken off every row in float64, shape ``(d,)``.
    squares
        Squared lengths of the rows less the centre, shape ``(n,)``, float64.
    """

    given: Points
    centre: Floats
    squares: Floats

    @classmethod
    def of(cls, points: Points, centre: Floats | float = 0.0) -> CentredRows:
        """Subtract a centre from rows."""
        middle = np.broadcast_to(np.asarray(centre, np.float64), points.shape[1:])
        squares = np.empty(len(points))
        for span in spans(len(points)):
            moved = points[slice(*span)].astype(np.float64) - middle
            squares[slice(*span)] = np.einsum("ij,ij->i", moved, moved)
        return cls(points, middle, squares)

    @property
    def points(self) -> Floats:
        """The rows minus the centre, in float64, computed on each access."""
        return self.given.astype(np.float64) - self.centre

    def span(self, span: Span) -> CentredRows:
        """Return consecutive rows."""
        return CentredRows(self.given[slice(*span)], self.centre, self.squares[slice(*span)])

    @classmethod
    def joined(cls, sides: Sequence[CentredRows], order: NDArray[np.intp]) -> CentredRows:
        """Concatenate the rows of some sets about one centre, in another order."""
        given = RowSets(tuple(side.given for side in sides)).copied(order)
        squares = np.concatenate([side.squares for side in sides])[order]
        return cls(given, sides[0].centre, squares)


def centred(reference: Points, generated: Points) -> tuple[CentredRows, CentredRows]:
    """Return both sets in float64 about the mean of all rows."""
    total = sum(side.sum(axis=0, dtype=np.float64) for side in (reference, generated))
    centre = total / (len(reference) + len(generated))
    return CentredRows.of(reference, centre), CentredRows.of(generated, centre)


def squared_distances(left: CentredRows, right: CentredRows) -> Floats:
    """Return squared distances of all pairs in float64, shape ``(n, m)``."""
    tile: Floats = left.points @ right.points.T
    settle_products(tile, left.given, left.squares, right.given, right.squares, NEAR)
    return tile


class Measure(Protocol):
    """A symmetric function of two rows, evaluated for all pairs of two blocks of rows."""

    def __call__(self, left: CentredRows, right: CentredRows, /) -> Floats:
        """Values of all pairs in float64, shape ``(n, m)``."""
        ...


@dataclass(frozen=True)
class Gaussian:
    """The kernel exp(−|x − y|²/(2h²)).

    Attributes
    ----------
    width
        h, above 0.
    """

    width: float

    def __call__(self, left: CentredRows, right: CentredRows, /) -> Floats:
        """Values of all pairs."""
        values = squared_distances(left, right)
        # Divided twice: the square of a small bandwidth may be 0; exp(−∞) is the 0 that is meant
        with np.errstate(over="ignore"):
            values /= self.width
            values /= -2 * self.width
        return np.exp(values, out=values)


@dataclass(frozen=True)
class Cubic:
    """KID's kernel (x·y/d + 1)³ of rows of d numbers; NaN or infinite where it overflows."""

    d: int

    def __call__(self, left: CentredRows, right: CentredRows, /) -> Floats:
        """Values of all pairs."""
        with np.errstate(over="ignore", invalid="ignore"):  # found in the sum
            values: Floats = left.points @ right.points.T
            values /= self.d
            values += 1
            return values * values * values


@dataclass(frozen=True)
class Euclidean:
    """The distance |x − y|."""

    def __call__(self, left: CentredRows, right: CentredRows, /) -> Floats:
        """Values of all pairs."""
        squares = squared_distances(left, right)
        return np.sqrt(squares, out=squares)


@dataclass(frozen=True)
class ExactTiles:
    """Values of a measure for all pairs of two spans of the same rows."""

    rows: CentredRows
    measure: Measure

    def __call__(self, one: Span, other: Span) -> NDArray[Any]:
        """Values of all pairs of the spans."""
        return self.measure(self.rows.span(one), self.rows.span(other))


@dataclass(frozen=True)
class SwiftTiles:
    """Values of the Gaussian kernel for all pairs of two spans of the same rows, in float32.

    At about half the time of float64: a value is off by some 1e-7 times the larger squared length
    about the centre over h², and the errors of many pairs cancel in a sum.
    """

    rows: CentredRows
    measure: Gaussian

    def __call__(self, one: Span, other: Span) -> NDArray[Any]:
        """Values of all pairs of the spans."""
        left, right = self._sides
        values: NDArray[np.float32] = left[slice(*one)] @ right[slice(*other)].T
        return np.exp(values, out=values)

    @lazily
    def _sides(self) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
        """Rows of which the product of a left and a right one is the whole exponent."""
        n, d = self.rows.given.shape
        left, right = (scratch((n, d + 2), np.float32) for _ in range(2))
        for span in spans(n):
            rows = self.rows.span(span)
            half = -0.5 * rows.squares / self.measure.width**2
            for side, places in ((left, (d, d + 1)), (right, (d + 1, d))):
                part = side[slice(*span)]
                part[:, :d] = rows.points / self.measure.width
                part[:, places[0]], part[:, places[1]] = half, 1
        return left, right


Tiles = ExactTiles | SwiftTiles
