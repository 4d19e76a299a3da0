"""The options that say where results go, with the words of their help.

A command takes one parameter `outputs`; :func:`with_outputs` puts these options in its place and
hands the command the :class:`Outputs` that they came to.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Annotated, Any

import typer

from calipers.cli.options import OUTPUT, Quiet, complete
from calipers.cli.output_rules import MAPS
from calipers.cli.outputs import FILES, Outputs
from calipers.cli.shell import with_options


def _file(name: str, text: str, *, metavar: str = "FILE") -> Any:
    option = typer.Option(name, metavar=metavar, help=text, rich_help_panel=OUTPUT)
    return Annotated[str | None, option]


Html = _file(
    "--html",
    "Write a report with pictures: the table, curves, a map of all samples, the worst samples and "
    "missed topics beside their neighbours. One file that opens offline in any browser; it holds "
    "texts, see --redact.",
)
Json = _file(
    "--json",
    "Write all scores as JSON; - writes them to standard output, and nothing else there.",
)
Markdown = _file("--markdown", "Write the table in Markdown; - for standard output.")
Latex = _file("--latex", "Write the table in LaTeX, ready for a paper; - for standard output.")
Csv = _file("--csv", "Write a row for each score as CSV; - for standard output.")
Save = _file(
    "--save",
    "Keep scores, curves, texts and vectors; `calipers show` and `calipers report` take them up "
    "again.",
    metavar="RUN.zip",
)
Redact = Annotated[
    bool,
    typer.Option(
        "--redact",
        help="For sharing: leave texts, and the folders of files, out of --html and every other "
        "output; names, group labels and the telling words of topics stay. What compare --save "
        "keeps holds all texts: the two exclude each other.",
        rich_help_panel=OUTPUT,
    ),
]
Map = Annotated[
    str | None,
    typer.Option(
        "--map",
        metavar="|".join(MAPS),
        help="How the map of --html lays out the samples: by their principal axes (pca), or by "
        "neighbourhoods (umap, which needs the package umap-learn). [default: pca]",
        rich_help_panel=OUTPUT,
        autocompletion=complete(*MAPS),
    ),
]
Force = Annotated[
    bool,
    typer.Option(
        "--force",
        help="Replace files that are there already; by default they are refused before the work.",
        rich_help_panel=OUTPUT,
    ),
]

_KINDS = {
    "html": Html,
    "json": Json,
    "save": Save,
    "markdown": Markdown,
    "latex": Latex,
    "csv": Csv,
}
_PAGE: dict[str, tuple[Any, Any]] = {"redact": (Redact, False), "map": (Map, None)}
_ALWAYS: dict[str, tuple[Any, Any]] = {"force": (Force, False), "quiet": (Quiet, False)}


def with_outputs(
    *names: str, **worded: Any
) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """Give a command options for files in the place of its parameter `outputs`.

    Parameters
    ----------
    names
        Which ones, such as ``"json"``; ``--force`` and ``--quiet`` come with every choice, and
        with ``"html"`` also ``--redact`` and ``--map``.
    worded
        Options that the command words in its own way, by name: an annotated type, or a pair of
        it and the default.
    """
    own = {name: each if isinstance(each, tuple) else (each, None) for name, each in worded.items()}
    files = {name: own.get(name) or (_KINDS[name], None) for name in (*names, *own)}
    options = files | (_PAGE if "html" in names else {}) | _ALWAYS
    return lambda command: with_options(command, "outputs", options, _outputs)


def _outputs(given: dict[str, Any]) -> Outputs:
    """Take up what was given; files are written in the order of `FILES`."""
    return Outputs(
        {name: given[name] for name in FILES if given.get(name) is not None},
        force=given["force"],
        quiet=given["quiet"],
        redact=given.get("redact", False),
        layout=given.get("map"),
    )
