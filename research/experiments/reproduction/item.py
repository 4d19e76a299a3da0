"""What is said of one table or figure: what it shows, how far it is reproduced, by which command.

An item names its status outright, and `run` a function that measures what can be measured with
what is at hand; what that function printed is kept beside the items and shown on the page. Nothing
on a page is typed by hand but the words of the items.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field, replace
from itertools import pairwise
from typing import Literal

Status = Literal["reproduced", "in shape", "not run", "no measurement"]

STATUSES: dict[Status, str] = {
    "reproduced": "the paper's own numbers, equation or simulation, beside ours",
    "in shape": "the same experiment on other data or models, which are named",
    "not run": "what is missing is named, with the command for when it is there",
    "no measurement": "a drawing, a template or a sample text: nothing is measured",
}


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
    holds
        Whether ours is as the paper says; None where there is nothing to hold it against.
    """

    what: str
    paper: str
    ours: str
    holds: bool | None = None


Found = tuple[Line, ...]


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
        How far it is reproduced.
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
        Which lines do not hold, and why: anything else that does not hold fails a test.
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
        function: Callable[[], Iterable[Line]] = getattr(
            importlib.import_module(f"reproduction.{module}"), name
        )
        return tuple(
            replace(line, holds=None if line.holds is None else bool(line.holds))
            for line in function()
        )


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


def exact(what: str, paper: str, value: float, *, within: float | None = None) -> Line:
    """A number beside the paper's, equal when rounded to its digits, or within a margin."""
    digits = len(paper.partition(".")[2])
    near = 0.5 * 10**-digits + 1e-9 if within is None else within
    return Line(what, paper, number(value, digits), abs(value - float(paper)) <= near)


def equal(what: str, by_hand: float, value: float, *, digits: int = 6) -> Line:
    """A value beside what the equation gives by hand."""
    return Line(what, number(by_hand, digits), number(value, digits), abs(by_hand - value) <= 1e-9)


def close(what: str, by_hand: float, value: float, *, within: float, digits: int = 3) -> Line:
    """An estimate beside what it should be, within a margin that is named."""
    told = f"{number(by_hand, digits)} ± {within:g}"
    return Line(what, told, number(value, digits), abs(by_hand - value) <= within)


def trend(
    what: str, paper: str, values: Iterable[float], holds: bool | None, *, digits: int = 3
) -> Line:
    """An order that the paper describes in words, beside our values."""
    ours = ", ".join(number(value, digits) for value in values)
    return Line(what, paper, ours, None if holds is None else bool(holds))


def rises(values: Iterable[float], *, slack: float = 0.0) -> bool:
    """Whether no value is below the one before it by more than `slack`."""
    row = list(values)
    return all(later >= earlier - slack for earlier, later in pairwise(row))


def falls(values: Iterable[float], *, slack: float = 0.0) -> bool:
    """Whether no value is above the one before it by more than `slack`."""
    return rises([-value for value in values], slack=slack)
