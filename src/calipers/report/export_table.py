"""What every document shows of a comparison: its tables, and the words around them.

A table is made of the columns that the terminal shows, so that the choice of metrics, the rounding
and the marks are the same everywhere; only the syntax differs.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from calipers.errors import InputError
from calipers.report.export_cells import is_even
from calipers.report.grid import Column
from calipers.report.names import WIDEST_NAME, clean, shorten

Data = Mapping[str, Any]
Run = tuple[Column, ...]

SYSTEM, REFERENCE, FLOOR, FAMILY, METRIC = "system", "reference", "floor", "family", "metric"
"""What a row of a table is."""

FLOOR_NAME = "noise floor"


@dataclass(frozen=True)
class Section:
    """One table.

    Attributes
    ----------
    lead
        The columns that name the rows, and sizes where they differ.
    runs
        The columns of scores, one run for each view or system.
    kinds
        What each row is: a system, the reference, the noise floor, a metric, or the heading of a
        family of metrics.
    heading, caption
        What stands above and below it; empty for the first.
    """

    lead: Run
    runs: tuple[Run, ...]
    kinds: tuple[str, ...]
    heading: str = ""
    caption: str = ""

    @property
    def columns(self) -> Run:
        """All columns of scores."""
        return tuple(column for run in self.runs for column in run)

    def is_left(self, column: Column) -> bool:
        """Whether a column stands on the left: names, and values with as many digits each.

        Behind them stand intervals and marks of many lengths.
        """
        return not column.right or (METRIC not in self.kinds and is_even(column))


@dataclass(frozen=True)
class Document:
    """All that a document shows.

    Attributes
    ----------
    title
        What was compared with what, and how.
    sections
        The tables, the main one first.
    marks
        How to read marks and signs, as pairs of a sign (or nothing) and what it means.
    notes, warnings
        Why values are missing, how sets were cut; what to beware of.
    meanings
        What each metric tells, by its name.
    """

    title: str
    sections: tuple[Section, ...]
    marks: tuple[tuple[str, str], ...]
    notes: tuple[str, ...]
    warnings: tuple[str, ...]
    meanings: Mapping[str, str]


def document_of(data: Data) -> Document:
    """Read what ``Comparison.to_dict()`` or ``TextComparison.to_dict()`` gives.

    Raises
    ------
    InputError
        If the data are of neither.
    """
    check(data)
    if is_text(data):
        from calipers.report.export_text import text_document

        return text_document(data)
    from calipers.report.export_compare import compare_document

    return compare_document(data)


def check(data: Data) -> None:
    """Refuse data that are not of a comparison."""
    systems = data.get("systems") if isinstance(data, Mapping) else None
    held = isinstance(systems, Sequence) and all("scores" in each for each in systems)
    if not held:
        keys = list(map(clean, data))[:6] if isinstance(data, Mapping) else []
        found = f"the keys {', '.join(keys)}" if keys else type(data).__name__
        raise InputError(
            "tables are made of the data that to_dict() of a comparison gives, with the scores of "
            f"its systems; found {found}"
        )


def is_text(data: Data) -> bool:
    """Tell text statistics (``calipers text``) from scores of embeddings."""
    return "aligned" in data.get("settings", {})


def groups_of(section: Section) -> list[tuple[str, int]]:
    """Give the name of each run, and how many columns it has."""
    return [(clean(run[0].group).strip(), len(run)) for run in section.runs]


def named(column: Column) -> Column:
    """Shorten the names in a column to what a document has room for."""
    cells = tuple(replace(cell, text=short(cell.text)) for cell in column.cells)
    return replace(column, cells=cells)


def short(text: object) -> str:
    """Shorten a name to what a document has room for."""
    return shorten(clean(text), WIDEST_NAME)


def made_by(data: Data) -> str:
    """Name the version that made the numbers."""
    return f"Calipers {clean(data.get('calipers') or 'of unknown version')}"


def sizes(data: Data) -> str:
    """Say how many samples every system has; empty where they differ."""
    counts = {system.get("n") for system in data.get("systems", ())}
    return f"n = {counts.pop()} for each system" if len(counts) == 1 else ""


def pair(line: str, known: Sequence[str]) -> tuple[str, str]:
    """Take the sign off the start of a line that explains it."""
    sign, _, words = line.partition(" ")
    return (sign, words) if sign in known else ("", line)
