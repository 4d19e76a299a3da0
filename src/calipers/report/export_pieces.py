"""A table ──► pieces that are no wider than a page."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from itertools import groupby

from calipers.report.export_table import Run, Section
from calipers.report.grid import Column
from calipers.report.layout import packed

Measure = Callable[[Column], Column]


def pieces(
    section: Section, width: int, *, as_wide: Measure = lambda column: column
) -> list[Section]:
    """Cut a table into such as are no wider than `width` characters, each with the names.

    `as_wide` gives for a column another one that is as wide as the column is shown.
    """
    if not section.runs:
        return [section]
    runs = [tuple(map(as_wide, run)) for run in section.runs]
    grids = packed(tuple(map(as_wide, section.lead)), runs, width=width)
    head = len(section.lead)
    kept = [set(map(id, grid.columns[head:])) for grid in grids]
    return [replace(section, runs=_within(section.runs, runs, each)) for each in kept]


def by_group(columns: Sequence[Column]) -> tuple[Run, ...]:
    """Put neighbouring columns of one group together."""
    return tuple(tuple(run) for _, run in groupby(columns, key=lambda column: column.group))


def _within(runs: Sequence[Run], measured: Sequence[Run], kept: set[int]) -> tuple[Run, ...]:
    """Keep of each run the columns of one piece; two runs of one name stay apart."""
    parts = (
        tuple(column for column, width in zip(run, widths, strict=True) if id(width) in kept)
        for run, widths in zip(runs, measured, strict=True)
    )
    return tuple(part for part in parts if part)
