"""The options of ``calipers agree`` alone, with the words of their help, and how they are read."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated

import typer

from calipers.catalogue.shown import HEADLINE
from calipers.cli.embedder_options import NAMED
from calipers.cli.options import EMBEDDING, MEASUREMENT, complete_metrics
from calipers.errors import InputError


def _completed(incomplete: str) -> list[str]:
    """Offer names of embedders, for the last of a list."""
    before, comma, last = incomplete.rpartition(",")
    return [f"{before}{comma}{name}" for name in NAMED[:-1] if name.startswith(last)]


Embedders = Annotated[
    list[str],
    typer.Option(
        "--embedders",
        metavar="LIST",
        help="The embedders, with commas between them: minilm,tfidf,./gpt2. What each may be: "
        "--embedder in calipers compare --help. Options of one follow its name, "
        "./gpt2:layer=6:pooling=mean; the options below hold for all. May be repeated.",
        rich_help_panel=EMBEDDING,
        autocompletion=_completed,
        show_default=False,
    ),
]
Metrics = Annotated[
    list[str] | None,
    typer.Option(
        "--metrics",
        metavar="LIST",
        help="What to measure: metrics such as precision,mauve_star:chi2, a family, or all, each "
        "by every view of every embedder. May be repeated. By default "
        f"{', '.join(HEADLINE[:-1])} and {HEADLINE[-1]}; calipers metrics lists them.",
        rich_help_panel=MEASUREMENT,
        autocompletion=complete_metrics,
        show_default=False,
    ),
]


def read_embedders(lists: Sequence[str]) -> list[str]:
    """Read ``--embedders``, given once or often, each time one or several with commas."""
    lines = [line.strip() for each in lists for line in each.split(",")]
    if not all(lines):
        raise InputError(
            f"--embedders must be names with commas between them; found {', '.join(lists)!r}"
        )
    return lines
