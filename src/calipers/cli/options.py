"""The options that several commands share, and the words of their help."""

from __future__ import annotations

from typing import Annotated

import typer

INPUT = "Input"
MEASUREMENT = "Measurement"
CERTAINTY = "How sure"
EMBEDDING = "Embedding"
OUTPUT = "Output"

Details = Annotated[
    bool,
    typer.Option(
        "--details",
        help="Show how far every pair of systems is apart, score by score, with intervals and "
        "p-values.",
        rich_help_panel=OUTPUT,
    ),
]
Quiet = Annotated[
    bool,
    typer.Option(
        "--quiet",
        "-q",
        help="Nothing but errors on standard error: no progress, no warnings, no list of what "
        "was written.",
        rich_help_panel=OUTPUT,
    ),
]
Seed = Annotated[
    str,
    typer.Option(
        "--seed", metavar="N", help="Decides every random step.", rich_help_panel=MEASUREMENT
    ),
]


def complete(*values: str):  # type: ignore[no-untyped-def]
    """Make a completion for the shell that offers some values."""

    def offer(incomplete: str) -> list[str]:
        return [value for value in values if value.startswith(incomplete)]

    return offer


def complete_metrics(incomplete: str) -> list[str]:
    """Offer metrics and families, for the last of a list; after a colon, options."""
    from calipers.catalogue.embeddings import FAMILIES, METRICS
    from calipers.report.names import LABELS

    before, comma, last = incomplete.rpartition(",")
    head, colon, _ = last.rpartition(":")
    words = [f"{head}:{word}" for word in LABELS] if colon else ["all", *FAMILIES, *METRICS]
    offered = dict.fromkeys(word for word in words if word.startswith(last))
    return [f"{before}{comma}{word}" for word in offered]
