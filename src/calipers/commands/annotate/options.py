"""The options of ``calipers annotate``."""

from __future__ import annotations

import re
from typing import Any

from calipers.options.inputs import Reading
from calipers.options.judged import Judged
from calipers.options.option import option, options_class, reworded
from calipers.options.rules import AT_LEAST_ZERO, Rule, all_names, whole
from calipers.options.running import Seeded


def read_annotators(text: str) -> int | list[str]:
    """Read the number of annotators, or their names."""
    return int(text) if re.fullmatch(r"[0-9]{1,9}", text) else all_names(text)


@options_class
class AnnotateOptions(Seeded, Judged, Reading):
    """The options of ``annotate``."""

    generated: Any = option(
        None,
        "What the systems wrote: a mapping from name to texts, or whatever else "
        ":func:`calipers.compare` takes; of a system of several files the first is judged. None "
        "opens an existing study.",
        flag=(),
    )
    task: str | None = reworded(Judged, "task", common=False)
    annotators: Any = option(
        1,
        "How many annotators, or their names with commas between them. In Python names are a list.",
        Rule(
            "be a number, or names with commas between them",
            read=read_annotators,
            metavar="N|NAMES",
        ),
        common=True,
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
        "Maximum number of items per annotator. By default there is no limit.",
        whole(1),
    )
    checks: int = option(
        3,
        "For pairs: attention checks shown to each annotator: a text against the same text with "
        "its words shuffled.",
        whole(0),
        common=True,
    )
    least_seconds: float = option(
        25.0,
        "Flag answers that came in fewer seconds. They are kept.",
        AT_LEAST_ZERO,
        metavar="SECONDS",
        common=True,
    )
    seed: int = reworded(
        Seeded,
        "seed",
        "Seed of the items, their order and their sides. The same files and seed give the same "
        "items to calipers judge.",
    )
