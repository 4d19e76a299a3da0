"""K-means round by round through files, so that workers share it and a run can resume.

Rows are written to a work folder once, for whoever brings ranges of them to the centres of a round;
what the ranges add up to is taken in as they come. A run that was stopped, by whatever, goes on
with the files of its last round, and runs that had come to their end are only read.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack
from threading import Lock
from types import TracebackType
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from calipers.engine.kmeans_parts import RoundFiles, RoundPart, SavedTable, make_part, ranges
from calipers.engine.results import results
from calipers.engine.work_folder import WorkFolder, digest_of
from calipers.estimate.kmeans.centres import place_centres
from calipers.estimate.kmeans.kernels import ClusterRows
from calipers.estimate.kmeans.lloyd import MOST_BOUNDS
from calipers.estimate.kmeans.rounds import Clustering, Round, Sums, run_rounds
from calipers.numeric.arrays import Floats32
from calipers.progress import Progress, Silent

FORMAT = "calipers-rounds-1"


class Runner(Protocol):
    """Calls a function on tasks, and yields the index of every task once it is done."""

    def __call__(
        self, work: Callable[..., None], tasks: Sequence[RoundPart], *more: int
    ) -> Iterator[int]:
        """Call the function on every task, with more arguments."""
        ...


class FileRounds:
    """K-means with its rounds as files in a work folder.

    It is a context, at whose end nothing of the run is left there; where it ends by an error, or
    the program by force, what is needed to go on stays.

    Parameters
    ----------
    folder
        Where rows and results lie. Whoever makes parts must see it.
    run
        What makes the parts; None for this process, one after the other on all threads.
    threads
        Of this process; None for one each core.
    few_pairs
        Tables of no more pairs of rows and centres are clustered in this process; None for as many
        as there is room for bounds, which spare most of the distances.
    progress
        Shows that it runs.
    """

    def __init__(
        self,
        folder: WorkFolder,
        *,
        run: Runner | None = None,
        threads: int | None = None,
        few_pairs: int | None = None,
        progress: Progress | None = None,
    ) -> None:
        self._folder, self._run, self._threads = folder, run, threads
        self.few_pairs = MOST_BOUNDS if few_pairs is None else few_pairs
        self._progress = progress or Silent()
        self._tables: dict[str, SavedTable] = {}
        self._runs: dict[str, None] = {}
        self._claims = ExitStack()
        self._lock = Lock()
        self._last: tuple[ClusterRows, SavedTable] | None = None

    def __enter__(self) -> FileRounds:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._last = None
        try:
            if error is None:
                self._discard()
        finally:
            self._claims.close()
        if error is None:
            self._folder.discard_if_empty()

    def _discard(self) -> None:
        """Remove what this context made or went on from, and no other run of the same samples."""
        for name in self._runs:
            self._folder.discard(name)
            self._folder.discard(f"{name}.npz")
        for name, saved in self._tables.items():
            self._folder.discard(saved.rows)
            WorkFolder(f"{self._folder.place}/{name}").discard_if_empty()

    def run(self, table: ClusterRows, first: Floats32, max_iterations: int) -> Clustering:
        """Cluster rows."""
        with self._lock, self._progress.task("cells: rounds of k-means", total=None):
            saved = self._saved(table)
            name = f"{saved.name}/{digest_of(first, max_iterations)}"
            self._runs[name] = None
            arrays = self._folder.read_arrays(f"{name}.npz")
            if arrays is not None:
                labels, inertia, iterations = (
                    arrays[key] for key in ("labels", "inertia", "iterations")
                )
                return Clustering(labels, float(inertia), int(iterations))
            steps = _FileSteps(table, saved, RoundFiles(self._folder, name), len(first), self)
            at = steps.resumed() or Round.first(first)
            clustering = run_rounds(table, steps, at, max_iterations)
            self._folder.write_arrays(
                f"{name}.npz",
                {
                    "labels": clustering.labels,
                    "inertia": np.array(clustering.inertia),
                    "iterations": np.array(clustering.iterations),
                },
            )
            self._folder.discard(steps.files.place)
            self._folder.discard(name)
            return clustering

    def make(self, parts: Sequence[RoundPart], table: ClusterRows) -> Iterator[int]:
        """Make the files of parts; yield the index of every part once its file exists."""
        if self._run is not None:
            parts[0].saved.save(table)
            yield from self._run(make_part, parts, 1)
            return
        for place, part in enumerate(parts):
            make_part(part, self._threads, table)
            yield place

    def _saved(self, table: ClusterRows) -> SavedTable:
        """The place of a table in the folder; the rows of the one before are let go."""
        if self._last is not None:
            known, saved = self._last
            if known is table:
                return saved
            self._folder.discard(saved.rows)
        from calipers._version import __version__

        name = f"cells-{digest_of(FORMAT, __version__, table.rows, table.weights)}"
        if name not in self._tables:
            self._claims.enter_context(self._folder.claimed(name))
            self._tables[name] = SavedTable(self._folder, name, table.unit)
        self._last = table, self._tables[name]
        return self._tables[name]


class _FileSteps:
    """Rows at their centres, as the files of the last round tell."""

    def __init__(
        self,
        table: ClusterRows,
        saved: SavedTable,
        files: RoundFiles,
        centres: int,
        rounds: FileRounds,
    ) -> None:
        self._table, self._saved, self.files, self._rounds = table, saved, files, rounds
        self._folder, self._spans = files.folder, ranges(table.n, centres)
        self.labels: NDArray[np.int32] = np.full(table.n, -1, np.int32)
        self.own: NDArray[np.float64] = np.full(table.n, np.inf)
        self._sums = Sums.empty(centres, table.rows.shape[1])

    def resumed(self) -> Round | None:
        """The round at which the run was stopped; None where nothing whole is left of it."""
        saved = self._folder.read_arrays(self.files.place)
        if saved is not None:
            number, moved = int(saved["number"]), float(saved["moved"])
            values = self.files.read_centres(number)
            if values is not None and self._knows(number - 1):
                return Round(number, place_centres(values, None, len(values)), len(values), moved)
        self._folder.discard(self.files.name)
        return None

    def _knows(self, number: int) -> bool:
        """Whether all that a round found is there."""
        return number < 0 or (
            self.files.read_centres(number) is not None
            and all(self.files.is_whole(number, span) for span in self._spans)
        )

    def assign(self, at: Round) -> None:
        """Bring every row to its nearest centre."""
        files, number = self.files, at.number
        if files.read_centres(number) is None:
            values = at.centres.values[: at.count]
            self._folder.write_arrays(files.centres(number), {"values": values})
        self._folder.write_arrays(
            files.place, {"number": np.array(number), "moved": np.array(at.moved)}
        )
        if number > 1:
            self._folder.discard(files.of_round(number - 2))
        self._sums = Sums.empty(at.count, self._table.rows.shape[1])
        parts = [RoundPart(self._saved, files, number, span) for span in self._spans]

        def make(missing: Sequence[RoundPart]) -> Iterator[int]:
            return self._rounds.make(missing, self._table)

        for part, arrays in results(self._folder, files.of_round(number), parts, make):
            rows = slice(*part.span)
            self.labels[rows], self.own[rows] = arrays["labels"], arrays["own"]
            self._sums.rows += arrays["sums"]
            self._sums.mass += arrays["mass"]
            self._sums.changed += int(arrays["changed"])

    def sum_up(self) -> Sums:
        """Return the sums after the last round."""
        return self._sums
