"""The options of ``calipers overlap``."""

from __future__ import annotations

from typing import TYPE_CHECKING

from calipers.options.option import (
    options_class,
    reworded,
)

if TYPE_CHECKING:
    pass

from calipers.options.engines import EngineSearch
from calipers.options.inputs import Files, Sampling, Sizes
from calipers.options.measuring import Neighbours
from calipers.options.running import Seeded


@options_class
class OverlapOptions(EngineSearch, Seeded, Neighbours, Sizes, Files):
    """The options of ``overlap``."""

    max_samples: int | None = reworded(
        Sampling,
        "max_samples",
        "Use at most N samples of every set, chosen at random.",
        doc="Cut every set to this many samples.",
    )
    keep_sizes: bool = reworded(
        Sizes,
        "keep_sizes",
        "Keep sets of different sizes as they are. By default all are cut to the size of the "
        "smallest, because shares depend on sample size.",
    )
    k: int = reworded(
        Neighbours, "k", "Number of nearest neighbours that define the support of a set."
    )
