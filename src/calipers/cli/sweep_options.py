"""The options of ``calipers sweep`` alone, with the words of their help, and how they are read."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Annotated, Literal

import typer

from calipers.cli.checks import whole
from calipers.cli.options import INPUT, MEASUREMENT, OUTPUT, complete, complete_metrics
from calipers.errors import InputError

OVER: Sequence[Literal["k", "n"]] = ("k", "n")
METRICS = ("precision", "recall", "density", "coverage")
MOST_VALUES = 10_000

Over = Annotated[
    str,
    typer.Option(
        "--over",
        metavar="k|n",
        help="What to change: k, the neighbours that span a ball, or n, the number of samples "
        "on each side.",
        rich_help_panel=MEASUREMENT,
        autocompletion=complete(*OVER),
        show_default=False,
    ),
]
Values = Annotated[
    str | None,
    typer.Option(
        metavar="LIST",
        help="The values to visit, such as 1-10,15,20. By default k goes from 1 to 30, and n from "
        "100 to all samples, two values for each doubling.",
        rich_help_panel=MEASUREMENT,
    ),
]
Metrics = Annotated[
    list[str] | None,
    typer.Option(
        "--metrics",
        metavar="LIST",
        help="What to measure: over n whatever calipers metrics lists, over k precision, recall, "
        "density, coverage, clipped_coverage. form.precision asks for one view, precision for "
        "every view. By default precision, recall, density and coverage.",
        rich_help_panel=MEASUREMENT,
        autocompletion=complete_metrics,
        show_default=False,
    ),
]
K = Annotated[
    str | None,
    typer.Option(
        "--k",
        metavar="N",
        help="With --over n: nearest neighbours that span a ball. [default: 4]",
        rich_help_panel=MEASUREMENT,
    ),
]
Seeds = Annotated[
    str | None,
    typer.Option(
        metavar="N",
        help="With --over n: random orders of the samples, in which each larger subsample "
        "contains the smaller ones. [default: 5]",
        rich_help_panel=MEASUREMENT,
    ),
]
MaxSamples = Annotated[
    str | None,
    typer.Option(
        metavar="N",
        help="Cut every set to N samples at most, the reference too.",
        rich_help_panel=INPUT,
    ),
]
Plot = Annotated[
    str | None,
    typer.Option(
        "--plot",
        metavar="FILE",
        help="Draw the curves with their bands, as .png, .pdf or .svg.",
        rich_help_panel=OUTPUT,
    ),
]


def read_values(text: str | None) -> tuple[int, ...] | None:
    """Read ``--values``: whole numbers and ranges, such as ``1-10,15,20``."""
    if text is None:
        return None
    parts = [part for part in re.split(r"[,\s]+", text) if part]
    values = [value for part in parts for value in _range(part, text)]
    if len(set(values)) < 2:
        raise InputError(f"--values must list at least two different numbers; found {text!r}")
    return tuple(sorted(set(values)))


def only_over_n(option: str, text: str | None, over: str, *, default: int) -> int:
    """Read a number that has a meaning only where the number of samples is swept."""
    if text is None:
        return default
    if over == "k":
        why = "--values says which k to visit" if option == "--k" else "--over k draws no samples"
        raise InputError(f"{option} goes with --over n alone; {why}")
    return whole(option, text, least=1)


def _range(part: str, text: str) -> range:
    found = re.fullmatch(r"([0-9]{1,18})(?:-([0-9]{1,18}))?", part)
    first, last = (int(found[1]), int(found[2] or found[1])) if found else (0, 0)
    if first < 1 or last < 1:
        rule = "must list whole numbers of at least 1 and ranges such as 1-10"
    elif last < first:
        rule = f"must name the smaller end of a range first, as in {last}-{first}"
    elif last - first >= MOST_VALUES:
        rule = f"can list at most {MOST_VALUES:,} values; name some of them, as 100,1000,10000"
    else:
        return range(first, last + 1)
    raise InputError(f"--values {rule}; found {part!r} in {text!r}")
