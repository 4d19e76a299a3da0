"""The arguments and options that ``calipers text`` words in its own way."""

from __future__ import annotations

from typing import Annotated

import typer

from calipers.cli.options import INPUT, MEASUREMENT, OUTPUT, complete

TOKENIZERS = ("nltk", "whitespace", "characters", "13a", "intl", "zh", "minilm", "hf:")
"""What the shell offers; others are known too."""


def complete_text_metrics(incomplete: str) -> list[str]:
    """Offer text metrics and families, for the last of a list."""
    from calipers.catalogue.texts import TEXT_FAMILIES, TEXT_METRICS

    before, comma, last = incomplete.rpartition(",")
    offered = [word for word in ("all", *TEXT_FAMILIES, *TEXT_METRICS) if word.startswith(last)]
    return [f"{before}{comma}{word}" for word in offered]


Generated = Annotated[
    list[str],
    typer.Argument(
        metavar="OUTPUTS",
        help="One or more sets of texts: FILE, or NAME=GLOB, where several files of one name are "
        "the seeds of one system. Kinds of files: see calipers compare --help.",
        rich_help_panel=INPUT,
        show_default=False,
    ),
]
Reference = Annotated[
    str | None,
    typer.Option(
        "--reference",
        "-r",
        metavar="FILE",
        help="Texts that people wrote, in any of these formats: shows the same statistics of "
        "them, and the gap; - is standard input.",
        rich_help_panel=INPUT,
        show_default=False,
    ),
]
Train = Annotated[
    str | None,
    typer.Option(
        "--train",
        metavar="FILE",
        help="What the models were trained on: tells how much of the texts is new to it "
        "(novelty:train, longest_copied_span:train). Never cut.",
        rich_help_panel=INPUT,
    ),
]
Aligned = Annotated[
    bool,
    typer.Option(
        "--aligned",
        help="Text i belongs to row i of the reference: adds bleu, chrf and rouge, and lets ter "
        "and bert_score_f1 be asked for.",
        rich_help_panel=INPUT,
    ),
]
MaxSamples = Annotated[
    str | None,
    typer.Option(
        metavar="N",
        help="Cut every set to N texts at most, but not --train.",
        rich_help_panel=INPUT,
    ),
]
KeepSizes = Annotated[
    bool,
    typer.Option(
        "--keep-sizes",
        help="Leave sets of different sizes as they are. By default all are cut to the smallest, "
        "because most statistics move with the number of texts.",
        rich_help_panel=INPUT,
    ),
]
Metrics = Annotated[
    list[str] | None,
    typer.Option(
        "--metrics",
        metavar="LIST",
        help="What to measure: metrics such as self_bleu:n=3,distinct, a family, or all. May be "
        "repeated. By default all that are quick; see Metrics, below.",
        rich_help_panel=MEASUREMENT,
        autocompletion=complete_text_metrics,
        show_default=False,
    ),
]
Tokenizer = Annotated[
    str,
    typer.Option(
        "--tokenizer",
        metavar="NAME",
        help="What splits texts into tokens: nltk (words and marks), whitespace, characters, one "
        "of sacrebleu's (13a, intl, zh, ...), minilm, or hf: and the name or folder of a Hugging "
        "Face tokenizer on this machine.",
        rich_help_panel=MEASUREMENT,
        autocompletion=complete(*TOKENIZERS),
    ),
]
Level = Annotated[
    str,
    typer.Option(
        "--level",
        metavar="NUMBER",
        help="Confidence level of the intervals, between 0 and 1.",
        rich_help_panel=MEASUREMENT,
    ),
]
NoIntervals = Annotated[
    bool,
    typer.Option(
        "--no-intervals",
        help="Leave out the intervals; saves about half of the time after reading.",
        rich_help_panel=MEASUREMENT,
    ),
]
Threads = Annotated[
    str | None,
    typer.Option(
        metavar="N",
        help="Processor threads to use; all by default.",
        rich_help_panel=MEASUREMENT,
    ),
]
PerSample = Annotated[
    bool,
    typer.Option(
        "--per-sample",
        help="Add to the JSON one value per text, where a metric has them.",
        rich_help_panel=OUTPUT,
    ),
]
