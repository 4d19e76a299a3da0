"""The options of ``calipers rank`` alone, with the words of their help, and how they are read."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Literal

import typer

from calipers.cli.options import INPUT, MEASUREMENT, OUTPUT, complete
from calipers.errors import InputError

TIES: Sequence[Literal["davidson", "half", "random", "drop"]] = (
    "davidson",
    "half",
    "random",
    "drop",
)
KINDS: Sequence[Literal["spearman", "pearson"]] = ("spearman", "pearson")

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
Judgements = Annotated[
    str | None,
    typer.Option(
        "--judgements",
        metavar="FILE",
        help="A table with the columns a, b and winner: the winner's name, tie, or five steps: "
        "definitely a, slightly a, tie, slightly b, definitely b, or 1 to 5.",
        rich_help_panel=INPUT,
    ),
]
Truth = Annotated[
    str | None,
    typer.Option(
        "--truth",
        metavar="FILE",
        help="In place of judgements, finished scores: a table with the column system and one or "
        "more columns of numbers, each a truth of its own, higher better; NAME_sd holds the "
        "standard errors of NAME.",
        rich_help_panel=INPUT,
    ),
]
TruthColumn = Annotated[
    list[str] | None,
    typer.Option(
        "--truth-column",
        metavar="LIST",
        help="The columns that hold the truths or the answers. May be repeated. By default every "
        "column of numbers, and winner or answer.",
        rich_help_panel=INPUT,
        show_default=False,
    ),
]
Reference = Annotated[
    str | None,
    typer.Option(
        "--reference",
        "-r",
        metavar="NAME",
        help="The system that is the reference, such as human. It is not ranked, and a metric "
        "that has its value is better the closer to that.",
        rich_help_panel=INPUT,
    ),
]
Metrics = Annotated[
    list[str] | None,
    typer.Option(
        "--metrics",
        metavar="LIST",
        help="Rank by these metrics alone; all for every one in the file. May be repeated. By "
        "default all of a table, and of a comparison those that it shows: the best of many is "
        "best by chance.",
        rich_help_panel=INPUT,
        show_default=False,
    ),
]
KeepUnscored = Annotated[
    bool,
    typer.Option(
        "--keep-unscored",
        help="Leave judged systems that have no scores in the fit; by default they are an error.",
        rich_help_panel=INPUT,
    ),
]
HowTies = Annotated[
    str,
    typer.Option(
        "--ties",
        metavar="|".join(TIES),
        help="What becomes of ties: an outcome of its own (Davidson's model), half a win to each, "
        "a win to either at random, or left out.",
        rich_help_panel=MEASUREMENT,
        autocompletion=complete(*TIES),
    ),
]
Kind = Annotated[
    str,
    typer.Option(
        "--kind",
        metavar="|".join(KINDS),
        help="How metrics are correlated with one another, in the matrix and the heat map.",
        rich_help_panel=MEASUREMENT,
        autocompletion=complete(*KINDS),
    ),
]
Level = Annotated[
    str,
    typer.Option("--level", metavar="SHARE", help="Of the intervals.", rich_help_panel=MEASUREMENT),
]
Matrix = Annotated[
    bool,
    typer.Option(
        "--matrix",
        help="Show how metrics correlate with one another beside a truth too; without a truth "
        "it is always shown.",
        rich_help_panel=OUTPUT,
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


def read_names(option: str, lists: Sequence[str] | None) -> list[str] | None:
    """Read names, given once or often, each time one or several with commas."""
    if not lists:
        return None
    names = [name.strip() for each in lists for name in each.split(",")]
    if not all(names):
        raise InputError(
            f"{option} must be names with commas between them; found {', '.join(lists)!r}"
        )
    return list(dict.fromkeys(names))


def check_sides(judgements: str | None, truth: str | None, columns: object) -> None:
    """Refuse two truths, or columns of none."""
    if judgements is not None and truth is not None:
        raise InputError("--judgements and --truth exclude each other; give one of them")
    if columns is not None and judgements is None and truth is None:
        raise InputError("--truth-column names columns of --truth or --judgements; give one")
