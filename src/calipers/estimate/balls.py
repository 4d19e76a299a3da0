"""Which rows of one set lie in the k-NN balls of another: one pass over the pairs, exact counts."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from calipers.estimate.blocks import Blocks
from calipers.estimate.distances import Sieve, any_within, squared_distance
from calipers.estimate.jit import kernel
from calipers.estimate.nearest import Nearest

Counts = NDArray[np.int32]


@dataclass(frozen=True)
class Radii:
    """Squared radii of the balls of one set, ready to be compared with the pairs of a tile.

    Attributes
    ----------
    squared
        For every row and every k from 1 to k_max, shape ``(n, k_max)``, float64.
    without
        For every row and block, the radius for `k` once that block of the own set is deleted,
        shape ``(n, blocks)``; no columns where no replicates are kept.
    k
        The k of `without`.
    short
        How many radii of `without` are too small, since too few neighbours were known.
    """

    squared: NDArray[np.float64]
    without: NDArray[np.float64]
    k: int
    short: int = 0

    @classmethod
    def of(cls, nearest: Nearest, *, k: int, k_max: int, blocks: Blocks) -> Radii:
        """Read the radii off the nearest neighbours of a set."""
        without = np.empty((len(nearest.squared), blocks.count))
        short = _radii_without(nearest.squared, nearest.index, blocks.labels, k, without)
        return cls(np.ascontiguousarray(nearest.squared[:, :k_max]), without, k, int(short))

    def largest(self) -> NDArray[np.float64]:
        """The largest radius of every row, shape ``(n,)``: no pair beyond it counts."""
        without: NDArray[np.float64] = self.without.max(axis=1, initial=0.0)
        return np.maximum(self.squared[:, -1], without)

    def rows(self, start: int, stop: int) -> Radii:
        """The radii of some of the rows."""
        return Radii(self.squared[start:stop], self.without[start:stop], self.k)


@dataclass(frozen=True)
class BallCounts:
    """How often rows of one set (the owners of the balls) hold rows of the other (the guests).

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
    """

    held: Counts
    inside: Counts
    held_without: Counts
    held_from: Counts
    inside_without: Counts

    @classmethod
    def zeros(cls, owners: int, guests: int, k_max: int, blocks: int) -> BallCounts:
        """Nothing counted yet."""
        return cls(
            np.zeros((owners, k_max), np.int32),
            np.zeros((guests, k_max), np.int32),
            np.zeros((owners, blocks), np.int32),
            np.zeros((owners, blocks), np.int32),
            np.zeros((guests, blocks), np.int32),
        )

    def add(self, part: BallCounts, owners: slice, guests: slice) -> None:
        """Add the counts of a tile, in place."""
        self.held[owners] += part.held
        self.inside[guests] += part.inside
        self.held_without[owners] += part.held_without
        self.held_from[owners] += part.held_from
        self.inside_without[guests] += part.inside_without

    @property
    def arrays(self) -> tuple[Counts, ...]:
        """The arrays in the order in which the kernel takes them."""
        return self.held, self.inside, self.held_without, self.held_from, self.inside_without


@dataclass(frozen=True)
class Side:
    """One of the two sets of a pass: its rows, its balls, its block labels."""

    points: Sieve
    radii: Radii
    blocks: Blocks

    def rows(self, start: int, stop: int) -> tuple[Any, ...]:
        """What the kernel needs of some of the rows."""
        radii = self.radii.rows(start, stop)
        return (
            self.points.points[start:stop],
            self.points.low[start:stop],
            self.points.threshold(radii.largest()),
            radii.squared,
            radii.without,
            self.blocks.labels[start:stop],
        )


def count_tile(
    reference: Side, generated: Side, rows: slice, columns: slice, *, closed: bool
) -> tuple[BallCounts, BallCounts]:
    """Count over one tile: generated rows in reference balls, and reference rows in generated ones.

    A pure function of its rows; counts of tiles add up in any order.
    """
    n, m = rows.stop - rows.start, columns.stop - columns.start
    k_max, blocks = reference.radii.squared.shape[1], reference.blocks.count
    of_reference = BallCounts.zeros(n, m, k_max, blocks)
    of_generated = BallCounts.zeros(m, n, k_max, blocks)
    products = reference.points.rows[rows] @ generated.points.rows[columns].T
    _scan(
        products,
        reference.rows(rows.start, rows.stop),
        generated.rows(columns.start, columns.stop),
        of_reference.arrays,
        of_generated.arrays,
        reference.radii.k,
        closed,
    )
    return of_reference, of_generated


@kernel
def _holds(squared_radius: float, squared: float, closed: bool) -> bool:
    return squared <= squared_radius if closed else squared < squared_radius


@kernel
def _record(
    squared: float,
    owner: int,
    guest: int,
    owners: Any,
    label: int,
    counts: Any,
    k: int,
    closed: Any,
) -> None:
    """Enter one pair into the counts of the owner's balls."""
    _, _, _, radii, without, labels = owners
    held, inside, held_without, held_from, inside_without = counts
    for level in range(radii.shape[1]):
        if _holds(radii[owner, level], squared, closed):
            held[owner, level] += 1
            inside[guest, level] += 1
            break
    blocks = without.shape[1]
    if blocks > 0 and _holds(radii[owner, k - 1], squared, closed):
        held_from[owner, label] += 1
    for block in range(blocks):
        if block != labels[owner] and _holds(without[owner, block], squared, closed):
            held_without[owner, block] += 1
            inside_without[guest, block] += 1


@kernel
def _scan(
    products: Any, rows: Any, columns: Any, of_rows: Any, of_columns: Any, k: int, closed: bool
) -> None:
    row_points, row_low, row_limits, _, _, row_labels = rows
    column_points, column_low, column_limits, _, _, column_labels = columns
    width = products.shape[1]
    for r in range(products.shape[0]):
        low, limit = row_low[r], row_limits[r]
        for c0 in range(0, width, 64):
            c1 = min(c0 + 64, width)
            if not any_within(
                products[r, c0:c1], low, column_low[c0:c1], limit, column_limits[c0:c1]
            ):
                continue
            for c in range(c0, c1):
                bound = low + column_low[c] - products[r, c]
                if bound <= limit or bound <= column_limits[c]:
                    squared = squared_distance(row_points[r], column_points[c])
                    _record(squared, r, c, rows, column_labels[c], of_rows, k, closed)
                    _record(squared, c, r, columns, row_labels[r], of_columns, k, closed)


@kernel
def _radii_without(squared: Any, index: Any, labels: Any, k: int, without: Any) -> int:
    """The k-th nearest row outside each block; the last known one where too few are known.

    Returns how many radii are too small for that reason, each row's own block left out.
    """
    short = 0
    for i in range(squared.shape[0]):
        for block in range(without.shape[1]):
            left = k
            for place in range(squared.shape[1]):
                without[i, block] = squared[i, place]
                left -= labels[index[i, place]] != block
                if left == 0:
                    break
            short += left > 0 and labels[i] != block
    return short
