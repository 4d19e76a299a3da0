"""``calipers show``: a comparison that was kept, without computing."""

from __future__ import annotations

from typing import Annotated

import typer

from calipers.cli.deliver import Outputs
from calipers.cli.guard import guarded
from calipers.cli.options import INPUT, Details, Json, Quiet
from calipers.cli.streams import calm

Run = Annotated[
    str,
    typer.Argument(
        metavar="RUN.zip",
        help="What `calipers compare --save RUN.zip` wrote.",
        rich_help_panel=INPUT,
        show_default=False,
    ),
]


def show(run: Run, json: Json = None, details: Details = False, quiet: Quiet = False) -> None:
    """Show again what `calipers compare --save` kept."""
    outputs = Outputs(json=json, quiet=quiet, details=details)
    with guarded("stopped."):
        outputs.check([run])
        with calm(quiet=quiet):
            from calipers.comparison import Comparison

            comparison = Comparison.load(run)
        outputs.deliver(comparison)
