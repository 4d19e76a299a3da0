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
        help="One or more sets of texts: FILE, or NAME=GLOB, where several files of one name are "
        "the seeds of one system. Kinds of files: see calipers compare --help.",
        rich_help_panel=INPUT,
        show_default=False,
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

EXAMPLES = (
    (
        "Is a model's text as varied as human text?",
        "calipers text model.jsonl --reference human.jsonl",
    ),
    (
        "Without a reference, and with nothing to install:",
        "calipers text model.jsonl --tokenizer whitespace",
    ),
    (
        "How much was taken from the training set:",
        "calipers text model.jsonl -r human.jsonl --train train.jsonl \\\n      --metrics copies",
    ),
    (
        "Translations or summaries, row by row with their references:",
        "calipers text output.txt --reference expected.txt --aligned \\\n"
        "      --metrics bleu,chrf,rouge:rougeL",
    ),
    (
        "Every value of every text, for another program:",
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
    """Measure texts: how varied, how repetitive, how new.

    Shows lengths, vocabulary, diversity, repetition and copies of each set. With a reference, the
    same of the reference and the gap between the two; without one a number says little. Needs no
    embedder and no model.
    """
    if options.aligned and options.reference is None:
        raise InputError("--aligned holds text i against row i of --reference FILE; give one")
    check_per_sample(outputs.paths, per_sample=per_sample)
    with calm(quiet=outputs.quiet):
        from calipers.evaluate.texts import measure_texts
        from calipers.samples import read_systems

        systems = read_systems(generated, field=options.field)
        name_fields(systems, options)
        found = measure_texts(systems, **options.keywords())
    deliver(found, outputs, per_sample=per_sample)
