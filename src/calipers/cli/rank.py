"""``calipers rank``: do metrics rank systems as people do?"""

from __future__ import annotations

from typing import Annotated, Any

import typer

from calipers.cli.command import command
from calipers.cli.deliver import deliver
from calipers.cli.outputs import FORMATS, Outputs
from calipers.cli.streams import calm
from calipers.errors import InputError
from calipers.evaluate.option import INPUT, OUTPUT
from calipers.evaluate.options import RankOptions

Scores = Annotated[
    str,
    typer.Argument(
        metavar="SCORES",
        help="A table (.csv, .tsv, .jsonl, .json, .parquet, each also .gz) with the columns "
        "system, metric, mean and, where known, sd (standard deviation) and better (higher, "
        "lower, closest). Or what calipers compare wrote with --json or --save.",
        rich_help_panel=INPUT,
        show_default=False,
    ),
]
Plot = Annotated[
    str | None,
    typer.Option(
        "--plot",
        metavar="FILE",
        help="Draw these correlations as a heat map, as .png, .pdf or .svg.",
        rich_help_panel=OUTPUT,
    ),
]

EXAMPLES = (
    (
        "From texts to a ranking in two steps, with judgements of pairs:",
        "calipers compare -r human.jsonl a.jsonl b.jsonl c.jsonl --json scores.json\n"
        "    calipers rank scores.json --judgements pairs.csv",
    ),
    (
        "Scores of your own; human is what people wrote:",
        "calipers rank scores.csv --truth human.csv --reference human",
    ),
    (
        "How metrics go together, with a figure for a paper:",
        "calipers rank scores.csv --kind pearson --plot metrics.pdf",
    ),
)


@command(RankOptions, writes=FORMATS, plot=Plot, reads=("scores",), shown=EXAMPLES)
def rank(scores: Scores, *, options: RankOptions, outputs: Outputs) -> None:
    """See whether metrics rank systems as people do.

    Fits a Bradley-Terry model to judgements of pairs, or takes finished scores, and holds the
    order in which each metric puts the systems against them: rank correlations with intervals
    that include the errors of the fit, and the worst case that the metric's own spread allows.
    Without a truth it shows how the metrics correlate with one another.
    """
    if options.judgements is not None and options.truth is not None:
        raise InputError("--judgements and --truth exclude each other; give one of them")
    if options.truth_columns is not None and options.judgements is None and options.truth is None:
        raise InputError("--truth-column names columns of --truth or --judgements; give one")
    with calm(quiet=outputs.quiet):
        from calipers.evaluate.rank import rank as run

        found = run(scores, **options.keywords())
    deliver(found, outputs, plot=lambda path: _draw(found.to_dict(), path))


def _draw(data: dict[str, Any], path: str) -> None:
    from calipers.report import plots
    from calipers.report.plots.heat_map import heat_map_plot

    plots.save_figure(heat_map_plot(data).figure(), path)
