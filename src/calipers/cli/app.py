"""The command line as a whole: its commands, and what ``--version`` says."""

from __future__ import annotations

from typing import Annotated

import typer

from calipers import __version__
from calipers.cli.agree import EXAMPLES as AGREE_EXAMPLES
from calipers.cli.agree import agree
from calipers.cli.compare import EXAMPLES, compare
from calipers.cli.demo import demo
from calipers.cli.embed import EXAMPLES as EMBED_EXAMPLES
from calipers.cli.embed import embed
from calipers.cli.embedder_options import with_embedder, with_embedding_options
from calipers.cli.metrics import EXAMPLES as METRICS_EXAMPLES
from calipers.cli.metrics import metrics
from calipers.cli.overlap import EXAMPLES as OVERLAP_EXAMPLES
from calipers.cli.overlap import overlap
from calipers.cli.page import Command, CompareCommand, Group, PlotCommand, TextCommand
from calipers.cli.plot import EXAMPLES as PLOT_EXAMPLES
from calipers.cli.plot import plot
from calipers.cli.probe import EXAMPLES as PROBE_EXAMPLES
from calipers.cli.probe import probe
from calipers.cli.rank import EXAMPLES as RANK_EXAMPLES
from calipers.cli.rank import rank
from calipers.cli.reading import with_memory_limit
from calipers.cli.report import EXAMPLES as REPORT_EXAMPLES
from calipers.cli.report import report
from calipers.cli.show import EXAMPLES as SHOW_EXAMPLES
from calipers.cli.show import show
from calipers.cli.sweep import EXAMPLES as SWEEP_EXAMPLES
from calipers.cli.sweep import sweep
from calipers.cli.text import EXAMPLES as TEXT_EXAMPLES
from calipers.cli.text import text

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


app.command(cls=Command)(demo)
app.command(cls=CompareCommand, epilog=EXAMPLES)(with_memory_limit(with_embedder(compare)))
app.command(cls=Command, epilog=SWEEP_EXAMPLES)(with_memory_limit(with_embedder(sweep)))
app.command(cls=Command, epilog=OVERLAP_EXAMPLES)(with_memory_limit(with_embedder(overlap)))
app.command(cls=Command, epilog=AGREE_EXAMPLES)(with_memory_limit(with_embedding_options(agree)))
app.command(cls=Command, epilog=PROBE_EXAMPLES)(with_memory_limit(with_embedder(probe)))
app.command(cls=Command, epilog=RANK_EXAMPLES)(with_memory_limit(rank))
app.command(cls=TextCommand, epilog=TEXT_EXAMPLES)(with_memory_limit(text))
app.command(cls=Command, epilog=EMBED_EXAMPLES)(with_memory_limit(with_embedder(embed)))
app.command(cls=Command, epilog=METRICS_EXAMPLES)(metrics)
app.command(cls=Command, epilog=SHOW_EXAMPLES)(with_memory_limit(show))
app.command(cls=Command, epilog=REPORT_EXAMPLES)(with_memory_limit(report))
app.command(cls=PlotCommand, epilog=PLOT_EXAMPLES)(with_memory_limit(plot))


@app.command(cls=Command)
def version() -> None:
    """Print the version."""
    _print_version(True)
