"""Both passes over all pairs tile by tile through files, shared by workers and resumable.

Rows are written to a work folder once, tiles are made there by whoever runs them, and merged as
they come. A run that was stopped, by whatever, finds its finished tiles by a hash of all that they
depend on, and makes only the others.
"""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack
from threading import Lock
from types import TracebackType
from typing import TypeVar

from calipers.engine.results import results
from calipers.engine.tiles import (
    Arrays,
    CountTile,
    NearestTile,
    SavedRows,
    SavedSide,
    Tile,
    grid,
    make_tile,
    no_counts,
    no_neighbours,
)
from calipers.engine.work_folder import WorkFolder, digest_of
from calipers.estimate.knn.balls import BallSide
from calipers.estimate.knn.nearest import Nearest
from calipers.estimate.knn.passes import LocalPasses, Passes, SettledCounts
from calipers.numeric.distances import Sieve
from calipers.numeric.tiles import rectangle, triangle
from calipers.progress import Progress, Silent

FORMAT = "calipers-tiles-1"

FEW_PAIRS = 4_000_000
"""Pairs of rows that are looked at sooner where they are than sent anywhere."""

Runner = Callable[[Sequence[Tile]], Iterator[int]]
"""Makes the files of tiles, and yields the place of every tile once its file is there."""

AnyTile = TypeVar("AnyTile", NearestTile, CountTile)


class TilePasses(Passes):
    """Both passes, each a set of tiles in a work folder.

    It is a context, at whose end nothing of the run is left there; where it ends by an error, or
    the program by force, all that was finished stays.

    Parameters
    ----------
    folder
        Where rows and results lie. Whoever makes tiles must see it.
    run
        What makes the tiles; None for this process, one after the other on all threads.
    threads
        Of this process; None for one each core.
    few_pairs
        Passes over no more pairs of rows run in this process, without files.
    progress
        Shows how many tiles are there.
    task
        What the progress is called: what is done, and where.
    """

    def __init__(
        self,
        folder: WorkFolder,
        *,
        run: Runner | None = None,
        threads: int | None = None,
        few_pairs: int = FEW_PAIRS,
        progress: Progress | None = None,
        task: str = "neighbours: tiles of pairs",
    ) -> None:
        self._progress, self._task = progress or Silent(), task
        self._folder, self._threads, self._few_pairs = folder, threads, few_pairs
        self._run = run or self._one_by_one
        self._local = LocalPasses(threads)
        self._used: dict[str, None] = {}
        self._counting = Counter[str]()
        self._lock = Lock()
        self._claims = ExitStack()
        self._saved: deque[tuple[Sieve, SavedRows]] = deque(maxlen=2)

    def __enter__(self) -> TilePasses:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._saved.clear()
        try:
            if error is None:
                for name in self._used:
                    self._folder.discard(name)
        finally:
            self._claims.close()
        self._folder.discard_if_empty()

    def nearest(self, points: Sieve, k: int) -> Nearest:
        """Find the k nearest neighbours of every row within its own set."""
        n = len(points.points)
        if n * n <= self._few_pairs:
            return self._local.nearest(points, k)
        saved = self._rows(points)
        name = self._claimed(f"nearest-{digest_of(*self._format(), saved.name, k)}")
        total = no_neighbours(n, k)
        tiles = [
            NearestTile(
                saved,
                (rows, columns),
                k,
                _file(name, (rows, columns)),
                own=(_file(name, (rows, rows)), _file(name, (columns, columns))),
            )
            for rows, columns in triangle(grid(n))
        ]
        for tile, arrays in self._made(name, tiles, lambda: saved.save(points)):
            tile.merge(arrays, total)
        return total

    def count(
        self, reference: BallSide, generated: BallSide, *, closed: bool, neighbours: tuple[int, int]
    ) -> tuple[SettledCounts, SettledCounts]:
        """Process every pair of two sets once."""
        sides = reference, generated
        n, m = (len(side.points.points) for side in sides)
        if n * m <= self._few_pairs:
            return self._local.count(reference, generated, closed=closed, neighbours=neighbours)
        saved = [self._side(side) for side in sides]
        key = digest_of(*self._format(), *(side.name for side in saved), closed, *neighbours)
        name = self._claimed(f"count-{key}")
        total = no_counts(reference, generated, neighbours)
        tiles = [
            CountTile(saved[0], saved[1], tile, closed, neighbours, _file(name, tile))
            for tile in rectangle(grid(n), grid(m))
        ]

        def save() -> None:
            for saved_side, side in zip(saved, sides, strict=True):
                saved_side.save(side)

        rows = [name for saved_side in saved for name in (saved_side.name, saved_side.rows.name)]
        with self._lock:
            self._counting.update(rows)
        for tile, arrays in self._made(name, tiles, save):
            tile.merge(arrays, total)
        with self._lock:
            self._counting.subtract(rows)
            for name in rows:
                if not self._counting[name]:  # no other thread reads them
                    self._folder.discard(name)
        return total

    def _made(
        self, name: str, tiles: Sequence[AnyTile], save: Callable[[], None]
    ) -> Iterator[tuple[AnyTile, Arrays]]:
        """Return what every tile holds, as it is there."""

        def make(missing: Sequence[AnyTile]) -> Iterator[int]:
            save()
            yield from self._run(missing)

        with self._progress.task(self._task, total=len(tiles)) as advance:
            for tile, arrays in results(self._folder, name, tiles, make):
                yield tile, arrays
                advance(1)

    def _one_by_one(self, tiles: Sequence[Tile]) -> Iterator[int]:
        for place, tile in enumerate(tiles):
            make_tile(tile, self._threads)
            yield place

    def _rows(self, points: Sieve) -> SavedRows:
        for known, saved in list(self._saved):
            if known is points:
                return saved
        name = f"rows-{digest_of(*self._format(), points.points, points.low, points.half_scale)}"
        saved = SavedRows(self._folder, self._claimed(name), points.half_scale)
        self._saved.append((points, saved))
        return saved

    def _side(self, side: BallSide) -> SavedSide:
        rows = self._rows(side.points)
        balls = *side.radii, side.nearest.squared
        name = f"balls-{digest_of(rows.name, *balls, side.k, side.median, side.spread)}"
        return SavedSide(rows, self._claimed(name), side.k, side.median, side.spread)

    def _claimed(self, name: str) -> str:
        """Keep other runs from the files of this name, until the context ends."""
        with self._lock:
            if name not in self._used:
                self._claims.enter_context(self._folder.claimed(name))
                self._used[name] = None
        return name

    @staticmethod
    def _format() -> tuple[str, str]:
        from calipers._version import __version__

        return FORMAT, __version__


def _file(name: str, tile: tuple[tuple[int, int], tuple[int, int]]) -> str:
    return f"{name}/{tile[0][0]}-{tile[1][0]}.npz"
