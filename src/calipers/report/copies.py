"""Copies of the training set ──► columns: what every system repeats, below what is normal."""

from __future__ import annotations

from collections.abc import Sequence

from calipers.report.content import REFERENCE, Data, views
from calipers.report.grid import Cell, Column
from calipers.report.layout import Grid, packed
from calipers.report.names import clean, shorten
from calipers.report.numbers import size_text
from calipers.report.uncertain_numbers import sure_text

WIDEST_LABEL = 24
HEADERS = {"near_copies:train": "Near copies↓", "authenticity:train": "Authentic"}


def heading(data: Data) -> str:
    """Name the training set."""
    train = data["train"]
    return f"Copies of the training set: {clean(train['name'])}, n = {size_text(train)}"


def copy_grids(data: Data, *, width: int) -> list[Grid]:
    """Lay the scores out; the reference comes first, as what is normal."""
    rows = [data["reference"], *data.get("systems", ())]
    names = (REFERENCE, *(shorten(clean(row["name"]), WIDEST_LABEL) for row in rows[1:]))
    styles = ("dim", *("" for _ in rows[1:]))
    cells = tuple(Cell(name, style) for name, style in zip(names, styles, strict=True))
    runs = [_run(rows, view, main=place == 0) for place, view in enumerate(views(data))]
    lead = [Column("system", cells, right=False)]
    return packed(lead, [run for run in runs if run], width=width)


def _run(rows: Sequence[Data], view: str, *, main: bool) -> tuple[Column, ...]:
    columns = []
    for key, header in HEADERS.items():
        full = key if main else f"{view}.{key}"
        scores = [row.get("scores", {}).get(full) for row in rows]
        if any(scores):
            cells = tuple(Cell(sure_text(score)) for score in scores)
            columns.append(Column(header, cells, group=clean(view)))
    return tuple(columns)


def caption() -> str:
    """Say how to read the block."""
    return (
        "Near copies: share of samples as close to a training sample as the closest 1 % of the "
        "training samples are to each other. Authentic: share that is further from its nearest "
        "training sample than that one is from its own nearest. The reference, which no model "
        "wrote, tells what is normal."
    )
