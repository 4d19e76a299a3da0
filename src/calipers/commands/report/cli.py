"""``calipers report``: its arguments, and the HTML page of a saved result."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Annotated

import typer

from calipers.cli.command import command
from calipers.cli.deliver import check_sort, deliver
from calipers.cli.options import Sort
from calipers.cli.outputs import PAGE, Outputs
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

REPORTING = (
    ("A report run.html beside run.zip:", "calipers report run.zip"),
    (
        "A report without texts, to share, under another name:",
        "calipers report run.zip --html shared.html --redact",
    ),
    (
        "The table for a paper, and for a README:",
        "calipers report run.zip --latex table.tex --markdown table.md",
    ),
)


@command(
    writes=("html", "json", "markdown", "latex", "csv", *PAGE),
    reads=("run",),
    stopped="stopped.",
    checked=False,
    shown=REPORTING,
)
def report(run: Run, *, outputs: Outputs, sort: Sort = None) -> None:
    """Write an HTML report of a saved comparison.

    The report is one file with tables, curves, a map of all samples, the worst samples beside
    their neighbours, and topics that are under- or over-represented. It opens offline and loads
    nothing from the network. No score is computed again. Without --html it is written beside
    RUN.zip.
    """
    files = outputs if outputs.paths else replace(outputs, paths={"html": page_beside(run)})
    files.check([run])
    with calm(quiet=files.quiet):
        from calipers.results.result import Result

        result = Result.load(run)
    check_sort(result, sort)
    deliver(result, files, screen=False, sort=sort)


def page_beside(run: str) -> str:
    """Return the path of the page of a run: ``run.html`` for ``run.zip``."""
    path = Path(run)
    return str(path.with_suffix(".html") if path.suffix.lower() == ".zip" else f"{run}.html")
