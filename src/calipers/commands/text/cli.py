"""``calipers text``: its arguments, and how its result is delivered."""

from __future__ import annotations

from typing import Annotated

import typer

from calipers.cli.command import command
from calipers.cli.deliver import deliver
from calipers.cli.help import CommandPage, metrics_section
from calipers.cli.outputs import FORMATS, Outputs, check_per_sample
from calipers.cli.sides import name_fields, with_reference
from calipers.cli.streams import calm
from calipers.commands.text.options import TextOptions
from calipers.errors import InputError
from calipers.options.option import INPUT, OUTPUT

Generated = Annotated[
    list[str],
    typer.Argument(
        metavar="OUTPUTS",
        help="One or more sets of texts: FILE, or NAME=GLOB to name a system. Several files of one "
        "name are the seeds of one system; FILE@FIELD names the field of the texts of one file. "
        "File formats: see calipers compare --help.",
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


TEXT_METRICS_NOTE = (
    (
        ("calipers metrics text", "lists them: what each measures, its range, what it needs"),
        ("calipers metrics self_bleu", "one of them: its options, source and blind spots"),
    ),
    "Options follow a colon: distinct:n=3, self_bleu:pairwise, compression:zstd. How to choose: "
    "docs/text.md.",
)


class TextPage(CommandPage):
    """The help page of ``calipers text``, which also lists the families of text metrics."""

    def further_sections(self) -> list[str]:
        """List the families of metrics."""
        from calipers.catalogue.texts import TEXT_FAMILIES

        families = [(family.name, family.members) for family in TEXT_FAMILIES.values()]
        return [metrics_section(families, *TEXT_METRICS_NOTE)]


@command(
    TextOptions,
    writes=(*FORMATS, "table"),
    reads=("generated",),
    page=TextPage,
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
        from calipers.commands.text.run import measure_texts
        from calipers.samples import read_systems

        options, beside = with_reference(options, generated)
        systems = read_systems(generated, field=options.field, beside=beside)
        name_fields(systems, quiet=outputs.quiet)
        comparison = measure_texts(systems, options=options)
    deliver(comparison, outputs, per_sample=per_sample)
