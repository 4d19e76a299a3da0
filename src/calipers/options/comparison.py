"""The options of a comparison."""

from __future__ import annotations

from calipers.options.engines import EngineSearch
from calipers.options.inputs import Files, Labels, Sizes
from calipers.options.measuring import Inference, Measuring
from calipers.options.option import option, options_class
from calipers.options.rules import one_of
from calipers.options.running import Seeded, Tagged


@options_class
class CompareOptions(EngineSearch, Tagged, Seeded, Inference, Measuring, Labels, Sizes, Files):
    """The options of ``compare``."""

    shared_prompts: str = option(
        "residual",
        "How answers are compared where the reference and a system answer the same prompts, which "
        "brings every system close to the reference. With residual each answer is compared with "
        "those to other prompts, minus what a ridge regression on the reference predicts of it "
        "from its own prompt; others subtracts nothing, nor does residual where the texts of the "
        "prompts are not known or the embedder does not read them; ignore compares all answers as "
        "they are, so that precision and recall by meaning are close to 1 whoever answered.",
        one_of("residual", "others", "ignore"),
        setting=True,
    )
