"""``calipers text``: statistics of texts, alone or beside those of a reference."""

from __future__ import annotations

from typing import Annotated

import typer

from calipers.cli.command import command, name_fields
from calipers.cli.deliver import deliver
from calipers.cli.outputs import FORMATS, Outputs, check_per_sample
from calipers.cli.page import TextCommand
from calipers.cli.streams import calm
from calipers.errors import InputError
from calipers.evaluate.option import INPUT, OUTPUT
from calipers.evaluate.options import TextOptions

Generated = Annotated[
    list[str],
    typer.Argument(
        metavar="OUTPUTS",
        help="One or more sets of texts: FILE, or NAME=GLOB to name a system. Several files of one "
        "name are the seeds of one system. File formats: see calipers compare --help.",
        rich_help_panel=INPUT,
        show_default=False,
    ),
]
PerSample = Annotated[
    bool,
    typer.Option(
        "--per-sample",
        help="Add to --json one value for each text, for metrics that have them.",
        rich_help_panel=OUTPUT,
    ),
]

EXAMPLES = (
    (
        "Are the texts of a model as varied as human texts?",
        "calipers text model.jsonl --reference human.jsonl",
    ),
    (
        "Without a reference, and with words split at spaces:",
        "calipers text model.jsonl --tokenizer whitespace",
    ),
    (
        "How much is copied from the training set:",
        "calipers text model.jsonl -r human.jsonl --train train.jsonl \\\n      --metrics copies",
    ),
    (
        "Translations or summaries, each with its own reference:",
        "calipers text output.txt --reference expected.txt --aligned \\\n"
        "      --metrics bleu,chrf,rouge:rougeL",
    ),
    (
        "Every value of every text, as JSON:",
        "calipers text a.jsonl b.jsonl --metrics all --per-sample --json -",
    ),
)


@command(
    TextOptions,
    writes=(*FORMATS, "table"),
    reads=("generated",),
    page=TextCommand,
    shown=EXAMPLES,
)
def text(
    generated: Generated,
    *,
    options: TextOptions,
    outputs: Outputs,
    per_sample: PerSample = False,
) -> None:
    """Measure the texts themselves: diversity, repetition, copies.

    Shows lengths, vocabulary, diversity, repetition and copies of each set, and with --reference
    the same for the reference, with the differences. Without a reference these numbers are hard
    to interpret.
    """
    if options.aligned and options.reference is None:
        raise InputError(
            "--aligned compares text i with row i of the reference; give --reference FILE"
        )
    check_per_sample(outputs.paths, per_sample=per_sample)
    with calm(quiet=outputs.quiet):
        from calipers.evaluate.texts import measure_texts
        from calipers.samples import read_systems

        systems = read_systems(generated, field=options.field)
        name_fields(systems, options)
        found = measure_texts(systems, **options.keywords())
    deliver(found, outputs, per_sample=per_sample)
