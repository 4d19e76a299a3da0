"""``calipers plot``: figures for papers and notebooks, drawn from saved results."""

from __future__ import annotations

import inspect
import warnings
import zipfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from calipers.cli.command import command
from calipers.cli.help import CommandPage, columns, section
from calipers.cli.options import complete
from calipers.cli.outputs import Outputs, Results
from calipers.cli.streams import calm, write_error
from calipers.errors import CalipersError, InputError, either
from calipers.files import check_there
from calipers.options.option import (
    FLAG,
    INPUT,
    OUTPUT,
    TEXT,
    Group,
    one_of,
    option,
    options_class,
    whole,
)
from calipers.options.rules import KEYS
from calipers.report.plot_kinds import INPUTS, KINDS, check_input, draw, kind_of

if TYPE_CHECKING:
    from calipers.report.plots import Figure

FIGURES = (".png", ".pdf", ".svg")
PICTURE = "Picture"
TABLES = (".csv", ".tsv")
LINES = ("family", "system")
PLACES = ("name", "words", "n")

# What data of another version, or made by hand, may raise while they are drawn
DAMAGE = (ArithmeticError, AttributeError, LookupError, TypeError, ValueError)


Kind = Annotated[
    str,
    typer.Argument(
        metavar="KIND",
        help="Kind of figure, as listed below.",
        rich_help_panel=INPUT,
        autocompletion=complete(*KINDS),
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
    """The options of ``plot``; None where nothing was typed, since most plots take few of them."""

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
        one_of("transformed", "raw", optional=True),
        panel=PICTURE,
    )
    by: str | None = option(
        None,
        "For parameter: which systems share a line: those whose names differ only in the last "
        "number (family), or those of the same name in several runs (system). By default family "
        "if x is name or a .csv file, else system.",
        one_of(*LINES, optional=True),
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
        one_of("topics", "cells", optional=True),
        panel=PICTURE,
    )
    limit: int | None = option(
        None,
        "For cells: how many to draw of each system. [default: 12 of one system, 6 of several]",
        whole(1, optional=True),
        panel=PICTURE,
    )


class PlotPage(CommandPage):
    """The page of ``calipers plot``: it names the kinds of plots too."""

    def choices(self) -> list[str]:
        """List the kinds."""
        return [section("Kinds", columns([(name, kind.shows) for name, kind in KINDS.items()]))]


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
    given = options.keywords()
    given["join"] = "family" if options.join else None
    _check_options(kind, given)
    _check_figure(outputs.paths["output"])
    outputs.check([*inputs, *([options.x] if options.x else [])])
    if len(inputs) > 1 and not known.several:
        raise InputError(f"the plot {kind!r} takes one input; found {len(inputs)}")
    with calm(quiet=outputs.quiet):
        figure = _drawn(kind, inputs, given | read_x(options.x, options.by))
    outputs.deliver(_results(figure, quiet=outputs.quiet))


def _check_options(kind: str, given: dict[str, Any]) -> None:
    known = kind_of(kind).options
    for name, value in given.items():
        if value is not None and name not in known:
            its_own = ", ".join(map(_option, known)) or "none"
            raise InputError(
                f"the plot {kind!r} has no option {_option(name)}; its options: {its_own}"
            )


def _option(name: str) -> str:
    return f"--{name.replace('_', '-')}"


def _drawn(kind: str, inputs: list[str], options: dict[str, Any]) -> Figure:
    data = [read_input(path, kind) for path in inputs]
    with blaming(inputs):
        return draw(kind, data, **options)


def _results(figure: Figure, *, quiet: bool) -> Results:
    """Write the figure; there is nothing to show on the screen."""
    return Results(
        show=lambda: None,
        warnings=lambda: (),
        texts={},
        files={"output": lambda path: _save(figure, path, quiet=quiet)},
    )


def _save(figure: Figure, path: str, *, quiet: bool) -> None:
    from calipers.report.plots import save_figure

    with warnings.catch_warnings(record=True) as found:
        warnings.simplefilter("always")
        save_figure(figure, path)
    boxes = not path.lower().endswith(".svg")
    if boxes and not quiet and any("missing from font" in str(each.message) for each in found):
        write_error(
            "warning: the font of the figure lacks some characters of a name or word, which are "
            "drawn as boxes. A .svg file keeps them as text, for which a browser finds a font"
        )


def _check_figure(path: str) -> None:
    """Refuse a file that is no figure."""
    if not path.lower().endswith(FIGURES):
        raise InputError(f"--output must name a file ending in {either(FIGURES)}; found {path}")


def read_x(x: str | None, by: str | None) -> dict[str, Any]:
    """Read ``--x`` and ``--by``: words stay as they are, a table gives a value for each system.

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


def read_input(path: str, kind: str) -> Mapping[str, Any]:
    """Read one input of a plot, and refuse what the plot is not drawn from.

    Raises
    ------
    InputError
        Names the file, what it is, and what the plot takes.
    """
    place = Path(path)
    check_there(place)
    if place.is_dir():
        raise InputError(f"{path}: this is a folder; the plot {kind!r} takes {_words(kind)}")
    data = _kept(place, kind) if _is_zip(place) else _json(place, kind)
    check_input(kind, data, path)
    found: Mapping[str, Any] = data
    return found


@contextmanager
def blaming(paths: list[str]) -> Iterator[None]:
    """Say of data that lack what they should hold that they are damaged."""
    try:
        yield
    except CalipersError:
        raise
    except DAMAGE as error:
        if all(_is_zip(Path(path)) for path in paths):
            raise
        raise InputError(
            f"{', '.join(paths)}: cannot be drawn; the file is damaged, or was written by another "
            f"version of Calipers: {error!r}"
        ) from error


def _kept(path: Path, kind: str) -> Any:
    from calipers.report.page_data import picture_data
    from calipers.results import Comparison
    from calipers.results.result import Result

    result = Result.load(path)
    return picture_data(result, kind) if isinstance(result, Comparison) else result.to_dict()


def _json(path: Path, kind: str) -> Any:
    from calipers.results.result import load
    from calipers.samples.row_tables import read_file

    if path.suffix.lower() != ".json":
        raise InputError(
            f"{path}: this is neither a zip file nor a .json file; the plot {kind!r} takes "
            f"{_words(kind)}"
        )
    data = read_file(path)[0]
    # What a command wrote is read as what it is, so that what was edited is refused in its words
    saved = isinstance(data, Mapping) and "kind" in data
    return load(path).to_dict() if saved else data


def _words(kind: str) -> str:
    return INPUTS[kind_of(kind).takes]


def _is_zip(path: Path) -> bool:
    return zipfile.is_zipfile(path)
