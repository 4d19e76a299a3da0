"""``calipers version``: the version, as ``--version`` prints it."""

from __future__ import annotations

import typer

from calipers._version import __version__
from calipers.cli.command import command


@command(limited=False)
def version() -> None:
    """Print the version."""
    typer.echo(f"calipers {__version__}")
