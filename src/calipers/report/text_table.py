"""Text statistics as data ──► one row for each statistic, on a terminal or as plain text."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from calipers.report import text_content as content
from calipers.report import text_words as words
from calipers.report.grid import Column, Line, render, total_width
from calipers.report.laid_out import LaidOut, as_text
from calipers.report.layout import packed
from calipers.report.names import shorten
from calipers.report.text_content import Data
from calipers.report.wrapping import explained, listed, wrapped

NARROWEST = 40
TINY_NAME = 8


class TextTable(LaidOut):
    """A table of text statistics for rich."""

    def lines(self, width: int) -> Iterator[Line]:
        """Yield the lines for a width."""
        return _lines(self._data, width, rule="─")


def text_table(data: Data, *, width: int = 100) -> str:
    """Write text statistics as plain text: aligned, without colours or box drawing.

    Parameters
    ----------
    data
        What ``TextComparison.to_dict()`` gives.
    width
        Cells that a line may take; longer single words are left whole.
    """
    return as_text(_lines(data, width, rule="-"))


def _lines(data: Data, width: int, *, rule: str) -> Iterator[Line]:
    width = max(width, NARROWEST)
    yield from wrapped(words.title(data), width, "bold")
    yield ()
    yield from render(_named(content.set_columns(data), width), gap=2, rule=rule)
    yield ()
    rows = content.rows_of(data)
    lead = [content.label_column(data, rows)]
    if content.has_gaps(data):
        lead.append(content.reference_column(data, rows))
    room = width - total_width(lead, 2) - 2
    runs = [
        tuple(_headed(column, room) for column in content.system_columns(data, rows, index))
        for index in range(len(data["systems"]))
    ]
    for grid in packed(lead, runs, width=width):
        yield from render(grid.columns, gap=grid.gap, rule=rule)
        yield ()
    yield from _below(data, width)


def _named(columns: list[Column], width: int) -> list[Column]:
    """Shorten the names in the first column to what fits."""
    room = max(TINY_NAME, width - (total_width(columns, 2) - columns[0].width))
    cells = tuple(replace(cell, text=shorten(cell.text, room)) for cell in columns[0].cells)
    return [replace(columns[0], cells=cells), *columns[1:]]


def _headed(column: Column, room: int) -> Column:
    """Shorten the name of a system above its columns to what fits."""
    most = max(room, TINY_NAME)
    if column.group:
        return replace(column, group=shorten(column.group, most))
    return replace(column, header=shorten(column.header, most))


def _below(data: Data, width: int) -> Iterator[Line]:
    """Write what stands under the table: why values miss, warnings, and how to read it."""
    remarks = listed("note: ", [*words.remarks(data), *words.reasons(data)], width, "")
    alarms = listed("warning: ", words.warnings(data), width, "yellow")
    yield from [*remarks, *alarms, *([()] if remarks or alarms else [])]
    yield from explained(list(words.legend(data)), width)
    for text in words.how_to_read(data):
        yield from wrapped(text, width, "dim")
