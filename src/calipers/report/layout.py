"""The columns of a table ──► grids that fit a width: side by side, stacked, or in pieces."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import groupby

from rich.cells import cell_len

from calipers.report.grid import Cell, Column, total_width
from calipers.report.names import WIDEST_NAME, shorten

NARROWEST_NAME = 16
TINY_NAME = 8


@dataclass(frozen=True)
class Grid:
    """Columns to be shown as one block, and the space between them."""

    columns: tuple[Column, ...]
    gap: int


def arrange(
    lead: Sequence[Column], scores: Sequence[Column], *, width: int, labelled: bool
) -> list[Grid]:
    """Lay out the lead columns (the first one holds names) and the scores within `width`.

    Parameters
    ----------
    lead
        Columns that every row needs: name, size, length.
    scores
        The score columns, grouped by view.
    width
        Cells that a line may take.
    labelled
        Name the view in every row of a stacked table, so that each line stands by itself.
    """
    groups = [tuple(run) for _, run in groupby(scores, key=lambda column: column.group)]
    stacked = _labelled(lead, groups) if labelled else [(*lead, *run) for run in groups]
    for layout in ([(*lead, *scores)], stacked):
        for gap in (2, 1):
            cap = min((_room_for_name(columns, gap, width) for columns in layout), default=0)
            if cap >= min(NARROWEST_NAME, _name_column(lead).width):
                return [Grid(_capped(columns, cap), gap) for columns in layout]
    return _in_pieces(lead, groups, width)


def packed(lead: Sequence[Column], runs: Sequence[tuple[Column, ...]], *, width: int) -> list[Grid]:
    """Set as many runs of columns beside each other as fit, each grid with the lead columns.

    They stand wider apart where that costs no further grid; a run too wide for a line is broken,
    and shares no grid with another.
    """
    tight, wide = (_filled(lead, runs, width, gap) for gap in (1, 2))
    columns, gap = (wide, 2) if len(wide) == len(tight) else (tight, 1)
    return [Grid(each, gap) for each in columns]


def _filled(
    lead: Sequence[Column], runs: Sequence[tuple[Column, ...]], width: int, gap: int
) -> list[tuple[Column, ...]]:
    grids: list[tuple[Column, ...]] = []
    closed = True
    for run in runs:
        whole = total_width((*lead, *run), gap) <= width
        closed = closed or not whole
        for part in [run] if whole else [(column,) for column in run]:
            if not closed and total_width((*grids[-1], *part), gap) <= width:
                grids[-1] = (*grids[-1], *part)
            else:
                grids.append((*lead, *part))
            closed = False
        closed = not whole
    return grids


def _in_pieces(
    lead: Sequence[Column], groups: Sequence[tuple[Column, ...]], width: int
) -> list[Grid]:
    """Give sizes and lengths a grid of their own, and every view as many as it needs."""
    cap = min(WIDEST_NAME, max(TINY_NAME, width // 4))
    pieces = [tuple(lead)]
    for group in groups:
        names, *columns = _without_idle_reference((lead[0], *group))
        pieces.append((names,))
        for column in columns:
            longer = (*pieces[-1], column)
            fits = len(longer) == 2 or total_width(_capped(longer, cap), 1) <= width
            pieces[-1:] = [longer] if fits else [pieces[-1], (names, column)]
    return [Grid(_capped(columns, cap), 1) for columns in pieces]


def _without_idle_reference(columns: Sequence[Column]) -> Sequence[Column]:
    """Drop the first row, that of the reference, where none but the column of names has a value."""
    if any(column.cells[0].text for column in columns[1:]):
        return columns
    return [replace(column, cells=column.cells[1:]) for column in columns]


def _labelled(
    lead: Sequence[Column], groups: Sequence[tuple[Column, ...]]
) -> list[tuple[Column, ...]]:
    """Put the view in front of every row instead of above the columns."""
    widest = max((len(run[0].group) for run in groups), default=0)
    return [
        (
            Column("view", (Cell(run[0].group.ljust(widest)),) * len(run[0].cells), right=False),
            *lead,
            *(replace(column, group="") for column in run),
        )
        for run in groups
    ]


def _name_column(columns: Sequence[Column]) -> Column:
    return next(column for column in columns if column.header == "system")


def _room_for_name(columns: Sequence[Column], gap: int, width: int) -> int:
    others = total_width(columns, gap) - _name_column(columns).width
    return min(WIDEST_NAME, width - others)


def _capped(columns: Sequence[Column], cap: int) -> tuple[Column, ...]:
    """Shorten the names of the systems to `cap` cells."""
    name = _name_column(columns)
    return tuple(_shortened(column, cap) if column is name else column for column in columns)


def _shortened(column: Column, cap: int) -> Column:
    cap = max(cap, cell_len(column.header))
    return replace(
        column,
        cells=tuple(replace(cell, text=shorten(cell.text, cap)) for cell in column.cells),
    )
