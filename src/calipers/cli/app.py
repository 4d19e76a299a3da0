"""The command line as a whole: its commands, and the answer to ``--version``."""

from __future__ import annotations

from typing import Annotated

import typer

from calipers._version import __version__
from calipers.cli.help import Page

app = typer.Typer(
    cls=Page,
    invoke_without_command=True,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["--help", "-h"]},
)


def print_version(wanted: bool) -> None:
    """Print the version and exit, if requested."""
    if wanted:
        typer.echo(f"calipers {__version__}")
        raise typer.Exit


@app.callback()
def _calipers(
    context: typer.Context,
    version: Annotated[
        bool,
        typer.Option(
            "--version", callback=print_version, is_eager=True, help="Print the version and exit."
        ),
    ] = False,
) -> None:
    """Compare generated samples with real ones."""
    if context.invoked_subcommand is None:
        typer.echo(context.get_help())
