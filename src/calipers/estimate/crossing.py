"""One pass over the pairs of two sets: who lies in whose balls, and what lies nearest."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from calipers.estimate.balls import Counts, Doubles, Side
from calipers.estimate.candidates import Candidates
from calipers.estimate.crossing_scan import LARGE, LEAST, LESS, SMALL, Edges, exact_ratios, scan
from calipers.estimate.distances import fill_panels
from calipers.estimate.panels import Gates, patches
from calipers.estimate.spread import Spread
from calipers.estimate.tiles import Span


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
