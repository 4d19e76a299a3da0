"""Confounders of every system ──► rows of a table: what else may have moved its scores."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from calipers.report.html.wording import share
from calipers.report.names import clean
from calipers.report.numbers import MISSING
from calipers.report.table import Data

SAME = "is the reference"


@dataclass(frozen=True)
class Check:
    """One check: what it looks at, and what was found for every system."""

    name: str
    says: str
    cells: tuple[str, ...]


def checks(data: Data) -> list[Check]:
    """Give the checks that were made of any system, in the order of docs/confounders.md."""
    found = [system.get("confounders") for system in data.get("systems", ())]
    if not any(found):
        return []
    made = [
        *(_length(unit, found) for unit in ("words", "characters", "tokens")),
        *(_made(name, says, found, write) for name, says, write in CHECKS),
    ]
    return [check for check in made if set(check.cells) - {MISSING, SAME}]


def _made(
    name: str, says: str, found: list[Data | None], write: Callable[[Data], str | None]
) -> Check:
    cells = (MISSING if not each else _same(each) or write(each) or MISSING for each in found)
    return Check(name, says, tuple(cells))


def _same(confounders: Data) -> str:
    return SAME if confounders.get("same") else ""


def _length(unit: str, found: list[Data | None]) -> Check:
    def write(confounders: Data) -> str | None:
        lengths = (confounders.get("lengths") or {}).get(unit)
        return None if lengths is None else _lengths(lengths)

    says = f"median {unit} of a sample, against the reference's; distance of the two distributions"
    return _made(f"length in {unit}", says, found, write)


def _lengths(lengths: Data) -> str:
    medians = f"{lengths['generated']:g} against {lengths['reference']:g}"
    return f"{medians}; distance {lengths['distance']:.2f}, chance up to {lengths['chance']:.2f}"


def _shares(check: str, beside: str) -> Callable[[Data], str | None]:
    def write(confounders: Data) -> str | None:
        found = confounders.get(check)
        return None if not found else f"{share(found['generated'])} against {share(found[beside])}"

    return write


def _beginnings(confounders: Data) -> str | None:
    text = _shares("beginnings", "expected")(confounders)
    words = (confounders.get("beginnings") or {}).get("words")
    return f"{text}, {words:g} words in common" if text and words else text


def _scripts(confounders: Data) -> str | None:
    found = confounders.get("scripts")
    if not found:
        return None
    sides = [", ".join(_script(found[side])) for side in ("generated", "reference")]
    return sides[0] if sides[0] == sides[1] else f"{sides[0]} against {sides[1]}"


def _script(letters: Data) -> Iterator[str]:
    for name, part in list(letters.items())[:4]:
        yield f"{clean(name)} {share(part)}"


def _language(confounders: Data) -> str | None:
    found = confounders.get("language")
    if not found:
        return None
    text = f"{share(found['generated_foreign'])} against {share(found['expected'])}"
    example = found.get("example")
    return f"{text}, such as “{clean(example)}”" if example else text


CHECKS: tuple[tuple[str, str, Callable[[Data], str | None]], ...] = (
    (
        "cut by the embedder",
        "texts longer than it reads, against the reference's",
        _shares("truncation", "reference"),
    ),
    (
        "repeats",
        "samples that repeat an earlier one of their set, against the reference's",
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
