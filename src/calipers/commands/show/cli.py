"""``calipers show``: its arguments, and the saved result that it prints or converts."""

from __future__ import annotations

from typing import Annotated

import typer

from calipers.cli.command import command
from calipers.cli.deliver import check_sort, deliver
from calipers.cli.options import AllSystems, Details, Sort
from calipers.cli.outputs import EXPLAIN, INSPECT, PAGE, SHARED, Benchmark, Outputs
from calipers.cli.streams import calm
from calipers.options.option import INPUT

Run = Annotated[
    str,
    typer.Argument(
        metavar="RUN.zip",
        help="File that --save of calipers compare, or of another command, wrote.",
        rich_help_panel=INPUT,
        show_default=False,
    ),
]

SHOWING = (
    ("The table:", "calipers show run.zip"),
    ("Topics and samples that cause the gap:", "calipers show run.zip --explain"),
    ("The table for a paper, on standard output:", "calipers show run.zip --latex -"),
    (
        "All of many systems, the best recall first:",
        "calipers show run.zip --all-systems --sort recall",
    ),
    ("All scores as JSON:", "calipers show run.zip --json scores.json"),
)


@command(
    writes=("html", "json", "markdown", "latex", "csv", INSPECT, *SHARED, *PAGE, EXPLAIN),
    reads=("run",),
    stopped="stopped.",
    shown=SHOWING,
    common=("details", "markdown", "latex", "csv"),
)
def show(
    run: Run,
    *,
    outputs: Outputs,
    details: Details = False,
    sort: Sort = None,
    all_systems: AllSystems = False,
    benchmark: Benchmark = None,
) -> None:
    """Show a saved result again, or write it in another format."""
    with calm(quiet=outputs.quiet):
        from calipers.results.result import Result

        result = Result.load(run)
    check_sort(result, sort)
    deliver(
        result,
        outputs,
        details=details,
        sort=sort,
        all_systems=all_systems,
        benchmark=benchmark,
    )
