"""The options of ``calipers text``."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from calipers.options.option import (
    FLAG,
    INPUT,
    MEASUREMENT,
    option,
    options_class,
    reworded,
)

if TYPE_CHECKING:
    from collections.abc import Iterable

    from calipers.text.tokens import AnyTokenizer

from calipers.options.inputs import Sampling, Sizes
from calipers.options.measuring import Inference
from calipers.options.rules import KEYS
from calipers.options.running import Running, Seeded, Tagged


@options_class
class TextOptions(Running, Tagged, Seeded, Sizes):
    """The options of ``text``."""

    reference: Any = option(
        None,
        "Reference texts, such as texts that people wrote: their statistics are shown beside those "
        "of each set, with the difference. Any file that calipers compare reads; - is standard "
        "input.",
        panel=INPUT,
        flag=("--reference", "-r"),
        metavar="FILE",
        source=True,
        common=True,
        doc="Texts that people wrote, in any form of one set. The statistics of both then stand "
        "beside each other, with the gap |T(Q) - T(P)|.",
    )
    aligned: bool = option(
        False,
        "Compare text i with row i of the reference: adds bleu, chrf and rouge. If --metrics names "
        "them, ter and bert_score_f1 are computed too.",
        FLAG,
        panel=INPUT,
        common=True,
        doc="Whether text i belongs to reference i: ``bleu``, ``chrf``, ``rouge`` and their "
        "kind can then be asked for. All sets must have the size of the reference.",
    )
    train: Any = option(
        None,
        "Training set of the models: adds how much of each text is copied from it "
        "(novelty:train, longest_copied_span:train). It is never cut.",
        panel=INPUT,
        metavar="FILE",
        source=True,
        common=True,
        doc="The training set: what share of the texts is new to it (``novelty:train``, "
        "``longest_copied_span:train``). Never cut.",
    )
    max_samples: int | None = reworded(
        Sampling,
        "max_samples",
        "Use at most N texts of every set, chosen at random. The training set is not cut.",
        doc="Cut every set, but not the training set, to this many texts.",
    )
    keep_sizes: bool = reworded(
        Sizes,
        "keep_sizes",
        "Keep sets of different sizes as they are. By default all are cut to the size of the "
        "smallest, because most statistics depend on the number of texts.",
        doc="Leave the sets as large as they are; by default all are cut to the smallest, since"
        " most statistics move with the number of texts.",
    )
    metrics: str | Iterable[str] | None = option(
        None,
        "Metrics to compute, such as self_bleu:n=3,distinct, a family, or all; calipers metrics "
        "text lists them. May be repeated. By default all that are fast.",
        KEYS,
        several=True,
        common=True,
        complete="text_metrics",
        doc="Keys ``metric[:option…]``, in a list or in one string: ``distinct:n=3``, "
        "``self_bleu``, a family (``words``, ``diversity``, ``repetition``, ``copies``, "
        "``strings``, ``aligned``) or ``all``; the slow ones (``ter``, ``bert_score_f1``) by their "
        "own name only. None for those that are quick; ``calipers metrics text`` lists them.",
    )
    tokenizer: AnyTokenizer = option(
        "nltk",
        "How texts are split into tokens: by nltk (words and punctuation marks), whitespace, "
        "characters, one of sacrebleu's tokenizers (13a, intl, zh, ...), minilm, or hf:NAME for a "
        "Hugging Face tokenizer on this machine, by name or folder.",
        metavar="NAME",
        common=True,
        complete=("nltk", "whitespace", "characters", "13a", "intl", "zh", "minilm", "hf:"),
        doc="Name of a tokenizer, or one of your own.",
    )
    level: float | None = reworded(
        Inference,
        "level",
        "Confidence level of the intervals, between 0 and 1.",
        panel=MEASUREMENT,
        off=(
            "--no-intervals",
            "Compute no intervals, which saves about half of the time after reading.",
        ),
        doc="Confidence level of the intervals, in (0, 1); None leaves them out.",
    )
    threads: int | None = reworded(
        Running,
        "threads",
        panel=MEASUREMENT,
        doc="Number of threads (default: all cores); moves no value.",
    )
