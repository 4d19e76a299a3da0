"""Columns of cells ──► lines of styled text; knows widths, and nothing about metrics."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby, pairwise

from rich.cells import cell_len

Span = tuple[str, str]
"""A piece of text and its style."""

Line = tuple[Span, ...]


@dataclass(frozen=True)
class Cell:
    """What stands in one place of a grid; `under` stands in a second line below `text`."""

    text: str = ""
    style: str = ""
    under: str = ""


@dataclass(frozen=True)
class Column:
    """One column: its header, its cells from top to bottom, and the group that it belongs to."""

    header: str
    cells: tuple[Cell, ...]
    group: str = ""
    right: bool = True

    @property
    def width(self) -> int:
        """Give the cells of a terminal that the widest entry takes."""
        texts = [self.header, *(part for cell in self.cells for part in (cell.text, cell.under))]
        return max(map(cell_len, texts))


def total_width(columns: Sequence[Column], gap: int) -> int:
    """Give the width of a grid whose columns stand `gap` apart, and its groups two apart."""
    return sum(width for _, width in _layout(columns, gap)) + sum(_gaps(columns, gap))


def render(columns: Sequence[Column], *, gap: int, rule: str) -> Iterator[Line]:
    """Lay the columns out as lines; `rule` is the character that spans a group."""
    if any(column.group for column in columns):
        yield _group_line(columns, gap, rule)
    headers = [Cell(column.header, "bold") for column in columns]
    yield _row(columns, headers, gap)
    for row in zip(*(column.cells for column in columns), strict=True):
        yield _row(columns, row, gap)
        if any(cell.under for cell in row):
            yield _row(columns, [Cell(cell.under, "dim") for cell in row], gap)


def _layout(columns: Sequence[Column], gap: int) -> list[tuple[Column, int]]:
    """Give every column its width; a group that is narrower than its name widens its last."""
    widths: list[tuple[Column, int]] = []
    for group, run in groupby(columns, key=lambda column: column.group):
        members = list(run)
        inner = sum(column.width for column in members) + gap * (len(members) - 1)
        missing = max(0, cell_len(group) - inner)
        widths += [(column, column.width) for column in members[:-1]]
        widths.append((members[-1], members[-1].width + missing))
    return widths


def _gaps(columns: Sequence[Column], gap: int) -> list[int]:
    """Give the space before every column: none before the first, two before a group."""
    between = [
        gap if left.group == right.group else max(gap, 2) for left, right in pairwise(columns)
    ]
    return [0, *between]


def _row(columns: Sequence[Column], cells: Sequence[Cell], gap: int) -> Line:
    spans: list[Span] = []
    layout = zip(_layout(columns, gap), _gaps(columns, gap), cells, strict=True)
    for (column, width), space, cell in layout:
        pad = " " * (width - cell_len(cell.text))
        before, after = (pad, "") if column.right else ("", pad)
        spans += [(" " * space + before, ""), (cell.text, cell.style), (after, "")]
    return _stripped(spans)


def _group_line(columns: Sequence[Column], gap: int, rule: str) -> Line:
    spans: list[Span] = []
    widths = [width for _, width in _layout(columns, gap)]
    placed = zip(columns, widths, _gaps(columns, gap), strict=True)
    for group, run in groupby(placed, key=lambda place: place[0].group):
        members = list(run)
        space = members[0][2]
        inner = sum(width + before for _, width, before in members) - space
        spans += [(" " * space, ""), (_ruled(group, inner, rule), "bold" if group else "")]
    return _stripped(spans)


def _ruled(group: str, width: int, rule: str) -> str:
    """Write the name of a group and draw a line to the end of it."""
    left = width - cell_len(group)
    return f"{group} {rule * (left - 1)}" if group and left > 1 else group + " " * left


def _stripped(spans: list[Span]) -> Line:
    """Drop what is invisible at the end of a line."""
    while spans and not spans[-1][0].strip():
        spans.pop()
    return tuple(span for span in spans if span[0])
