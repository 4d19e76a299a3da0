"""The options of ``calipers text``."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

from calipers.options.option import INPUT, MEASUREMENT, option, options_class, reworded
from calipers.options.rules import FLAG, TEXT_METRICS, Rule

if TYPE_CHECKING:
    from collections.abc import Iterable

    from calipers.text.tokens import AnyTokenizer

from calipers.options.inputs import Sampling, Sizes
from calipers.options.measuring import Inference
from calipers.options.running import Running, Seeded, Tagged


def _may_be_tokenizer(value: Any) -> bool:
    """Refuse a name that no tokenizer has, before a file is read; a path is tried later."""
    if isinstance(value, str) and value.isalnum() and not os.path.exists(value):
        from calipers.text.tokenizers import NAMES, find_tokenizer

        if value not in NAMES:
            find_tokenizer(value)
    return True


TOKENIZER = Rule("name a tokenizer", _may_be_tokenizer)


@options_class
class TextOptions(Running, Tagged, Seeded, Sizes):
    """The options of ``text``."""

    reference: Any = option(
        None,
        "Reference texts, such as human texts: their statistics are shown beside those "
        "of each set, with the difference. The gap is |T(Q) - T(P)|. Any file that calipers "
        "compare reads; - is standard input.",
        panel=INPUT,
        flag=("--reference", "-r"),
        metavar="FILE",
        source=True,
        common=True,
    )
    aligned: bool = option(
        False,
        "Compare text i with row i of the reference: adds bleu, chrf and rouge. If --metrics names "
        "them, ter and bert_score_f1 are computed too. All sets must have the size of the "
        "reference.",
        FLAG,
        panel=INPUT,
        common=True,
    )
    train: Any = option(
        None,
        "Training set of the models: adds how much of each text is copied from it "
        "(novelty:train, longest_copied_span:train). It is never cut.",
        panel=INPUT,
        metavar="FILE",
        source=True,
        common=True,
    )
    max_samples: int | None = reworded(
        Sampling,
        "max_samples",
        "Use at most N texts of every set, chosen at random. The training set is not cut.",
    )
    keep_sizes: bool = reworded(
        Sizes,
        "keep_sizes",
        "Keep sets of different sizes as they are. By default all are cut to the size of the "
        "smallest, because most statistics depend on the number of texts.",
    )
    metrics: str | Iterable[str] | None = option(
        None,
        "Metrics to compute, such as self_bleu:n=3,distinct, a family, or all; calipers metrics "
        "text lists them. A key is metric[:option…]; families are words, diversity, repetition, "
        "copies, strings and aligned; ter and bert_score_f1 are computed by their own name only. "
        "May be repeated; in Python a list or one text. By default all that are fast.",
        TEXT_METRICS,
        several=True,
        common=True,
        complete="text_metrics",
    )
    tokenizer: AnyTokenizer = option(
        "auto",
        "How texts are split into tokens. auto takes nltk (words and punctuation marks of English) "
        "where all sets are English, else unicode (of any script; where a script has no spaces, "
        "characters or clusters of them). Others: whitespace, characters, one of sacrebleu's "
        "tokenizers (13a, intl, zh, ...), minilm, or hf:NAME for a Hugging Face tokenizer on this "
        "machine, by name or folder. In Python also one of your own.",
        TOKENIZER,
        metavar="NAME",
        common=True,
        complete=(
            "auto",
            "nltk",
            "unicode",
            "whitespace",
            "characters",
            "13a",
            "intl",
            "zh",
            "minilm",
            "hf:",
        ),
    )
    level: float | None = reworded(
        Inference,
        "level",
        "Confidence level of the intervals, between 0 and 1; in Python None computes none.",
        panel=MEASUREMENT,
        off=(
            "--no-intervals",
            "Compute no intervals, which saves about half of the time after reading.",
        ),
    )
    threads: int | None = reworded(
        Running,
        "threads",
        "Number of processor threads. By default all. It changes no value.",
        panel=MEASUREMENT,
    )
