"""The options of ``calipers agree``."""

from __future__ import annotations

from dataclasses import MISSING
from typing import TYPE_CHECKING, Any

from calipers.options.option import (
    EMBEDDING,
    Rule,
    option,
    options_class,
    reworded,
    unchecked,
)

if TYPE_CHECKING:
    from collections.abc import Iterable


from calipers.options.embedding import Model
from calipers.options.inputs import Files, Sampling, Sizes
from calipers.options.measuring import Measuring
from calipers.options.rules import all_names
from calipers.options.running import Running, Seeded


@options_class
class AgreeOptions(Running, Model, Seeded, Measuring, Sizes, Files):
    """The options of ``agree``."""

    max_samples: int | None = reworded(
        Sampling,
        "max_samples",
        "Use at most N samples of every set, chosen at random.",
        doc="Cut every set to this many samples.",
    )
    metrics: str | Iterable[str] | None = reworded(
        Measuring,
        "metrics",
        "Metrics to compute, such as precision,mauve_star, a family, or all; calipers metrics "
        "lists them. Each is computed in every view of every embedder. May be repeated. By default "
        "precision, recall, coverage and mauve_star.",
        complete="metrics",
        doc="Keys ``metric[:option…]`` without a view, families, or ``all``; None for precision, "
        "recall, coverage and MAUVE*.",
    )
    embedders: Any = option(
        MISSING,
        "The embedders, separated by commas, such as minilm,tfidf,./gpt2. Each may be anything "
        "that --embedder of calipers compare takes. Options of one embedder follow its name, as "
        "in ./gpt2:layer=6:pooling=mean; the options below apply to all. May be repeated.",
        Rule("be names with commas between them", all_names, unchecked, "LIST"),
        panel=EMBEDDING,
        several=True,
        required=True,
        complete="embedders",
        doc="At least two columns in all: a list of lines ``NAME[:option=value…]`` such as "
        '``"minilm"`` or ``"./gpt2:layer=6"``, of choices or of embedders, or a dict from a'
        " name to any of these.",
    )
