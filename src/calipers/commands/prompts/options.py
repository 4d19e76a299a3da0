"""The options of ``calipers prompts``."""

from __future__ import annotations

from calipers.options.embedding import Embedding
from calipers.options.inputs import Reading, Sampling, label
from calipers.options.option import CERTAINTY, INPUT, option, options_class, reworded
from calipers.options.rules import share, whole
from calipers.options.running import Seeded


@options_class
class PromptsOptions(Embedding, Seeded, Reading):
    """The options of ``prompts``: answers to the same prompts."""

    by_prompt: str | None = option(
        None,
        "Field of each row that names its prompt: a text, a number or an id. By default the field "
        "prompt. In Python, sample sets carry it, as prompts or as clusters "
        "(``SampleSet.from_texts(texts, name=..., prompts=...)``, "
        ":meth:`~calipers.samples.SampleSet.with_clusters`).",
        label("with_clusters"),
        panel=INPUT,
        setting=True,
        common=True,
    )
    k: int | None = option(
        None,
        "Samples of a prompt for distinct k and the Vendi scores, which grow with their number. By "
        "default as many as every prompt of every system has that has more than one.",
        whole(2),
        common=True,
    )
    threshold: float = option(
        0.8,
        "Cosine of two embeddings from which two samples of a prompt count as the same answer, "
        "for distinct k.",
        share("0.8"),
        setting=True,
        common=True,
    )
    strip_prompt: bool = reworded(
        Sampling,
        "strip_prompt",
        "Remove the prompt at the start of every text, so that samples are not alike because they "
        "repeat it. The prompt is the one in the field prompt.",
    )
    permutations: int = option(
        999,
        "Number of permutations of the tests, within prompts. Where none of them reaches a "
        "statistic and 1 / (1 + N) is too large to be corrected for all pairs, the p-value of the "
        "classifier comes from its folds one by one, and tests within prompts take up to 19,999 "
        "permutations where the classifier does not tell the pair apart.",
        whole(1),
        panel=CERTAINTY,
        setting=True,
    )
    level: float = option(
        0.95,
        "Confidence level of intervals and tests, between 0 and 1.",
        share("0.95"),
        panel=CERTAINTY,
        setting=True,
    )
