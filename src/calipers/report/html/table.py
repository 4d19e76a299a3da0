"""The tables of a comparison ──► what the templates of the page lay out.

The main one has systems down and metrics by view across; below it stand the further tables, each in
a part of the page. A table scrolls within its box, so that only very wide ones are broken.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import groupby

from calipers.report.html.wording import short
from calipers.report.inference import ALIKE, EQUAL, OPEN, UNTESTED
from calipers.report.names import VIEWS
from calipers.report.render.printed import pieces
from calipers.report.table import (
    BEST,
    FLOOR,
    Cell,
    Column,
    Data,
    Document,
    Note,
    ScoreCell,
    Table,
    Text,
    said,
)

WORDS = {
    BEST: "best of its column",
    ALIKE: "not distinguishable from the best",
    EQUAL: "equal to the best within the margin",
    OPEN: "undecided: differs from the best when tested alone",
    UNTESTED: "not tested against the best",
}
PARTS = ("against-reference", "floor", "pairs", "seeds", "groups", "train", "advice")
"""The parts of the page, the most telling first."""
BROKEN = ("groups", "train")
PAGE = 150
"""Characters at which tables with many runs of columns are broken."""


@dataclass(frozen=True)
class Value:
    """One score: value, interval and mark, what it sorts by, and where its signature stands."""

    text: str
    bounds: str = ""
    mark: str = ""
    says: str = ""
    sort: float | None = None
    signature: str = ""


@dataclass(frozen=True)
class Row:
    """One set: its name, size and length, and its scores."""

    name: str
    lead: tuple[str, ...]
    values: tuple[Value, ...]


@dataclass(frozen=True)
class ScoreTable:
    """The whole table; `how` explains its marks, `reasons` its dashes."""

    lead: tuple[str, ...]
    heads: tuple[Column, ...]
    groups: tuple[tuple[str, str, int], ...]
    reference: Row
    floor: Row | None
    systems: tuple[Row, ...]
    how: tuple[str, ...]
    reasons: tuple[str, ...]


@dataclass(frozen=True)
class Grid:
    """Rows of cells under two rows of heads: groups with their numbers of columns, and names."""

    groups: tuple[tuple[str, int], ...]
    headers: tuple[tuple[str, bool], ...]
    rows: tuple[tuple[Text, ...], ...]


@dataclass(frozen=True)
class Part:
    """A block of the page: what it is called and how it is found, its tables, and its sentences."""

    id: str
    heading: str
    tables: tuple[Grid, ...]
    tells: tuple[str, ...]
    caption: str


def score_table(document: Document, data: Data) -> ScoreTable:
    """Lay out the scores that a comparison shows; `data` has the names and places of all."""
    tables = {table.id: table for table in document.tables}
    table = tables["scores"]
    names = [row["name"] for row in (data["reference"], *data.get("systems", ()))]
    reference, *systems = (_row(table, row, short(name), data) for row, name in enumerate(names))
    return ScoreTable(
        lead=tuple(said(column.head) for column in table.lead[1:]),
        heads=table.scores,
        groups=tuple((name, VIEWS.get(name, ""), count) for name, count in table.groups),
        reference=reference,
        floor=_floor(table, tables.get("floor")),
        systems=tuple(systems),
        how=tuple(map(_signed, document.of_kind("interval", "mark"))),
        reasons=tuple(map(str, document.of_kind("missing"))),
    )


def parts(document: Document) -> list[Part]:
    """Give the blocks that a comparison has, the most telling first."""
    tables = {table.id: table for table in document.tables}
    return [_part(tables[name]) for name in PARTS if name in tables]


def _row(table: Table, row: int, name: str, data: Data) -> Row:
    lead = tuple(_text(column.cells[row]) for column in table.lead[1:])
    return Row(name, lead, tuple(_value(column.cells[row], data) for column in table.scores))


def _value(cell: Cell, data: Data) -> Value:
    if isinstance(cell, Text):
        return Value(said(cell.text))
    signature = ""
    if cell.source is not None:
        row, key = cell.source
        place = list(data["systems"][row]["scores"]).index(key) + 1
        signature = f"signature-{row + 1}-{place}"
    says = WORDS.get(cell.mark, "")
    return Value(cell.value, cell.interval, cell.mark, says, cell.number, signature)


def _floor(table: Table, floors: Table | None) -> Row | None:
    """Give the row of the noise floor, where one floor holds for all systems."""
    if floors is None or floors.kinds.count(FLOOR) != 1:
        return None
    row = floors.kinds.index(FLOOR)
    found = {column.key: _text(column.cells[row]) for column in floors.scores}
    values = tuple(Value(found.get(column.key, "")) for column in table.scores)
    size = _text(floors.lead[1].cells[row])
    return Row("noise floor", (size, *[""] * (len(table.lead) - 2)), values)


def _part(table: Table) -> Part:
    captions = [said(note.text) for note in table.notes if note.kind == "caption"]
    return Part(
        table.id,
        table.heading,
        tuple(map(_grid, _broken(table))) if table.columns else (),
        tuple(said(note.text) for note in table.notes if note.kind != "caption"),
        " ".join(captions),
    )


def _broken(table: Table) -> Iterator[Table]:
    """Break a table of many runs, and begin every view anew where it takes several."""
    if table.id not in BROKEN:
        yield table
        return
    found = pieces(table, PAGE)
    if len(found) == 1:
        yield from found
        return
    for view in dict.fromkeys(run[0].view for run in table.runs):
        runs = tuple(run for run in table.runs if run[0].view == view)
        yield from pieces(replace(table, runs=runs), PAGE)


def _grid(table: Table) -> Grid:
    groups = groupby(table.columns, key=lambda column: str(column.group))
    return Grid(
        tuple((name, len(list(run))) for name, run in groups),
        tuple((f"{column.head}{column.arrow}", column.align != "left") for column in table.columns),
        tuple(_texts(row) for row in zip(*(c.cells for c in table.columns), strict=True)),
    )


def _texts(cells: Sequence[Cell]) -> tuple[Text, ...]:
    return tuple(Text(_text(cell), cell.style) for cell in cells)


def _text(cell: Cell) -> str:
    if isinstance(cell, ScoreCell):
        return f"{cell.value}{cell.interval}{cell.mark} {cell.aside}".strip()
    return f"{said(cell.text)}{cell.arrow}".strip()


def _signed(note: Note) -> str:
    return f"{note.sign} {note}" if note.sign else str(note)
