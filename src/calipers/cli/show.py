"""``calipers show`` and ``calipers report``: results that were kept, without computing."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Annotated

import typer

from calipers.cli.command import command
from calipers.cli.deliver import deliver
from calipers.cli.options import Details
from calipers.cli.outputs import EXPLAIN, PAGE, Outputs
from calipers.cli.streams import calm
from calipers.evaluate.option import INPUT

Run = Annotated[
    str,
    typer.Argument(
        metavar="RUN.zip",
        help="What `calipers compare --save RUN.zip` wrote, or --save of another command.",
        rich_help_panel=INPUT,
        show_default=False,
    ),
]

SHOWING = (
    ("The table again:", "calipers show run.zip"),
    ("Which topics and samples cause the gap:", "calipers show run.zip --explain"),
    ("The table for a paper, and nothing else:", "calipers show run.zip --latex -"),
    ("All scores for another program:", "calipers show run.zip --json scores.json"),
)

REPORTING = (
    ("A page for the browser, run.html beside run.zip:", "calipers report run.zip"),
    (
        "Under another name, to give away without the texts:",
        "calipers report run.zip --html shared.html --redact",
    ),
    (
        "The table for a paper, and for a README:",
        "calipers report run.zip --latex table.tex --markdown table.md",
    ),
)


@command(
    writes=("html", "json", "markdown", "latex", "csv", *PAGE, EXPLAIN),
    reads=("run",),
    stopped="stopped.",
    shown=SHOWING,
)
def show(run: Run, *, outputs: Outputs, details: Details = False) -> None:
    """Show again what `calipers compare --save` kept, or --save of another command."""
    with calm(quiet=outputs.quiet):
        from calipers.results.result import Result

        result = Result.load(run)
    deliver(result, outputs, details=details)


@command(
    writes=("html", "json", "markdown", "latex", "csv", *PAGE),
    reads=("run",),
    stopped="stopped.",
    checked=False,
    shown=REPORTING,
)
def report(run: Run, *, outputs: Outputs) -> None:
    """Write a report of what `calipers compare --save` kept.

    One HTML file with the table, the curves, a map of all samples, the worst samples beside their
    neighbours, and topics that are under- or over-represented. It opens offline and asks no host
    for anything. Nothing is measured again. With no file named, the report is written beside
    RUN.zip.
    """
    files = outputs if outputs.paths else replace(outputs, paths={"html": page_beside(run)})
    files.check([run])
    with calm(quiet=files.quiet):
        from calipers.results.result import Result

        result = Result.load(run)
    deliver(result, files, screen=False)


def page_beside(run: str) -> str:
    """Name the page of a run: ``run.html`` for ``run.zip``."""
    path = Path(run)
    return str(path.with_suffix(".html") if path.suffix.lower() == ".zip" else f"{run}.html")
