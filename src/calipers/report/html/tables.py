"""What the page shows in tables: those of the document as they are, and checks, sets, signatures.

The templates lay them out. A table scrolls within its box, so that only very wide ones are broken.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import groupby
from typing import Any

from calipers.report.html.wording import listing
from calipers.report.inference import ALIKE, EQUAL, OPEN, UNTESTED
from calipers.report.names import clean
from calipers.report.numbers import MISSING, share, size_text, words_text
from calipers.report.of_data import of_data
from calipers.report.render.layout import Strip, Written
from calipers.report.render.printed import Measure, pieces
from calipers.report.render.text import strip
from calipers.report.shown import named, short
from calipers.report.table import (
    BEST,
    Cell,
    Column,
    Data,
    Document,
    Note,
    ScoreCell,
    Table,
    Words,
    said,
)

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
class Scores:
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


def scores_of(document: Document, data: Data) -> Scores:
    """Give the main table of a comparison."""
    tables = {table.id: table for table in document.tables}
    sets = (data["reference"], *data.get("systems", ()))
    return Scores(
        tables["scores"],
        tuple(short(row["name"]) for row in sets),
        "floor" in tables,
        tuple(f"{n.sign} {n}" if n.sign else str(n) for n in document.of_kind("interval", "mark")),
        document.of_kind("missing"),
    )


def parts(document: Document) -> list[tuple[Table, tuple[Table, ...]]]:
    """Give the further tables of a comparison, each with the pieces into which it is broken."""
    tables = {table.id: table for table in document.tables}
    return [(tables[name], tuple(_broken(tables[name]))) for name in PARTS if name in tables]


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
    found = pieces(table, PAGE, measure=measure) if table.id in BROKEN else [table]
    if len(found) == 1:
        yield from found
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


def title(data: Data) -> Words:
    """Name what was compared."""
    systems = [named(system["name"]) for system in data.get("systems", ())]
    who = listing(systems) if len(systems) <= MOST_NAMED else (f"{len(systems)} systems",)
    return (*who, " against ", named(data["reference"]["name"]))


def set_rows(data: Data) -> Iterator[SetRow]:
    """Give the reference, the training set and every system."""
    train = [("training set", data["train"])] if data.get("train") else []
    systems = [("generated", system) for system in data.get("systems", ())]
    for role, row in [("reference", data["reference"]), *train, *systems]:
        source = ", ".join(map(clean, row.get("seeds") or ())) or clean(
            row.get("source") or MISSING
        )
        content = str(row.get("content_hash") or MISSING)
        name = clean(row["name"])
        yield SetRow(role, name, source, size_text(of_data(row)), words_text(of_data(row)), content)


def settings_of(data: Data) -> Iterator[tuple[str, str]]:
    """Give every setting of the run as a person reads it."""
    for key, value in data.get("settings", {}).items():
        yield clean(key), _plain(value)


def signatures(data: Data) -> Iterator[tuple[str, list[Signed]]]:
    """Give for every system all its scores with their signatures."""
    known = places(data)
    for row, system in enumerate(data.get("systems", ())):
        scores = system.get("scores", {}).items()
        yield short(system["name"]), [_signed(known[row, key], key, s) for key, s in scores]


def places(data: Data) -> dict[tuple[int, str], str]:
    """Give where the signature of each score stands, by the row of its system and its key."""
    return {
        (row, key): f"signature-{row + 1}-{place}"
        for row, system in enumerate(data.get("systems", ()))
        for place, key in enumerate(system.get("scores", {}), start=1)
    }


def _signed(place: str, key: str, score: Data) -> Signed:
    value = score.get("value")
    text = MISSING if value is None else f"{value:.10g}"
    return Signed(place, clean(key), text, clean(score.get("signature") or MISSING))


def _plain(value: Any) -> str:
    if isinstance(value, list | tuple):
        return ", ".join(map(_plain, value)) or MISSING
    if isinstance(value, dict):
        return ", ".join(f"{clean(key)}: {_plain(each)}" for key, each in value.items()) or MISSING
    if value is None:
        return MISSING
    return clean(value) if isinstance(value, str) else clean(json.dumps(value, default=str))


# ------------------------------------------------------------------ checks


@dataclass(frozen=True)
class Check:
    """One check: what it looks at, and what was found for every system."""

    name: str
    says: str
    cells: tuple[str, ...]


def checks(data: Data) -> list[Check]:
    """Give the checks that were made of any system, in the order of docs/confounders.md."""
    found = [system.get("confounders") for system in data.get("systems", ())]
    made = [
        Check(name, says, tuple(_checked(each, write) for each in found))
        for name, says, write in (*map(_length, ("words", "characters", "tokens")), *CHECKS)
    ]
    return [check for check in made if set(check.cells) - {MISSING, SAME}]


Write = Callable[[Data], str | None]


def _checked(confounders: Data | None, write: Write) -> str:
    if not confounders:
        return MISSING
    return SAME if confounders.get("same") else write(confounders) or MISSING


def _length(unit: str) -> tuple[str, str, Write]:
    def write(confounders: Data) -> str | None:
        found = (confounders.get("lengths") or {}).get(unit)
        if found is None:
            return None
        medians = f"{found['generated']:g} against {found['reference']:g}"
        return f"{medians}; distance {found['distance']:.2f}, chance up to {found['chance']:.2f}"

    says = f"median {unit} of a sample, against the reference's; distance of the two distributions"
    return f"length in {unit}", says, write


def _shares(check: str, beside: str, side: str = "generated") -> Write:
    def write(confounders: Data) -> str | None:
        found = confounders.get(check)
        return None if not found else f"{share(found[side])} against {share(found[beside])}"

    return write


def _beginnings(confounders: Data) -> str | None:
    text = _shares("beginnings", "expected")(confounders)
    words = (confounders.get("beginnings") or {}).get("words")
    return f"{text}, {words:g} words in common" if text and words else text


def _scripts(confounders: Data) -> str | None:
    found = confounders.get("scripts")
    if not found:
        return None
    letters = (list(found[side].items())[:4] for side in ("generated", "reference"))
    sides = [", ".join(f"{clean(name)} {share(part)}" for name, part in each) for each in letters]
    return " against ".join(dict.fromkeys(sides))


def _language(confounders: Data) -> str | None:
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
