"""The table of over-used phrases: which system over-uses which, and in how many texts.

Parts of one longer phrase are over-used together; they are shown as that phrase, with the counts of
the part that is in most texts.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from calipers.report.table import SYSTEM, Column, ScoreCell, Table, Text, singles
from calipers.results.texts import TextComparison, TextResult
from calipers.unicode.scripts import unspaced_share
from calipers.unicode.words import joined as phrase_of
from calipers.unicode.words import words_and_marks
from calipers.wording.names import clean, shorten, text_label
from calipers.wording.numbers import MISSING, p_text, share, value_of
from calipers.wording.words import Passage, Quoted, Words, joined, listed, named

METRIC = "overused_phrases"

IN_FULL = 10
"""Phrases of a system that a page lists."""

FEW = 5
"""The same on the screen, where systems have several lines."""

BESIDE = 2
"""The same where they have one."""

NAMED = 3
"""Systems whose phrase the verdict names."""

LONGEST = 8
"""Tokens of a phrase that its parts are put together to."""

WIDEST = 40
"""Characters of a phrase in a sentence."""

CLOSE = 0.5
"""Parts of one phrase are in at least this share of the texts of the part before."""

Row = Mapping[str, Any]


def keys_of(result: TextComparison) -> list[str]:
    """Return the keys of over-used phrases."""
    return [key for key in result.settings["metrics"] if key.partition(":")[0] == METRIC]


def tables(
    result: TextComparison, order: Sequence[int], *, many: bool, whole: bool
) -> Iterator[Table]:
    """Return a table for each kind of phrase; none where no phrase is over-used.

    Parameters
    ----------
    result
        The result.
    order
        The places of the systems, from top to bottom.
    many
        Whether every system has one line only, as on a screen with many systems.
    whole
        Whether more phrases are listed, as on a page.
    """
    for key in keys_of(result):
        rows = [(result.systems[place], _phrases(result.systems[place], key)) for place in order]
        rows = [(system, phrases) for system, phrases in rows if phrases]
        if rows:
            heading = f"{text_label(key)} phrases: texts with them : reference texts with them"
            yield (_brief if many else _long)(key, rows, heading, IN_FULL if whole else FEW)


def _brief(key: str, rows: Sequence[tuple[TextResult, list[Row]]], heading: str, _: int) -> Table:
    """A line for each system: the share of its texts, and the surest phrases."""
    lead = Column("system", tuple(Text(named(system.name, 5)) for system, _ in rows), align="left")
    columns = [Column("texts", tuple(_share(system, key) for system, _ in rows))]
    for place in range(BESIDE):
        cells = tuple(
            Text(Passage(_counted(phrases[place]), 3, 60) if place < len(phrases) else "")
            for _, phrases in rows
        )
        columns.append(Column("" if place else "phrases", cells, align="left"))
    kinds = (SYSTEM,) * len(rows)
    return Table((lead,), singles(columns), kinds, id=key, heading=heading, breaks="systems")


def _long(key: str, rows: Sequence[tuple[TextResult, list[Row]]], heading: str, most: int) -> Table:
    """A line for each phrase of each system."""
    lines = [
        (system, phrase, place) for system, all_ in rows for place, phrase in enumerate(all_[:most])
    ]
    level = 0.05
    lead = (
        Column(
            "system",
            tuple(Text("" if place else named(system.name, 4)) for system, _, place in lines),
            align="left",
        ),
        Column(
            "phrase",
            tuple(Text(Passage(clean(p["phrase"]), 2, 60)) for _, p, _ in lines),
            align="left",
        ),
    )
    columns = [
        Column("texts", tuple(_count(p["texts"]) for _, p, _ in lines)),
        Column("reference", tuple(_count(p["references"]) for _, p, _ in lines)),
        Column("p", tuple(Text(p_text(p["p_value"], level).removeprefix("p = ").removeprefix("p "))
                          for _, p, _ in lines)),
    ]  # fmt: skip
    kinds = (SYSTEM,) * len(lines)
    heading = heading.partition(":")[0]
    return Table(lead, singles(columns), kinds, id=key, heading=heading, breaks="systems")


def _count(value: int) -> ScoreCell:
    return ScoreCell(f"{value:,}", number=float(value))


def _share(system: TextResult, key: str) -> Text | ScoreCell:
    value = value_of(system.scores.get(key))
    return Text(MISSING) if value is None else ScoreCell(share(value), number=value)


def _counted(phrase: Row) -> str:
    return f"{clean(phrase['phrase'])} {phrase['texts']}:{phrase['references']}"


def _phrases(system: TextResult, key: str) -> list[Row]:
    """The phrases of a system, the surest first, parts of one longer phrase as that phrase."""
    score = system.scores.get(key)
    phrases: list[dict[str, Any]] = []
    for row in score.details if score else ():
        words = _words(row["phrase"])
        for known in phrases:
            longer = _longer(_words(known["phrase"]), words)
            if longer is None or row["texts"] < CLOSE * known["texts"]:
                continue
            if len(longer) <= LONGEST:
                known["phrase"] = phrase_of(longer)
                break
        else:
            phrases.append(dict(row))
    return list(phrases)


def _words(phrase: str) -> list[str]:
    """Take a phrase apart, also where a script sets no space between its words."""
    return [
        word
        for part in phrase.split(" ")
        for word in (words_and_marks(part) if unspaced_share(part) else [part])
    ]


def _longer(known: Sequence[str], words: Sequence[str]) -> list[str] | None:
    """The phrase of which both are parts, where one goes on where the other ends."""
    overlap = len(words) - 1
    if overlap < 1 or len(known) < len(words):
        return None
    if any(list(known[i : i + len(words)]) == list(words) for i in range(len(known))):
        return list(known)
    if list(known[-overlap:]) == list(words[:-1]):
        return [*known, words[-1]]
    if list(known[:overlap]) == list(words[1:]):
        return [words[0], *known]
    return None


def verdict(result: TextComparison) -> Iterator[Words]:
    """Name the systems that over-use a phrase most significantly, with counts."""
    for key in keys_of(result):
        surest = []
        for system in result.systems:
            phrases = _phrases(system, key)
            if phrases:
                first = phrases[0]
                surest.append((first["p_value"], -first["texts"], system, first))
        if not surest:
            known = any(value_of(s.scores.get(key)) is not None for s in result.systems)
            if known:
                yield (f"{text_label(key).lower()} phrases: none in any system",)
            continue
        surest.sort(key=lambda row: (row[0], row[1]))
        parts = [
            (
                named(system.name, 3),
                " “",
                Quoted(shorten(clean(first["phrase"]), WIDEST)),
                f"” in {first['texts']:,} texts (reference {first['references']:,})",
            )
            for _, _, system, first in surest[:NAMED]
        ]
        rest = f"; {len(surest) - NAMED} more systems over-use others" if surest[NAMED:] else ""
        yield joined((f"{text_label(key).lower()}: ",), listed(parts, "; "), (rest,))
