"""Balls that all have one radius R: how surely they miss a guest.

The product of d/R over all owners within R of a guest needs no exact membership, since a factor on
the rim is 1: it is taken from the float32 products themselves, whole panels at a time. Only pairs
so close that the products cancel are computed again.

The pairs of one tile: all products, then the few pairs that may matter, each for all counts.

One pass over the pairs of two sets: who lies in whose balls, and what lies nearest.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from calipers.estimate.knn.balls import Counts, Doubles, Radii, Side, holds
from calipers.estimate.knn.nearest import Candidates, keep
from calipers.numeric.compile import inlined, kernel, summation
from calipers.numeric.distances import FLOOR, fill_panels, slack, squared_distance
from calipers.numeric.simd import PANEL, Gates, lowest_bit, multiply_panels, patches, sift
from calipers.numeric.tiles import Span

if TYPE_CHECKING:
    from calipers.estimate.knn.balls import Side

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

    held: Counts
    inside: Counts
    held_without: Counts
    held_from: Counts
    inside_without: Counts
    held_halves: Counts
    inside_halves: Counts
    capped: Counts
    bound: NDArray[np.float32]
    which: NDArray[np.int64]
    ratio: Doubles
    deepest: NDArray[np.int64]
    missed: Doubles

    @classmethod
    def empty(cls, owners: int, guests: int, k_max: int, blocks: int, halvings: int) -> Crossing:
        """No pair seen yet."""
        return cls(
            np.zeros((owners, k_max), np.int32),
            np.zeros((guests, k_max), np.int32),
            np.zeros((owners, blocks), np.int32),
            np.zeros((owners, blocks), np.int32),
            np.zeros((guests, blocks), np.int32),
            np.zeros((owners, halvings), np.int32),
            np.zeros((guests, halvings), np.int32),
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
        for name in ("held", "held_without", "held_from", "held_halves"):
            getattr(self, name)[owners] += getattr(part, name)
        for name in ("inside", "inside_without", "inside_halves", "capped"):
            getattr(self, name)[guests] += getattr(part, name)
        self.candidates.merge((guests.start, guests.stop), part.candidates)
        ratio, deepest = self.ratio[guests], self.deepest[guests]
        deeper = (part.ratio > ratio) | ((part.ratio == ratio) & (part.deepest < deepest))
        ratio[deeper], deepest[deeper] = part.ratio[deeper], part.deepest[deeper]
        self.missed[guests] *= part.missed


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
    sizes = reference.radii.sizes
    n, m = rows[1] - rows[0], columns[1] - columns[0]
    found = Crossing.empty(n, m, *sizes), Crossing.empty(m, n, *sizes)
    spread = Spread.of(reference, generated, rows, columns)
    edges = Edges.of(reference, rows), Edges.of(generated, columns)
    gates = (
        _gates(reference, rows, known[1], edges[0]),
        _gates(generated, columns, known[0], edges[1]),
    )
    left, right = reference.points, generated.points
    scan(
        (left.panels, right.panels),
        (left.points, right.points),
        patches(n, m, left.panels),
        gates,
        edges,
        found,
        (left.half_scale, left.gap, reference.k, closed),
        spread,
    )
    found[0].missed[:] = spread.missed_columns[:m]
    found[1].missed[:] = spread.missed_rows[:n]
    return found


def exact_ratio(owners: Side, guests: Side, found: Crossing) -> Doubles:
    """Settle the largest ratio of every guest on the numbers as given."""
    ratio = np.zeros(len(found.ratio))
    exact_ratios(
        owners.points.points, guests.points.points, owners.radii.smaller, found.deepest, ratio
    )
    return ratio


def _gates(side: Side, span: Span, known: Crossing, edges: Edges) -> Gates:
    """Let pass what a ball may hold, what may lie nearer, and what may lie deeper in a ball."""
    limit = np.maximum(edges.limit, fill_panels(known.bound[slice(*span), -1], 0.0))
    gates = Gates.of(side.points.low[span[0] : span[0] + len(limit)], limit)
    smaller = edges.radii.smaller
    # No margin for underflow, which would let all pass a ball of radius 0: limits have it
    reach = (smaller * (side.points.half_scale * (1 + 2.0**-22))).clip(max=LARGE)
    reach = np.where(smaller > 0, np.maximum(reach, LEAST), smaller)
    gates.reach[: len(smaller)] = np.maximum(reach, -1)
    ratio = known.ratio[slice(*span)]
    gates.gain[: len(smaller)] = np.where(ratio > SMALL, np.minimum(ratio * LESS, LARGE), 0)
    return gates
