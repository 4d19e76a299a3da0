"""``calipers show``: a comparison that was kept, without computing."""

from __future__ import annotations

from typing import Annotated

import typer

from calipers.cli.deliver import deliver_comparison
from calipers.cli.guard import guarded
from calipers.cli.options import INPUT, Details
from calipers.cli.output_options import with_outputs
from calipers.cli.outputs import Outputs
from calipers.cli.page import examples
from calipers.cli.streams import calm

EXAMPLES = examples(
    (
        ("The table again:", "calipers show run.zip"),
        ("The table for a paper, and nothing else:", "calipers show run.zip --latex -"),
        ("All scores for another program:", "calipers show run.zip --json scores.json"),
    )
)

Run = Annotated[
    str,
    typer.Argument(
        metavar="RUN.zip",
        help="What `calipers compare --save RUN.zip` wrote.",
        rich_help_panel=INPUT,
        show_default=False,
    ),
]


@with_outputs("html", "json", "markdown", "latex", "csv")
def show(run: Run, *, outputs: Outputs, details: Details = False) -> None:
    """Show again what `calipers compare --save` kept."""
    with guarded("stopped."):
        outputs.check([run])
        with calm(quiet=outputs.quiet):
            from calipers.results import Comparison

            comparison = Comparison.load(run)
        deliver_comparison(comparison, outputs, details=details)
