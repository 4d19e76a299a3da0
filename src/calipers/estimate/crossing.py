"""One pass over the pairs of two sets: who lies in whose balls, and what lies nearest."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from calipers.estimate.balls import Counts, Doubles, Radii, Side, holds
from calipers.estimate.candidates import Candidates, keep
from calipers.estimate.distances import fill_panels, squared_distance
from calipers.estimate.jit import inlined, kernel
from calipers.estimate.microkernel import PANEL, lowest_bit
from calipers.estimate.panels import Gates, multiply_panels, sift
from calipers.estimate.spread import CLOSE, Spread, miss_panel
from calipers.estimate.tiles import Span

LARGE = 3e38  # just below what float32 holds
SMALL = 1e-30  # a ratio below counts as none
LESS = 1 - 2.0**-20  # keeps a ratio that is not exact from shutting out its equal


class Crossing(NamedTuple):
    """What the balls of one set (the owners) and the rows of the other (the guests) have in common.

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

    held: Counts
    inside: Counts
    held_without: Counts
    held_from: Counts
    inside_without: Counts
    capped: Counts
    bound: NDArray[np.float32]
    which: NDArray[np.int64]
    ratio: Doubles
    deepest: NDArray[np.int64]
    missed: Doubles

    @classmethod
    def empty(cls, owners: int, guests: int, k_max: int, blocks: int) -> Crossing:
        """No pair seen yet."""
        return cls(
            np.zeros((owners, k_max), np.int32),
            np.zeros((guests, k_max), np.int32),
            np.zeros((owners, blocks), np.int32),
            np.zeros((owners, blocks), np.int32),
            np.zeros((guests, blocks), np.int32),
            np.zeros(guests, np.int32),
            *Candidates.empty(guests, 1),
            np.zeros(guests),
            np.full(guests, -1, np.int64),
            np.ones(guests),
        )

    @property
    def candidates(self) -> Candidates:
        """Candidates for the nearest owner of every guest."""
        return Candidates(self.bound, self.which)

    def add(self, part: Crossing, owners: slice, guests: slice) -> None:
        """Take in what a tile found, in place."""
        for name in ("held", "held_without", "held_from"):
            getattr(self, name)[owners] += getattr(part, name)
        for name in ("inside", "inside_without", "capped"):
            getattr(self, name)[guests] += getattr(part, name)
        self.candidates.merge((guests.start, guests.stop), part.candidates)
        ratio, deepest = self.ratio[guests], self.deepest[guests]
        deeper = (part.ratio > ratio) | ((part.ratio == ratio) & (part.deepest < deepest))
        ratio[deeper], deepest[deeper] = part.ratio[deeper], part.deepest[deeper]
        self.missed[guests] *= part.missed


class _Edges(NamedTuple):
    """What settles a pair of some rows: their balls, and when its bound leaves anything open.

    Attributes
    ----------
    radii
        Of the rows.
    marks
        All squared radii that may matter, shape ``(rows, kept)``.
    limit
        The largest radius as a limit of the sieve, float32, filled up to whole panels.
    start
        The place of the first row in its set.
    """

    radii: Radii
    marks: Doubles
    limit: NDArray[np.float32]
    start: int

    @classmethod
    def of(cls, side: Side, span: Span) -> _Edges:
        radii = side.radii.rows(*span)
        marks = side.nearest.squared[span[0] : span[1]]
        return cls(radii, marks, side.points.limits(radii.largest), span[0])


def cross_tile(
    reference: Side,
    generated: Side,
    rows: Span,
    columns: Span,
    known: tuple[Crossing, Crossing],
    *,
    closed: bool,
) -> tuple[Crossing, Crossing]:
    """Look at one tile: the reference's balls with generated guests, and the other way round.

    A pure function of its rows: `known` only spares it pairs that cannot matter, and what tiles
    find can be taken in in any order. Spans start at a multiple of 48.
    """
    k_max, blocks = reference.radii.squared.shape[1], reference.radii.without.shape[1]
    n, m = rows[1] - rows[0], columns[1] - columns[0]
    found = Crossing.empty(n, m, k_max, blocks), Crossing.empty(m, n, k_max, blocks)
    spread = Spread.of(reference, generated, rows, columns)
    edges = _Edges.of(reference, rows), _Edges.of(generated, columns)
    left, right = reference.points, generated.points
    _scan(
        (left.panels, right.panels, left.points, right.points),
        (
            _gates(reference, rows, known[1], edges[0]),
            _gates(generated, columns, known[0], edges[1]),
        ),
        edges,
        found,
        (left.half_scale, left.gap, reference.median, generated.median, reference.k, closed),
        spread,
    )
    found[0].missed[:] = spread.missed_columns[:m]
    found[1].missed[:] = spread.missed_rows[:n]
    return found


def exact_ratio(owners: Side, guests: Side, found: Crossing) -> Doubles:
    """Settle the largest ratio of every guest on the numbers as given."""
    ratio = np.zeros(len(found.ratio))
    _ratios(owners.points.points, guests.points.points, owners.radii.smaller, found.deepest, ratio)
    return ratio


def _gates(side: Side, span: Span, known: Crossing, edges: _Edges) -> Gates:
    """Let pass what a ball may hold, what may lie nearer, and what may lie deeper in a ball."""
    limit = np.maximum(edges.limit, fill_panels(known.bound[slice(*span), -1], 0.0))
    gates = Gates.of(side.points.low[span[0] : span[0] + len(limit)], limit)
    smaller = edges.radii.smaller
    reach = side.points.limits(smaller)
    counts = np.flatnonzero(smaller >= 0)
    gates.reach[counts] = reach[counts]
    gates.gain[: len(smaller)] = np.clip(known.ratio[slice(*span)] * LESS, SMALL, LARGE)
    return gates


@kernel
def _ratios(owners: Any, guests: Any, smaller: Any, deepest: Any, ratio: Any) -> None:
    for guest in range(ratio.shape[0]):
        owner = deepest[guest]
        if owner >= 0:
            squared = squared_distance(owners[owner], guests[guest])
            ratio[guest] = smaller[owner] / squared if squared > 0 else np.inf


@inlined
def _open(marks: Any, owner: int, median: float, low: float, high: float) -> bool:
    """Whether a radius lies where the squared distance may lie."""
    hits = low <= median <= high
    for place in range(marks.shape[1]):
        hits |= (low <= marks[owner, place]) & (marks[owner, place] <= high)
    return hits


@inlined
def _record(
    squared: float, owner: int, guest: int, label: int, radii: Any, found: Any, k: int, closed: Any
) -> None:
    """Enter one pair into the counts of the owner's balls."""
    if not holds(radii.largest[owner], squared, closed):
        return
    for level in range(radii.squared.shape[1]):
        if holds(radii.squared[owner, level], squared, closed):
            found.held[owner, level] += 1
            found.inside[guest, level] += 1
            break
    found.capped[guest] += holds(radii.capped[owner], squared, closed)
    blocks = radii.without.shape[1]
    if blocks > 0 and holds(radii.squared[owner, k - 1], squared, closed):
        found.held_from[owner, label] += 1
    for block in range(blocks):
        if block != radii.labels[owner] and holds(radii.without[owner, block], squared, closed):
            found.held_without[owner, block] += 1
            found.inside_without[guest, block] += 1


@inlined
def _depth(smaller: float, squared: float) -> float:
    """Squared ratio of a ball's radius to the distance from its centre; -1 if it does not count."""
    if smaller < 0:
        return -1.0
    return smaller / squared if squared > 0 else np.inf


@inlined
def _deepen(ratio: float, owner: int, guest: int, gates: Any, found: Any) -> None:
    """Note a ball that holds the guest deeper than all before."""
    if ratio > found.ratio[guest] or (ratio == found.ratio[guest] and owner < found.deepest[guest]):
        found.ratio[guest] = ratio
        found.deepest[guest] = owner
        gates.gain[guest] = max(gates.gain[guest], np.float32(min(ratio * LESS, LARGE)))


@kernel
def _scan(
    panels_points: Any, gates: Any, edges: Any, found: Any, choices: Any, spread: Any
) -> None:
    left_panels, right_panels, left, right = panels_points
    half_scale, gap, left_median, right_median, k, closed = choices
    rows, columns = gates
    owners, others = edges
    of_rows, of_columns = found
    products = np.empty((PANEL, PANEL), np.float32)
    passing = np.empty(PANEL, np.uint64)
    scale = 1 / half_scale
    for column in range(0, columns.low.shape[0], PANEL):
        for row in range(0, rows.low.shape[0], PANEL):
            multiply_panels(
                left_panels[(owners.start + row) // PANEL],
                right_panels[(others.start + column) // PANEL],
                products,
            )
            if spread.active:
                miss_panel(products, row, column, left, right, owners.start, others.start, spread)
            if sift(products, rows, columns, row, column, passing) == 0:
                continue
            for r in range(row, row + PANEL):
                bits = passing[r - row]
                while bits:
                    c = column + lowest_bit(bits)
                    bits &= bits - np.uint64(1)
                    i, j = owners.start + r, others.start + c
                    sums = rows.low[r] + columns.low[c]
                    bound = sums - products[r - row, c - column]
                    if bound < owners.limit[r] or bound < others.limit[c]:
                        low, high = bound * scale, (bound + gap * sums) * scale
                        if _open(owners.marks, r, left_median, low, high) or _open(
                            others.marks, c, right_median, low, high
                        ):
                            low = squared_distance(left[i], right[j])
                        _record(low, r, c, others.radii.labels[c], owners.radii, of_rows, k, closed)
                        _record(
                            low, c, r, owners.radii.labels[r], others.radii, of_columns, k, closed
                        )
                    if bound < of_rows.bound[c, -1]:
                        last = keep(of_rows.bound, of_rows.which, c, bound, i)
                        columns.limit[c] = min(columns.limit[c], max(last, others.limit[c]))
                    if bound < of_columns.bound[r, -1]:
                        last = keep(of_columns.bound, of_columns.which, r, bound, j)
                        rows.limit[r] = min(rows.limit[r], max(last, owners.limit[r]))
                    deeper = bound * columns.gain[c] < rows.reach[r]
                    if deeper or bound * rows.gain[r] < columns.reach[c]:
                        middle = (bound + gap * sums / 2) * scale
                        if middle * half_scale < CLOSE * sums:
                            middle = squared_distance(left[i], right[j])
                        _deepen(_depth(owners.radii.smaller[r], middle), i, c, columns, of_rows)
                        _deepen(_depth(others.radii.smaller[c], middle), j, r, rows, of_columns)
