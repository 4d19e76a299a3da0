"""``calipers sweep``: how much the scores depend on k, and on the number of samples."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from calipers.cli.command import command
from calipers.cli.deliver import deliver
from calipers.cli.outputs import FORMATS, Outputs
from calipers.cli.sides import Generated, Reference, check_metrics_are_listed, read_sides
from calipers.cli.streams import calm
from calipers.commands.sweep.options import SweepOptions
from calipers.errors import InputError
from calipers.options.option import OUTPUT

if TYPE_CHECKING:
    pass

Plot = Annotated[
    str | None,
    typer.Option(
        "--plot",
        metavar="FILE",
        help="Draw the curves with their bands: .png, .pdf or .svg.",
        rich_help_panel=OUTPUT,
    ),
]

ONLY_OVER_N = {
    "k": "with --over k, --values gives the values of k",
    "seeds": "--over k uses all samples, in no random order",
}
"""Options without a meaning where k is swept, and why."""

EXAMPLES = (
    (
        "Is k = 4 a good choice for these sets?",
        "calipers sweep --over k -r human.jsonl model_a.jsonl model_b.jsonl",
    ),
    (
        "Are there enough samples? With a figure:",
        "calipers sweep --over n -r human.jsonl model.jsonl --plot samples.pdf",
    ),
    (
        "Chosen sample sizes, ten random orders, two metrics:",
        "calipers sweep --over n -r human.jsonl model.jsonl \\\n"
        "      --values 500,1000,2000,4000 --seeds 10 --metrics precision,recall",
    ),
    (
        "Bands over the seeds of one system, and all numbers as JSON:",
        "calipers sweep --over k -r human.jsonl 'xl=runs/xl-*.jsonl' --json k.json",
    ),
)


@command(
    SweepOptions,
    writes=FORMATS,
    plot=Plot,
    reads=("reference", "generated"),
    shown=EXAMPLES,
)
def sweep(
    generated: Generated,
    reference: Reference,
    *,
    options: SweepOptions,
    typed: frozenset[str],
    outputs: Outputs,
) -> None:
    """Show how scores change with k or the number of samples.

    Scores depend on the number of nearest neighbours k and on the number of samples. This shows
    how much, and from which value on they change no more, so that you can choose both.
    """
    check_metrics_are_listed(generated)
    for name, why in ONLY_OVER_N.items() if options.over == "k" else ():
        if name in typed:
            raise InputError(f"--{name} applies to --over n only; {why}")
    with calm(quiet=outputs.quiet):
        from calipers.commands.sweep.run import sweep as run

        swept = run(
            *read_sides(
                reference,
                generated,
                field=options.field,
                skip_bad=options.skip_bad,
                quiet=outputs.quiet,
            ),
            options=options,
        )
    deliver(swept, outputs, plot=swept.plot)
