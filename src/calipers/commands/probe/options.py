"""The options of ``calipers probe``."""

from __future__ import annotations

from typing import TYPE_CHECKING

from calipers.options.option import (
    INPUT,
    Rule,
    option,
    options_class,
    reworded,
    unchecked,
    whole,
)

if TYPE_CHECKING:
    from collections.abc import Iterable

    from calipers.estimate.axes import Norm

from calipers.options.embedding import Embedding
from calipers.options.inputs import Reading
from calipers.options.measuring import Neighbours
from calipers.options.rules import KEYS, all_names
from calipers.options.running import Seeded

CHANGES = (
    "word_shuffle",
    "word_swaps",
    "sentence_shuffle",
    "truncation",
    "lower_case",
    "typos",
    "repetition",
)
"""The changes of a probe."""


@options_class
class ProbeOptions(Embedding, Seeded, Reading):
    """The options of ``probe``."""

    max_samples: int | None = option(
        None,
        "Use at most N of the texts, chosen at random.",
        whole(4, optional=True),
        panel=INPUT,
        kept=True,
        common=True,
        doc="Cut the set to this many texts.",
    )
    changes: str | Iterable[str] | None = option(
        None,
        f"Changes to make: {', '.join(CHANGES)}. May be repeated. By default all of them.",
        Rule("name changes", all_names, unchecked, "LIST", CHANGES),
        common=True,
        several=True,
        doc="Which changes to make; None for all.",
    )
    metrics: str | Iterable[str] | None = option(
        None,
        "Metrics to compute, of those with values between 0 and 1. May be repeated. By default "
        "mauve_star, precision, recall and classifier_auc.",
        KEYS,
        several=True,
        common=True,
        complete="metrics",
        doc="Keys without a view, of metrics that lie between 0 and 1; None for MAUVE*, precision, "
        "recall and the area under the ROC curve of a held-out classifier.",
    )
    k: int = reworded(
        Neighbours, "k", "Number of nearest neighbours that define the support of a set."
    )
    normalise: Norm | None = reworded(
        Neighbours,
        "normalise",
        "What is done to every vector first: l2 scales it to length one, so that only its "
        "direction counts; none leaves it as it is. By default l2.",
        doc='What is done to every vector first: ``"l2"``, which None stands for, scales it to '
        'length one, so that only its direction counts, ``"none"`` leaves it as it is.',
    )
    seeds: int = option(
        3,
        "Number of random splits into halves. A change is detected if it moves a score by more "
        "than these splits do.",
        whole(2),
        kept=True,
        doc="How many random halvings; at least 2, since their spread is the noise.",
    )
