"""The options of ``calipers probe``."""

from __future__ import annotations

from typing import TYPE_CHECKING

from calipers.options.option import INPUT, option, options_class, reworded
from calipers.options.rules import METRICS, Rule, all_names, whole

if TYPE_CHECKING:
    from collections.abc import Iterable

    from calipers.catalogue.settings import Norm

from calipers.options.embedding import Embedding
from calipers.options.inputs import Reading
from calipers.options.measuring import Neighbours
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
        whole(4),
        panel=INPUT,
        setting=True,
        common=True,
    )
    changes: str | Iterable[str] | None = option(
        None,
        f"Changes to make: {', '.join(CHANGES)}. May be repeated. By default all of them.",
        Rule("name changes", read=all_names, metavar="LIST", values=CHANGES),
        common=True,
        several=True,
    )
    metrics: str | Iterable[str] | None = option(
        None,
        "Metrics to compute, of those with values between 0 and 1. Keys are without a view. May be "
        "repeated. By default mauve_star, precision, recall and classifier_auc.",
        METRICS,
        several=True,
        common=True,
        complete="metrics",
    )
    k: int = reworded(
        Neighbours, "k", "Number of nearest neighbours that define the support of a set."
    )
    normalise: Norm | None = reworded(
        Neighbours,
        "normalise",
        "How every vector is scaled first: l2 scales it to length one, so that only its "
        "direction counts; none leaves it as it is. By default l2.",
    )
    seeds: int = option(
        3,
        "Number of random splits into halves. A change is detected if it moves a score by more "
        "than these splits do, whose spread is the noise.",
        whole(2),
        setting=True,
    )
