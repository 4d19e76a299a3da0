"""Documents as values: tables and notes, independent of layout and format.

The modules in ``documents/`` make a document of what ``to_dict()`` of a result gives, and every
module in ``render/`` writes one in its own form. A renderer decides how cells are aligned, broken
and escaped; what they say is decided here, once.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from importlib import import_module
from itertools import groupby
from typing import Literal

from calipers.wording.front import worded
from calipers.wording.marks import BEST
from calipers.wording.numbers import APPROXIMATE, MISSING
from calipers.wording.words import Name, Words, in_front, names_in, said

BEST_STYLE = "bold"

SYSTEM, REFERENCE, FLOOR, FAMILY, METRIC = "system", "reference", "floor", "family", "metric"
OMITTED = "omitted"
"""What a row of a table is; the last stands for rows that are left out."""

Kind = Literal[
    "note",
    "detail",
    "missing",
    "warning",
    "interval",
    "mark",
    "how",
    "legend",
    "heading",
    "finding",
    "named",
    "point",
    "subpoint",
    "caption",
    "verdict",
    "caution",
    "sign",
    "signature",
    "where",
]
"""What a note is.

A remark; what stands behind a score; why a value is missing; what to beware of; what an interval
holds; what a mark means; how to read the table; what a name means; the head of the notes below it;
what was found; the same of the things that it is about; a point of a list, and one below it; what
a table holds; a sentence of the verdict; what could change it; a mark in a word or two; what was
measured, on one line; where more is to be found.
"""


@dataclass(frozen=True)
class Text:
    """A cell without a score; `arrow` gives the better direction of a metric that it names."""

    text: str | Name | Words = ""
    style: str = ""
    arrow: str = ""


@dataclass(frozen=True)
class ScoreCell:
    """A cell with a score, or anything with an interval or a mark.

    Attributes
    ----------
    value
        The value as written; a dash where there is none.
    spread
        Half of its interval as ``±0.01``, or the bounds of a lopsided one as ``[0.8,0.9]``.
    approximate
        Whether that interval is approximate.
    mark
        How it compares with the best in its column.
    floor
        The sign of one that is within the noise floor, or nothing.
    beyond
        ``"worse"`` or ``"better"`` than the noise floor, or nothing.
    aside
        What else is said of it, such as a p-value.
    style
        ``"bold"``, ``"dim"`` or nothing.
    number
        What the table sorts it by; None without a value.
    source
        The place of the system and the key of the score, by which its signature is found.
    """

    value: str
    spread: str = ""
    approximate: bool = False
    mark: str = ""
    floor: str = ""
    beyond: str = ""
    aside: str = ""
    style: str = ""
    number: float | None = None
    source: tuple[int, str] | None = None

    @property
    def best(self) -> bool:
        """Whether it is the best of those beside it."""
        return self.mark == BEST

    @property
    def marks(self) -> str:
        """All marks after it: of the noise floor, then of the best."""
        return self.floor + self.mark

    @property
    def missing(self) -> bool:
        """Whether there is no value."""
        return self.value == MISSING

    @property
    def bounds(self) -> bool:
        """Whether the spread is given as the two bounds of an interval."""
        return self.spread.startswith("[")

    @property
    def interval(self) -> str:
        """The spread, with a sign after an approximate one."""
        return self.spread + (APPROXIMATE if self.spread and self.approximate else "")


Cell = Text | ScoreCell
Align = Literal["left", "right", "value", "inline"]


@dataclass(frozen=True)
class Column:
    """One column.

    Attributes
    ----------
    head, arrow
        Its name, and the sign for where a metric is better.
    cells
        From top to bottom.
    group
        The view or system that it belongs to.
    align
        ``"left"``, ``"right"``, ``"value"``: on the right, what stands behind values apart, or
        ``"inline"``: value, interval and mark one after the other, each with a place of its own.
    view
        The view whose columns stay together where a table is broken.
    key, meaning, direction
        The key of the score, what it tells, and where it is better.
    share
        For names of rows: how many a line has room for; 0 for what the other columns leave, and
        None where they are not shortened.
    marked
        Whether a place for a mark is kept behind each interval.
    spare
        Whether its intervals may go where names of rows, or a line, would else be broken: those of
        1 before those of 2, and of 0 never.
    """

    head: str | Name
    cells: tuple[Cell, ...]
    arrow: str = ""
    group: str | Name = ""
    align: Align = "right"
    view: str = ""
    key: str = ""
    meaning: str = ""
    direction: str = ""
    share: int | None = None
    marked: bool = False
    spare: int = 0


Run = tuple[Column, ...]


@dataclass(frozen=True)
class Note:
    """A remark in words.

    Attributes
    ----------
    kind
        What it is; renderers set the kinds apart.
    text
        What it says.
    sign
        The mark, sign or name that it explains.
    about
        What it is about, such as a system and a score.
    """

    kind: Kind
    text: str | Words
    sign: str = ""
    about: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        """Name options as the front does that the document is made for."""
        object.__setattr__(self, "text", in_front(self.text))

    def __str__(self) -> str:
        return said(self.text)


@dataclass(frozen=True)
class Table:
    """One table.

    Attributes
    ----------
    lead
        The columns that name the rows, and sizes.
    runs
        The columns of scores, one run for each view or system.
    kinds
        What each row is.
    id
        By which a page finds it.
    heading
        What stands above it; empty for the first.
    notes
        What it tells, and how to read it.
    breaks
        How it may be broken where it is too wide: ``"views"`` above each other, ``"runs"`` as many
        beside each other as fit, ``"systems"`` likewise from column to column, ``"whole"`` never;
        ``"matrix"`` and ``"square"`` with numbers for the names of its columns.
    even
        Whether all columns have the same room for what stands behind values.
    apart
        Whether its pieces stand apart.
    """

    lead: Run
    runs: tuple[Run, ...] = ()
    kinds: tuple[str, ...] = ()
    id: str = ""
    heading: str = ""
    notes: tuple[Note, ...] = ()
    breaks: Literal["views", "runs", "systems", "whole", "matrix", "square"] = "runs"
    even: bool = False
    apart: bool = True

    def __post_init__(self) -> None:
        """Name options as the front does that the document is made for."""
        object.__setattr__(self, "heading", worded(self.heading))

    @property
    def scores(self) -> Run:
        """All columns of scores."""
        return tuple(column for run in self.runs for column in run)

    @property
    def columns(self) -> Run:
        """All columns."""
        return (*self.lead, *self.scores)

    @property
    def groups(self) -> list[tuple[str, int]]:
        """The name of each run, and its number of columns."""
        return [(str(run[0].group).strip(), len(run)) for run in self.runs]

    def is_left(self, column: Column) -> bool:
        """Whether a column is left-aligned: names, and values with equal numbers of digits.

        Behind them stand intervals and marks of many lengths.
        """
        return column.align == "left" or (METRIC not in self.kinds and _is_even(column))


@dataclass(frozen=True)
class Notes:
    """Notes that belong together."""

    notes: tuple[Note, ...]


Block = Table | Notes


@dataclass(frozen=True)
class Document:
    """Everything shown of a result, in reading order.

    Attributes
    ----------
    title
        What was compared with what, and how.
    blocks
        Tables, and notes that stand together.
    made_by
        The version that made the numbers.
    samples
        The kind of the samples, by which is said what a view sees: ``"images"``, or else texts.
    """

    title: str
    blocks: tuple[Block, ...]
    made_by: str = ""
    samples: str | None = None

    @property
    def tables(self) -> tuple[Table, ...]:
        """The tables, the main one first."""
        return tuple(block for block in self.blocks if isinstance(block, Table))

    @property
    def notes(self) -> tuple[Note, ...]:
        """The notes outside of tables."""
        return tuple(n for block in self.blocks if isinstance(block, Notes) for n in block.notes)

    @property
    def names(self) -> Iterator[str]:
        """The names in it, which renderers must not shorten to the same text."""
        for table in self.tables:
            for column in table.columns:
                cells = (cell.text for cell in column.cells if isinstance(cell, Text))
                for text in (column.head, column.group, *cells):
                    yield from names_in(text)
        notes = (note for table in self.tables for note in table.notes)
        for note in (*self.notes, *notes):
            yield from names_in(note.text)

    def __str__(self) -> str:
        return _written(self, "text", "plain")

    def _repr_html_(self) -> str:
        return self.in_notebook()

    def in_notebook(self, interactive: str = "") -> str:
        """Write the output of a notebook cell, with a page that opens on a click."""
        return _written(
            self, "html", "html", **({"interactive": interactive} if interactive else {})
        )

    def of_kind(self, *kinds: Kind) -> tuple[Note, ...]:
        """Return the notes of some kinds outside of tables."""
        return tuple(note for note in self.notes if note.kind in kinds)

    @property
    def warnings(self) -> list[str]:
        """The warnings."""
        return [str(note) for note in self.of_kind("warning")]


def _written(document: Document, format: str, function: str, **options: str) -> str:
    """Write a document in a format of ``render/``, found when it is first asked for."""
    module = import_module(f"calipers.report.render.{format}")
    text: str = getattr(module, function)(document, **options)
    return text


def notes(kind: Kind, texts: Iterable[str | Words]) -> Iterator[Note]:
    """Make notes of one kind."""
    return (Note(kind, text) for text in texts)


def glossary(pairs: Iterable[tuple[str, str]]) -> Iterator[Note]:
    """Make a legend of pairs of a name and its meaning."""
    return (Note("legend", text, sign) for sign, text in pairs)


def together(*parts: Note) -> tuple[Notes, ...]:
    """Combine notes; empty where there are none."""
    return (Notes(parts),) if parts else ()


def texts(values: Sequence[str], style: str = "") -> tuple[Text, ...]:
    """Make cells of texts."""
    return tuple(Text(value, style) for value in values)


def by_group(columns: Sequence[Column]) -> tuple[Run, ...]:
    """Combine neighbouring columns of one group."""
    return tuple(tuple(run) for _, run in groupby(columns, key=lambda column: column.group))


def singles(columns: Sequence[Column]) -> tuple[Run, ...]:
    """Make a run of each column."""
    return tuple((column,) for column in columns)


def without_row(table: Table, row: int) -> Table:
    """Remove one row."""

    def shorter(column: Column) -> Column:
        return replace(column, cells=(*column.cells[:row], *column.cells[row + 1 :]))

    return replace(
        table,
        lead=tuple(map(shorter, table.lead)),
        runs=tuple(tuple(map(shorter, run)) for run in table.runs),
        kinds=(*table.kinds[:row], *table.kinds[row + 1 :]),
    )


def _is_even(column: Column) -> bool:
    """Whether all values have as many digits, so that they line up where they begin."""
    values = [
        cell.value if isinstance(cell, ScoreCell) else said(cell.text) for cell in column.cells
    ]
    parts = [v.split(".") for v in values if v and v != MISSING]
    places = {(max(1, len(whole)), *map(len, rest)) for whole, *rest in parts}  # .98 as 1.00
    return len(places) == 1 and len(places.pop()) == 2
