"""Comparisons ──► points: where each system stands on an axis, and the line that it belongs to."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from calipers.errors import InputError, unknown_name
from calipers.report.plots.choosing import compared

Data = Mapping[str, Any]
X = str | Mapping[str, float]
By = str | Mapping[str, str]

NUMBER = re.compile(
    r"(?:\d{1,3}(?:,\d{3})+(?!\d)|\d+)(?:\.\d+)?(?:[eE][+-]?\d+)?|(?<!\d)\.\d+", re.ASCII
)
SEPARATORS = " -_=:,/.@~"
OWN = ("name", "words", "n")
WAYS = ("family", "system")


class Named(NamedTuple):
    """The last number in a name, and what stands before and behind it."""

    before: str
    value: float
    behind: str


@dataclass(frozen=True)
class Point:
    """One system of one run: its place on the x-axis, its line, and its scores by key."""

    system: str
    x: float
    line: str
    scores: Data


def last_number(name: str) -> Named | None:
    """Read the last number in a name; None where it has none.

    Commas may set thousands apart. A hyphen sets parts of a name apart; it is no sign.

    Examples
    --------
    >>> last_number("nucleus-0.9")
    Named(before='nucleus', value=0.9, behind='')
    >>> last_number("gpt2-large,top-k=1,000")
    Named(before='gpt2-large,top-k', value=1000.0, behind='')
    >>> last_number("llama-7B-chat")
    Named(before='llama', value=7.0, behind='B-chat')
    """
    found = list(NUMBER.finditer(name))
    if not found:
        return None
    last = found[-1]
    value = float(last[0].replace(",", ""))
    before, behind = name[: last.start()], name[last.end() :]
    return Named(before.strip(SEPARATORS), value, behind.strip(SEPARATORS))


def family(name: str) -> str:
    """Name the line of a system: its name without the last number."""
    found = last_number(name)
    if found is None:
        return name
    return " ".join(part for part in (found.before, found.behind) if part)


def families(names: Sequence[str]) -> list[list[str]]:
    """Gather the systems whose names differ in their last number alone, in its order.

    Examples
    --------
    >>> families(["top-k-50", "nucleus-0.9", "greedy", "top-k-10"])
    [['top-k-10', 'top-k-50']]
    """
    numbered = {name: found for name in names if (found := last_number(name))}
    together = [
        sorted((n for n in numbered if family(n) == line), key=lambda n: numbered[n].value)
        for line in dict.fromkeys(map(family, numbered))
    ]
    return [each for each in together if len(each) > 1]


def points(runs: Sequence[Data], *, x: X, by: By | None, system: str | None) -> list[Point]:
    """Place every system of every run.

    Parameters
    ----------
    runs
        Report data.
    x
        ``"name"``, ``"words"``, ``"n"``, a key of the settings, or the value of each system.
    by
        ``"family"``, ``"system"``, or the line of each system; by default families where x is read
        from names or given, else systems. A system alone in its family keeps its whole name.
    system
        The one system, or the one line, to place.

    Raises
    ------
    InputError
        If a system has no number there, or `x`, `by` or `system` are not known.
    """
    systems = [(run, each) for run in runs for each in compared(run)["systems"]]
    if isinstance(x, Mapping):
        _check_listed([str(each["name"]) for _, each in systems], x)
        systems = [(run, each) for run, each in systems if each["name"] in x]
    lines = _lines([str(each["name"]) for _, each in systems], _way(x) if by is None else by)
    found = [
        Point(str(each["name"]), _x(compared(run), each, x), line, each["scores"])
        for (run, each), line in zip(systems, lines, strict=True)
    ]
    known = list(dict.fromkeys(name for p in found for name in (p.line, p.system)))
    if system is not None and system not in known:
        raise unknown_name("system", system, known)
    return [p for p in found if system is None or system in (p.line, p.system)]


def _way(x: X) -> str:
    """What makes a line, unless it is said."""
    return "family" if x == "name" or isinstance(x, Mapping) else "system"


def _check_listed(names: Sequence[str], x: Mapping[str, float]) -> None:
    """Refuse values for a system that no run has: they would be left out unseen."""
    for name in x:
        if name not in names:
            raise unknown_name("system", name, names)


def _lines(names: Sequence[str], by: By) -> list[str]:
    if isinstance(by, Mapping):
        return [str(by.get(name, name)) for name in names]
    if by not in WAYS:
        raise unknown_name("by", by, WAYS)
    if by == "system":
        return list(names)
    members = {line: {n for n in names if family(n) == line} for line in map(family, names)}
    return [family(name) if len(members[family(name)]) > 1 else name for name in names]


def _x(run: Data, system: Data, x: X) -> float:
    name = str(system["name"])
    if isinstance(x, Mapping):
        return _number(x[name], f"x of the system {name!r}")
    if x == "name":
        found = last_number(name)
        if found is None:
            raise InputError(f"x='name' reads the last number in a name; {name!r} has none")
        return _number(found.value, f"the number in {name!r}")
    if x == "words":
        return _number((system.get("words") or {}).get("median"), f"the median length of {name!r}")
    if x == "n":
        return _number(system.get("n"), f"the number of samples of {name!r}")
    return _setting(run["settings"], x)


def _setting(settings: Data, x: str) -> float:
    """Read a setting that is a number, of the embedding too."""
    every = {**(settings.get("embedding") or {}), **settings}
    known = [*OWN, *(key for key, value in every.items() if _read(value) is not None)]
    if x not in every:
        raise unknown_name("x", x, known)
    return _number(every[x], f"the setting {x!r}")


def _number(value: object, what: str) -> float:
    found = _read(value)
    if found is None:
        told = "has no value" if value is None else f"is {value!r}"
        raise InputError(f"x must be a number; {what} {told}")
    return found


def _read(value: object) -> float | None:
    if isinstance(value, bool) or not isinstance(value, int | float | str):
        return None
    try:
        found = float(value)
    except ValueError:
        return None
    return found if abs(found) < float("inf") else None
