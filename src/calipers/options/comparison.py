"""The options of a comparison, which several commands make."""

from __future__ import annotations

from typing import TYPE_CHECKING

from calipers.options.option import (
    MEASUREMENT,
    one_of,
    option,
    options_class,
)

if TYPE_CHECKING:
    pass

from calipers.options.engines import EngineSearch
from calipers.options.inputs import Files, Labels, Sizes
from calipers.options.measuring import Inference, Measuring
from calipers.options.running import Seeded, Tagged

SHARED_PROMPTS = one_of("residual", "others", "ignore")


# The commands ------------------------------------------------------------------------------------


@options_class
class CompareOptions(EngineSearch, Tagged, Seeded, Inference, Measuring, Labels, Sizes, Files):
    """The options of ``compare``."""

    shared_prompts: str = option(
        "residual",
        "What is done where the reference and a system answer the same prompts, so that every "
        "system lies close to the reference: residual compares each answer with those to other "
        "prompts, less what its own prompt leads to expect of it; others does the first alone; "
        "ignore compares all answers as they are.",
        SHARED_PROMPTS,
        panel=MEASUREMENT,
        kept=True,
        doc='What is done where both sides answer the same prompts: ``"residual"`` compares each '
        "answer with those to other prompts, less what its own prompt leads to expect of it, by a "
        'ridge regression on the reference; ``"others"`` does the first alone, as does the '
        "former where the texts of the prompts are not known or the embedder does not read them; "
        '``"ignore"`` compares all answers as they are, so that precision and recall by meaning '
        "are close to 1 whoever answered.",
    )
