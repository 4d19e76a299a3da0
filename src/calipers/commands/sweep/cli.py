"""``calipers sweep``: its arguments, and how its result is delivered."""

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

NO_BALLS = "no score of this sweep depends on it"
ONE_EACH = "--over {over} uses all samples, in no random order"
MEANINGLESS = {
    ("k", "k"): "with --over k, --values gives the values of k",
    ("buckets", "k"): NO_BALLS,
    ("axes", "k"): NO_BALLS,
    ("k", "seeds"): ONE_EACH,
    ("length", "seeds"): ONE_EACH,
    ("axes", "seeds"): ONE_EACH,
}
"""Options without a meaning where something is swept, by what and which, and why."""
APPLIES = {"k": "--over n and --over length", "seeds": "--over n and --over buckets"}
"""Where these options have one."""

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
        "MAUVE and the Fréchet distance of texts cut to 16 to 128 words:",
        "calipers sweep --over length -r human.jsonl model.jsonl \\\n"
        "      --values 16,32,64,128 --metrics mauve_star,frechet_distance",
    ),
    (
        "Does MAUVE depend on the number of cells?",
        "calipers sweep --over buckets -r human.jsonl model.jsonl",
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
    """Show how scores change with k, samples, text length, cells or axes.

    Scores depend on the number of nearest neighbours k, on the number of samples, on the length of
    texts, on the number of cells and on the axes that are kept. This shows how much, and from which
    value on they change no more, so that you can choose.
    """
    check_metrics_are_listed(generated)
    for (over, name), why in MEANINGLESS.items():
        if over == options.over and name in typed:
            raise InputError(f"--{name} applies to {APPLIES[name]} only; {why.format(over=over)}")
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
