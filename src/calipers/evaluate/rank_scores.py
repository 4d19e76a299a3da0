"""The scores that are held against a truth: a mean and a deviation for each system and metric."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from calipers.errors import InputError
from calipers.samples.wording import names

LEAST = 2


@dataclass
class Column:
    """One metric while it is being read.

    Attributes
    ----------
    means, deviations
        By the name of the system.
    spreads
        What each deviation is: ``"sd"``, ``"seeds"``, ``"errors"``, or empty where none was given.
    better
        Where it is better; empty where nothing was said.
    own
        What the reference itself scores, T(P), beside each system's T(Q); empty without one.
    reasons
        Why systems have no value, where that is known.
    """

    means: dict[str, float] = field(default_factory=dict)
    deviations: dict[str, float] = field(default_factory=dict)
    spreads: dict[str, str] = field(default_factory=dict)
    better: str = ""
    own: dict[str, float] = field(default_factory=dict)
    reasons: dict[str, str] = field(default_factory=dict)

    def add(self, system: str, mean: float, deviation: float, spread: str) -> None:
        """Take the value of one more system."""
        self.means[system] = mean
        self.deviations[system] = deviation
        self.spreads[system] = spread

    def drop(self, system: str) -> float:
        """Take a system out again, and give its value."""
        del self.deviations[system], self.spreads[system]
        return self.means.pop(system)


@dataclass(frozen=True)
class Scores:
    """Every metric of every system, ready to be ranked.

    Attributes
    ----------
    source
        What a person calls them.
    systems
        In the order in which they come up, without the reference.
    columns
        By the key of the metric.
    reference
        Name of the system that is the reference, or None.
    named
        All systems with scores, the reference among them where it has some.
    usual
        Keys of the metrics that are ranked by unless others were asked for.
    notes
        What was left out or taken for granted.
    """

    source: str
    systems: tuple[str, ...]
    columns: Mapping[str, Column]
    reference: str | None
    named: tuple[str, ...]
    usual: tuple[str, ...]
    notes: tuple[str, ...] = ()


def finished(
    source: str, columns: Mapping[str, Column], reference: str | None, notes: Sequence[str] = ()
) -> Scores:
    """Take the reference out of the systems, and say for every metric where it is better.

    A metric of which the reference has a value is better the closer to that (Pillutla et al.,
    JMLR 2023, section 6.3), unless something else was said; any other is better when higher.
    """
    systems = dict.fromkeys(name for column in columns.values() for name in column.means)
    for metric, column in columns.items():
        if reference in column.means and reference is not None:
            column.own = dict.fromkeys(column.means, column.drop(reference))
        column.better = column.better or ("closest" if column.own else "higher")
        if column.better == "closest" and column.means and not column.own:
            raise _without_own(source, metric, reference, systems)
    ranked = tuple(name for name in systems if name != reference)
    if len(ranked) < LEAST:
        beside = "" if reference is None else f" besides the reference {reference!r}"
        raise InputError(
            f"{source}: a ranking needs at least {LEAST} systems{beside}; found {names(ranked)}"
        )
    return Scores(source, ranked, columns, reference, tuple(systems), tuple(columns), tuple(notes))


def compared(
    column: Column, systems: Sequence[str], errors: NDArray[np.float64] | None = None
) -> NDArray[np.float64]:
    """Give the values that rank the systems, higher better; NaN where a system has none.

    A metric that is better closest to the reference's own value is compared as -|T(Q) - T(P)|.

    Parameters
    ----------
    column
        The metric.
    systems
        Whose values.
    errors
        What is added to the values as measured, shape ``(draws, systems)``, if anything.
    """
    means = np.array([column.means.get(name, math.nan) for name in systems], dtype=np.float64)
    values = means if errors is None else means + errors
    if column.better == "closest":
        values = -np.abs(values - [column.own.get(name, math.nan) for name in systems])
    return -values if column.better == "lower" else values


def _without_own(
    source: str, metric: str, reference: str | None, systems: Mapping[str, None]
) -> InputError:
    rule = f"{source}: {metric!r} is better closest to the reference's own value"
    if reference is None:
        return InputError(f"{rule}; say which of {names(systems)} is the reference")
    return InputError(f"{rule}, but the reference {reference!r} has no row of it")
