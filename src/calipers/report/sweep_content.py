"""A sweep as data ──► its curves in the order of reading, and the columns of its tables."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from calipers.report.content import ARROWS
from calipers.report.grid import Cell, Column
from calipers.report.names import UNRANKED, WIDEST_NAME, clean, label, shorten
from calipers.report.numbers import MISSING, number

Data = Mapping[str, Any]

ROUND = (1, 2, 3, 4, 5, 7, 10, 15, 20, 30)
MOST_ROWS = 16


@dataclass(frozen=True)
class Curve:
    """One curve as data, with the names to show beside it."""

    system: str
    view: str
    metric: str
    data: Data


def curves(data: Data) -> Iterator[Curve]:
    """Give every curve: by view, then by system, then by metric."""
    for index, view in enumerate(views(data)):
        for system in data.get("systems", ()):
            for metric in data["settings"]["metrics"]:
                key = metric if index == 0 else f"{view}.{metric}"
                if key in system["curves"]:
                    name = shorten(clean(system["name"]), WIDEST_NAME)
                    yield Curve(name, view, metric, system["curves"][key])


def views(data: Data) -> list[str]:
    """Give the names of the views, the main one first."""
    return list(data["settings"]["views"])


def swept_views(data: Data) -> list[str]:
    """Give the views that have curves."""
    return list(dict.fromkeys(curve.view for curve in curves(data)))


def value_column(data: Data) -> Column:
    """Give the first column: what was swept."""
    values = [data["settings"]["values"][row] for row in shown_rows(data)]
    return Column(data["settings"]["over"], tuple(Cell(str(value)) for value in values))


def curve_column(data: Data, curve: Curve) -> Column:
    """Give the column of one curve: its means, with deviations where there are any."""
    cells = tuple(Cell(_cell(curve.data, row)) for row in shown_rows(data))
    return Column(label(curve.metric) + _arrow(curve), cells, group=curve.system)


def shown_rows(data: Data) -> list[int]:
    """Choose the values that a table shows: all, or round ones with the first and the last."""
    values: Sequence[int] = data["settings"]["values"]
    every = list(range(len(values)))
    if len(values) <= MOST_ROWS:
        return every
    kept = [row for row in every if _is_round(values[row]) or row in (0, every[-1])]
    step = -(-len(values) // MOST_ROWS)
    return kept if len(kept) >= MOST_ROWS // 2 else sorted({*every[::step], every[-1]})


def value_text(curve: Data, row: int) -> str:
    """Write one mean; a dash where it is not defined."""
    value = curve["mean"][row]
    return MISSING if value is None else number(value, unit=_unit(curve))


def _cell(curve: Data, row: int) -> str:
    text, spread = value_text(curve, row), curve["deviation"]
    if text == MISSING or spread is None or spread[row] is None:
        return text
    return f"{text}±{_spread(spread[row], text)}"


def _spread(spread: float, mean: str) -> str:
    """Write a spread to the last digit of its mean, with the same power of ten."""
    digits, e, power = mean.partition("e")
    places = len(digits.partition(".")[2])
    return f"{spread / 10 ** int(power or 0):.{places}f}{e}{power}"


def _arrow(curve: Curve) -> str:
    if curve.metric in UNRANKED:
        return ""
    return ARROWS.get(curve.data["better"], "")


def _unit(curve: Data) -> bool:
    """Three decimals for shares, and for density, which is about one."""
    return curve["range"][0] == 0 and max(v or 0.0 for v in curve["mean"]) < 100


def _is_round(value: int) -> bool:
    while value > ROUND[-1] and value % 10 == 0:
        value //= 10
    return value in ROUND
