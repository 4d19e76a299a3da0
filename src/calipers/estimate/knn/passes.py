"""The two passes over all pairs of rows behind every neighbourhood, on any engine.

:class:`LocalPasses` runs them on the threads of this process. Whatever else runs them (a GPU, a
cluster) gives the same neighbours and the same counts, and is chosen for a stretch of a program by
:func:`passes_on`.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from calipers.estimate.knn.ball_counts import BallCounts, count_tile, exact_ratio
from calipers.estimate.knn.balls import BallSide
from calipers.estimate.knn.kernels import radii_without_blocks
from calipers.estimate.knn.nearest import Nearest, nearest_neighbours, settle
from calipers.numeric.distances import Sieve
from calipers.numeric.threads import Workers, workers
from calipers.numeric.tiles import Span, block_of, panel_spans, rectangle

EXACT = "exact"
"""How neighbours are found where none is missed."""


@dataclass(frozen=True)
class SettledCounts:
    """Counts of the balls of one set, with nearest owners and deepest balls decided."""

    counts: BallCounts
    nearest: Nearest
    ratio: NDArray[np.float64]

    @classmethod
    def of(
        cls, owners: BallSide, guests: BallSide, counts: BallCounts, pool: Workers
    ) -> SettledCounts:
        """Decide the nearest owners and the deepest balls."""
        candidates = counts.candidates
        nearest = settle(
            candidates, guests.points, owners.points, candidates.k, pool, same_set=False
        )
        return cls(counts, nearest, exact_ratio(owners, guests, counts))

    def across(self, owners: BallSide) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Squared distances of the guests to their k-th nearest owner, and without each block.

        Where too few owners are known once a block is deleted, the last known one counts.
        """
        squared, index = self.nearest.squared, self.nearest.index
        without = np.empty((len(squared), owners.radii.without.shape[1]))
        radii_without_blocks(squared, index, owners.radii.labels, None, owners.k, without)
        return squared[:, owners.k - 1], without


class Passes(Protocol):
    """Protocol of the engines that find neighbours within a set and count rows in balls."""

    @property
    def search(self) -> str:
        """How neighbours are found, for signatures: exactly, unless it says otherwise."""
        return EXACT

    def prepared(self, reference: Sieve, generated: Sieve) -> Passes:
        """Prepare two sets for all passes; by default nothing."""
        return self

    def nearest(self, points: Sieve, k: int) -> Nearest:
        """Find the k nearest neighbours of every row within its own set, itself left out.

        They come closest first, equal ones by index, with exact squared distances.
        """
        ...

    def count(
        self, reference: BallSide, generated: BallSide, *, closed: bool, neighbours: tuple[int, int]
    ) -> tuple[SettledCounts, SettledCounts]:
        """Process every pair of two sets once.

        Parameters
        ----------
        reference, generated
            The two sets with their balls.
        closed
            Whether the boundary of a ball belongs to it.
        neighbours
            How many nearest reference rows of every generated row are kept, and how many nearest
            generated rows of every reference row.

        Returns
        -------
        tuple of SettledCounts
            Of the reference's balls, whose guests are the generated rows, and the other way round.
        """
        ...


@dataclass(frozen=True)
class LocalPasses(Passes):
    """Both passes on threads of this process, tile by tile.

    Attributes
    ----------
    threads
        How many; None for one each core.
    block
        Rows of a tile; None for what suits the sizes. Neither changes a number.
    """

    threads: int | None = None
    block: int | None = None

    def nearest(self, points: Sieve, k: int) -> Nearest:
        """Find the k nearest neighbours of every row within its own set."""
        return nearest_neighbours(points, k=k, threads=self.threads, block=self.block)

    def count(
        self, reference: BallSide, generated: BallSide, *, closed: bool, neighbours: tuple[int, int]
    ) -> tuple[SettledCounts, SettledCounts]:
        """Process every pair of two sets once."""
        n, m = len(reference.points.points), len(generated.points.points)
        total = empty_counts(reference, generated, neighbours)

        def look(tile: tuple[Span, Span]) -> tuple[slice, slice, tuple[BallCounts, BallCounts]]:
            counted = count_tile(reference, generated, *tile, total, closed=closed)
            return slice(*tile[0]), slice(*tile[1]), counted

        with workers(self.threads) as pool:
            reference.points.prepare(pool)
            generated.points.prepare(pool)
            size = self.block or block_of(n, m, self.threads)
            tiles = rectangle(panel_spans(n, size), panel_spans(m, size))
            for rows, columns, parts in pool.map(look, tiles):
                total[0].add(parts[0], rows, columns)
                total[1].add(parts[1], columns, rows)
            return settled_counts(reference, generated, total, pool)


def empty_counts(
    reference: BallSide, generated: BallSide, neighbours: tuple[int, int]
) -> tuple[BallCounts, BallCounts]:
    """Return zero counts of both sets; `neighbours` as for :meth:`Passes.count`."""
    n, m = len(reference.points.points), len(generated.points.points)
    sizes = reference.radii.sizes
    return (
        BallCounts.empty(n, m, sizes, neighbours[0]),
        BallCounts.empty(m, n, sizes, neighbours[1]),
    )


def settled_counts(
    reference: BallSide, generated: BallSide, total: tuple[BallCounts, BallCounts], pool: Workers
) -> tuple[SettledCounts, SettledCounts]:
    """Decide the pairs that bounds left open, once all pairs were seen."""
    return (
        SettledCounts.of(reference, generated, total[0], pool),
        SettledCounts.of(generated, reference, total[1], pool),
    )


_chosen: ContextVar[Passes | None] = ContextVar("passes", default=None)


def chosen_passes() -> Passes | None:
    """Return the engine that :func:`passes_on` set; None for this process."""
    return _chosen.get()


@contextmanager
def passes_on(passes: Passes | None) -> Iterator[None]:
    """Measure neighbourhoods on an engine within a context; None for this process."""
    if passes is None:
        yield
        return
    before = _chosen.set(passes)
    try:
        yield
    finally:
        _chosen.reset(before)
