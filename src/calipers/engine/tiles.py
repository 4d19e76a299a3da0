"""Passes over all pairs as tiles of a fixed grid, each a file that any machine can make.

A tile is identified by the names of its rows in a :class:`~calipers.engine.work_folder.WorkFolder`
and two ranges. What it gives is exact and lies in one file; merging takes the nearest rows by
distance and place, sums of counts, the deepest ball. Where the tile of a range with itself is there
already, others leave out what lies beyond the nearest rows that it has: none of that matters. So
tiles can be made in any order, twice, and by whom one likes: the merged result is that of one
machine.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from calipers.engine.work_folder import WorkFolder
from calipers.estimate.knn.ball_counts import BallCounts
from calipers.estimate.knn.balls import BallSide, Radii
from calipers.estimate.knn.nearest import Nearest, nearest_between, nearest_neighbours
from calipers.estimate.knn.passes import LocalPasses, SettledCounts
from calipers.numeric.arrays import Floats
from calipers.numeric.distances import Sieve
from calipers.numeric.panels import PANEL
from calipers.numeric.tiles import Span, panel_spans

Arrays = dict[str, NDArray[Any]]

PARTS = 16
"""Ranges into which a set is cut, where they come out neither too small nor too large."""

LEAST_ROWS, MOST_ROWS = 50 * PANEL, 1024 * PANEL

SUMS = ("held", "held_without", "held_from", "held_halves")
"""Counts of the balls' owners."""

GUEST_SUMS = ("inside", "inside_without", "inside_halves", "capped")


def grid(n: int) -> list[Span]:
    """Divide the rows of a set by their number alone, so that a resumed run finds its tiles."""
    size = int(np.clip(-(-n // (PARTS * PANEL)) * PANEL, LEAST_ROWS, MOST_ROWS))
    return panel_spans(n, size)


@dataclass(frozen=True)
class SavedRows:
    """The rows of a set in a work folder.

    Attributes
    ----------
    folder
        Where they lie.
    name
        The name of the set there.
    half_scale
        As :attr:`calipers.numeric.distances.Sieve.half_scale`.
    """

    folder: WorkFolder
    name: str
    half_scale: float

    def save(self, points: Sieve) -> None:
        """Write the files that are missing or incomplete."""
        arrays = {"points": points.points, "panels": points.panels, "low": points.low}
        for name, array in arrays.items():
            if not self.folder.holds(f"{self.name}/{name}.npy", array):
                self.folder.write_array(f"{self.name}/{name}.npy", array)

    def open(self, span: Span) -> Sieve:
        """Open a range of rows that starts at a multiple of 48."""
        start, stop = span
        first, last = start // PANEL, -(-stop // PANEL)
        points, panels, low = (
            self.folder.open_array(f"{self.name}/{name}.npy")
            for name in ("points", "panels", "low")
        )
        return Sieve(
            points[start:stop],
            panels[first:last],
            low[first * PANEL : last * PANEL],
            self.half_scale,
        )


@dataclass(frozen=True)
class SavedSide:
    """The k-NN balls of a set in a work folder, beside its rows.

    Attributes
    ----------
    rows
        The rows.
    name
        The name of the balls in the same folder.
    k, median, spread
        As of :class:`calipers.estimate.knn.balls.BallSide`.
    """

    rows: SavedRows
    name: str
    k: int
    median: float
    spread: float

    def save(self, side: BallSide) -> None:
        """Write the files that are missing or incomplete."""
        self.rows.save(side.points)
        arrays = {**side.radii._asdict(), "marks": side.nearest.squared}
        for name, array in arrays.items():
            if not self.rows.folder.holds(f"{self.name}/{name}.npy", array):
                self.rows.folder.write_array(f"{self.name}/{name}.npy", array)

    def open(self, span: Span) -> BallSide:
        """Open a range of rows with their balls."""

        def part(name: str) -> NDArray[Any]:
            return self.rows.folder.open_array(f"{self.name}/{name}.npy")[slice(*span)]

        radii = Radii(*(part(name) for name in Radii._fields))
        marks = Nearest(part("marks"), np.empty((0, 0), np.int64))  # distances alone count
        return BallSide(self.rows.open(span), marks, radii, self.k, self.median, self.spread)


@dataclass(frozen=True)
class NearestTile:
    """The nearest rows within a set, between two ranges of it or within one.

    Attributes
    ----------
    saved
        The rows.
    tile
        The two ranges, the first not after the second.
    k
        How many nearest rows.
    result
        The name of the file.
    own
        The names of the files of both ranges, each with itself.
    """

    saved: SavedRows
    tile: tuple[Span, Span]
    k: int
    result: str
    own: tuple[str, str]

    @property
    def folder(self) -> WorkFolder:
        """Folder of the rows and results."""
        return self.saved.folder

    def make(self, threads: int | None) -> Arrays:
        """Find the nearest rows exactly."""
        first, second = self.tile
        rows = self.saved.open(first)
        if first == second:
            k = min(self.k, first[1] - first[0] - 1)
            parts = {"rows": nearest_neighbours(rows, k=k, threads=threads)} if k else {}
        else:
            left, right = nearest_between(
                rows,
                self.saved.open(second),
                k=self.k,
                within=(self._farthest(self.own[0]), self._farthest(self.own[1])),
                threads=threads,
            )
            parts = {"rows": left, "columns": right}
        return {
            f"{name}.{which}": getattr(part, which)
            for name, part in parts.items()
            for which in ("squared", "index")
        }

    def _farthest(self, own: str) -> Floats | None:
        """How far the k-th nearest row of the own range is, squared, for every row of it.

        None where its tile is not there yet, or finds fewer than k.
        """
        squared = (self.folder.read_arrays(own) or {}).get("rows.squared")
        return (
            None if squared is None or squared.shape[1] < self.k else squared[:, self.k - 1].copy()
        )

    def merge(self, arrays: Arrays, total: Nearest) -> None:
        """Merge the contents of a file, in place."""
        (rows, columns), names = self.tile, {name.partition(".")[0] for name in arrays}
        for name, span, other in (("rows", rows, columns), ("columns", columns, rows)):
            if name in names:
                part = Nearest(arrays[f"{name}.squared"], arrays[f"{name}.index"])
                merge_nearest(total, span, part, other[0])


@dataclass(frozen=True)
class CountTile:
    """Counts of the rows of a range of one set in the balls of a range of the other, both ways.

    Attributes
    ----------
    reference, generated
        The two sets with their balls.
    tile
        A range of each.
    closed, neighbours
        As of :meth:`calipers.estimate.knn.passes.Passes.count`.
    result
        The name of the file.
    """

    reference: SavedSide
    generated: SavedSide
    tile: tuple[Span, Span]
    closed: bool
    neighbours: tuple[int, int]
    result: str

    @property
    def folder(self) -> WorkFolder:
        """Folder of the rows and results."""
        return self.reference.rows.folder

    def make(self, threads: int | None) -> Arrays:
        """Process every pair of the tile once."""
        rows, columns = self.tile
        neighbours = (
            min(self.neighbours[0], rows[1] - rows[0]),
            min(self.neighbours[1], columns[1] - columns[0]),
        )
        settled = LocalPasses(threads).count(
            self.reference.open(rows),
            self.generated.open(columns),
            closed=self.closed,
            neighbours=neighbours,
        )
        arrays: Arrays = {}
        for name, part in zip(("reference", "generated"), settled, strict=True):
            named = {field: _narrow(getattr(part.counts, field)) for field in (*SUMS, *GUEST_SUMS)}
            named |= {"missed": part.counts.missed, "ratio": part.ratio}
            named |= {"squared": part.nearest.squared, "index": part.nearest.index}
            arrays |= {f"{name}.{field}": array for field, array in named.items()}
        return arrays

    def merge(self, arrays: Arrays, total: tuple[SettledCounts, SettledCounts]) -> None:
        """Merge the contents of a file, in place."""
        rows, columns = (slice(*span) for span in self.tile)
        for name, into, owners, guests in (
            ("reference", total[0], rows, columns),
            ("generated", total[1], columns, rows),
        ):
            for field in SUMS:
                getattr(into.counts, field)[owners] += arrays[f"{name}.{field}"]
            for field in GUEST_SUMS:
                getattr(into.counts, field)[guests] += arrays[f"{name}.{field}"]
            into.counts.missed[guests] *= arrays[f"{name}.missed"]
            np.maximum(into.ratio[guests], arrays[f"{name}.ratio"], out=into.ratio[guests])
            part = Nearest(arrays[f"{name}.squared"], arrays[f"{name}.index"])
            merge_nearest(into.nearest, (guests.start, guests.stop), part, owners.start)


Tile = NearestTile | CountTile


def make_tile(tile: Tile, threads: int | None = None) -> None:
    """Make a tile's file, unless it exists and is complete; its folder must exist."""
    if tile.folder.read_arrays(tile.result) is None:
        tile.folder.write_arrays(tile.result, tile.make(threads), make_folder=False)


def merge_nearest(total: Nearest, rows: Span, part: Nearest, start: int) -> None:
    """Merge the nearest rows from a range that starts at `start`, in place.

    Closest come first, equal ones by place, whatever the order in which ranges are taken in.
    """
    span = slice(*rows)
    squared = np.concatenate([total.squared[span], part.squared], axis=1)
    moved = np.where(part.index < 0, part.index, part.index + start)
    index = np.concatenate([total.index[span], moved], axis=1)
    order = np.lexsort((index, squared), axis=-1)[:, : total.squared.shape[1]]
    total.squared[span] = np.take_along_axis(squared, order, axis=1)
    total.index[span] = np.take_along_axis(index, order, axis=1)


def no_neighbours(n: int, k: int) -> Nearest:
    """Return empty neighbours, to be merged into."""
    return Nearest(np.full((n, k), np.inf), np.full((n, k), -1, np.int64))


def no_counts(
    reference: BallSide, generated: BallSide, neighbours: tuple[int, int]
) -> tuple[SettledCounts, SettledCounts]:
    """Return zero counts, with room for `neighbours` nearest owners of every guest."""
    n, m, sizes = len(reference.points.points), len(generated.points.points), reference.radii.sizes

    def empty(owners: int, guests: int, nearest: int) -> SettledCounts:
        counts = BallCounts.empty(owners, guests, sizes, 0)
        return SettledCounts(counts, no_neighbours(guests, nearest), np.zeros(guests))

    return empty(n, m, neighbours[0]), empty(m, n, neighbours[1])


def _narrow(counts: NDArray[np.int32]) -> NDArray[Any]:
    """Counts in the fewest bytes that hold them: those of a tile are small."""
    most = int(counts.max(initial=0))
    return counts.astype(np.uint8 if most < 2**8 else np.uint16 if most < 2**16 else np.int32)
