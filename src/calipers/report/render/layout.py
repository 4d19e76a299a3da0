"""The layout of columns of written cells as lines of text.

What is too wide for a line is broken: columns beside each other, stacked, or in pieces.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import groupby, pairwise

from calipers.wording.cells import cell_len, clusters, filled, head_of, padded
from calipers.wording.names import WIDEST_NAME
from calipers.wording.short_names import among, short

NARROWEST_NAME = 16
TINY_NAME = 8
FIXED = "\N{NO-BREAK SPACE}"

Span = tuple[str, str]
"""A piece of text and its style."""

Line = tuple[Span, ...]

Place = tuple[int, int, bool]
"""Of a column: the space before it, its width, and whether its cells stand on the right."""


@dataclass(frozen=True)
class Written:
    """The contents of one cell of a grid; `under` is on a second line below `text`."""

    text: str = ""
    style: str = ""
    under: str = ""


@dataclass(frozen=True)
class Strip:
    """One column as written: its header, its cells from top to bottom, and its group."""

    header: str
    cells: tuple[Written, ...]
    group: str = ""
    right: bool = True

    @cached_property
    def width(self) -> int:
        """The width of the widest entry in terminal cells."""
        texts = [self.header, *(part for cell in self.cells for part in (cell.text, cell.under))]
        return max(map(cell_len, texts))


@dataclass(frozen=True)
class Grid:
    """Columns to be shown as one block, and the space between them."""

    columns: tuple[Strip, ...]
    gap: int


def total_width(columns: Sequence[Strip], gap: int) -> int:
    """Return the width of a grid with `gap` between columns and two between groups."""
    return sum(width for _, width in _layout(columns, gap)) + sum(_gaps(columns, gap))


def rows(grid: Grid, *, rule: str) -> Iterator[Line]:
    """Lay the columns out as lines; `rule` is the character that spans a group."""
    columns, gap = grid.columns, grid.gap
    places = _places(columns, gap)
    if any(column.group for column in columns):
        yield _group_line(columns, gap, rule)
    yield _row(places, [Written(column.header, "bold") for column in columns])
    for row in zip(*(column.cells for column in columns), strict=True):
        yield _row(places, row)
        if any(cell.under for cell in row):
            yield _row(places, [Written(cell.under, "dim") for cell in row])


def stacked(
    lead: Sequence[Strip], scores: Sequence[Strip], *, width: int, labelled: bool
) -> list[Grid]:
    """Lay out the lead columns (the first one holds names) and the scores within `width`.

    Views that do not fit beside each other stand one above the other, and in pieces where that
    does not help. `labelled` names the view in every row of a stacked table, so that each line
    stands by itself.
    """
    groups = [tuple(run) for _, run in groupby(scores, key=lambda column: column.group)]
    above = _labelled(lead, groups) if labelled else [(*lead, *run) for run in groups]
    name = lead[0]
    for layout in ([(*lead, *scores)], above):
        for gap in (2, 1):
            cap = min((_room_for_name(columns, gap, width, name) for columns in layout), default=0)
            if cap >= min(NARROWEST_NAME, name.width):
                return [Grid(_capped(columns, cap, name), gap) for columns in layout]
    return _in_pieces(lead, groups, width)


def packed(lead: Sequence[Strip], runs: Sequence[tuple[Strip, ...]], *, width: int) -> list[Grid]:
    """Place as many runs of columns side by side as fit, each grid with the lead columns.

    They are set wider apart where that costs no further grid; a run too wide for a line is broken,
    and shares no grid with another.
    """
    tight, wide = (_filled(lead, runs, width, gap) for gap in (1, 2))
    columns, gap = (wide, 2) if len(wide) == len(tight) else (tight, 1)
    return [Grid(strips, gap) for strips in columns]


def flowing(
    lead: Sequence[Strip],
    runs: Sequence[tuple[Strip, ...]],
    *,
    width: int,
    gap: int,
) -> list[Grid]:
    """Place columns side by side, starting a new grid for a run that does not fit."""
    grids = [tuple(lead)]

    def is_full(more: Sequence[Strip]) -> bool:
        return len(grids[-1]) > len(lead) and total_width((*grids[-1], *more), gap) > width

    for run in runs:
        if is_full(run):
            grids.append(tuple(lead))
        for column in run:
            if is_full([column]):
                grids.append(tuple(lead))
            grids[-1] = (*grids[-1], column)
    return [Grid(strips, gap) for strips in grids]


def named_within(columns: Sequence[Strip], cap: int) -> tuple[Strip, ...]:
    """Shorten the names in the first column to `cap` cells, but not below its header."""
    return (_shortened(columns[0], cap), *columns[1:])


def room_for_names(columns: Sequence[Strip], gap: int, width: int) -> int:
    """Return the width that the other columns leave for the first one."""
    return width - (total_width(columns, gap) - columns[0].width)


def wrapped(text: str, width: int, style: str, *, first: str = "", hang: int = 0) -> Iterator[Line]:
    """Wrap a text with a hanging indent; a number keeps its % sign."""
    rest = " " * (hang or cell_len(first))
    lines = filled(text.replace(" %", f"{FIXED}%"), width, first=first, rest=rest)
    return (((line.replace(FIXED, " "), style),) for line in lines)


def explained(pairs: Sequence[tuple[str, str]], width: int) -> Iterator[Line]:
    """Write names on the left and their meanings on the right."""
    margin = max((cell_len(name) for name, _ in pairs), default=0)
    for name, meaning in pairs:
        yield from wrapped(meaning, width, "dim", first=padded(name, margin + 2))


def in_full(pairs: Sequence[tuple[str, str]], width: int) -> Iterator[Line]:
    """Write short names on the left and full names, broken anywhere, on the right."""
    margin = max((cell_len(form) for form, _ in pairs), default=0) + 2
    for form, name in pairs:
        beside, rest = padded(form, margin), name
        while rest:
            part = head_of(rest, width - margin) or next(clusters(rest))
            yield ((beside, "dim"), (part, "dim"))
            beside, rest = " " * margin, rest[len(part) :]


def as_text(lines: Iterable[Line]) -> str:
    """Write lines as plain text, without bold and colour."""
    return "\n".join("".join(text for text, _ in line).rstrip() for line in lines)


def _layout(columns: Sequence[Strip], gap: int) -> list[tuple[Strip, int]]:
    """Give every column its width; a group that is narrower than its name widens its last."""
    widths: list[tuple[Strip, int]] = []
    for group, run in groupby(columns, key=lambda column: column.group):
        members = list(run)
        inner = sum(column.width for column in members) + gap * (len(members) - 1)
        missing = max(0, cell_len(group) - inner)
        widths += [(column, column.width) for column in members[:-1]]
        widths.append((members[-1], members[-1].width + missing))
    return widths


def _gaps(columns: Sequence[Strip], gap: int) -> list[int]:
    """Return the space before every column: none before the first, two before a group."""
    between = [
        gap if left.group == right.group else max(gap, 2) for left, right in pairwise(columns)
    ]
    return [0, *between]


def _places(columns: Sequence[Strip], gap: int) -> list[Place]:
    """Return where every column stands, which is the same in all lines of a grid."""
    layout = zip(_layout(columns, gap), _gaps(columns, gap), strict=True)
    return [(space, width, column.right) for (column, width), space in layout]


def _row(places: Sequence[Place], cells: Sequence[Written]) -> Line:
    spans: list[Span] = []
    for (space, width, right), cell in zip(places, cells, strict=True):
        pad = " " * (width - cell_len(cell.text))
        before, after = (pad, "") if right else ("", pad)
        spans += [(" " * space + before, ""), (cell.text, cell.style), (after, "")]
    return _stripped(spans)


def _group_line(columns: Sequence[Strip], gap: int, rule: str) -> Line:
    spans: list[Span] = []
    widths = [width for _, width in _layout(columns, gap)]
    placed = zip(columns, widths, _gaps(columns, gap), strict=True)
    for group, run in groupby(placed, key=lambda place: place[0].group):
        members = list(run)
        space = members[0][2]
        inner = sum(width + before for _, width, before in members) - space
        ruled = _ruled(group, inner, rule if members[1:] else " ")
        spans += [(" " * space, ""), (ruled, "bold" if group else "")]
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


def _filled(
    lead: Sequence[Strip], runs: Sequence[tuple[Strip, ...]], width: int, gap: int
) -> list[tuple[Strip, ...]]:
    grids: list[tuple[Strip, ...]] = []
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
    lead: Sequence[Strip], groups: Sequence[tuple[Strip, ...]], width: int
) -> list[Grid]:
    """Return sizes and lengths a grid of their own, and every view as many as it needs."""
    cap = min(WIDEST_NAME, max(TINY_NAME, width // 4))
    pieces = [tuple(lead)]
    for group in groups:
        names, *columns = _without_idle_reference((lead[0], *group))
        pieces.append((names,))
        for column in columns:
            longer = (*pieces[-1], column)
            fits = len(longer) == 2 or total_width(named_within(longer, cap), 1) <= width
            pieces[-1:] = [longer] if fits else [pieces[-1], (names, column)]
    return [Grid(named_within(columns, cap), 1) for columns in pieces]


def _without_idle_reference(columns: Sequence[Strip]) -> Sequence[Strip]:
    """Drop the first row, that of the reference, where none but the column of names has a value."""
    if any(column.cells[0].text for column in columns[1:]):
        return columns
    return [replace(column, cells=column.cells[1:]) for column in columns]


def _labelled(
    lead: Sequence[Strip], groups: Sequence[tuple[Strip, ...]]
) -> list[tuple[Strip, ...]]:
    """Put the view in front of every row instead of above the columns."""
    widest = max((cell_len(run[0].group) for run in groups), default=0)
    return [
        (
            Strip(
                "view", (Written(padded(run[0].group, widest)),) * len(run[0].cells), right=False
            ),
            *lead,
            *(replace(column, group="") for column in run),
        )
        for run in groups
    ]


def _room_for_name(columns: Sequence[Strip], gap: int, width: int, name: Strip) -> int:
    return min(WIDEST_NAME, width - (total_width(columns, gap) - name.width))


def _capped(columns: Sequence[Strip], cap: int, name: Strip) -> tuple[Strip, ...]:
    """Shorten the names of the systems to `cap` cells."""
    return tuple(_shortened(column, cap) if column is name else column for column in columns)


def _shortened(column: Strip, cap: int) -> Strip:
    cap = max(cap, cell_len(column.header))
    with among(cell.text for cell in column.cells):
        cells = tuple(replace(cell, text=short(cell.text, cap)) for cell in column.cells)
    return replace(column, cells=cells)
