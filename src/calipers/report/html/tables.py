"""The tables of the page: those of the document, and checks, sets and signatures.

The templates lay them out. A table scrolls within its box, so that only very wide ones are broken.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import groupby
from math import inf, isfinite
from typing import Any

from calipers.evaluate.alike import Groups
from calipers.evaluate.order import MANY, alike_by_closeness
from calipers.report.html.wording import listing
from calipers.report.render.layout import Strip, Written
from calipers.report.render.printed import Measure, pieces
from calipers.report.render.text import strip
from calipers.report.scale import bulk
from calipers.report.shown import sets_of
from calipers.report.table import Cell, Column, Document, Note, ScoreCell, Table, Text
from calipers.results.comparison import Comparison
from calipers.results.sets import SetSummary
from calipers.results.significance import is_tested
from calipers.score import Score
from calipers.wording.marks import ALIKE, BEST, EQUAL, FLOOR_MARK, OPEN, SAME, UNTESTED
from calipers.wording.names import clean
from calipers.wording.numbers import MISSING, share, size_text, value_of, words_text
from calipers.wording.short_names import short
from calipers.wording.words import (
    Words,
    named,
    said,
)

MARKS = {
    BEST: "best in its column",
    ALIKE: "not distinguishable from the best",
    EQUAL: "equal to the best within the margin",
    OPEN: "undecided: differs from the best only before correction for multiple tests",
    UNTESTED: "not tested against the best",
    SAME: "reference samples only: not ranked",
    FLOOR_MARK: "within the noise floor",
}
TONES = {BEST: "good", ALIKE: "good", EQUAL: "good", OPEN: "open"}
"""What the mark of a value says of it, as the page colours it."""
SIDES = {"worse": "▾", "better": "▴"}
"""On which side of the noise floor a value is, or of the best, as a sign beside it."""
FILTERS = {
    "closest": "closest, or tied with it",
    "undecided": "undecided whether tied with it",
    "lost": "lost diversity or collapsed",
    "cautioned": "with a caution",
}
"""What rows can be found by, and what it is called."""
GROUP = "group"
LONGEST_NAME = 200
"""Characters of a name in full."""
FEW = 9
"""Rows, with that of the reference, up to which nobody has to search."""
PARTS = ("against-reference", "floor", "pairs", "seeds", "groups", "train", "advice")
"""The tables below the scores, the most important first."""
MOST_NAMED = 3
"""Systems that a title names; of more it says how many they are."""
BROKEN = ("pairs", "groups", "train")
PAGE = 150
"""Characters at which tables with many runs of columns are broken."""
NAMES = 20
"""Characters that are kept for the names of their rows."""

OF_REFERENCE = "is the reference"


# ------------------------------------------------------------------ tables of the document


@dataclass(frozen=True)
class MainTable:
    """The main table, with marks and colours.

    Attributes
    ----------
    table
        That of the document.
    names
        Of its rows.
    has_floor
        Whether the noise floor has a table below.
    how
        What explains its marks.
    reasons
        What explains its dashes.
    places
        For each row that of its system among those that were given, from 1, by which pictures
        colour it; 0 for the reference.
    full_names
        Of its rows.
    flags
        What each row can be found by.
    filters
        Those of them that there are, and what each is called.
    bars
        For each column of scores how long the bar of each row is, in percent; None without one.
    tested
        Whether systems were tested against each other, so that one without a mark is worse.
    """

    table: Table
    names: tuple[str, ...]
    has_floor: bool
    how: tuple[str, ...]
    reasons: tuple[Note, ...]
    places: tuple[int, ...]
    full_names: tuple[str, ...]
    flags: tuple[tuple[str, ...], ...]
    filters: tuple[tuple[str, str], ...]
    bars: tuple[tuple[int | None, ...], ...]
    tested: bool

    @property
    def many(self) -> bool:
        """Whether the table scrolls in a box of its own."""
        return len(self.names) > MANY

    @property
    def has_tools(self) -> bool:
        """Whether there are enough rows to search and filter."""
        return len(self.names) > FEW

    @property
    def best(self) -> str:
        """The marks of the best system and of those tied with it, where there are any."""
        marks = {_mark(cell) for column in self.table.scores for cell in column.cells}
        return "".join(mark for mark, tone in TONES.items() if tone == "good" and mark in marks)

    @property
    def has_floors(self) -> bool:
        """Whether values are coloured by the noise floor, rather than by the best."""
        cells = [cell for column in self.table.scores for cell in column.cells]
        return any(isinstance(cell, ScoreCell) and (cell.floor or cell.beyond) for cell in cells)

    def tone(self, column: Column, place: int) -> str:
        """Return the quality of a value: ``good``, ``open``, ``bad`` or nothing.

        By the noise floor where there is one, else beside the best.
        """
        cell = column.cells[place]
        if not isinstance(cell, ScoreCell) or cell.number is None or not place:
            return ""
        if cell.floor or cell.beyond:
            return "bad" if cell.beyond == "worse" else "good"
        if self.has_floors:
            return ""
        if cell.mark:
            return TONES.get(cell.mark, "")
        return "bad" if self.tested and any(map(_mark, column.cells)) else ""

    def sign(self, column: Column, place: int) -> tuple[str, str]:
        """Return the same information without colour, and in words."""
        cell, tone = column.cells[place], self.tone(column, place)
        if isinstance(cell, ScoreCell) and cell.beyond and tone:
            return SIDES[cell.beyond], f"{cell.beyond} than the noise floor"
        return (SIDES["worse"], "worse than the best") if tone == "bad" else ("", "")


def scores_of(
    document: Document, comparison: Comparison, given: Comparison | None = None
) -> MainTable:
    """Return the main table of a comparison, whose systems may be `given` in another order."""
    tables = {table.id: table for table in document.tables}
    table, sets = tables["scores"], sets_of(comparison)
    places = {system.name: place for place, system in enumerate(given or comparison, start=1)}
    groups = alike_by_closeness(comparison)
    flags = [(), *(tuple(_flags(comparison, row)) for row in range(len(comparison)))]
    known = {flag for row in flags for flag in row}
    if groups is not None:
        table = _with_groups(table, groups[1])
    return MainTable(
        table,
        tuple(short(samples.name) for samples in sets),
        "floor" in tables,
        tuple(f"{n.sign} {n}".strip() for n in document.of_kind("sign", "signature")),
        document.of_kind("missing"),
        (0, *(places[system.name] for system in comparison)),
        tuple(short(samples.name, LONGEST_NAME) for samples in sets),
        tuple(flags),
        tuple((flag, name) for flag, name in FILTERS.items() if flag in known),
        tuple(tuple(_bars(comparison, column)) for column in table.scores),
        is_tested(comparison),
    )


def _mark(cell: Cell) -> str:
    return cell.mark if isinstance(cell, ScoreCell) else ""


def _with_groups(table: Table, groups: Groups) -> Table:
    """Add the number of the group that each system is in, by closeness."""
    of = {row: str(number) for number, group in enumerate(groups, start=1) for row in group}
    count = len(table.kinds) - 1
    cells = (Text(), *(Text(of.get(row, MISSING)) for row in range(count)))
    first, *others = table.lead
    return replace(table, lead=(first, Column(GROUP, cells, direction="lower"), *others))


def _flags(comparison: Comparison, row: int) -> Iterator[str]:
    """Return what a system can be found by."""
    system, verdict = comparison.systems[row], comparison.verdict
    for flag, names in {
        "closest": verdict.closest,
        "undecided": verdict.undecided,
        "lost": (*verdict.collapsed, *verdict.lost),
    }.items():
        if system.name in names:
            yield flag
    if system.cautions or system.withheld:
        yield "cautioned"


def _bars(comparison: Comparison, column: Column) -> Iterator[int | None]:
    """Return where the values of a column lie, from the worst that they can be to the best.

    A score without ends lies between the worst and the best of the systems, but for those that are
    far from all others.
    """
    numbers = [cell.number if isinstance(cell, ScoreCell) else None for cell in column.cells]
    ranges = [
        system.scores[column.key].range for system in comparison if column.key in system.scores
    ]
    known = [
        number
        for number, system in zip(numbers[1:], comparison, strict=True)
        if number is not None and not system.is_reference
    ]
    low, high = ranges[0] if ranges and column.direction != "closest" else (-inf, inf)
    if not (isfinite(low) and isfinite(high)):
        low, high = bulk(known) or (0.0, 0.0)
        low = 0.0 if column.direction == "closest" else low
    for place, number in enumerate(numbers):
        if not place or number is None or not column.direction or high <= low:
            yield None
            continue
        share = min(1.0, max(0.0, (number - low) / (high - low)))
        yield round(100 * (share if column.direction == "higher" else 1 - share))


def parts(
    document: Document, *, stored: Collection[str] = ()
) -> list[tuple[Table, tuple[Table, ...]]]:
    """Return the further tables of a comparison, each in pieces.

    Those that are `stored` have no pieces: a script writes down what a person asks for.
    """
    tables = {table.id: table for table in document.tables}
    return [
        (tables[name], () if name in stored else tuple(_broken(tables[name])))
        for name in PARTS
        if name in tables
    ]


def written(cell: Cell) -> str:
    """Write the full content of a cell."""
    if isinstance(cell, ScoreCell):
        return f"{cell.value}{cell.interval}{cell.marks} {cell.aside}".strip()
    return f"{said(cell.text)}{cell.arrow}".strip()


def grouped(columns: Sequence[Column]) -> list[tuple[str, int]]:
    """Return the groups of columns, and the number of columns of each."""
    runs = groupby(columns, key=lambda column: str(column.group))
    return [(name, len(list(run))) for name, run in runs]


def _broken(table: Table) -> Iterator[Table]:
    """Break a table of many runs, and begin every view anew where it takes several."""
    if not table.columns:
        return
    measure = _measuring(table.columns[0])
    broken = pieces(table, PAGE, measure=measure) if table.id in BROKEN else [table]
    if len(broken) == 1:
        yield from broken
        return
    for view in dict.fromkeys(run[0].view for run in table.runs):
        runs = tuple(run for run in table.runs if run[0].view == view)
        yield from pieces(replace(table, runs=runs), PAGE, measure=measure)


def _measuring(names: Column) -> Measure:
    """Return what writes a column as the page shows it, to know how wide it is.

    Names, in the first column, break where they are long, so that no name changes the tables.
    """

    def measure(column: Column, kinds: Sequence[str]) -> Strip:
        shown = strip(column, kinds, inline=True)
        if column is names:
            return replace(shown, cells=tuple(Written("n" * NAMES) for _ in column.cells))
        return replace(shown, cells=tuple(Written(written(cell)) for cell in column.cells))

    return measure


# ------------------------------------------------------------------ what was compared


@dataclass(frozen=True)
class SetRow:
    """One set: its role and its source."""

    role: str
    name: str
    source: str
    n: str
    words: str
    content_hash: str


@dataclass(frozen=True)
class Signed:
    """One score in full: its key, its exact value, and its signature."""

    id: str
    key: str
    value: str
    line: str


def title(comparison: Comparison) -> Words:
    """Write the title of the page: what was compared."""
    systems = [named(system.name) for system in comparison]
    who = listing(systems) if len(systems) <= MOST_NAMED else (f"{len(systems)} systems",)
    return (*who, " against ", named(comparison.reference.name))


def set_rows(comparison: Comparison) -> Iterator[SetRow]:
    """Return the reference, the training set and every system."""
    yield _set_row("reference", comparison.reference)
    if comparison.train is not None:
        yield _set_row("training set", comparison.train)
    for system in comparison:
        yield _set_row("generated", system.summary, system.seeds)


def _set_row(role: str, samples: SetSummary, seeds: Sequence[str] = ()) -> SetRow:
    source = ", ".join(map(clean, seeds)) or clean(samples.source or MISSING)
    sizes = size_text(samples), words_text(samples)
    return SetRow(role, clean(samples.name), source, *sizes, samples.content_hash or MISSING)


def settings_of(comparison: Comparison) -> Iterator[tuple[str, str]]:
    """Return every setting of the run in words."""
    for key, value in comparison.settings.items():
        if key == "study":  # shown as a file
            continue
        yield clean(key), _plain(value)


def signatures(comparison: Comparison) -> Iterator[tuple[str, list[Signed]]]:
    """Return all scores of every system with their signatures."""
    known = places(comparison)
    for row, system in enumerate(comparison):
        scores = system.scores.items()
        yield short(system.name), [_signed(known[row, key], key, score) for key, score in scores]


def places(comparison: Comparison) -> dict[tuple[int, str], str]:
    """Return the position of the signature of each score, by the row of its system and its key."""
    return {
        (row, key): f"signature-{row + 1}-{place}"
        for row, system in enumerate(comparison)
        for place, key in enumerate(system.scores, start=1)
    }


def _signed(place: str, key: str, score: Score) -> Signed:
    value = value_of(score)
    text = MISSING if value is None else f"{value:.10g}"
    return Signed(place, clean(key), text, clean(score.signature or MISSING))


def _plain(value: Any) -> str:
    if isinstance(value, list | tuple):
        return ", ".join(map(_plain, value)) or MISSING
    if isinstance(value, dict):
        return ", ".join(f"{clean(key)}: {_plain(part)}" for key, part in value.items()) or MISSING
    if value is None:
        return MISSING
    return clean(value) if isinstance(value, str) else clean(json.dumps(value, default=str))


# ------------------------------------------------------------------ checks

Confounders = Mapping[str, Any]
"""What was looked at besides the model, by the name of the check."""

Write = Callable[[Confounders], str | None]


@dataclass(frozen=True)
class CautionCheck:
    """One check for confounders, with its findings for every system."""

    name: str
    says: str
    cells: tuple[str, ...]


def checks(comparison: Comparison) -> list[CautionCheck]:
    """Return the checks made of any system, in the order of docs/confounders.md."""
    made = [
        CautionCheck(
            name, says, tuple(_checked(system.confounders, write) for system in comparison)
        )
        for name, says, write in (*map(_length, ("words", "characters", "tokens")), *CHECKS)
    ]
    return [check for check in made if set(check.cells) - {MISSING, OF_REFERENCE}]


def _checked(confounders: Confounders | None, write: Write) -> str:
    if not confounders:
        return MISSING
    return OF_REFERENCE if confounders.get("same") else write(confounders) or MISSING


def _length(unit: str) -> tuple[str, str, Write]:
    def write(confounders: Confounders) -> str | None:
        lengths = (confounders.get("lengths") or {}).get(unit)
        if lengths is None:
            return None
        medians = f"{lengths['generated']:g} against {lengths['reference']:g}"
        distance = f"distance {lengths['distance']:.2f}, chance up to {lengths['chance']:.2f}"
        return f"{medians}; {distance}"

    says = (
        f"median number of {unit} per sample, against the reference's; distance between the two "
        "distributions"
    )
    return f"length in {unit}", says, write


def _shares(check: str, beside: str, side: str = "generated") -> Write:
    def write(confounders: Confounders) -> str | None:
        shares = confounders.get(check)
        return None if not shares else f"{share(shares[side])} against {share(shares[beside])}"

    return write


def _beginnings(confounders: Confounders) -> str | None:
    text = _shares("beginnings", "expected")(confounders)
    words = (confounders.get("beginnings") or {}).get("words")
    return f"{text}, {words:g} words in common" if text and words else text


def _by_side(check: str) -> Write:
    """Write what both sides consist of, the largest shares first."""

    def write(confounders: Confounders) -> str | None:
        found = confounders.get(check)
        if not found:
            return None
        parts = (list(found[side].items())[:4] for side in ("generated", "reference"))
        sides = [", ".join(f"{clean(name)} {share(part)}" for name, part in side) for side in parts]
        return " against ".join(dict.fromkeys(sides))

    return write


def _language(confounders: Confounders) -> str | None:
    text = _shares("language", "expected", "generated_foreign")(confounders)
    example = (confounders.get("language") or {}).get("example")
    return f"{text}, such as “{clean(example)}”" if text and example else text


CHECKS: tuple[tuple[str, str, Write], ...] = (
    (
        "truncated by the embedder",
        "texts that the embedder truncates, compared with the reference",
        _shares("truncation", "reference"),
    ),
    (
        "repeats",
        "duplicates of an earlier sample of the same set, compared with the reference",
        _shares("duplicates", "reference"),
    ),
    (
        "word-for-word copies",
        "texts that occur in the reference, against reference texts that occur there twice",
        _shares("copies", "expected"),
    ),
    (
        "prompts in the texts",
        "texts that begin with their own prompt, against the reference's",
        _shares("prompts", "reference"),
    ),
    (
        "common beginnings",
        "texts whose first five words or more begin a reference text, against reference texts "
        "among themselves",
        _beginnings,
    ),
    ("languages", "texts by language", _by_side("languages")),
    ("script", "letters by script", _by_side("scripts")),
    (
        "frequent words",
        "texts in which the reference's frequent words hardly occur, against the reference's",
        _language,
    ),
)
"""What each check is called, what it compares, and how it is written."""
