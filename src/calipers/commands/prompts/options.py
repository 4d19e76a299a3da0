"""The options of ``calipers prompts``."""

from __future__ import annotations

from typing import TYPE_CHECKING

from calipers.options.option import (
    CERTAINTY,
    INPUT,
    option,
    options_class,
    reworded,
    share,
    whole,
)

if TYPE_CHECKING:
    pass

from calipers.options.embedding import Embedding
from calipers.options.inputs import Reading, Sampling, label
from calipers.options.running import Seeded


@options_class
class PromptsOptions(Embedding, Seeded, Reading):
    """The options of ``prompts``: answers to the same prompts."""

    by_prompt: str | None = option(
        None,
        "Field of each row that names its prompt: a text, a number or an id. By default the field "
        "prompt.",
        label("with_clusters"),
        panel=INPUT,
        kept=True,
        common=True,
        doc="Name of the field that holds the prompt of a sample, or its id; by default "
        "``prompt``. Sample sets bring it along, as prompts or as clusters "
        "(``SampleSet.from_texts(texts, name=..., prompts=...)``, "
        ":meth:`~calipers.samples.SampleSet.with_clusters`).",
    )
    k: int | None = option(
        None,
        "Samples of a prompt for distinct k and the Vendi scores, which grow with their number. By "
        "default as many as every prompt of every system has that has more than one.",
        whole(2, optional=True),
        common=True,
        doc="Samples of a prompt for distinct k and the Vendi scores; by default the fewest that a "
        "prompt of a system has, if more than one.",
    )
    threshold: float = option(
        0.8,
        "Cosine of two embeddings from which on two samples of a prompt count as the same answer, "
        "for distinct k.",
        share("0.8"),
        kept=True,
        common=True,
    )
    strip_prompt: bool = reworded(
        Sampling,
        "strip_prompt",
        "Leave out the prompt at the start of every text, so that samples are not alike for "
        "repeating it. The prompt is the one in the field prompt.",
    )
    permutations: int = option(
        999,
        "Number of permutations of the tests. No p-value is below 1 / (1 + N).",
        whole(1),
        panel=CERTAINTY,
        kept=True,
        doc="How often labels are permuted within prompts; no p-value is below 1/(1 + this).",
    )
    level: float = option(
        0.95,
        "Confidence level of intervals and tests, between 0 and 1.",
        share("0.95"),
        panel=CERTAINTY,
        kept=True,
        doc="Confidence level of the intervals and tests, in (0, 1).",
    )
