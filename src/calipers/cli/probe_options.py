"""The options of ``calipers probe`` alone, with the words of their help."""

from __future__ import annotations

from typing import Annotated

import typer

from calipers.cli.options import INPUT, MEASUREMENT, complete_metrics

CHANGES = (
    "word_shuffle",
    "word_swaps",
    "sentence_shuffle",
    "truncation",
    "lower_case",
    "typos",
    "repetition",
)


def _completed(incomplete: str) -> list[str]:
    """Offer changes, for the last of a list."""
    before, comma, last = incomplete.rpartition(",")
    return [f"{before}{comma}{name}" for name in CHANGES if name.startswith(last)]


Texts = Annotated[
    str,
    typer.Argument(
        metavar="TEXTS",
        help="Texts such as those that you will compare, best the reference. Kinds of files: see "
        "calipers compare --help.",
        rich_help_panel=INPUT,
        show_default=False,
    ),
]
MaxSamples = Annotated[
    str | None,
    typer.Option(metavar="N", help="Cut the set to N texts at most.", rich_help_panel=INPUT),
]
Changes = Annotated[
    list[str] | None,
    typer.Option(
        "--changes",
        metavar="LIST",
        help=f"What to change: {', '.join(CHANGES)}. May be repeated. By default all of them.",
        rich_help_panel=MEASUREMENT,
        autocompletion=_completed,
        show_default=False,
    ),
]
Metrics = Annotated[
    list[str] | None,
    typer.Option(
        "--metrics",
        metavar="LIST",
        help="What to score by: metrics between 0 and 1. May be repeated. By default mauve_star, "
        "precision, recall and classifier_auc.",
        rich_help_panel=MEASUREMENT,
        autocompletion=complete_metrics,
        show_default=False,
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
Seeds = Annotated[
    str,
    typer.Option(
        "--seeds",
        metavar="N",
        help="Random halvings; their spread is the noise that a change must pass.",
        rich_help_panel=MEASUREMENT,
    ),
]
