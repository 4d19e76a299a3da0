"""``calipers report``: pictures and tables of a comparison that was kept, without computing."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from calipers.cli.deliver import deliver_comparison
from calipers.cli.guard import guarded
from calipers.cli.output_options import with_outputs
from calipers.cli.outputs import Outputs
from calipers.cli.page import examples
from calipers.cli.show import Run
from calipers.cli.streams import calm

EXAMPLES = examples(
    (
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
)


@with_outputs("html", "json", "markdown", "latex", "csv")
def report(run: Run, *, outputs: Outputs) -> None:
    """Write a report of what `calipers compare --save` kept.

    One HTML file with the table, the curves, a map of all samples, the worst samples and missed
    topics beside their neighbours. It opens offline and asks no host for anything. Nothing is
    measured again. With no file named, the report is written beside RUN.zip.
    """
    with guarded("stopped."):
        files = outputs if outputs.paths else replace(outputs, paths={"html": page_beside(run)})
        files.check([run])
        with calm(quiet=files.quiet):
            from calipers.results import Comparison

            comparison = Comparison.load(run)
        deliver_comparison(comparison, files, screen=False)


def page_beside(run: str) -> str:
    """Name the page of a run: ``run.html`` for ``run.zip``."""
    path = Path(run)
    return str(path.with_suffix(".html") if path.suffix.lower() == ".zip" else f"{run}.html")
