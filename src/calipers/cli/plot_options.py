"""The options of ``calipers plot`` alone, with the words of their help, and how they are read."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Any

import typer

from calipers.cli.checks import one_of, parse_metrics, whole
from calipers.cli.options import INPUT, OUTPUT, complete, complete_metrics
from calipers.errors import InputError
from calipers.report.plot_kinds import KINDS

FIGURES = (".png", ".pdf", ".svg")
PICTURE = "Picture"
PLACES = ("name", "words", "n")
LINES = ("family", "system")
SCALES = ("transformed", "raw")
REGIONS = ("topics", "cells")
TABLES = (".csv", ".tsv")

Kind = Annotated[
    str,
    typer.Argument(
        metavar="KIND",
        help="What to draw, as listed below.",
        rich_help_panel=INPUT,
        autocompletion=complete(*KINDS),
        show_default=False,
    ),
]
Inputs = Annotated[
    list[str],
    typer.Argument(
        metavar="INPUT",
        help="RUN.zip, kept by `calipers compare --save`; for sweep and heat-map the JSON of "
        "`calipers sweep` and `calipers rank`. Several for parameter, else one.",
        rich_help_panel=INPUT,
        show_default=False,
    ),
]
Output = Annotated[
    str,
    typer.Option(
        "--output",
        "-o",
        metavar="FIGURE",
        help="Where the figure goes: .pdf, .svg or .png. The same input gives the same bytes.",
        rich_help_panel=OUTPUT,
        show_default=False,
    ),
]
View = Annotated[
    str | None,
    typer.Option(
        "--view",
        metavar="NAME",
        help="By which view of the samples, such as form. By default the main one; plane, curves, "
        "frontiers and f-scores have a panel for each.",
        rich_help_panel=PICTURE,
        show_default=False,
    ),
]
System = Annotated[
    str | None,
    typer.Option(
        "--system",
        metavar="NAME",
        help="This system alone; of parameter also one line. By default all.",
        rich_help_panel=PICTURE,
        show_default=False,
    ),
]
Metrics = Annotated[
    list[str] | None,
    typer.Option(
        "--metrics",
        metavar="LIST",
        help="Of parameter and group-bars: a panel for each, such as recall,form.recall. By "
        "default those that the table shows. May be repeated.",
        rich_help_panel=PICTURE,
        autocompletion=complete_metrics,
        show_default=False,
    ),
]
X = Annotated[
    str | None,
    typer.Option(
        "--x",
        metavar="WHAT",
        help="Of parameter: name (the last number in each system's name, nucleus-0.9 is at 0.9), "
        "words (median length), n (samples), a setting in which runs differ, such as "
        "match_length, or a .csv with the columns system and value, and line where you want to "
        "name the lines. Of plane: a score, such as coverage. [default: name; recall]",
        rich_help_panel=PICTURE,
        autocompletion=complete(*PLACES),
        show_default=False,
    ),
]
Y = Annotated[
    str | None,
    typer.Option(
        "--y",
        metavar="SCORE",
        help="Of plane: the score on the y-axis, such as density. [default: precision]",
        rich_help_panel=PICTURE,
        autocompletion=complete_metrics,
        show_default=False,
    ),
]
Join = Annotated[
    bool,
    typer.Option(
        "--join",
        help="Of plane and f-scores: join systems whose names differ in the last number alone, "
        "such as t=0.7 and t=1.0.",
        rich_help_panel=PICTURE,
    ),
]
Curve = Annotated[
    str | None,
    typer.Option(
        "--curve",
        metavar="KEY",
        help="Of curves, frontiers and f-scores: which one, such as prd:knn or frontier:chi2. "
        "[default: as the scores of the table]",
        rich_help_panel=PICTURE,
        show_default=False,
    ),
]
Scale = Annotated[
    str | None,
    typer.Option(
        "--scale",
        metavar="|".join(SCALES),
        help="Of frontiers: exp(-c D), whose area is MAUVE, or the divergences as they are. "
        "[default: transformed]",
        rich_help_panel=PICTURE,
        autocompletion=complete(*SCALES),
        show_default=False,
    ),
]
By = Annotated[
    str | None,
    typer.Option(
        "--by",
        metavar="|".join(LINES),
        help="Of parameter: what makes a line, the name without its last number (family) or each "
        "system over the runs. By default family where x is name or a .csv, else system.",
        rich_help_panel=PICTURE,
        autocompletion=complete(*LINES),
        show_default=False,
    ),
]
XLabel = Annotated[
    str | None,
    typer.Option(
        "--x-label",
        metavar="TEXT",
        help="Of parameter: what to write below the x-axis.",
        rich_help_panel=PICTURE,
        show_default=False,
    ),
]
Regions = Annotated[
    str | None,
    typer.Option(
        "--regions",
        metavar="|".join(REGIONS),
        help="Of cells: topics, or the single cells with the largest contributions. "
        "[default: topics]",
        rich_help_panel=PICTURE,
        autocompletion=complete(*REGIONS),
        show_default=False,
    ),
]
Limit = Annotated[
    str | None,
    typer.Option(
        "--limit",
        metavar="N",
        help="Of cells: how many are shown of a system. [default: 12; 6 of several systems]",
        rich_help_panel=PICTURE,
        show_default=False,
    ),
]


def check_figure(path: str) -> None:
    """Refuse a file that is no figure."""
    if not path.lower().endswith(FIGURES):
        raise InputError(f"--output must name a file ending in {', '.join(FIGURES)}; found {path}")


def read_metrics(metrics: list[str] | None) -> tuple[str, ...] | None:
    """Read ``--metrics``."""
    return parse_metrics(metrics or ())


def read_limit(limit: str | None) -> int | None:
    """Read ``--limit``."""
    return None if limit is None else whole("--limit", limit, least=1)


def read_word(option: str, word: str | None, known: Sequence[str]) -> str | None:
    """Read a word that must be among the known ones, where one was given."""
    return None if word is None else one_of(option, word, known)


def read_x(x: str | None, by: str | None) -> dict[str, Any]:
    """Read ``--x`` and ``--by``: words stay as they are, a table gives a value for each system.

    Raises
    ------
    InputError
        If the table cannot be read, or says something twice.
    """
    if x is None or not x.lower().endswith(TABLES):
        return {"x": x, "by": by}
    from calipers.evaluate.rank_tables import read_table

    table = read_table(x, "--x")
    table.need("system", "value")
    systems = [table.name(row, "system") for row in table.rows]
    for (number, _), name in zip(table.rows, systems, strict=True):
        if systems.count(name) > 1:
            raise table.source.row_error(number, f"names the system {name!r} more than once")
    values = [table.number(row, "value") for row in table.rows]
    placed = {"x": dict(zip(systems, values, strict=True))}
    if "line" not in table.columns:
        return {**placed, "by": by}
    if by is not None:
        raise InputError(f"--by and the column 'line' of {x} exclude each other; leave out one")
    lines = [table.name(row, "line") for row in table.rows]
    return {**placed, "by": dict(zip(systems, lines, strict=True))}
