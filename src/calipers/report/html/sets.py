"""What was compared, with which settings, and the signature of every score."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from calipers.report.html.wording import listing, named, short
from calipers.report.names import clean
from calipers.report.numbers import MISSING, size_text, words_text
from calipers.report.table import Data


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


def title(data: Data) -> str:
    """Name what was compared."""
    systems = listing([named(system["name"]) for system in data.get("systems", ())], most=6)
    return f"{systems} against {named(data['reference']['name'])}"


def set_rows(data: Data) -> Iterator[SetRow]:
    """Give the reference, the training set and every system."""
    yield _set("reference", data["reference"])
    if data.get("train"):
        yield _set("training set", data["train"])
    for system in data.get("systems", ()):
        yield _set("generated", system)


def settings_of(data: Data) -> Iterator[tuple[str, str]]:
    """Give every setting of the run as a person reads it."""
    for key, value in data.get("settings", {}).items():
        yield clean(key), _plain(value)


def signatures(data: Data) -> Iterator[tuple[str, list[Signed]]]:
    """Give for every system all its scores with their signatures."""
    for row, system in enumerate(data.get("systems", ()), start=1):
        scores = system.get("scores", {})
        found = [
            _signed(f"signature-{row}-{place}", key, score)
            for place, (key, score) in enumerate(scores.items(), start=1)
        ]
        yield short(system["name"]), found


def _signed(place: str, key: str, score: Data) -> Signed:
    value = score.get("value")
    text = MISSING if value is None else f"{value:.10g}"
    return Signed(place, clean(key), text, clean(score.get("signature") or MISSING))


def _set(role: str, row: Data) -> SetRow:
    source = clean(row.get("source") or MISSING)
    seeds = [clean(each) for each in row.get("seeds") or ()]
    content = str(row.get("content_hash") or MISSING)
    where = ", ".join(seeds) or source
    return SetRow(role, clean(row["name"]), where, size_text(row), words_text(row), content)


def _plain(value: Any) -> str:
    if isinstance(value, list | tuple):
        return ", ".join(map(_plain, value)) or MISSING
    if isinstance(value, dict):
        return ", ".join(f"{clean(key)}: {_plain(each)}" for key, each in value.items()) or MISSING
    if value is None:
        return MISSING
    return clean(value) if isinstance(value, str) else clean(json.dumps(value, default=str))
