"""A round of k-means over a range of rows, as a file that any machine can make.

A part is identified by the name of its rows in a :class:`~calipers.engine.work_folder.WorkFolder`,
a round and a range. It reads the centres of the round and the labels that its rows had before, and
gives their labels, their distances and what they add to the sums of all centres: whole numbers, so
parts can be made in any order, twice, and by whom one likes.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from calipers.engine.tiles import Arrays
from calipers.engine.work_folder import WorkFolder
from calipers.errors import InputError
from calipers.estimate.kmeans.kernels import ClusterRows
from calipers.estimate.kmeans.lloyd import LocalSteps
from calipers.estimate.kmeans.rounds import Round
from calipers.numeric.arrays import Floats32
from calipers.numeric.panels import PANEL
from calipers.numeric.threads import workers
from calipers.numeric.tiles import Span, panel_spans

PAIRS = 2**28
"""Pairs of rows and centres in a part, about: some seconds of one processor."""

LEAST_PARTS = 16
"""Parts of a round, where they do not come out too small."""

LEAST_ROWS = 50 * PANEL


def ranges(n: int, centres: int) -> list[Span]:
    """Divide the rows of a table by their number alone, so that a resumed run finds its parts."""
    return panel_spans(n, max(LEAST_ROWS, min(PAIRS // centres, -(-n // LEAST_PARTS))))


@dataclass(frozen=True)
class SavedTable:
    """The rows to cluster, in a work folder.

    Attributes
    ----------
    folder
        Where they lie.
    name
        The name of the table there.
    unit
        As :attr:`calipers.estimate.kmeans.kernels.ClusterRows.unit`.
    """

    folder: WorkFolder
    name: str
    unit: float

    @property
    def rows(self) -> str:
        """Name of the folder that holds the rows alone, which are large."""
        return f"{self.name}/table"

    def save(self, table: ClusterRows) -> None:
        """Write the missing files."""
        arrays: Arrays = {"rows": table.rows, "low": table.low, "weights": table.weights}
        for name, array in arrays.items():
            if not self.folder.has(f"{self.rows}/{name}.npy"):
                self.folder.write_array(f"{self.rows}/{name}.npy", array)

    def open(self, span: Span) -> ClusterRows:
        """Open a range of the rows."""
        rows, low, weights = (
            self.folder.open_array(f"{self.rows}/{name}.npy") for name in ("rows", "low", "weights")
        )
        nowhere = np.zeros(rows.shape[1])
        return ClusterRows(rows, low, weights, len(weights), nowhere, 0, self.unit).part(span)


@dataclass(frozen=True)
class RoundFiles:
    """Paths of the files of a k-means run.

    Attributes
    ----------
    folder
        The work folder.
    name
        The name of the run there.
    """

    folder: WorkFolder
    name: str

    @property
    def place(self) -> str:
        """Name of the file with the number of the present round."""
        return f"{self.name}/at.npz"

    def number(self) -> int | None:
        """The present round; None when the run has ended."""
        arrays = self.folder.read_arrays(self.place)
        return None if arrays is None else int(arrays["number"])

    def of_round(self, number: int) -> str:
        """Return the name of the folder of a round."""
        return f"{self.name}/{number}"

    def centres(self, number: int) -> str:
        """Return the name of the file with the centres of a round."""
        return f"{self.of_round(number)}/centres.npz"

    def part(self, number: int, span: Span) -> str:
        """Return the name of the file of a range of rows."""
        return f"{self.of_round(number)}/{span[0]}.npz"

    def read_centres(self, number: int) -> Floats32 | None:
        """Read the centres of a round, ``(centres, depth)``; None where they are incomplete."""
        arrays = self.folder.read_arrays(self.centres(number))
        return None if arrays is None else arrays["values"]

    def is_whole(self, number: int, span: Span) -> bool:
        """Whether the file of a range exists and is complete."""
        return self.folder.read_arrays(self.part(number, span)) is not None


@dataclass(frozen=True)
class RoundPart:
    """A range of rows assigned to the centres of a round.

    Attributes
    ----------
    saved
        The rows.
    files
        Where what is known of the run lies, and goes.
    number
        The round.
    span
        The range.
    """

    saved: SavedTable
    files: RoundFiles
    number: int
    span: Span

    @property
    def result(self) -> str:
        """Name of its file."""
        return self.files.part(self.number, self.span)

    def make(self, table: ClusterRows, threads: int | None) -> Arrays:
        """Assign the given rows of a range to their centres.

        Raises
        ------
        InputError
            If what the round before left is missing or damaged.
        """
        values = self.files.read_centres(self.number)
        if values is None:
            raise self._missing(self.files.centres(self.number))
        at, known = Round.first(values), None
        if self.number:
            old, known = self.files.read_centres(self.number - 1), self._known()
            if old is None:
                raise self._missing(self.files.centres(self.number - 1))
            at = replace(Round.first(old).following(values), number=self.number)
        with workers(threads) as pool:
            steps = LocalSteps(table, len(at.centres.low), pool, bounded=False)
            if known is not None:
                steps.start_from(known["labels"], known["own"])
            before = steps.labels.copy()
            steps.assign(at)
            sums = steps.sum_up()
        return {
            "labels": steps.labels,
            "own": steps.own,
            "sums": sums.rows[: at.count],
            "mass": sums.mass[: at.count],
            "changed": np.array(np.count_nonzero(steps.labels != before)),
        }

    def _known(self) -> Arrays:
        """What the round before found."""
        name = self.files.part(self.number - 1, self.span)
        arrays = self.files.folder.read_arrays(name)
        if arrays is None:
            raise self._missing(name)
        return arrays

    def _missing(self, name: str) -> InputError:
        return InputError(
            f"{self.files.folder.place}: {name} is missing or damaged; start the run again, which "
            "continues from what is intact"
        )


def make_part(
    part: RoundPart, threads: int | None = None, table: ClusterRows | None = None
) -> None:
    """Make a part's file, unless it exists and is complete, or the run has moved on.

    Parameters
    ----------
    part
        The part; where it was given out twice, the second copy may come when its round is over.
    threads
        How many; None for one each core.
    table
        All rows, where they are at hand; None to read them from the work folder.
    """
    folder = part.files.folder
    if folder.read_arrays(part.result) is not None:
        return
    try:
        rows = part.saved.open(part.span) if table is None else table.part(part.span)
        arrays = part.make(rows, threads)
        if part.files.number() == part.number:
            folder.write_arrays(part.result, arrays, make_folder=False)
    except InputError:
        if part.files.number() == part.number:
            raise
