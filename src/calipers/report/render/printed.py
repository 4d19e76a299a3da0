"""The text of cells in all formats, and the division of tables into pieces of a width."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

from calipers.report.render.layout import Strip, packed
from calipers.report.render.text import strip
from calipers.report.table import METRIC, Cell, Column, Kind, Note, Run, ScoreCell, Table
from calipers.wording.words import said

SIGNS: tuple[Kind, ...] = ("interval", "mark", "sign")
REMARKS: tuple[Kind, ...] = ("note", "detail", "missing")

Measure = Callable[[Column, Sequence[str]], Strip]


def value_of(cell: Cell) -> str:
    """Write the value of a cell."""
    return cell.value if isinstance(cell, ScoreCell) else f"{said(cell.text)}{cell.arrow}"


def spread_of(cell: Cell) -> str:
    """Write the interval of a cell, with a space between its bounds."""
    spread = cell.spread if isinstance(cell, ScoreCell) else ""
    return spread.replace(",", ", ") if spread.startswith("[") else spread


def aside_of(cell: Cell) -> str:
    """Write the remark on a value."""
    return cell.aside if isinstance(cell, ScoreCell) else ""


def is_approximate(cell: Cell) -> bool:
    """Whether the interval of a cell is approximate."""
    return isinstance(cell, ScoreCell) and cell.approximate


def is_best(cell: Cell) -> bool:
    """Whether a cell is the best of those beside it."""
    return isinstance(cell, ScoreCell) and cell.best


def marks_of(cell: Cell) -> str:
    """Write the marks after the value."""
    return cell.marks if isinstance(cell, ScoreCell) else ""


def head_of(column: Column) -> str:
    """Write the name of a column without its arrow."""
    return said(column.head).strip()


def signed(note: Note) -> str:
    """Write a note after the sign that it explains."""
    return f"{note.sign} {note}".strip()


def written(column: Column, kinds: Sequence[str]) -> Strip:
    """Write a column as plain text, to determine its width."""
    return strip(column, kinds, inline=METRIC not in kinds)


def pieces(table: Table, width: int, *, measure: Measure = written) -> list[Table]:
    """Divide a table into pieces no wider than `width` characters, each with the names.

    `measure` gives for a column another one that is as wide as the column is shown.
    """
    if not table.runs:
        return [table]
    runs = [tuple(measure(column, table.kinds) for column in run) for run in table.runs]
    lead = tuple(measure(column, table.kinds) for column in table.lead)
    grids = packed(lead, runs, width=width)
    identities = [set(map(id, grid.columns[len(lead) :])) for grid in grids]
    return [replace(table, runs=_within(table.runs, runs, piece)) for piece in identities]


def _within(
    runs: Sequence[Run], measured: Sequence[tuple[Strip, ...]], piece: set[int]
) -> tuple[Run, ...]:
    """Keep of each run the columns of one piece; two runs of one name stay apart."""
    parts = (
        tuple(column for column, width in zip(run, widths, strict=True) if id(width) in piece)
        for run, widths in zip(runs, measured, strict=True)
    )
    return tuple(part for part in parts if part)
