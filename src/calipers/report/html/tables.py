"""What the page shows in tables: those of the document as they are, and checks, sets, signatures.

The templates lay them out. A table scrolls within its box, so that only very wide ones are broken.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import groupby
from typing import Any

from calipers.report.html.wording import listing
from calipers.report.render.layout import Strip, Written
from calipers.report.render.printed import Measure, pieces
from calipers.report.render.text import strip
from calipers.report.shown import sets_of
from calipers.report.table import Cell, Column, Document, Note, ScoreCell, Table
from calipers.results.comparison import Comparison
from calipers.results.sets import SetSummary
from calipers.score import Score
from calipers.wording.marks import ALIKE, BEST, EQUAL, OPEN, UNTESTED
from calipers.wording.names import clean
from calipers.wording.numbers import MISSING, share, size_text, value_of, words_text
from calipers.wording.words import Words, named, said, short

MARKS = {
    BEST: "best in its column",
    ALIKE: "not distinguishable from the best",
    EQUAL: "equal to the best within the margin",
    OPEN: "undecided: differs from the best only without the correction for several tests",
    UNTESTED: "not tested against the best",
}
PARTS = ("against-reference", "floor", "pairs", "seeds", "groups", "train", "advice")
"""The tables below the scores, the most important first."""
MOST_NAMED = 3
"""Systems that a title names; of more it says how many they are."""
BROKEN = ("pairs", "groups", "train")
PAGE = 150
"""Characters at which tables with many runs of columns are broken."""
NAMES = 20
"""Characters that are kept for the names of their rows."""

SAME = "is the reference"


# ------------------------------------------------------------------ tables of the document


@dataclass(frozen=True)
class MainTable:
    """The main table and what belongs to it.

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
    """

    table: Table
    names: tuple[str, ...]
    has_floor: bool
    how: tuple[str, ...]
    reasons: tuple[Note, ...]


def scores_of(document: Document, comparison: Comparison) -> MainTable:
    """Give the main table of a comparison."""
    tables = {table.id: table for table in document.tables}
    return MainTable(
        tables["scores"],
        tuple(short(samples.name) for samples in sets_of(comparison)),
        "floor" in tables,
        tuple(f"{n.sign} {n}" if n.sign else str(n) for n in document.of_kind("interval", "mark")),
        document.of_kind("missing"),
    )


def parts(
    document: Document, *, stored: Collection[str] = ()
) -> list[tuple[Table, tuple[Table, ...]]]:
    """Give the further tables of a comparison, each with the pieces into which it is broken.

    Those that are `stored` have no pieces: a script writes down what a person asks for.
    """
    tables = {table.id: table for table in document.tables}
    return [
        (tables[name], () if name in stored else tuple(_broken(tables[name])))
        for name in PARTS
        if name in tables
    ]


def written(cell: Cell) -> str:
    """Write all that a cell holds."""
    if isinstance(cell, ScoreCell):
        return f"{cell.value}{cell.interval}{cell.mark} {cell.aside}".strip()
    return f"{said(cell.text)}{cell.arrow}".strip()


def grouped(columns: Sequence[Column]) -> list[tuple[str, int]]:
    """Give the groups of columns, and how many each has."""
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
    """Give what writes a column as the page shows it, to know how wide it is.

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
    """One set: the part it plays, and where it came from."""

    role: str
    name: str
    source: str
    n: str
    words: str
    content_hash: str


@dataclass(frozen=True)
class Signed:
    """One score in full: its key, its value to the last digit, and its signature."""

    id: str
    key: str
    value: str
    line: str


def title(comparison: Comparison) -> Words:
    """Name what was compared."""
    systems = [named(system.name) for system in comparison]
    who = listing(systems) if len(systems) <= MOST_NAMED else (f"{len(systems)} systems",)
    return (*who, " against ", named(comparison.reference.name))


def set_rows(comparison: Comparison) -> Iterator[SetRow]:
    """Give the reference, the training set and every system."""
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
    """Give every setting of the run as a person reads it."""
    for key, value in comparison.settings.items():
        yield clean(key), _plain(value)


def signatures(comparison: Comparison) -> Iterator[tuple[str, list[Signed]]]:
    """Give for every system all its scores with their signatures."""
    known = places(comparison)
    for row, system in enumerate(comparison):
        scores = system.scores.items()
        yield short(system.name), [_signed(known[row, key], key, score) for key, score in scores]


def places(comparison: Comparison) -> dict[tuple[int, str], str]:
    """Give where the signature of each score stands, by the row of its system and its key."""
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
    """One check: what it looks at, and what it says of every system."""

    name: str
    says: str
    cells: tuple[str, ...]


def checks(comparison: Comparison) -> list[CautionCheck]:
    """Give the checks that were made of any system, in the order of docs/confounders.md."""
    made = [
        CautionCheck(
            name, says, tuple(_checked(system.confounders, write) for system in comparison)
        )
        for name, says, write in (*map(_length, ("words", "characters", "tokens")), *CHECKS)
    ]
    return [check for check in made if set(check.cells) - {MISSING, SAME}]


def _checked(confounders: Confounders | None, write: Write) -> str:
    if not confounders:
        return MISSING
    return SAME if confounders.get("same") else write(confounders) or MISSING


def _length(unit: str) -> tuple[str, str, Write]:
    def write(confounders: Confounders) -> str | None:
        lengths = (confounders.get("lengths") or {}).get(unit)
        if lengths is None:
            return None
        medians = f"{lengths['generated']:g} against {lengths['reference']:g}"
        distance = f"distance {lengths['distance']:.2f}, chance up to {lengths['chance']:.2f}"
        return f"{medians}; {distance}"

    says = f"median {unit} of a sample, against the reference's; distance of the two distributions"
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


def _scripts(confounders: Confounders) -> str | None:
    scripts = confounders.get("scripts")
    if not scripts:
        return None
    letters = (list(scripts[side].items())[:4] for side in ("generated", "reference"))
    sides = [", ".join(f"{clean(name)} {share(part)}" for name, part in side) for side in letters]
    return " against ".join(dict.fromkeys(sides))


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
        "texts that stand in the reference, against those that stand there twice",
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
    ("script", "letters by their script", _scripts),
    (
        "language",
        "texts in which the reference's frequent words hardly occur, against the reference's",
        _language,
    ),
)
"""What each check is called, what it compares, and how it is written."""
