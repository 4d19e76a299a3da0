"""The arguments and options that ``calipers overlap`` words in its own way."""

from __future__ import annotations

from typing import Annotated

import typer

from calipers.cli.options import INPUT, MEASUREMENT

Systems = Annotated[
    list[str],
    typer.Argument(
        metavar="SYSTEM",
        help="Two or more systems: FILE, or NAME=GLOB, where several files of one name are the "
        "seeds of one system. Kinds of files: see calipers compare --help.",
        rich_help_panel=INPUT,
        show_default=False,
    ),
]
MaxSamples = Annotated[
    str | None,
    typer.Option(metavar="N", help="Cut every set to N samples at most.", rich_help_panel=INPUT),
]
KeepSizes = Annotated[
    bool,
    typer.Option(
        "--keep-sizes",
        help="Leave sets of different sizes as they are. By default all are cut to the smallest, "
        "because shares depend on size.",
        rich_help_panel=INPUT,
    ),
]
K = Annotated[
    str,
    typer.Option(
        "--k",
        metavar="N",
        help="Nearest neighbours that span the balls of a support.",
        rich_help_panel=MEASUREMENT,
    ),
]
