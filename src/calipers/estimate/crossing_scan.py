"""The pairs of one tile: all products, then the few pairs that may matter, each for all counts."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from calipers.estimate.balls import Doubles, Radii, Side, holds
from calipers.estimate.candidates import keep
from calipers.estimate.distances import FLOOR, squared_distance
from calipers.estimate.jit import inlined, kernel
from calipers.estimate.microkernel import PANEL, lowest_bit
from calipers.estimate.panels import multiply_panels, sift
from calipers.estimate.spread import CLOSE, miss_panel
from calipers.estimate.tiles import Span

LARGE = 3e38  # just below what float32 holds
LEAST = 1e-37  # just above where float32 loses digits
SMALL = 1e-30  # a ratio below shuts nothing out, since float32 cannot tell it well
LESS = 1 - 2.0**-20  # keeps a ratio that is not exact from shutting out its equal


class Edges(NamedTuple):
    """What settles a pair of some rows: their balls, and when its bound leaves anything open.

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
    marks: Doubles
    median: float
    limit: NDArray[np.float32]
    start: int

    @classmethod
    def of(cls, side: Side, span: Span) -> Edges:
        """Those of some of the rows of a side."""
        radii = side.radii.rows(*span)
        marks = side.nearest.squared[span[0] : span[1]]
        return cls(radii, marks, side.median, side.points.limits(radii.largest), span[0])


@kernel
def exact_ratios(owners: Any, guests: Any, smaller: Any, deepest: Any, ratio: Any) -> None:
    """Settle the ratio of every guest to the owner that came out deepest."""
    for guest in range(ratio.shape[0]):
        owner = deepest[guest]
        if owner >= 0:
            squared = squared_distance(owners, owner, guests, guest)
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
    squared: float,
    owner: int,
    guest: int,
    label: int,
    apart: Any,
    radii: Any,
    found: Any,
    k: int,
    closed: Any,
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
    for halving in range(radii.halves.shape[1]):
        together = ((apart >> np.uint64(halving)) & np.uint64(1)) == 0
        hit = together & holds(radii.halves[owner, halving], squared, closed)
        found.held_halves[owner, halving] += hit
        found.inside_halves[guest, halving] += hit


@inlined
def _depth(smaller: float, squared: float) -> float:
    """Squared ratio of a ball's radius to the distance from its centre; -1 if it does not count."""
    if smaller < 0:
        return -1.0
    return smaller / squared if squared > 0 else np.inf


@inlined
def _may_lie_deeper(bound: Any, reach: Any, gain: Any, ratio: float) -> bool:
    """Whether a ball may hold a guest deeper than all before; a copy of the centre ends it."""
    return reach >= 0 and ratio < np.inf and (bound < FLOOR or bound * gain < reach)


@inlined
def _deepen(ratio: float, owner: int, guest: int, gain: Any, found: Any) -> None:
    """Note a ball that holds the guest deeper than all before."""
    if ratio > found.ratio[guest] or (ratio == found.ratio[guest] and owner < found.deepest[guest]):
        found.ratio[guest] = ratio
        found.deepest[guest] = owner
        if ratio > SMALL:
            gain[guest] = max(gain[guest], np.float32(min(ratio * LESS, LARGE)))


@kernel
def scan(
    panels: Any,
    points: Any,
    patches: Any,
    gates: Any,
    edges: Any,
    found: Any,
    choices: Any,
    spread: Any,
) -> None:
    """Go through all pairs of a tile.

    One long function: to hand arrays on for every pair would cost more than the pair.
    """
    left_panels, right_panels = panels
    left, right = points
    half_scale, gap, k, closed = choices
    rows, columns = gates
    owners, others = edges
    of_rows, of_columns = found
    products, passing = np.empty((PANEL, PANEL), np.float32), np.empty(PANEL, np.uint64)
    for patch in range(patches.shape[0]):
        row, column = patches[patch, 0], patches[patch, 1]
        multiply_panels(
            left_panels,
            (owners.start + row) // PANEL,
            right_panels,
            (others.start + column) // PANEL,
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
                low = (bound - FLOOR) / half_scale
                high = (bound + gap * sums + FLOOR) / half_scale
                # Counts of both balls, settled in float64 where a radius lies within the doubt
                squared, settled = low, False
                if bound < owners.limit[r] or bound < others.limit[c]:
                    settled = _open(owners.marks, r, owners.median, low, high) or _open(
                        others.marks, c, others.median, low, high
                    )
                    if settled:
                        squared = squared_distance(left, i, right, j)
                    label, other = owners.radii.labels[r], others.radii.labels[c]
                    apart = owners.radii.codes[r] ^ others.radii.codes[c]
                    _record(squared, r, c, other, apart, owners.radii, of_rows, k, closed)
                    _record(squared, c, r, label, apart, others.radii, of_columns, k, closed)
                # Candidates for the nearest
                if bound < of_rows.bound[c, -1]:
                    last = keep(of_rows.bound, of_rows.which, c, bound, i)
                    columns.limit[c] = min(columns.limit[c], max(last, others.limit[c]))
                if bound < of_columns.bound[r, -1]:
                    last = keep(of_columns.bound, of_columns.which, r, bound, j)
                    rows.limit[r] = min(rows.limit[r], max(last, owners.limit[r]))
                # Depth in a smaller ball
                deeper = _may_lie_deeper(bound, rows.reach[r], columns.gain[c], of_rows.ratio[c])
                if deeper or _may_lie_deeper(
                    bound, columns.reach[c], rows.gain[r], of_columns.ratio[r]
                ):
                    middle = squared if settled else (low + high) / 2
                    if not settled and middle * half_scale < CLOSE * sums + FLOOR:
                        middle = squared_distance(left, i, right, j)
                    _deepen(_depth(owners.radii.smaller[r], middle), i, c, columns.gain, of_rows)
                    _deepen(_depth(others.radii.smaller[c], middle), j, r, rows.gain, of_columns)
