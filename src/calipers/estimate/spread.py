"""Balls that all have one radius R: how surely they miss a guest.

The product of d/R over all owners within R of a guest needs no exact membership, since a factor on
the rim is 1: it is taken from the float32 products themselves, whole panels at a time. Only pairs
so close that the products cancel are computed again.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from calipers.estimate.distances import FLOOR, fill_panels, slack, squared_distance
from calipers.estimate.jit import inlined, kernel, summation
from calipers.estimate.microkernel import PANEL
from calipers.estimate.tiles import Span

if TYPE_CHECKING:
    from calipers.estimate.balls import Side

CLOSE = np.float32(0.1)  # share of the squared lengths below which a distance is computed again
TINY = np.float32(FLOOR)  # a half squared distance that may have lost all to underflow
NOTHING = 1e-36  # a product below counts as 0, long before 1 less its root can tell


class Spread(NamedTuple):
    """What a tile needs for balls of one radius.

    Attributes
    ----------
    active
        Whether they were asked for.
    half_rows, half_columns
        Half the squared lengths, float32, infinite for rows that only fill a panel.
    scale
        Factor from half a squared distance of the sieve to a squared distance.
    inverses
        Factors from half a squared distance to its ratio to the squared radius, with the rows as
        owners and with the columns as owners.
    squared
        Those two squared radii.
    missed_rows, missed_columns
        Products of the ratios, for the rows and for the columns as guests, float64: only those
        of 48 ratios each are taken in float32.
    """

    active: bool
    half_rows: NDArray[np.float32]
    half_columns: NDArray[np.float32]
    scale: float
    inverses: tuple[np.float32, np.float32]
    squared: tuple[float, float]
    missed_rows: NDArray[np.float64]
    missed_columns: NDArray[np.float64]

    @classmethod
    def of(cls, owners: Side, others: Side, rows: Span, columns: Span) -> Spread:
        """Start with nothing missed."""
        radii = owners.spread, others.spread
        active = bool(np.isfinite(radii).all())
        half_scale = owners.points.half_scale
        left, right = _halves(owners, rows), _halves(others, columns)
        return cls(
            active,
            left,
            right,
            1 / half_scale,
            (_inverse(radii[0], half_scale), _inverse(radii[1], half_scale)),
            radii,
            np.ones(len(left)),
            np.ones(len(right)),
        )


def _halves(side: Side, span: Span) -> NDArray[np.float32]:
    low = side.points.low[span[0] : span[1]] / np.float32(1 - slack(side.points.points.shape[1]))
    return fill_panels(low, np.inf)


def _inverse(squared: float, half_scale: float) -> np.float32:
    with np.errstate(divide="ignore", over="ignore"):
        return np.float32(1 / (np.float64(squared) * half_scale))


@summation
def _row(products: Any, half: Any, halves: Any, inverses: Any, missed: Any) -> Any:
    """Multiply the ratios of one row into its columns, and return their product for the row."""
    one = np.float32(1)
    product = one
    for c in range(PANEL):
        distance = max(half + halves[c] - products[c], np.float32(0))
        missed[c] *= min(distance * inverses[0], one)
        product *= min(distance * inverses[1], one)
    return product


@inlined
def _any_close(products: Any, half: Any, halves: Any) -> bool:
    close = 0
    for c in range(PANEL):
        whole = half + halves[c]
        close += whole - products[c] < CLOSE * whole + TINY
    return close > 0


@inlined
def _ratio(squared: float, radius: float) -> float:
    """Squared distance over squared radius, at most 1; 0 for a point in the centre of a ball."""
    if squared == 0:
        return 0.0
    return squared / radius if squared < radius else 1.0


@kernel
def _row_again(
    products: Any, r: int, column: int, points: Any, row: int, others: Any, other0: int, spread: Any
) -> None:
    """The same for a row with close pairs, whose distances are computed on the numbers as given."""
    half = spread.half_rows[r]
    for c in range(column, min(column + PANEL, others.shape[0] - other0)):
        if spread.missed_rows[r] == 0 and spread.missed_columns[c] == 0:
            continue
        whole = half + spread.half_columns[c]
        distance = max(whole - products[c - column], np.float32(0))
        squared = distance * spread.scale
        if not distance >= CLOSE * whole + TINY:
            squared = squared_distance(points, row, others, other0 + c)
        spread.missed_columns[c] *= _ratio(squared, spread.squared[0])
        spread.missed_rows[r] *= _ratio(squared, spread.squared[1])


@kernel
def miss_panel(
    products: Any,
    row: int,
    column: int,
    points: Any,
    others: Any,
    point0: int,
    other0: int,
    spread: Any,
) -> None:
    """Multiply the ratios of all pairs of two panels into the products of both sides."""
    halves = spread.half_columns[column : column + PANEL]
    missed = np.ones(PANEL, np.float32)
    for r in range(row, min(row + PANEL, points.shape[0] - point0)):
        half = spread.half_rows[r]
        if _any_close(products[r - row], half, halves):
            _row_again(products[r - row], r, column, points, point0 + r, others, other0, spread)
            continue
        product = _row(products[r - row], half, halves, spread.inverses, missed)
        kept = spread.missed_rows[r] * product
        spread.missed_rows[r] = kept if kept > NOTHING else 0.0
    for c in range(PANEL):
        kept = spread.missed_columns[column + c] * missed[c]
        spread.missed_columns[column + c] = kept if kept > NOTHING else 0.0
