"""Counts of rows in balls: one pass over the pairs of two sets, tile by tile.

Every tile gives all products of its rows, and then looks at the few pairs that may matter, each
for all counts at once: balls of every k, replicates without a block or within a half, capped and
smaller balls, the nearest row of the other set.

Balls of one common radius R need no exact membership, since the factor d/R on the rim is 1: how
surely they miss a row, the product of d/R over all owners within R, is taken from the float32
products themselves. Only pairs so close that the products cancel are computed again.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from calipers.estimate.knn.balls import BallSide, Radii
from calipers.estimate.knn.kernels import LARGE, LEAST, LESS, SMALL, exact_ratios, scan_pairs
from calipers.estimate.knn.nearest import Candidates
from calipers.numeric.arrays import Floats, Ints
from calipers.numeric.distances import fill_panels, slack
from calipers.numeric.panels import Thresholds, patches
from calipers.numeric.scratch import scratch
from calipers.numeric.tiles import Span


class CommonBalls(NamedTuple):
    """The part of a tile for balls of one common radius.

    Attributes
    ----------
    active
        Whether they were asked for.
    half_rows, half_columns
        Half the squared lengths, float32, infinite for rows that only fill a panel.
    scale
        Factor from half a squared distance of the sieve to a squared distance.
    inverse_rows, inverse_columns
        Factors from half a squared distance to its ratio to the squared radius, with the rows as
        owners and with the columns as owners.
    squared_rows, squared_columns
        Those two squared radii.
    missed_rows, missed_columns
        Products of the ratios, for the rows and for the columns as guests, float64: only those
        of 48 ratios each are taken in float32.
    """

    active: bool
    half_rows: NDArray[np.float32]
    half_columns: NDArray[np.float32]
    scale: float
    inverse_rows: np.float32
    inverse_columns: np.float32
    squared_rows: float
    squared_columns: float
    missed_rows: NDArray[np.float64]
    missed_columns: NDArray[np.float64]

    @classmethod
    def of(cls, owners: BallSide, others: BallSide, rows: Span, columns: Span) -> CommonBalls:
        """Start with no misses."""
        radii = owners.spread, others.spread
        active = bool(np.isfinite(radii).all())
        half_scale = owners.points.half_scale
        left, right = _halves(owners, rows), _halves(others, columns)
        return cls(
            active,
            left,
            right,
            1 / half_scale,
            _inverse(radii[0], half_scale),
            _inverse(radii[1], half_scale),
            *radii,
            np.ones(len(left)),
            np.ones(len(right)),
        )


def _halves(side: BallSide, span: Span) -> NDArray[np.float32]:
    low = side.points.low[span[0] : span[1]] / np.float32(1 - slack(side.points.points.shape[1]))
    return fill_panels(low, np.inf)


def _inverse(squared: float, half_scale: float) -> np.float32:
    with np.errstate(divide="ignore", over="ignore"):
        return np.float32(1 / (np.float64(squared) * half_scale))


class TileBalls(NamedTuple):
    """The balls of some rows, and bounds that leave pairs to be decided exactly.

    Attributes
    ----------
    radii
        Of the rows.
    marks
        All squared radii that may matter but the median, shape ``(rows, kept)``.
    median
        The square of the radius at which balls are capped, NaN where none are.
    limit
        The largest radius as a limit of the sieve, float32, filled up to whole panels.
    start
        The place of the first row in its set.
    """

    radii: Radii
    marks: Floats
    median: float
    limit: NDArray[np.float32]
    start: int

    @classmethod
    def of(cls, side: BallSide, span: Span) -> TileBalls:
        """Take the balls of some rows of a side."""
        radii = side.radii.rows(*span)
        marks = side.nearest.squared[span[0] : span[1]]
        return cls(radii, marks, side.median, side.points.limits(radii.largest), span[0])


class BallCounts(NamedTuple):
    """Counts of the rows of one set (the guests) in the balls of the other (the owners).

    Attributes
    ----------
    held
        Guests by the smallest k whose ball holds them, shape ``(owners, k_max)``.
    inside
        For every guest, owners by the smallest k whose ball holds it, shape ``(guests, k_max)``.
    held_without
        Guests held once a block of the owners' set is deleted, shape ``(owners, blocks)``.
    held_from
        Guests held, by the guest's block, shape ``(owners, blocks)``.
    inside_without
        Owners that hold the guest once a block of their set is deleted, ``(guests, blocks)``.
    held_halves
        Guests of the same half held by the ball of the owner's half, ``(owners, halvings)``.
    inside_halves
        Owners of the same half whose balls within it hold the guest, ``(guests, halvings)``.
    capped
        Owners whose capped ball holds the guest, shape ``(guests,)``.
    bound, which
        Candidates for the owner nearest to the guest, shape ``(guests, kept)``.
    ratio
        Largest squared ratio of a smaller ball's radius to the distance from its centre, from
        float32 products, shape ``(guests,)``.
    deepest
        The owner of that ball, shape ``(guests,)``; -1 before one is known.
    missed
        Product of squared ratios of distance and common radius, shape ``(guests,)``.
    """

    held: Ints
    inside: Ints
    held_without: Ints
    held_from: Ints
    inside_without: Ints
    held_halves: Ints
    inside_halves: Ints
    capped: Ints
    bound: NDArray[np.float32]
    which: NDArray[np.int64]
    ratio: Floats
    deepest: NDArray[np.int64]
    missed: Floats

    @classmethod
    def empty(
        cls, owners: int, guests: int, sizes: tuple[int, int, int], nearest: int
    ) -> BallCounts:
        """Return zero counts, sized by the radii, with room for so many nearest owners."""
        k_max, blocks, halvings = sizes
        return cls(
            scratch((owners, k_max), np.int32),
            scratch((guests, k_max), np.int32),
            scratch((owners, blocks), np.int32),
            scratch((owners, blocks), np.int32),
            scratch((guests, blocks), np.int32),
            scratch((owners, halvings), np.int32),
            scratch((guests, halvings), np.int32),
            np.zeros(guests, np.int32),
            *Candidates.empty(guests, nearest),
            np.zeros(guests),
            np.full(guests, -1, np.int64),
            np.ones(guests),
        )

    @property
    def candidates(self) -> Candidates:
        """Candidates for the nearest owner of every guest."""
        return Candidates(self.bound, self.which)

    def add(self, part: BallCounts, owners: slice, guests: slice) -> None:
        """Merge the counts of a tile, in place."""
        for name in ("held", "held_without", "held_from", "held_halves"):
            getattr(self, name)[owners] += getattr(part, name)
        for name in ("inside", "inside_without", "inside_halves", "capped"):
            getattr(self, name)[guests] += getattr(part, name)
        self.candidates.merge((guests.start, guests.stop), part.candidates)
        ratio, deepest = self.ratio[guests], self.deepest[guests]
        deeper = (part.ratio > ratio) | ((part.ratio == ratio) & (part.deepest < deepest))
        ratio[deeper], deepest[deeper] = part.ratio[deeper], part.deepest[deeper]
        self.missed[guests] *= part.missed


def count_tile(
    reference: BallSide,
    generated: BallSide,
    rows: Span,
    columns: Span,
    known: tuple[BallCounts, BallCounts],
    *,
    closed: bool,
) -> tuple[BallCounts, BallCounts]:
    """Count one tile: generated guests in the reference's balls, and the other way round.

    A pure function of its rows: `known` only spares it pairs that cannot matter, and what tiles
    find can be taken in in any order. Spans start at a multiple of 48.
    """
    sizes = reference.radii.sizes
    n, m = rows[1] - rows[0], columns[1] - columns[0]
    counts = (
        BallCounts.empty(n, m, sizes, known[0].candidates.k),
        BallCounts.empty(m, n, sizes, known[1].candidates.k),
    )
    spread = CommonBalls.of(reference, generated, rows, columns)
    balls = TileBalls.of(reference, rows), TileBalls.of(generated, columns)
    thresholds = (
        _thresholds(reference, rows, known[1], balls[0]),
        _thresholds(generated, columns, known[0], balls[1]),
    )
    left, right = reference.points, generated.points
    scan_pairs(
        left.panels,
        right.panels,
        left.rounded,
        right.rounded,
        left.points,
        right.points,
        patches(n, m, left.panels),
        *thresholds,
        *balls,
        *counts,
        left.half_scale,
        left.gap,
        reference.k,
        closed,
        spread,
    )
    counts[0].missed[:] = spread.missed_columns[:m]
    counts[1].missed[:] = spread.missed_rows[:n]
    return counts


def exact_ratio(owners: BallSide, guests: BallSide, counts: BallCounts) -> Floats:
    """Compute the largest ratio of every guest exactly, from the original rows."""
    ratio = np.zeros(len(counts.ratio))
    exact_ratios(
        owners.points.points, guests.points.points, owners.radii.smaller, counts.deepest, ratio
    )
    return ratio


def _thresholds(side: BallSide, span: Span, known: BallCounts, balls: TileBalls) -> Thresholds:
    """Let pass what a ball may hold, what may lie nearer, and what may lie deeper in a ball."""
    limit = np.maximum(balls.limit, fill_panels(known.bound[slice(*span), -1], 0.0))
    thresholds = Thresholds.of(side.points.low[span[0] : span[0] + len(limit)], limit)
    smaller = balls.radii.smaller
    # No margin for underflow, which would let all pass a ball of radius 0: limits have it
    reach = (smaller * (side.points.half_scale * (1 + 2.0**-22))).clip(max=LARGE)
    reach = np.where(smaller > 0, np.maximum(reach, LEAST), smaller)
    thresholds.reach[: len(smaller)] = np.maximum(reach, -1)
    ratio = known.ratio[slice(*span)]
    thresholds.gain[: len(smaller)] = np.where(ratio > SMALL, np.minimum(ratio * LESS, LARGE), 0)
    return thresholds
