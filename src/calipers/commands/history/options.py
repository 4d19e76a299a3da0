"""The options of ``calipers history``."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from calipers.options.option import (
    CERTAINTY,
    INPUT,
    MEASUREMENT,
    Group,
    option,
    options_class,
    share,
    unchecked,
)
from calipers.options.rules import KEYS

SYSTEMS = replace(KEYS, words="name at least one system", check=unchecked, metavar="NAME")
SCORES = replace(KEYS, words="name at least one score", check=unchecked)


@options_class
class HistoryOptions(Group):
    """The options of ``history``."""

    system: str | Sequence[str] | None = option(
        None,
        "Systems to follow, by their names in the runs. By default all that every run has; where "
        "every run has one system, that one, whatever it is called.",
        SYSTEMS,
        panel=INPUT,
        several=True,
        common=True,
    )
    metrics: str | Sequence[str] | None = option(
        None,
        "Scores to follow, by their keys in the runs, such as recall,form.precision. By default "
        "those that the tables of the runs show.",
        SCORES,
        panel=MEASUREMENT,
        several=True,
        common=True,
    )
    level: float = option(
        0.95,
        "Confidence level: the chance that any change is found where there is none is at most 1 "
        "minus this level.",
        share("0.95"),
        panel=CERTAINTY,
        kept=True,
        common=True,
    )
