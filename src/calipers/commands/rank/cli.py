"""``calipers rank``: its arguments, and how its result is delivered."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from calipers.cli.command import command
from calipers.cli.deliver import deliver
from calipers.cli.outputs import FORMATS, Outputs
from calipers.cli.streams import calm
from calipers.commands.rank.options import RankOptions
from calipers.errors import InputError
from calipers.options.option import INPUT, OUTPUT

if TYPE_CHECKING:
    pass

Scores = Annotated[
    str,
    typer.Argument(
        metavar="SCORES",
        help="What calipers compare wrote with --json or --save, or a table with the columns "
        "system, metric and mean. The table may be .csv, .tsv, .jsonl, .json or .parquet, each "
        "also as .gz, and have the columns sd (standard deviation) and better (higher, lower or "
        "closest).",
        rich_help_panel=INPUT,
        show_default=False,
    ),
]
Plot = Annotated[
    str | None,
    typer.Option(
        "--plot",
        metavar="FILE",
        help="Draw the correlations as a heat map: .png, .pdf or .svg.",
        rich_help_panel=OUTPUT,
    ),
]

EXAMPLES = (
    (
        "Compare texts, then rank the systems by judgements of pairs:",
        "calipers compare -r human.jsonl a.jsonl b.jsonl c.jsonl --json scores.json\n"
        "    calipers rank scores.json --judgements pairs.csv",
    ),
    (
        "Scores of your own; the system human is the reference:",
        "calipers rank scores.csv --truth human.csv --reference human",
    ),
    (
        "How metrics correlate with each other, with a figure:",
        "calipers rank scores.csv --kind pearson --plot metrics.pdf",
    ),
)


@command(RankOptions, writes=FORMATS, plot=Plot, reads=("scores",), shown=EXAMPLES)
def rank(scores: Scores, *, options: RankOptions, outputs: Outputs) -> None:
    """Check whether metrics rank systems as people do.

    Fits a Bradley-Terry model to judgements of pairs, or takes known quality scores, and
    correlates the ranking by each metric with them. The intervals include the errors of the fit,
    and the worst case allows for the metric's own standard deviation. Without judgements and
    scores it shows how the metrics correlate with each other.
    """
    if options.judgements is not None and options.truth is not None:
        raise InputError("--judgements and --truth cannot be combined; give one of them")
    if options.truth_columns is not None and options.judgements is None and options.truth is None:
        raise InputError(
            "--truth-column names columns of --truth or --judgements; give one of these"
        )
    with calm(quiet=outputs.quiet):
        from calipers.commands.rank.run import rank as run

        ranking = run(scores, options=options)
    deliver(ranking, outputs, plot=ranking.plot)
