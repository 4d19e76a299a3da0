"""Report data ──► the views, systems and metrics that a plot shows, and names safe to draw."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from calipers.errors import InputError, unknown_name
from calipers.wording.names import WIDEST_NAME, clean, shorten

Data = Mapping[str, Any]

HAIR_SPACE = "\N{HAIR SPACE}"
NAN = float("nan")
LEVEL = 0.95
NUMBER = re.compile(
    r"(?:\d{1,3}(?:,\d{3})+(?!\d)|\d+)(?:\.\d+)?(?:[eE][+-]?\d+)?|(?<!\d)\.\d+", re.ASCII
)
SEPARATORS = " -_=:,/.@~"


def compared(data: Data) -> Data:
    """Give the comparison within report data; the JSON of a comparison is one itself."""
    found: Data = data.get("comparison", data)
    return found


def views_of(data: Data) -> list[str]:
    """Give the names of the views, the main one first."""
    return list(compared(data)["settings"]["views"])


def chosen_view(data: Data, view: str | None) -> str:
    """Give the view to draw: the main one unless another is named.

    Raises
    ------
    InputError
        If the comparison has no such view.
    """
    known = views_of(data)
    if view is not None and view not in known:
        raise unknown_name("view", view, known)
    return known[0] if view is None else view


def chosen_views(
    data: Data, view: str | None, having: Collection[str], missing: InputError
) -> list[str]:
    """Give the views to draw: the one asked for, or all that have something to show."""
    if not having or (view is not None and chosen_view(data, view) not in having):
        raise missing
    return list(having) if view is None else [view]


def view_words(data: Data, view: str, words: str) -> str:
    """Say by which view, in words such as ``"by {}"``; nothing where the run has one view."""
    return words.format(drawable(view)) if len(views_of(data)) > 1 else ""


def prefix(data: Data, view: str) -> str:
    """Give what stands before the keys of a view's scores: nothing for the main view."""
    return "" if view == views_of(data)[0] else f"{view}."


def system_names(data: Data) -> list[str]:
    """Give the names of the systems, in the order of the comparison."""
    return [str(system["name"]) for system in compared(data)["systems"]]


def chosen_systems(data: Data, system: str | None) -> list[str]:
    """Give the names of the systems to draw: all, or the one that is named.

    Raises
    ------
    InputError
        If the comparison has no such system.
    """
    names = system_names(data)
    if system is not None and system not in names:
        raise unknown_name("system", system, names)
    return names if system is None else [system]


def place_of(data: Data, system: str) -> int:
    """Tell a system's place in its comparison, which decides its colour in every plot."""
    return system_names(data).index(system)


def scores_of(data: Data, system: str) -> Data:
    """Give the scores of one system by their keys."""
    found: Data = compared(data)["systems"][place_of(data, system)]["scores"]
    return found


def all_scores(*runs: Data) -> Data:
    """Give the scores that any system has by their keys, those of the last that has one."""
    systems = [system for run in runs for system in compared(run)["systems"]]
    return {key: score for system in systems for key, score in system["scores"].items()}


def metric_names(metrics: Sequence[str] | str | None) -> list[str] | None:
    """Read metrics given as one name or several, each once."""
    if metrics is None:
        return None
    names = [metrics] if isinstance(metrics, str) else list(dict.fromkeys(metrics))
    if not names:
        raise InputError("metrics must name at least one metric; found none")
    return names


def check_one(metrics: Sequence[object], asked: object) -> None:
    """Refuse to draw several metrics that were asked for into one axes."""
    if asked is not None and len(metrics) != 1:
        raise InputError(f"one axes shows one metric; found {len(metrics)}")


def level_of(data: Data) -> float:
    """Give the confidence level of bands and ellipses."""
    found = compared(data)["settings"].get("level")
    return LEVEL if found is None else float(found)


def interval_words(scores: Iterable[Data]) -> list[str]:
    """Say what the intervals of scores are, by their levels."""
    levels = {s["level"] for s in scores if s.get("interval") and s.get("level")}
    return [f"{100 * level:.4g} % interval" for level in sorted(levels)]


def floats(values: Iterable[Any]) -> list[float]:
    """Read numbers, NaN for null."""
    return [NAN if value is None else float(value) for value in values]


def drawable(text: object, width: int = WIDEST_NAME) -> str:
    """Make a text safe to draw: one line, no formulas between dollar signs, in every legend.

    Examples
    --------
    >>> drawable("costs $5 or $6")
    'costs \\\\$5 or \\\\$6'
    """
    shown = shorten(clean(text), width).replace("$", r"\$")
    # Legends leave out names that start with an underscore
    return HAIR_SPACE + shown if shown.startswith("_") else shown


class Named(NamedTuple):
    """The last number in a name, and what stands before and behind it."""

    before: str
    value: float
    behind: str


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
