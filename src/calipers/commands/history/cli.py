"""``calipers history``: its arguments, and how its result is delivered."""

from __future__ import annotations

from typing import Annotated

import typer

from calipers.cli.command import command
from calipers.cli.deliver import deliver
from calipers.cli.outputs import FORMATS, Outputs
from calipers.cli.streams import calm
from calipers.commands.history.options import HistoryOptions
from calipers.options.option import INPUT, OUTPUT

Runs = Annotated[
    list[str],
    typer.Argument(
        metavar="RUN.zip",
        help="Two saved runs or more of one reference, the first one first: files that --save (or "
        "--json) of calipers compare or calipers text wrote.",
        rich_help_panel=INPUT,
        show_default=False,
    ),
]
PlotFile = Annotated[
    str | None,
    typer.Option(
        "--plot",
        metavar="FILE",
        help="Draw the scores over the runs, with intervals: .png, .pdf or .svg.",
        rich_help_panel=OUTPUT,
    ),
]

EXAMPLES = (
    (
        "Which checkpoint is the first that is worse than one before it?",
        "calipers history step-1000.zip step-2000.zip step-3000.zip",
    ),
    (
        "Two scores of one system over all releases, as a page and a figure:",
        "calipers history v1.zip v2.zip v3.zip --system small --metrics recall,mauve_star \\\n"
        "      --html history.html --plot history.pdf",
    ),
    ("Every pair of runs with its test:", "calipers history v*.zip --json history.json"),
)


@command(
    HistoryOptions,
    writes=FORMATS,
    plot=PlotFile,
    reads=("runs",),
    stopped="stopped.",
    shown=EXAMPLES,
)
def history(runs: Runs, *, options: HistoryOptions, outputs: Outputs) -> None:
    """Show how scores change from run to run, and where they become worse.

    Reads saved runs of one reference, such as the checkpoints of a training or the releases of a
    model, shows every score with its interval, and tests every run against the runs before it. The
    first run that is worse beyond the noise is named.
    """
    with calm(quiet=outputs.quiet):
        from calipers.commands.history.run import history as compute

        result = compute(runs, options=options)
    deliver(result, outputs, plot=result.plot)
