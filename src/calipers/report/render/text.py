"""Documents as lines of a width, on a terminal or as plain text.

Both are the same lines: the terminal adds weight and shade, never a meaning of its own, so
nothing is lost without colours. Everything that depends on the width is decided here: padding,
wrapping, how names are shortened, whether bounds stand beside or below their value, and how a
table is broken.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import groupby
from typing import TYPE_CHECKING

from calipers.report.render.layout import (
    FIXED,
    TINY_NAME,
    Grid,
    Line,
    Strip,
    Written,
    as_text,
    explained,
    flowing,
    in_full,
    named_within,
    packed,
    room_for_names,
    rows,
    stacked,
    total_width,
    wrapped,
)
from calipers.report.scored import document_of
from calipers.report.table import (
    FAMILY,
    FLOOR,
    METRIC,
    Cell,
    Column,
    Document,
    Note,
    Notes,
    ScoreCell,
    Table,
    Text,
)
from calipers.results.result import Result
from calipers.wording.cells import (
    cell_len,
    clusters,
    has_rtl,
    head_of,
    isolated,
    padded,
    runs_isolated,
)
from calipers.wording.names import (
    WIDEST_NAME,
)
from calipers.wording.short_names import among, short
from calipers.wording.words import Name, Words, said

if TYPE_CHECKING:
    from rich.console import Console, ConsoleOptions, RenderResult

NARROWEST = 40
Strips = tuple[Strip, ...]

GAP = 2
INDENT = "  "
LONGEST_NAME = 200
"""Cells that a name in full may take; a longer one is none that a person reads."""
WIDEST_HEADER = 16
"""Cells that a name may take above its column in a matrix; longer ones are numbered."""
ROOM_FOR_NAME = 16

STYLES = {
    "verdict": "bold",
    "caution": "yellow",
    "sign": "dim",
    "signature": "dim",
    "where": "dim",
    "warning": "yellow",
    "interval": "dim",
    "mark": "dim",
    "how": "dim",
    "caption": "dim",
    "heading": "bold",
}
PACKED = ("caution", "sign", "where")
"""Kinds of notes that share lines."""
BETWEEN = "   "
BEFORE = {
    "note": "note: ",
    "detail": "note: ",
    "missing": "note: ",
    "warning": "warning: ",
    "point": "- ",
    "subpoint": "  - ",
}


class Screen:
    """A document for rich, laid out for the available width."""

    def __init__(self, document: Document, *, width: int | None = None) -> None:
        self._document = document
        self._width = width

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        """Yield the lines one by one."""
        from rich.text import Text as RichText

        width = min(self._width or options.max_width, options.max_width)
        for line in document_lines(self._document, width, plain=False):
            yield RichText.assemble(*line, overflow="fold", no_wrap=False, end="\n")


def plain(shown: Document | Result, *, width: int = 100) -> str:
    """Write a document, or that of a result, as aligned text without colours or box drawing.

    Where the views of a table do not fit side by side, every line names its view, so that lines
    selected by ``grep model_a`` are complete.

    Parameters
    ----------
    shown
        A document, or a result, of which it is what the screen shows.
    width
        Most cells of a line; longer single words, such as paths, are not broken.

    Examples
    --------
    >>> import calipers
    >>> systems = {"model": ["a b", "a b c"]}
    >>> result = calipers.measure_texts(systems, metrics="mean_length", level=None)
    >>> print(plain(result).splitlines()[3])
    model   2    2.5
    """
    return as_text(document_lines(document_of(shown, whole=True), width, plain=True))


def document_lines(document: Document, width: int, *, plain: bool) -> Iterator[Line]:
    """Yield the lines of a document, with a blank one between blocks.

    No two names are shortened to the same letters; those that are shortened stand below in full.
    """
    width = max(width, NARROWEST)
    with among(document.names) as peers:
        lines = list(_blocks(document, width, plain=plain))
        text = as_text(lines)
        names = {*peers.names}  # what else is cut, such as a phrase, is no name
        cut = {w: form for form, w in peers.whole.items() if w in names and form in text}
        full = [(form, short(whole, LONGEST_NAME)) for whole, form in cut.items()]
    lines += [*([()] if full else []), *in_full(full, width)]
    yield from lines if plain else _in_own_direction(lines, {*peers.names, *peers.whole})


def _in_own_direction(lines: Iterable[Line], names: Iterable[str]) -> Iterator[Line]:
    """Keep names, and what else is written from right to left, apart from what stands beside them.

    Plain text, which other programs read, has no such marks.
    """
    known = [*filter(has_rtl, names)]

    def directed(text: str, *, whole: bool) -> str:
        words = text.strip(" ")
        if not has_rtl(words):
            return text
        shown = isolated(words) if whole and words not in known else runs_isolated(words, known)
        return text.replace(words, shown)

    for line in lines:  # of several pieces are those of tables
        yield tuple((directed(text, whole=len(line) > 1), style) for text, style in line)


def _blocks(document: Document, width: int, *, plain: bool) -> Iterator[Line]:
    numbered = any(_is_numbered(table, width) for table in document.tables)
    title = list(wrapped(document.title, width, "bold"))
    yield from title
    begun = bool(title)
    for block in document.blocks:
        if isinstance(block, Notes):
            lines = list(_notes(block.notes, width))
        else:
            lines = list(_table(block, width, plain=plain, numbered=numbered))
        if lines:
            yield from [()] if begun else []
            yield from lines
            begun = True


def strip(
    column: Column,
    kinds: Sequence[str],
    *,
    inline: bool,
    room: int | None = None,
    tight: bool = False,
) -> Strip:
    """Write a column, with values padded so that their intervals and marks align.

    Parameters
    ----------
    column
        Its names are written in full.
    kinds
        What each row is; what stands behind a noise floor is not padded.
    inline
        Whether the bounds of intervals, and what is said aside, stand beside the value.
    room
        Characters behind each value; by default what the longest takes.
    tight
        Whether columns of values, intervals and marks save the space before a mark.
    """
    room = _room([column], kinds, inline=inline) if room is None else room
    written = _in_places(column, tight=tight) if column.align == "inline" else None
    cells = written or tuple(
        _written(cell, column, 0 if kind == FLOOR else room, inline=inline)
        for cell, kind in zip(column.cells, kinds, strict=True)
    )
    under_group = " " if column.marked and column.group else ""
    return Strip(
        f"{column.head}{column.arrow}{under_group}",
        cells,
        str(column.group),
        column.align not in ("left", "inline"),
    )


def grids(table: Table, width: int, *, plain: bool = False, numbered: bool = False) -> list[Grid]:
    """Divide a table into grids that fit a width."""
    if not table.columns:
        return []
    if table.breaks == "views":
        return _views(table, width, labelled=plain)
    if table.breaks == "whole":
        return [Grid(_fitted(table, width, numbered=numbered), GAP)]
    if table.breaks == "matrix":
        return _matrix(table, width)
    if table.breaks == "square":
        table = _numbered_square(table, width)
    if table.breaks == "systems":
        lead, runs = _strips(table, width)
        return flowing(lead, runs, width=width, gap=GAP)
    return _runs(table, width)


def _table(table: Table, width: int, *, plain: bool, numbered: bool) -> Iterator[Line]:
    yield from wrapped(table.heading, width, "bold")
    drawn = grids(table, width, plain=plain, numbered=numbered)
    for place, grid in enumerate(drawn):
        yield from [()] if place and table.apart else []
        yield from rows(grid, rule="-" if plain else "─")
    below = list(_notes(table.notes, width))
    yield from [(), *below] if drawn and below else below


def _notes(notes: Sequence[Note], width: int) -> Iterator[Line]:
    """Write notes, those that explain names and marks of one kind together."""
    for kind, run in groupby(notes, key=lambda note: note.kind):
        members = list(run)
        if kind == "legend":
            yield from explained([(note.sign, str(note)) for note in members], width)
        elif kind == "mark":
            marks = "; ".join(_signed(note) for note in members)
            yield from wrapped(marks, width, STYLES[kind])
        elif kind in PACKED:
            signed = [_signed(replace(n, text=_fit(n.text, width))) for n in members]
            yield from _packed(signed, width, STYLES[kind])
        elif kind == "named":
            yield from _named(members, width)
        else:
            for note in members:
                text, style = _fit(note.text, width), STYLES.get(kind, "")
                before = (
                    f"{note.sign} " if kind == "missing" and note.sign else BEFORE.get(kind, "")
                )
                if kind == "signature" and note.sign:
                    yield from _pinned(note, width)
                    continue
                if kind in ("interval", "how"):
                    text = _signed(note)
                yield from wrapped(text, width, style, first=before)


def _packed(texts: Sequence[str], width: int, style: str) -> Iterator[Line]:
    """Set texts beside each other, as many on a line as fit."""
    line = ""
    for text in texts:
        longer = f"{line}{BETWEEN}{text}" if line else text
        if line and cell_len(longer) > width:
            yield from wrapped(line, width, style, hang=GAP)
            longer = text
        line = longer
    if line:
        yield from wrapped(line.replace(BETWEEN, FIXED * len(BETWEEN)), width, style, hang=GAP)


def _pinned(note: Note, width: int) -> Iterator[Line]:
    """Write a signature, broken behind a pin, or anywhere within one that no line has room for."""
    line = f"{note.sign} "
    for pin in str(note).replace("|", "|\n").split("\n"):
        if cell_len(line + pin) > width and line.strip():
            yield ((line.rstrip(), STYLES[note.kind]),)
            line = ""
        rest = pin
        while cell_len(line + rest) > width and (part := head_of(rest, width)):
            yield ((part, STYLES[note.kind]),)
            rest = rest[len(part) :]
        line += rest
    yield ((line, STYLES[note.kind]),)


def _signed(note: Note) -> str:
    return f"{note.sign} {note}" if note.sign else str(note)


def _named(notes: Sequence[Note], width: int) -> Iterator[Line]:
    """Set what sentences are about in columns where half a line has room for them."""
    widths = [max(map(cell_len, names)) for names in zip(*(n.about for n in notes), strict=True)]
    for note in notes:
        if sum(widths) + GAP * len(widths) <= width // 2:
            first = "".join(padded(n, w + GAP) for n, w in zip(note.about, widths, strict=True))
            yield from wrapped(str(note), width, "", first=first)
        else:
            yield from wrapped(f"{', '.join(note.about)}: {note}", width, "", hang=GAP)


def _fit(text: str | Name | Words, width: int, left: int = WIDEST_NAME) -> str:
    """Shorten the names in a text to what a line has room for; `left` is beside lead columns."""
    if isinstance(text, str):
        return text
    if isinstance(text, Name):
        return short(text.name, _cap(text, width, left))
    return "".join(_fit(part, width) for part in text)


def _cap(name: Name, width: int, left: int = WIDEST_NAME) -> int:
    """How many characters of a name a line has room for."""
    cap = max(TINY_NAME, width // name.share if name.share else left)
    return cap if name.most is None else min(name.most, cap)


def _written(cell: Cell, column: Column, room: int, *, inline: bool) -> Written:
    if isinstance(cell, Text):
        return Written(f"{said(cell.text)}{cell.arrow}", cell.style)
    inline = inline or column.align != "value"
    beside = cell.interval if inline or not cell.bounds else ""
    mark = cell.marks or (" " if column.marked else "")
    text = cell.value + padded(beside + mark, room)
    under = "" if inline else cell.interval if cell.bounds else ""
    return Written(text, cell.style, under)


def _in_places(column: Column, *, tight: bool) -> tuple[Written, ...]:
    """Write value, interval and mark, each in a place of its own within the column."""
    parts = [
        (cell.value, cell.interval, cell.marks)
        if isinstance(cell, ScoreCell)
        else (f"{said(cell.text)}{cell.arrow}", "", "")
        for cell in column.cells
    ]
    value, interval, mark = (max(map(cell_len, texts)) for texts in zip(*parts, strict=True))
    between = "" if tight else " "
    return tuple(
        Written(
            padded(texts[0], value, right=True)
            + (f" {padded(texts[1], interval)}" if interval else "")
            + (f"{between}{padded(texts[2], mark)}" if mark else ""),
            cell.style,
        )
        for texts, cell in zip(parts, column.cells, strict=True)
    )


def _room(columns: Sequence[Column], kinds: Sequence[str], *, inline: bool) -> int:
    """Return the characters that stand behind the values of columns, one at least."""
    behind = [
        (cell.interval if inline or not cell.bounds else "") + (cell.marks or " " * column.marked)
        for column in columns
        if column.align == "value"
        for cell, kind in zip(column.cells, kinds, strict=True)
        if isinstance(cell, ScoreCell) and kind != FLOOR
    ]
    aligned = any(column.align == "value" for column in columns)
    return max(1, *map(cell_len, behind)) if behind else int(aligned)


def _strips(
    table: Table, width: int, *, inline: bool = False, tight: bool = False
) -> tuple[Strips, list[Strips]]:
    """Write the columns of a table, names shortened for a width."""
    kinds = table.kinds
    room = None
    if table.even:
        room = _room(table.scores, [METRIC] * len(kinds), inline=inline)
        kinds = (METRIC,) * len(kinds)
    lead = tuple(strip(_shorter(c, width), kinds, inline=inline) for c in table.lead)
    if FAMILY in table.kinds:
        lead = (_indented(lead[0], table.kinds), *lead[1:])
    if table.lead and table.lead[0].share:
        lead = named_within(lead, max(TINY_NAME, width // table.lead[0].share))
    left = width - total_width(lead, GAP) - GAP

    def write(column: Column) -> Strip:
        shorter = _shorter(column, width, left)
        shown = strip(shorter, kinds, inline=inline, room=room, tight=tight)
        return _beside(shown, column, inline=inline)

    return lead, [tuple(map(write, run)) for run in table.runs]


def _shorter(column: Column, width: int, left: int = WIDEST_NAME) -> Column:
    """Shorten the names in a column."""
    head, arrow = column.head, column.arrow
    if isinstance(head, Name):
        head, arrow = _fit(replace(head, name=f"{head}{arrow}"), width, left), ""
    cells = tuple(
        replace(cell, text=_fit(cell.text, width)) if isinstance(cell, Text) else cell
        for cell in column.cells
    )
    group = _fit(column.group, width, left)
    return replace(column, head=head, arrow=arrow, cells=cells, group=group)


def _beside(written: Strip, column: Column, *, inline: bool) -> Strip:
    """Put what is said aside behind the values, or below them."""
    asides = [cell.aside if isinstance(cell, ScoreCell) else "" for cell in column.cells]
    room = max(map(cell_len, asides), default=0)
    if not room:
        return written
    cells = tuple(
        replace(cell, text=f"{cell.text} {padded(aside, room)}")
        if inline
        else replace(cell, under=aside)
        for cell, aside in zip(written.cells, asides, strict=True)
    )
    return replace(written, cells=cells)


def _indented(names: Strip, kinds: Sequence[str]) -> Strip:
    """Set metrics below their families, which say what the column holds."""
    cells = tuple(
        replace(cell, text=INDENT + cell.text) if kind == METRIC else cell
        for cell, kind in zip(names.cells, kinds, strict=True)
    )
    return replace(names, header="", cells=cells)


def _views(table: Table, width: int, *, labelled: bool) -> list[Grid]:
    """Stack views; plain text takes one line for each row that names its view, if it can."""
    ways = [(True, True), (False, True), (False, False)] if labelled else [(False, False)]
    layouts = []
    for inline, named in ways:
        lead, runs = _strips(table, width, inline=inline)
        scores = [column for run in runs for column in run]
        layouts.append(stacked(lead, scores, width=width, labelled=named))
    loose = not table.even and any(
        isinstance(cell, ScoreCell) and cell.spread and column.align == "value"
        for column in table.scores
        for cell in column.cells
    )
    return min(layouts if loose else layouts[:1], key=len)


def _runs(table: Table, width: int) -> list[Grid]:
    """Set runs beside each other; views from a new line where not all fit on one."""
    if any(isinstance(c, ScoreCell) and c.aside for column in table.scores for c in column.cells):
        ways = [
            packed(*_strips(table, width, inline=inline), width=width) for inline in (True, False)
        ]
        return min(ways, key=lambda layout: (_widest(layout) > width, len(layout)))
    lead, runs = _strips(table, width)
    grids = packed(lead, runs, width=width)
    close = len(grids) != 1 or grids[0].gap < GAP
    if close and any(column.align == "inline" for column in table.scores):
        grids = _on_one_line(table, lead, width) or grids
    if len(grids) == 1:
        return grids
    views = [run[0].view for run in table.runs]
    return [
        grid
        for view in dict.fromkeys(views)
        for grid in packed(
            lead,
            [run for run, run_view in zip(runs, views, strict=True) if run_view == view],
            width=width,
        )
    ]


def _on_one_line(table: Table, lead: Strips, width: int) -> list[Grid]:
    """Save space between and within columns, then spare intervals, then letters of names."""
    levels = {0, *(column.spare for column in table.scores)}
    rooms = []
    for level in sorted(levels):
        source = _without_spare(table, level)
        whole: list[Grid] = []
        for tight in (False, True):
            columns = _strips(source, width, tight=tight)[1]
            fitted = packed(lead, columns, width=width)
            if len(fitted) == 1 and (not whole or fitted[0].gap > whole[0].gap):
                whole = fitted
            cut = packed(named_within(lead, TINY_NAME), columns, width=width)
            if len(cut) == 1:
                left = width - total_width((*cut[0].columns[1:],), cut[0].gap) - GAP
                rooms.append((max(TINY_NAME, left), columns))
        if whole:
            return _with_wider_names(whole[0], width) if level > 1 else whole
    if not rooms:
        return []
    room, columns = max(rooms, key=lambda candidate: candidate[0])
    return packed(named_within(lead, room), columns, width=width)


def _with_wider_names(grid: Grid, width: int) -> list[Grid]:
    """Return the names the room that intervals have left."""
    room = min(WIDEST_NAME, room_for_names(grid.columns, grid.gap, width))
    return [replace(grid, columns=named_within(grid.columns, room))]


def _without_spare(table: Table, level: int) -> Table:
    """Leave out the intervals of those columns that may go first, up to a level."""

    def bare(column: Column) -> Column:
        if not 0 < column.spare <= level:
            return column
        cells = (replace(c, spread="") if isinstance(c, ScoreCell) else c for c in column.cells)
        return replace(column, cells=tuple(cells))

    return replace(table, runs=tuple(tuple(map(bare, run)) for run in table.runs))


def _widest(grids: Sequence[Grid]) -> int:
    return max(total_width(grid.columns, grid.gap) for grid in grids)


def _fitted(table: Table, width: int, *, numbered: bool) -> tuple[Strip, ...]:
    """Write a table in one piece, its names in what the other columns leave."""
    lead, runs = _strips(table, width)
    columns = (*lead, *(column for run in runs for column in run))
    if numbered and table.lead[0].share == 0:
        columns = (_numbered(columns[0]), *columns[1:])
    if table.lead[0].share == 0:
        room = min(WIDEST_NAME, max(TINY_NAME, room_for_names(columns, GAP, width)))
        return named_within(columns, room)
    return columns


def _numbered(names: Strip) -> Strip:
    """Put a number before each name; a name that stands over several rows has one."""
    total = sum(bool(cell.text) for cell in names.cells)
    digits, place, cells = len(str(total)), 0, []
    for cell in names.cells:
        place += bool(cell.text)
        cells.append(replace(cell, text=f"{place:>{digits}} {cell.text}") if cell.text else cell)
    return replace(names, cells=tuple(cells))


def _with_numbers(columns: Sequence[Strip]) -> list[Strip]:
    return [replace(column, header=str(place)) for place, column in enumerate(columns, 1)]


def _matrix(table: Table, width: int) -> list[Grid]:
    """Lay a matrix out: names above the columns, else numbers, else in pieces."""
    (first, *others), runs = _strips(table, width)
    named = [column for run in runs for column in run]
    for by_number, brief, gap in ((False, False, 2), (True, False, 2), (True, True, 1)):
        lead = [
            _numbered(first) if by_number else first,
            *(map(_brief, others) if brief else others),
        ]
        scores = _with_numbers(named) if by_number else named
        room = room_for_names([*lead, *scores], gap, width)
        needed = min(lead[0].width, ROOM_FOR_NAME if by_number else WIDEST_NAME)
        short = all(cell_len(column.header) <= WIDEST_HEADER for column in named)
        if room >= needed and (by_number or short):
            return [Grid(named_within([*lead, *scores], min(WIDEST_NAME, room)), gap)]
    lead = list(named_within(lead, min(WIDEST_NAME, max(TINY_NAME, width // 4))))
    return flowing(lead, [(column,) for column in scores], width=width, gap=1)


def _brief(column: Strip) -> Strip:
    """Keep the first letter of each word of a column, as a capital."""
    cells = tuple(
        replace(cell, text=next(clusters(cell.text), "").upper()) for cell in column.cells
    )
    return replace(column, cells=cells)


def _is_numbered(table: Table, width: int) -> bool:
    """Whether the columns of a matrix have numbers for names."""
    if table.breaks != "matrix":
        return False
    return _matrix(table, width)[0].columns[len(table.lead)].header == "1"


def _numbered_square(table: Table, width: int) -> Table:
    """Have numbers for the names of columns where these would not fit beside each other."""
    plain = [strip(column, table.kinds, inline=False) for column in table.columns]
    if total_width(plain, GAP) <= width:
        return table
    names = _numbered(plain[0])
    cells = tuple(Text(cell.text) for cell in names.cells)
    return replace(
        table,
        lead=(replace(table.lead[0], cells=cells),),
        runs=tuple((replace(run[0], head=str(place)),) for place, run in enumerate(table.runs, 1)),
    )
