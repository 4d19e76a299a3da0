"""The views, systems and metrics that a plot shows, and names that are safe to draw."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Sequence
from math import isfinite
from typing import NamedTuple

from calipers.errors import InputError, unknown_name
from calipers.report.plots.fonts import note_name
from calipers.results.comparison import Comparison
from calipers.score import Score
from calipers.wording.names import WIDEST_NAME, clean
from calipers.wording.short_names import peers, short

HAIR_SPACE = "\N{HAIR SPACE}"
LEVEL = 0.95
NUMBER = re.compile(
    r"(?:\d{1,3}(?:,\d{3})+(?!\d)|\d+)(?:\.\d+)?(?:[eE][+-]?\d+)?|(?<!\d)\.\d+", re.ASCII
)
SEPARATORS = " -_=:,/.@~"


def views_of(comparison: Comparison) -> list[str]:
    """Return the names of the views, the main one first."""
    return list(comparison.settings["views"])


def chosen_view(comparison: Comparison, view: str | None) -> str:
    """Return the view to draw: the main one by default.

    Raises
    ------
    InputError
        If the comparison has no such view.
    """
    known = views_of(comparison)
    if view is not None and view not in known:
        raise unknown_name("view", view, known)
    return known[0] if view is None else view


def chosen_views(
    comparison: Comparison, view: str | None, having: Collection[str], missing: InputError
) -> list[str]:
    """Return the views to draw: the requested one, or all that have something to show."""
    if not having or (view is not None and chosen_view(comparison, view) not in having):
        raise missing
    return list(having) if view is None else [view]


def view_words(comparison: Comparison, view: str, words: str) -> str:
    """Name the view in words such as ``"by {}"``; empty for a run with one view."""
    return words.format(drawable(view)) if len(views_of(comparison)) > 1 else ""


def prefix(comparison: Comparison, view: str) -> str:
    """Return the prefix of the keys of a view: empty for the main view."""
    return "" if view == views_of(comparison)[0] else f"{view}."


def system_names(comparison: Comparison) -> list[str]:
    """Return the names of the systems, in the order of the comparison."""
    return [system.name for system in comparison]


def chosen_systems(comparison: Comparison, system: str | None) -> list[str]:
    """Return the names of the systems to draw: all, or the requested one.

    Raises
    ------
    InputError
        If the comparison has no such system.
    """
    names = system_names(comparison)
    if system is not None and system not in names:
        raise unknown_name("system", system, names)
    return names if system is None else [system]


def place_of(comparison: Comparison, system: str) -> int:
    """Return the index of a system in its comparison, which determines its colour."""
    return system_names(comparison).index(system)


def all_scores(*runs: Comparison) -> dict[str, Score]:
    """Return the scores that any system has, by key."""
    systems = [system for run in runs for system in run]
    return {key: score for system in systems for key, score in system.scores.items()}


def metric_names(metrics: Sequence[str] | str | None) -> list[str] | None:
    """Read one metric name or several, without repeats."""
    if metrics is None:
        return None
    names = [metrics] if isinstance(metrics, str) else list(dict.fromkeys(metrics))
    if not names:
        raise InputError("metrics must name at least one metric; found none")
    return names


def check_one(metrics: Sequence[object], asked: object) -> None:
    """Refuse to draw several requested metrics into one Axes."""
    if asked is not None and len(metrics) != 1:
        raise InputError(f"one axes shows one metric; found {len(metrics)}")


def level_of(comparison: Comparison) -> float:
    """Return the confidence level of bands and ellipses."""
    level = comparison.settings.get("level")
    return LEVEL if level is None else float(level)


def bounds(score: Score | None) -> tuple[float, float] | None:
    """Return the interval of a score if both ends are finite, else None."""
    if score is None or score.interval is None or not all(map(isfinite, score.interval)):
        return None
    return score.interval


def interval_words(scores: Iterable[Score]) -> list[str]:
    """Describe the intervals of scores by their levels."""
    levels = {score.level for score in scores if score.interval and score.level}
    return [f"{100 * level:.4g} % interval" for level in sorted(levels)]


def drawable(text: object, width: int = WIDEST_NAME) -> str:
    """Make a text safe to draw: on one line, without formulas between dollar signs.

    Examples
    --------
    >>> drawable("costs $5 or $6")
    'costs \\\\$5 or \\\\$6'
    """
    name = clean(text)
    whole = peers().whole.get(name, name)
    shown = short(whole, width).replace("$", r"\$")
    note_name(shown, whole.replace("$", r"\$"))
    # Legends leave out names that start with an underscore
    return HAIR_SPACE + shown if shown.startswith("_") else shown


class NumberedName(NamedTuple):
    """The last number in a name, with the text before and after it."""

    before: str
    value: float
    behind: str


def last_number(name: str) -> NumberedName | None:
    """Find the last number in a name; None if there is none.

    Commas may set thousands apart. A hyphen sets parts of a name apart; it is no sign.

    Examples
    --------
    >>> last_number("nucleus-0.9")
    NumberedName(before='nucleus', value=0.9, behind='')
    >>> last_number("gpt2-large,top-k=1,000")
    NumberedName(before='gpt2-large,top-k', value=1000.0, behind='')
    >>> last_number("llama-7B-chat")
    NumberedName(before='llama', value=7.0, behind='B-chat')
    """
    numbers = list(NUMBER.finditer(name))
    if not numbers:
        return None
    last = numbers[-1]
    value = float(last[0].replace(",", ""))
    before, behind = name[: last.start()], name[last.end() :]
    return NumberedName(before.strip(SEPARATORS), value, behind.strip(SEPARATORS))


def family(name: str) -> str:
    """Return the name of a system's line: its name without the last number."""
    number = last_number(name)
    if number is None:
        return name
    return " ".join(part for part in (number.before, number.behind) if part)


def families(names: Sequence[str]) -> list[list[str]]:
    """Group the systems whose names differ only in the last number, in order.

    Examples
    --------
    >>> families(["top-k-50", "nucleus-0.9", "greedy", "top-k-10"])
    [['top-k-10', 'top-k-50']]
    """
    numbered = {name: number for name in names if (number := last_number(name))}
    together = [
        sorted((n for n in numbered if family(n) == line), key=lambda n: numbered[n].value)
        for line in dict.fromkeys(map(family, numbered))
    ]
    return [line for line in together if len(line) > 1]
