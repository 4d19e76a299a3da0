"""How metrics correlate with one another: the matrix of a ranking as columns of a table."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from calipers.report.grid import Cell, Column, total_width
from calipers.report.names import clean
from calipers.report.numbers import MISSING
from calipers.report.rank_content import Data, two


def matrix_shown(data: Data) -> bool:
    """Whether the table holds the matrix: where it was asked for, or there is nothing else."""
    return len(data["matrix"]["names"]) > 1 and (
        bool(data["settings"].get("matrix")) or not data["truths"]
    )


def matrix_title(data: Data) -> str:
    """Say what the matrix holds."""
    kind = str(data["matrix"]["kind"]).capitalize()
    return f"{kind} correlation of values as measured, over {len(data['systems'])} systems"


def matrix_columns(data: Data, width: int) -> tuple[Column, list[Column]]:
    """Give the names of the rows, and a column for each of them.

    Columns have names, or numbers where the names would not fit in `width`.
    """
    names = [clean(name) for name in data["matrix"]["names"]]
    lead = Column("", tuple(map(Cell, names)), right=False)
    columns = _columns(data, names)
    if total_width([lead, *columns], 2) <= width:
        return lead, columns
    digits = len(str(len(names)))
    numbered = [f"{place:>{digits}} {name}" for place, name in enumerate(names, 1)]
    headers = [str(place) for place in range(1, len(names) + 1)]
    return replace(lead, cells=tuple(map(Cell, numbered))), _columns(data, headers)


def _columns(data: Data, headers: Sequence[str]) -> list[Column]:
    rows = data["matrix"]["values"]
    return [
        Column(
            header,
            tuple(
                Cell(MISSING if row[j] is None else two(row[j]), "dim" if i == j else "")
                for i, row in enumerate(rows)
            ),
        )
        for j, header in enumerate(headers)
    ]
