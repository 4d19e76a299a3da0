"""``calipers plot``: its arguments, and the figure that it draws from a saved result."""

from __future__ import annotations

import inspect
import zipfile
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from calipers.cli.command import command
from calipers.cli.figures import told_of_letters
from calipers.cli.help import CommandPage, columns, section
from calipers.cli.options import complete
from calipers.cli.outputs import Outputs, Results
from calipers.cli.streams import calm
from calipers.errors import InputError, either
from calipers.files import check_there
from calipers.options.option import INPUT, OUTPUT, Group, option, options_class
from calipers.options.rules import FLAG, KEYS, TEXT, one_of, whole
from calipers.report.plot_kinds import check_input, draw, kind_of, plot_kinds

if TYPE_CHECKING:
    from calipers.report.plots import Figure
    from calipers.results.result import Result

FIGURES = (".png", ".pdf", ".svg")
PICTURE = "Picture"
TABLES = (".csv", ".tsv")
LINES = ("family", "system")
PLACES = ("name", "words", "n")


Kind = Annotated[
    str,
    typer.Argument(
        metavar="KIND",
        help="Kind of figure, as listed below.",
        rich_help_panel=INPUT,
        autocompletion=complete(*plot_kinds()),
        show_default=False,
    ),
]
Inputs = Annotated[
    list[str],
    typer.Argument(
        metavar="INPUT",
        help="RUN.zip from `calipers compare --save`; for sweep and heat-map the JSON of `calipers "
        "sweep` and `calipers rank`. Only parameter takes several files.",
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
        help="File to write the figure to: .pdf, .svg or .png.",
        rich_help_panel=OUTPUT,
        show_default=False,
    ),
]

EXAMPLES = (
    (
        "Precision against recall, from a saved comparison:",
        "calipers compare -r human.jsonl a.jsonl b.jsonl --save run.zip\n"
        "    calipers plot plane run.zip --output plane.pdf",
    ),
    (
        "Topics of one system in the view form:",
        "calipers plot cells run.zip --system a --view form -o topics.pdf",
    ),
    (
        "Scores against top-p, of systems named nucleus-0.8, nucleus-0.9, ...:",
        "calipers plot parameter run.zip --x-label 'top-p' -o top-p.pdf",
    ),
    (
        "Against text length, from runs with --match-length 64 and 128:",
        "calipers plot parameter 64.zip 128.zip --x match_length -o length.pdf",
    ),
)


@options_class
class FigureOptions(Group):
    """The options of ``plot``; None where one was not given, since most plots take few of them."""

    view: str | None = option(
        None,
        "View of the samples, such as form. By default the first one; plane, curves, frontiers and "
        "f-scores have a panel for each view.",
        TEXT,
        common=True,
        panel=PICTURE,
    )
    system: str | None = option(
        None,
        "Draw only this system, or in parameter only this line. By default all.",
        TEXT,
        common=True,
        panel=PICTURE,
    )
    metrics: tuple[str, ...] | None = option(
        None,
        "For parameter and group-bars: metrics to draw, one panel for each, such as "
        "recall,form.recall. By default those that the table shows. May be repeated.",
        KEYS,
        common=True,
        panel=PICTURE,
        several=True,
        complete="metrics",
    )
    x: str | None = option(
        None,
        "Quantity on the x-axis: for parameter name, words, n, a setting or a .csv file, for plane "
        "a score such as coverage. The word name means the last number in each system's name "
        "(nucleus-0.9 is at 0.9), words the median length, n the number of samples; a setting is "
        "one in which runs differ, such as match_length; a .csv file has the columns system and "
        "value, and may have line to name the lines. [default: name for parameter, recall for "
        "plane]",
        TEXT,
        common=True,
        panel=PICTURE,
        metavar="WHAT",
        complete=PLACES,
    )
    y: str | None = option(
        None,
        "For plane: score on the y-axis, such as density. [default: precision]",
        TEXT,
        common=True,
        panel=PICTURE,
        metavar="SCORE",
        complete="metrics",
    )
    join: bool = option(
        False,
        "For plane and f-scores: connect systems whose names differ only in the last number, such "
        "as t=0.7 and t=1.0.",
        FLAG,
        panel=PICTURE,
    )
    curve: str | None = option(
        None,
        "For curves, frontiers and f-scores: which curve, such as prd:knn or frontier:chi2. "
        "[default: that of the scores in the table]",
        TEXT,
        panel=PICTURE,
        metavar="KEY",
    )
    scale: str | None = option(
        None,
        "For frontiers: the divergences D as exp(-c D), whose area is MAUVE (transformed), or as "
        "they are (raw). [default: transformed]",
        one_of("transformed", "raw"),
        panel=PICTURE,
    )
    by: str | None = option(
        None,
        "For parameter: which systems share a line: those whose names differ only in the last "
        "number (family), or those of the same name in several runs (system). By default family "
        "if x is name or a .csv file, else system.",
        one_of(*LINES),
        panel=PICTURE,
    )
    x_label: str | None = option(
        None,
        "For parameter: label of the x-axis.",
        TEXT,
        common=True,
        panel=PICTURE,
        metavar="TEXT",
    )
    regions: str | None = option(
        None,
        "For cells: draw topics, or the single cells with the largest contributions. [default: "
        "topics]",
        one_of("topics", "cells"),
        panel=PICTURE,
    )
    limit: int | None = option(
        None,
        "For cells: how many to draw of each system. [default: 12 of one system, 6 of several]",
        whole(1),
        panel=PICTURE,
    )


class PlotPage(CommandPage):
    """The help page of ``calipers plot``, which also lists the kinds of plots."""

    def choices(self) -> list[str]:
        """List the kinds of plots."""
        return [
            section("Kinds", columns([(name, kind.shows) for name, kind in plot_kinds().items()]))
        ]


@command(
    FigureOptions,
    output=(Output, inspect.Parameter.empty),
    reads=("inputs",),
    page=PlotPage,
    stopped="stopped.",
    checked=False,
    shown=EXAMPLES,
)
def plot(kind: Kind, inputs: Inputs, *, options: FigureOptions, outputs: Outputs) -> None:
    """Draw a figure of a saved result.

    The figures are ready for papers, as .pdf, .svg or .png, in colours that colour-blind readers
    can distinguish. No score is computed again.
    """
    known = kind_of(kind)
    given = {**vars(options)}
    given["join"] = "family" if options.join else None
    _check_options(kind, given)
    _check_figure(outputs.paths["output"])
    outputs.check([*inputs, *([options.x] if options.x else [])])
    if len(inputs) > 1 and not known.several:
        raise InputError(f"the plot {kind!r} takes one input; found {len(inputs)}")
    with calm(quiet=outputs.quiet):
        asked = given | read_x(options.x, options.by)
        with told_of_letters(outputs.paths["output"], quiet=outputs.quiet):
            figure = _drawn(kind, inputs, asked)
    outputs.deliver(_results(figure))


def _check_options(kind: str, given: dict[str, Any]) -> None:
    known = kind_of(kind).options
    for name, value in given.items():
        if value is not None and name not in known:
            options = ", ".join(map(_option, known)) or "none"
            raise InputError(
                f"the plot {kind!r} has no option {_option(name)}; its options: {options}"
            )


def _option(name: str) -> str:
    return f"--{name.replace('_', '-')}"


def _drawn(kind: str, inputs: list[str], options: dict[str, Any]) -> Figure:
    return draw(kind, [read_input(path, kind) for path in inputs], **options)


def _results(figure: Figure) -> Results:
    """Write the figure; there is nothing to show on the screen."""
    return Results(
        show=lambda: None,
        warnings=lambda: (),
        texts={},
        files={"output": lambda path: _save(figure, path)},
    )


def _save(figure: Figure, path: str) -> None:
    from calipers.report.plots import save_figure

    save_figure(figure, path)


def _check_figure(path: str) -> None:
    """Refuse a file that is no figure."""
    if not path.lower().endswith(FIGURES):
        raise InputError(f"--output must name a file ending in {either(FIGURES)}; found {path}")


def read_x(x: str | None, by: str | None) -> dict[str, Any]:
    """Parse ``--x`` and ``--by``: names stay as they are, a table gives a value for each system.

    Raises
    ------
    InputError
        If the table cannot be read, or says something twice.
    """
    if x is None or not x.lower().endswith(TABLES):
        return {"x": x, "by": by}
    from calipers.samples.row_tables import read_table

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
        raise InputError(
            f"--by cannot be combined with the column 'line' of {x}; leave out one of them"
        )
    lines = [table.name(row, "line") for row in table.rows]
    return {**placed, "by": dict(zip(systems, lines, strict=True))}


def read_input(path: str, kind: str) -> Result:
    """Read the result to be drawn, and refuse one that the plot cannot show.

    Raises
    ------
    InputError
        Names the file, what it is, and what the plot takes.
    """
    from calipers.results.result import Result, of_json
    from calipers.samples.row_tables import read_file

    place, source = Path(path), kind_of(kind).source
    check_there(place)
    if place.is_dir():
        raise InputError(f"{path}: this is a folder; the plot {kind!r} takes {source}")
    if zipfile.is_zipfile(place):
        result = Result.load(place)
    elif place.suffix.lower() == ".json":
        data = read_file(place)[0]
        result = of_json(data, place) if isinstance(data, Mapping) and "kind" in data else data
    else:
        raise InputError(
            f"{path}: this is neither a zip file nor a .json file; the plot {kind!r} takes {source}"
        )
    check_input(kind, result, path)
    return result
