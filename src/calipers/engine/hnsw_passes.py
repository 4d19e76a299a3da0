"""Approximate nearest neighbours: both passes by graph search (HNSW, by usearch).

Every set gets an index: a graph in layers along which a search walks to the neighbours of a row
(Malkov and Yashunin, IEEE TPAMI 2020). What it finds is settled in float64 by the same loops as
everywhere, so all distances are those of true pairs, and what it misses errs to one side:

- the ball of a row is never too small, since its radius is the distance of its k-th nearest among
  fewer rows; the widest balls, which a single miss makes much wider and on which precision and
  recall depend most, are searched exactly;
- a count is never too large for the balls that were found, since pairs can only be missing from it;
- a distance to the nearest row of the other set is never too small.

So precision and recall may err either way: wider balls hold more, and a pair that neither set's
search found counts for none. :mod:`calipers.uncertainty.search_quality` measures by how much.

One thread fills an index, row by row, since the graph depends on the order; the two sets are filled
side by side. So a run repeats itself, whatever the number of threads. On processors with other
vector registers, and in other versions of usearch, a distance may round otherwise, and a few
neighbours differ.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from importlib.metadata import version
from typing import Any

import numpy as np
from numpy.typing import NDArray

from calipers.errors import InputError, require
from calipers.estimate.knn.ball_counts import BallCounts
from calipers.estimate.knn.balls import BallSide
from calipers.estimate.knn.close_pairs import close_pairs
from calipers.estimate.knn.kernels import count_listed, settle_listed
from calipers.estimate.knn.nearest import MORE, Nearest, nearest_between, search_again
from calipers.estimate.knn.passes import Passes, SettledCounts, empty_counts, settled_counts
from calipers.memory import budget
from calipers.numeric.arrays import Longs
from calipers.numeric.distances import Sieve
from calipers.numeric.threads import Workers, available_threads, workers
from calipers.numeric.tiles import Span, panel_spans, spans

ROWS = 4_800
"""Rows that are added or searched for together."""

FIRST = 32
"""Rows of the other set that are searched for every row, at least."""

WIDEST = 1_024
"""Rows of the other set that are searched for one whose ball holds all that was found, at most."""

WIDE_BALLS = 1_000
"""Rows of a set, those with the widest balls, of which all neighbours are found.

Walks miss rows that lie apart from all others most often, and a ball around one of these may hold a
good part of the other set: among 100,000 rows of 384 dimensions 16 such balls, too wide by a fifth
to a third, raised precision by 0.014.
"""

PEERS = 2.5
"""Links of a row over the connectivity: twice it in the lowest layer, and those above."""


@dataclass(frozen=True)
class HnswPasses(Passes):
    """Both passes by a search along graphs, which may miss neighbours.

    Attributes
    ----------
    connectivity
        Links of a row in a layer of the graph (M); twice as many in the lowest one.
    expansion_add, expansion_search
        How many rows a walk keeps in view (ef) as a row is added, and as one is searched for.
    threads
        None for one each core. Changes no number.
    indices
        The graphs of the sets that were prepared.
    """

    connectivity: int = 16
    expansion_add: int = 128
    expansion_search: int = 64
    threads: int | None = None
    indices: tuple[tuple[Sieve, Any], ...] = field(default=(), repr=False, compare=False)

    @property
    def search(self) -> str:
        """The search and its parameters, for signatures."""
        return (
            f"hnsw(connectivity={self.connectivity},expansion_add={self.expansion_add},"
            f"expansion_search={self.expansion_search},usearch={version('usearch')})"
        )

    def prepared(self, reference: Sieve, generated: Sieve) -> HnswPasses:
        """Build the indices of two sets in parallel.

        Raises
        ------
        MissingExtraError
            If usearch is not installed.
        InputError
            If the indices do not fit into the memory that may be taken.
        """
        kind = self._index_kind()
        self._check_memory(reference, generated)
        pair = reference, generated
        with workers(min(2, available_threads(self.threads))) as pool:
            filled = pool.map(lambda points: (points, self._filled(points, kind)), pair)
            return replace(self, indices=tuple(filled))

    def nearest(self, points: Sieve, k: int) -> Nearest:
        """Find the k nearest neighbours of every row within its set, as far as the search reaches.

        Rows of which it finds fewer than k others are compared with all, and so are the 1,000 whose
        k-th one is farthest.
        """
        n, index = len(points.points), self._index_of(points)
        nearest = _nothing(n, k)
        with workers(self.threads) as pool:
            for start, stop in panel_spans(n, ROWS):
                rows = np.arange(start, stop)
                which = self._searched(index, points, rows, min(k + 1 + MORE, n))
                which[which == rows[:, None]] = -1  # no row is its own neighbour
                part = Nearest(nearest.squared[start:stop], nearest.index[start:stop])
                _settle(points, points, rows, which, part, pool)
                still_open = part.index[:, -1] < 0
                if still_open.any():
                    both = part.squared, part.index
                    search_again(points, points, (start, stop), still_open, both, same_set=True)
        self._settle_widest(points, nearest)
        return nearest

    def _settle_widest(self, points: Sieve, nearest: Nearest) -> None:
        """Find all neighbours of the rows with the widest balls, in place."""
        k = nearest.squared.shape[1]
        wide = np.sort(np.argsort(-nearest.squared[:, -1], kind="stable")[:WIDE_BALLS])
        true, _ = nearest_between(points.part(wide), points, k=k + 1, threads=self.threads)
        # No row is its own neighbour; where k + 1 copies come before it, the last of them goes
        others = true.index != wide[:, None]
        others[others.all(axis=1), -1] = False
        nearest.squared[wide] = true.squared[others].reshape(-1, k)
        nearest.index[wide] = true.index[others].reshape(-1, k)

    def count(
        self, reference: BallSide, generated: BallSide, *, closed: bool, neighbours: tuple[int, int]
    ) -> tuple[SettledCounts, SettledCounts]:
        """Process each pair of two sets that a search from either side finds, once.

        A row whose ball holds all that was found is searched for again, for twice as many each
        time, up to 1,024.
        For the 1,000 widest balls of each set all pairs are looked at. Smaller balls and those of
        one radius are not measured: pairs count for them however far apart they are.
        """
        total = empty_counts(reference, generated, neighbours)
        m, wide = len(generated.points.points), (_widest(reference), _widest(generated))
        points = reference.points.points, generated.points.points
        balls = reference.radii, generated.radii

        def enter(rows: Longs, columns: Longs) -> None:
            count_listed(points, rows, columns, balls, total, reference.k, closed)

        with workers(self.threads) as pool:
            rows, columns = self._pairs(reference, generated, total[1], neighbours[1], pool)
            theirs, ours = self._pairs(generated, reference, total[0], neighbours[0], pool)
            pairs = np.unique(np.concatenate([rows * m + columns, ours * m + theirs]))
            rows, columns = pairs // m, pairs % m
            others = ~(wide[0][rows] | wide[1][columns])
            enter(rows[others], columns[others])
            for left, right in _around(reference, wide[0], generated, pool):
                enter(left, right)
            for right, left in _around(generated, wide[1], reference, pool):
                others = ~wide[0][left]  # each pair once
                enter(left[others], right[others])
            return settled_counts(reference, generated, total, pool)

    def _pairs(
        self, rows: BallSide, others: BallSide, counts: BallCounts, neighbours: int, pool: Workers
    ) -> tuple[Longs, Longs]:
        """Find the others that may lie in the ball of a row, or the row in theirs.

        The nearest others of every row are noted in `counts`, those of the others' balls.
        """
        index, size = self._index_of(others.points), len(others.points.points)
        first = min(max(FIRST, 4 * rows.radii.squared.shape[1], neighbours + MORE), size)
        pairs = []
        for span in spans(len(rows.points.points), ROWS):
            wanted, width = np.arange(*span), first
            while len(wanted):
                which = self._searched(index, others.points, wanted, width, rows.points)
                near = _nothing(len(wanted), width)
                _settle(rows.points, others.points, wanted, which, near, pool)
                if width == first:
                    few = min(first, counts.which.shape[1])
                    counts.which[slice(*span), :few] = near.index[:, :few]
                largest = rows.radii.largest[wanted]
                inside = near.squared <= np.maximum(
                    largest[:, None], others.radii.largest[near.index]
                )
                full = (near.squared[:, -1] <= largest) & (width < min(WIDEST, size))
                places = np.nonzero(inside & (near.index >= 0) & ~full[:, None])
                pairs.append((wanted[places[0]], near.index[places]))
                wanted, width = wanted[full], min(2 * width, WIDEST, size)
        left, right = zip(*pairs, strict=True)
        return np.concatenate(left), np.concatenate(right)

    def _searched(
        self, index: Any, points: Sieve, rows: Longs, count: int, whose: Sieve | None = None
    ) -> Longs:
        """Search for the rows of a set, by default that of the index: ``(rows, count)``.

        Places of what was not found hold -1.
        """
        queries = (whose or points).take(rows)
        hits = index.search(queries, count, threads=available_threads(self.threads))
        keys = np.atleast_2d(hits.keys).astype(np.int64)
        which = np.full((len(rows), count), -1, np.int64)
        which[:, : keys.shape[1]] = keys
        if len(rows) > 1:
            which[np.arange(count) >= np.asarray(hits.counts)[:, None]] = -1
        return which

    def _index_of(self, points: Sieve) -> Any:
        for known, index in self.indices:
            if known is points:
                return index
        return self._filled(points, self._index_kind())

    def _filled(self, points: Sieve, kind: Any) -> Any:
        n, d = points.points.shape
        index = kind(
            ndim=d,
            metric="l2sq",
            dtype="f32",
            connectivity=self.connectivity,
            expansion_add=self.expansion_add,
            expansion_search=self.expansion_search,
            enable_key_lookups=False,
        )
        for span in spans(n, ROWS):
            rows = np.arange(*span)
            index.add(rows.astype(np.uint64), points.take(rows), threads=1)
        return index

    def _index_kind(self) -> Any:
        purpose = "the approximate search for neighbours"
        return require("usearch.index", extra="approximate", purpose=purpose).Index

    def _check_memory(self, *sets: Sieve) -> None:
        sizes = [len(points.points) for points in sets]
        of_row = 4 * sets[0].points.shape[1] + 4 * PEERS * self.connectivity
        budget().check_claim(
            "`neighbours='approximate'` keeps indices of "
            f"{sizes[0]:,} and {sizes[1]:,} rows in memory",
            round(sum(sizes) * of_row),
            InputError,
        )


def _widest(side: BallSide) -> NDArray[np.bool_]:
    """Which rows have the widest balls, shape ``(n,)``."""
    wide = np.zeros(len(side.radii.largest), np.bool_)
    wide[np.argsort(-side.radii.largest, kind="stable")[:WIDE_BALLS]] = True
    return wide


def _around(
    side: BallSide, wide: NDArray[np.bool_], others: BallSide, pool: Workers
) -> Iterator[tuple[Longs, Longs]]:
    """All pairs of some rows and the others of which one may lie in the ball of the other."""
    chosen = np.flatnonzero(wide)
    limits = side.radii.largest[chosen], others.radii.largest
    for place, other, _ in close_pairs(side.points, chosen, others.points, limits, pool):
        yield chosen[place], other


def _nothing(n: int, k: int) -> Nearest:
    return Nearest(np.full((n, k), np.inf), np.full((n, k), -1, np.int64))


def _settle(
    points: Sieve, others: Sieve, rows: Longs, which: Longs, nearest: Nearest, pool: Workers
) -> None:
    """Sort what was found for some rows by exact distance, in place."""

    def work(span: Span) -> None:
        part = slice(*span)
        settle_listed(
            points.points,
            rows[part],
            others.points,
            which[part],
            nearest.squared[part],
            nearest.index[part],
        )

    for _ in pool.map(work, spans(len(rows), ROWS // 10)):
        pass
