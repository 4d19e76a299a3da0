"""The options of ``calipers annotate``."""

from __future__ import annotations

import math
import re
from typing import TYPE_CHECKING, Any

from calipers.options.option import (
    Rule,
    option,
    options_class,
    reworded,
    unchecked,
    whole,
)

if TYPE_CHECKING:
    pass

from calipers.options.inputs import Reading
from calipers.options.judged import Judged
from calipers.options.rules import all_names, at_least_zero
from calipers.options.running import Seeded


def _not_negative(text: str) -> float | None:
    found = float(text)
    return found if math.isfinite(found) and found >= 0 else None


def _people(text: str) -> Any:
    """Read how many annotators, or their names."""
    return int(text) if re.fullmatch(r"[0-9]{1,9}", text) else all_names(text)


@options_class
class AnnotateOptions(Seeded, Judged, Reading):
    """The options of ``annotate``."""

    generated: Any = option(
        None,
        "What the systems wrote: a mapping from name to texts, or whatever else "
        ":func:`calipers.compare` takes; of a system of several files the first is judged. None "
        "opens a study that is there.",
        flag=(),
    )
    task: str | None = reworded(Judged, "task", common=False)
    annotators: Any = option(
        1,
        "How many annotators, or their names with commas between them.",
        Rule("be a number, or names with commas between them", _people, unchecked, "N|NAMES"),
        common=True,
        doc="How many annotators, or a list of their names.",
    )
    per_pair: int = reworded(Judged, "per_pair", "For pairs: ratings of each pair of systems.")
    ratings_per_item: int = option(
        1,
        "How many annotators rate each item.",
        whole(1),
        common=True,
    )
    n: int = reworded(Judged, "n", common=False)
    per_annotator: int | None = option(
        None,
        "Most items of one annotator. By default there is no limit, and everybody can go on until "
        "nothing is left.",
        whole(1, optional=True),
    )
    checks: int = option(
        3,
        "For pairs: attention checks that each annotator is shown, a text against the same text "
        "with its words shuffled.",
        whole(0),
        common=True,
    )
    least_seconds: float = option(
        25.0,
        "Flag answers that came in fewer seconds. They are kept.",
        Rule("be a number of at least 0", _not_negative, at_least_zero, "SECONDS"),
        common=True,
    )
    seed: int = reworded(
        Seeded,
        "seed",
        "Seed of the items, their order and their sides.",
        doc="Of the items, their order and their sides. The same files and seed give the same "
        "items to ``calipers.judge``.",
    )
