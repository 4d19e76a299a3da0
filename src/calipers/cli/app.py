"""The command line as a whole: its commands, and what ``--version`` says."""

from __future__ import annotations

from typing import Annotated

import typer

from calipers import __version__
from calipers.cli.agree import agree
from calipers.cli.annotate import annotate
from calipers.cli.check import check
from calipers.cli.compare import compare
from calipers.cli.demo import demo
from calipers.cli.embed import embed
from calipers.cli.generate import generate
from calipers.cli.judge import judge
from calipers.cli.likelihood import likelihood
from calipers.cli.metrics import metrics
from calipers.cli.overlap import overlap
from calipers.cli.page import Command, Group
from calipers.cli.plot import plot
from calipers.cli.probe import probe
from calipers.cli.prompts import prompts
from calipers.cli.rank import rank
from calipers.cli.show import report, show
from calipers.cli.sweep import sweep
from calipers.cli.text import text
from calipers.cli.tune import tune

COMMANDS = (
    demo,
    compare,
    check,
    sweep,
    overlap,
    prompts,
    agree,
    probe,
    rank,
    annotate,
    text,
    likelihood,
    generate,
    tune,
    judge,
    embed,
    metrics,
    show,
    report,
    plot,
)

app = typer.Typer(
    cls=Group,
    invoke_without_command=True,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["--help", "-h"]},
)


def _print_version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"calipers {__version__}")
        raise typer.Exit


@app.callback()
def _calipers(
    context: typer.Context,
    version: Annotated[
        bool,
        typer.Option(
            "--version", callback=_print_version, is_eager=True, help="Print the version and exit."
        ),
    ] = False,
) -> None:
    """Compare generated samples with real ones."""
    if context.invoked_subcommand is None:
        typer.echo(context.get_help())


for each in COMMANDS:
    app.command(each.name, cls=each.page)(each.run)


@app.command(cls=Command)
def version() -> None:
    """Print the version."""
    _print_version(True)
