"""An overlap as data ──► matrices and sentences, on a terminal or as plain text."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from rich.cells import cell_len

from calipers.report import overlap_content as content
from calipers.report.grid import Column, Line, render, total_width
from calipers.report.laid_out import LaidOut, as_text
from calipers.report.names import WIDEST_NAME, shorten
from calipers.report.overlap_content import Data
from calipers.report.wrapping import explained, listed, wrapped

NARROWEST = 40
WIDEST_HEADER = 16
"""Cells that a name may take above its column; columns with longer ones are numbered."""
ROOM_FOR_NAME = 16
TINY_NAME = 8

Block = tuple[Column, ...]


class OverlapTable(LaidOut):
    """Matrices for rich."""

    def lines(self, width: int) -> Iterator[Line]:
        """Yield the lines for a width."""
        return _lines(self._data, width, rule="─")


def overlap_text(data: Data, *, width: int = 100) -> str:
    """Write an overlap as plain text: aligned, without colours or box drawing.

    Parameters
    ----------
    data
        What ``Overlap.to_dict()`` gives.
    width
        Cells that a line may take; longer single words are left whole.
    """
    return as_text(_lines(data, width, rule="-"))


def _lines(data: Data, width: int, *, rule: str) -> Iterator[Line]:
    width = max(width, NARROWEST)
    yield from wrapped(content.title(data), width, "bold")
    yield ()
    yield from _systems(data, width, rule)
    for view in data["views"]:
        yield ()
        yield from wrapped(content.view_title(view), width, "bold")
        for block, gap in _matrix(data, view, width):
            yield from render(block, gap=gap, rule=rule)
        yield ()
        yield from listed("- ", content.sentences(data, view), width, "")
    yield ()
    yield from _below(data, width)


def _systems(data: Data, width: int, rule: str) -> Iterator[Line]:
    """Say who the systems are: their sizes and lengths."""
    numbered = any(_numbered(data, view, width) for view in data["views"])
    columns = content.system_columns(data, numbered=numbered)
    room = width - (total_width(columns, 2) - columns[0].width)
    yield from render(_capped(columns, room), gap=2, rule=rule)


def _matrix(data: Data, view: str, width: int) -> list[tuple[Block, int]]:
    """Lay a matrix out: names above the columns, else numbers, else in pieces."""
    for numbered, brief, gap in ((False, False, 2), (True, False, 2), (True, True, 1)):
        lead = content.lead_columns(data, numbered=numbered, brief=brief)
        judged = content.judged_columns(data, view, numbered=numbered)
        room = width - (total_width([*lead, *judged], gap) - lead[0].width)
        needed = min(lead[0].width, WIDEST_NAME if not numbered else ROOM_FOR_NAME)
        if room >= needed and (numbered or _short(judged)):
            return [(_capped([*lead, *judged], room), gap)]
    return [(block, 1) for block in _pieces(lead, judged, width)]


def _numbered(data: Data, view: str, width: int) -> bool:
    """Whether the columns of a matrix have numbers for names."""
    return _matrix(data, view, width)[0][0][2].header == "1"


def _pieces(lead: Sequence[Column], judged: Sequence[Column], width: int) -> Iterator[Block]:
    """Give as many columns at a time as fit beside the names of the rows."""
    named = _capped(lead, max(TINY_NAME, width // 4))
    piece = [*named, judged[0]]
    for column in judged[1:]:
        if total_width([*piece, column], 1) > width:
            yield tuple(piece)
            piece = [*named]
        piece.append(column)
    yield tuple(piece)


def _short(columns: Sequence[Column]) -> bool:
    return all(cell_len(column.header) <= WIDEST_HEADER for column in columns)


def _capped(columns: Sequence[Column], room: int) -> Block:
    """Shorten the names in the first column to `room` cells."""
    first = columns[0]
    cap = min(max(room, cell_len(first.header)), WIDEST_NAME)
    cells = tuple(replace(cell, text=shorten(cell.text, cap)) for cell in first.cells)
    return (replace(first, cells=cells), *columns[1:])


def _below(data: Data, width: int) -> Iterator[Line]:
    """Write what stands under the matrices: notes, warnings, and how to read them."""
    remarks = listed("note: ", content.remarks(data), width, "")
    alarms = listed("warning: ", content.warnings(data), width, "yellow")
    yield from [*remarks, *alarms, *([()] if remarks or alarms else [])]
    yield from explained(list(content.legend(data)), width)
    yield from wrapped(
        "No system is the right one. Full precision and signatures: --json FILE, or .to_dict() "
        "in Python.",
        width,
        "dim",
    )
