"""What is said of one table or figure: what it shows, how far it is reproduced, by which command.

An item names what it runs on outright, and `run` a function that measures what can be measured
with what is at hand; what that function found is kept beside the items and shown on the page.
Nothing on a page is typed by hand but the words of the items. Whether a line comes out as the
paper says is decided in :mod:`reproduction.verdicts`, by intervals.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Literal

Status = Literal["own experiment", "other models or data", "not run", "no measurement"]

STATUSES: dict[Status, str] = {
    "own experiment": "the paper's own numbers, equation, data or simulation",
    "other models or data": "the same experiment on other models or data, which are named",
    "not run": "what is missing is named, with the command for when it is there",
    "no measurement": "a drawing, a template or a sample text: nothing is measured",
}

Verdict = Literal[
    "reproduced",
    "same direction beyond noise",
    "not distinguishable",
    "not reproduced",
    "opposite",
]

VERDICTS: dict[Verdict, str] = {
    "reproduced": "an equation or a printed number comes out; of an estimate, its 95 % interval "
    "holds the paper's number and not the value that says nothing; of a claim in words, the "
    "paper's own experiment shows it beyond noise",
    "same direction beyond noise": "on other models or data, or with another number, the whole "
    "interval lies on the side that the paper says",
    "not distinguishable": "the interval holds both sides: these samples do not tell",
    "not reproduced": "an equation or a printed number, free of noise, comes out otherwise",
    "opposite": "the whole interval lies on the other side",
}
"""From the best to the worst; an item is as good as its worst line."""

NO_INTERVAL = "no interval is known"
"""The basis of a line that was measured, and of which nobody knows how sure it is."""

Interval = tuple[float, float]


@dataclass(frozen=True)
class Line:
    """One thing that the paper says and what we found.

    Attributes
    ----------
    what
        Which number or order it is.
    paper
        What the paper says, a number as printed or the order in words; empty if it says nothing.
    ours
        What was measured.
    verdict
        Whether ours is as the paper says; None where there is nothing to hold it against.
    values
        The numbers of `ours`.
    intervals
        Their 95 % intervals, one for each value, or of what the verdict rests on (differences,
        pair by pair); None for a value that has none.
    basis
        What the verdict rests on, in words: pairs beyond noise, the value that says nothing.
    """

    what: str
    paper: str
    ours: str
    verdict: Verdict | None = None
    values: tuple[float, ...] = ()
    intervals: tuple[Interval | None, ...] = ()
    basis: str = ""


@dataclass(frozen=True)
class Setting:
    """What the lines of an item were measured on.

    Attributes
    ----------
    models
        Every model that wrote or scored samples, with its revision or the hash of its files; or
        what stands for it.
    embedder
        What embedded the samples.
    n
        Samples of each set.
    seed
        Of everything that is drawn.
    more
        Anything else that a number depends on, such as tokens or the time taken.
    """

    models: tuple[str, ...] = ()
    embedder: str = ""
    n: str = ""
    seed: int | None = None
    more: str = ""


@dataclass(frozen=True)
class Found:
    """What an item found, and on what."""

    lines: tuple[Line, ...]
    setting: Setting | None = None

    @property
    def verdict(self) -> Verdict | None:
        """The worst of its lines; None where none has a verdict."""
        return worst(line.verdict for line in self.lines)


def worst(verdicts: Iterable[Verdict | None]) -> Verdict | None:
    """The worst of some verdicts; None where there is none."""
    order = list(VERDICTS)
    judged = [verdict for verdict in verdicts if verdict is not None]
    return max(judged, key=order.index, default=None)


Run = Iterable[Line | Setting]


@dataclass(frozen=True)
class Item:
    """A table, a figure, an algorithm or a worked equation of one of the sources.

    Attributes
    ----------
    key
        What the driver calls it.
    number
        How the source counts it.
    shows
        What it shows, in our words.
    status
        What it runs on.
    run
        ``module:function`` of what the driver runs, in this folder; empty for none.
    command
        What does it: the driver by default, or the command for when `needs` are there.
    differs
        Every deviation from the source: other data, models, sizes or definitions.
    needs
        What is missing for the source's own numbers, each by its exact name.
    would
        The command that measures them once the needs are there.
    see
        Pages that tell more.
    exceptions
        Which lines are not reproduced or opposite, and why: any other such line fails a test.
    """

    key: str
    number: str
    shows: str
    status: Status
    run: str = ""
    differs: str = ""
    needs: tuple[str, ...] = ()
    would: str = ""
    see: tuple[str, ...] = ()
    exceptions: dict[str, str] = field(default_factory=dict)

    @property
    def command(self) -> str:
        """What to type for it today; empty where nothing is measured or data are missing."""
        return f"python research/experiments/reproduce.py {self.key}" if self.run else ""

    def measure(self) -> Found:
        """Run what is at hand."""
        module, name = self.run.split(":")
        function: Callable[[], Run] = getattr(
            importlib.import_module(f"reproduction.{module}"), name
        )
        parts = list(function())
        settings = [part for part in parts if isinstance(part, Setting)]
        lines = tuple(part for part in parts if isinstance(part, Line))
        return Found(lines, settings[-1] if settings else None)


@dataclass(frozen=True)
class Source:
    """One paper or post and its items, a page."""

    page: str
    title: str
    venue: str
    intro: str
    items: tuple[Item, ...]


def number(value: float, digits: int = 3) -> str:
    """Print a number as the papers do; no minus sign before a zero."""
    return f"{round(value, digits) + 0.0:.{digits}f}"


def numbers(values: Sequence[float], digits: int = 3) -> str:
    """Print several numbers in a row."""
    return ", ".join(number(value, digits) for value in values)
