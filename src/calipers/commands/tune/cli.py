"""``calipers tune``: its arguments, and how its result is delivered."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from calipers.cli.command import command
from calipers.cli.command_line import with_command
from calipers.cli.deliver import deliver, possible_sort
from calipers.cli.figures import told_of_letters
from calipers.cli.options import AllSystems, Details, Sort
from calipers.cli.outputs import EXPLAIN, FORMATS, PAGE, Outputs
from calipers.cli.sides import Reference
from calipers.cli.streams import calm
from calipers.commands.compare.cli import ComparePage
from calipers.commands.tune.options import TuneOptions
from calipers.options.option import OUTPUT

if TYPE_CHECKING:
    from calipers.commands.tune.result import Tuning

Plot = Annotated[
    str | None,
    typer.Option(
        "--plot",
        metavar="FILE",
        help="Draw the scores against the parameter, with intervals: .png, .pdf or .svg.",
        rich_help_panel=OUTPUT,
    ),
]

EXAMPLES = (
    (
        "Which top-p makes GPT-2 write most like people? Ten words of each text are the prompt:",
        "calipers tune --reference human.jsonl --model gpt2 --prompt-words 10 \\\n"
        "      --over top_p=0.7,0.8,0.9,0.95,1.0 --plot top-p.pdf",
    ),
    (
        "Offline, with a small model that is fitted on the reference:",
        "calipers tune --reference human.jsonl --model ngram:order=3 --n 400 \\\n"
        "      --over temperature=0.2,0.5,1.0",
    ),
    (
        "Two parameters as a grid; samples are kept, so that a stopped run goes on:",
        "calipers tune -r human.jsonl --model ./gpt2 --prompt-words 10 \\\n"
        "      --over temperature=0.7,1.0 --over top_k=10,50,500 --samples runs/ --save run.zip",
    ),
)


@command(
    TuneOptions,
    writes=(*FORMATS, "table", *PAGE, EXPLAIN),
    reads=("reference",),
    plot=Plot,
    page=ComparePage,
    stopped="stopped. With --samples what was written is kept, and the same command goes on.",
    shown=EXAMPLES,
    common=("details",),
)
def tune(
    reference: Reference,
    *,
    options: TuneOptions,
    outputs: Outputs,
    details: Details = False,
    sort: Sort = None,
    all_systems: AllSystems = False,
) -> None:
    """Find the decoding whose samples come closest to real texts.

    Writes samples of a language model for each value of a decoding parameter, by the same prompts
    and random numbers, compares all of them with the reference, and says which value comes
    closest and which others cannot be distinguished from it.
    """
    if sort is not None:
        from calipers.evaluate.order import check_order

        check_order(sort)
    with calm(quiet=outputs.quiet):
        from calipers.commands.tune.run import tune as run

        tuned = run(reference, options=options)
    result = with_command(tuned)
    deliver(
        result,
        outputs,
        details=details,
        sort=possible_sort(result, sort, quiet=outputs.quiet),
        all_systems=all_systems,
        plot=lambda path: _draw(result, path, quiet=outputs.quiet),
    )


def _draw(tuning: Tuning, path: str, *, quiet: bool) -> None:
    from calipers.report.plots import parameter_plot

    with told_of_letters(path, quiet=quiet):
        parameter_plot(tuning).figure(path)
