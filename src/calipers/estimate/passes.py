"""The three passes over the distances of two sets: each within itself, and one across."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from calipers.errors import InputError
from calipers.estimate.balls import Distance, Side, Supports, common_radius, median_radius, radii_of
from calipers.estimate.blocks import Blocks
from calipers.estimate.candidates import Nearest, settle
from calipers.estimate.crossing import Crossing, cross_tile, exact_ratio
from calipers.estimate.distances import Points, Sieve
from calipers.estimate.nearest import nearest_neighbours
from calipers.estimate.preprocess import unit_rows
from calipers.estimate.tiles import Span, Workers, block_of, panel_spans, rectangle, workers
from calipers.estimate.validate import check_whole

# Neighbours kept beyond k, at least, so that the radii without one block of rows are known too
SPARE = 8
# Where labels are so uneven that more would be needed, such a radius is the last known one
MOST_KEPT = 1024
HALVED = 12
"""Neighbours kept beyond what halves need nearly always."""


@dataclass(frozen=True)
class Crossed:
    """What a pass found for the balls of one set, settled."""

    found: Crossing
    nearest: Nearest
    ratio: NDArray[np.float64]

    @classmethod
    def of(cls, owners: Side, guests: Side, found: Crossing, pool: Workers) -> Crossed:
        """Settle the nearest owners and the deepest balls."""
        nearest = settle(found.candidates, guests.points, owners.points, 1, pool, own=False)
        return cls(found, nearest, exact_ratio(owners, guests, found))


@dataclass(frozen=True)
class Work:
    """The choices of one call, and the three passes that follow from them."""

    k: int
    k_max: int
    closed: bool
    distance: Distance
    supports: Supports
    threads: int | None
    size: int | None

    def side(self, points: Sieve, blocks: Blocks) -> Side:
        """Find the balls of one set."""
        # One neighbour more tells whether ties go on beyond the rim of a capped ball
        others, spare = len(points.points) - 1, int(self.supports.capped is not None)
        if blocks.count:  # how many of the k nearest one block may hold, six deviations up
            share = self.k / blocks.count
            spare = max(SPARE, math.ceil(share + 6 * math.sqrt(share)))
        if blocks.halvings:  # enough that k of them lie in the same half, by every halving
            spare = max(spare, math.ceil(self.k + 6 * math.sqrt(2 * self.k)) + HALVED)
        while True:
            kept = min(self.k_max + spare, others)
            nearest = nearest_neighbours(points, k=kept, threads=self.threads, block=self.size)
            radii, short = radii_of(
                nearest, k=self.k, k_max=self.k_max, blocks=blocks, supports=self.supports
            )
            if short == 0 or kept == others or kept > MOST_KEPT:
                spread = common_radius(nearest, self.supports, self.distance)
                median = median_radius(nearest.squared, self.supports.capped)
                return Side(points, nearest, radii, self.k, median, spread)
            spare = 2 * spare + self.k  # one block holds most neighbours of some row: keep more

    def cross(self, reference: Side, generated: Side) -> tuple[Crossed, Crossed]:
        """Look at every pair of the two sets once."""
        n, m = len(reference.points.points), len(generated.points.points)
        sizes = reference.radii.sizes
        total = Crossing.empty(n, m, *sizes), Crossing.empty(m, n, *sizes)

        def look(tile: tuple[Span, Span]) -> tuple[slice, slice, tuple[Crossing, Crossing]]:
            found = cross_tile(reference, generated, *tile, total, closed=self.closed)
            return slice(*tile[0]), slice(*tile[1]), found

        with workers(self.threads) as pool:
            size = self.size or block_of(n, m, self.threads)
            tiles = rectangle(panel_spans(n, size), panel_spans(m, size))
            for rows, columns, parts in pool.map(look, tiles):
                total[0].add(parts[0], rows, columns)
                total[1].add(parts[1], columns, rows)
            return (
                Crossed.of(reference, generated, total[0], pool),
                Crossed.of(generated, reference, total[1], pool),
            )


def check_k(k: int, k_max: int | None, reference: Points, generated: Points) -> int:
    """Return the largest k that is asked for, or say which set is too small for it."""
    check_whole("k", k, 1)
    largest = max(k, k if k_max is None else check_whole("k_max", k_max, 1))
    for name, points in (("reference", reference), ("generated", generated)):
        if len(points) < largest + 1:
            raise InputError(
                f"k = {largest} needs at least {largest + 1} samples in each set; "
                f"the {name} set has {len(points)}"
            )
    return largest


def check_blocks(blocks: tuple[Blocks, Blocks], n: int, m: int) -> None:
    """Refuse labels that the kernels would write beyond their arrays with."""
    if blocks[0].count != blocks[1].count:
        raise InputError(
            "both sets must have equally many blocks; "
            f"found {blocks[0].count} and {blocks[1].count}"
        )
    if blocks[0].halvings != blocks[1].halvings:
        raise InputError("either both sets or none must be halved; found one that is")
    for name, side, rows in (("reference", blocks[0], n), ("generated", blocks[1], m)):
        labels = side.labels
        if labels.shape != (rows,):
            raise InputError(f"{name} blocks must label {rows} rows; found shape {labels.shape}")
        if side.count and not 0 <= labels.min() <= labels.max() < side.count:
            raise InputError(f"{name} block labels must lie in 0..{side.count - 1}")
        codes = side.halves
        if codes is not None and (codes.shape != (rows,) or codes.dtype != np.uint64):
            raise InputError(
                f"{name} halves must be codes of {rows} rows, uint64; "
                f"found shape {codes.shape}, dtype {codes.dtype}"
            )


def directions(reference: Points, generated: Points) -> tuple[Points, Points]:
    """Rows of length one, whose squared distance is twice their cosine distance."""
    for name, points in (("reference", reference), ("generated", generated)):
        zero = np.flatnonzero(~points.any(axis=1))
        if len(zero):
            raise InputError(
                f"{name}: distance cosine needs rows that are not all zero; "
                f"{len(zero)} row(s) are, the first is row {zero[0] + 1}"
            )
    return unit_rows(reference.astype(np.float64)), unit_rows(generated.astype(np.float64))
