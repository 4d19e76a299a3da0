"""The options of ``calipers agree``."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import MISSING
from typing import Any

from calipers.options.embedding import Model
from calipers.options.inputs import Files, Sampling, Sizes
from calipers.options.measuring import Measuring
from calipers.options.option import EMBEDDING, option, options_class, reworded
from calipers.options.rules import NAMES
from calipers.options.running import Running, Seeded


@options_class
class AgreeOptions(Running, Model, Seeded, Measuring, Sizes, Files):
    """The options of ``agree``."""

    max_samples: int | None = reworded(
        Sampling,
        "max_samples",
        "Use at most N samples of every set, chosen at random.",
    )
    metrics: str | Iterable[str] | None = reworded(
        Measuring,
        "metrics",
        "Metrics to compute, such as precision,mauve_star, a family, or all; calipers metrics "
        "lists them. A key is metric[:option…] without a view: each is computed in every view of "
        "every embedder. May be repeated. By default precision, recall, coverage and mauve_star.",
        complete="metrics",
    )
    embedders: Any = option(
        MISSING,
        "The embedders, separated by commas, such as minilm,tfidf,./gpt2. Each may be anything "
        "that --embedder of calipers compare takes. Options of one embedder follow its name, as "
        "in ./gpt2:layer=6:pooling=mean; the options below apply to all. May be repeated. In "
        "Python a list of such names, of choices or of embedders, or a dict from a name to any of "
        "these, with at least two columns in all.",
        NAMES,
        panel=EMBEDDING,
        several=True,
        required=True,
        complete="embedders",
    )

    def __post_init__(self) -> None:
        """Check every value, and that names are those of embedders."""
        from calipers.commands.agree.embedders import name_embedders

        super().__post_init__()
        if not isinstance(self.embedders, Iterator):  # what is read once is left to the run
            name_embedders(self.embedders, self)
