"""The noise floor ──► a block: two halves of the reference, and below them the systems beside.

It stands apart from the scores of the full sets: only numbers of one size may be compared.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import groupby

from calipers.report.content import Data, Metric, scores_of, writer
from calipers.report.grid import Cell, Column
from calipers.report.layout import arrange
from calipers.report.names import clean
from calipers.report.numbers import MISSING
from calipers.report.uncertain_block import Block, short, spoken_all
from calipers.report.uncertain_marks import ALIKE
from calipers.report.uncertain_numbers import PLUS_MINUS, half_text
from calipers.report.wrapping import FIXED
from calipers.score import WIDTH

FLOOR = "floor"
Row = tuple[Cell, Cell, tuple[Cell, ...]]


def floor_block(data: Data, metrics: Sequence[Metric], width: int, *, plain: bool) -> Block | None:
    """Lay out the floor of every size, and the systems at that size; None without any."""
    shown = [metric for metric in metrics if any(map(_floor, scores_of(data, metric)))]
    if not shown:
        return None
    rows = list(_rows(data, shown))
    lead = [
        Column("system", tuple(row[0] for row in rows), right=False),
        Column("n", tuple(row[1] for row in rows)),
    ]
    columns = [
        Column(metric.header, tuple(row[2][place] for row in rows), group=clean(metric.view))
        for place, metric in enumerate(shown)
    ]
    grids = arrange(lead, columns, width=width, labelled=plain)
    return Block(
        "Noise floor: the reference against itself",
        grids,
        list(_inside(data, shown, width)),
        _caption(data, shown),
    )


def _rows(data: Data, metrics: Sequence[Metric]) -> Iterator[Row]:
    """Give for each size the row of the floor, then those of the systems."""
    texts = [_floor_texts(data, metrics, row) for row in range(len(data["systems"]))]
    room = max(len(cell.partition(PLUS_MINUS)[2]) for each in texts for cell in each) + 1
    held = sorted((row for row, each in enumerate(texts) if any(each)), key=lambda r: texts[r])
    for floor, members in groupby(held, key=lambda row: texts[row]):
        systems = sorted(members)
        size = _size(data, metrics, systems[0])
        cells = tuple(Cell(_padded(text, room), "dim") for text in floor)
        yield Cell(FLOOR, "dim"), Cell(f"2x{size}", "dim"), cells
        for row in systems:
            name = Cell(clean(data["systems"][row]["name"]))
            yield name, Cell(str(size)), tuple(_beside(data, each, row, room) for each in metrics)


def _floor_texts(data: Data, metrics: Sequence[Metric], row: int) -> tuple[str, ...]:
    """Write the floors beside one system; empty where there is none."""
    return tuple(floor_text(scores_of(data, metric)[row], metric) for metric in metrics)


def floor_text(score: Data | None, metric: Metric) -> str:
    """Write the floor beside a score, and its spread; empty where there is none."""
    floor = _floor(score)
    if score is None or floor is None:
        return ""
    text = writer(metric)({**score, "value": floor["value"]})
    spread = floor["spread"]
    return text + ("" if spread is None else half_text(spread, text))


def _padded(text: str, room: int) -> str:
    value, sign, spread = text.partition(PLUS_MINUS)
    return (value or MISSING) + (sign + spread).ljust(room)


def _beside(data: Data, metric: Metric, row: int, room: int) -> Cell:
    score = scores_of(data, metric)[row]
    floor = _floor(score)
    if score is None or floor is None:
        return Cell(MISSING + " " * room)
    text = writer(metric)({**score, "value": floor["beside"]})
    return Cell(text + (ALIKE if floor["inside"] else "").ljust(room))


def _inside(data: Data, metrics: Sequence[Metric], width: int) -> Iterator[str]:
    """Say by which scores a system is as good as two halves of the reference."""
    told: dict[str, list[str]] = {}
    for row, system in enumerate(data["systems"]):
        inside = [metric for metric in metrics if _is_inside(data, metric, row)]
        names = spoken_all(data, [(metric.label, metric) for metric in inside])
        if inside:
            words = f"all {len(inside)} scores" if len(inside) == len(metrics) > 1 else names
            told.setdefault(words, []).append(short(system["name"], width))
    for words, systems in told.items():
        yield f"{', '.join(systems)}: as good as this measurement can tell by {words}"


def _is_inside(data: Data, metric: Metric, row: int) -> bool:
    floor = _floor(scores_of(data, metric)[row])
    return bool(floor and floor["inside"])


def _caption(data: Data, metrics: Sequence[Metric]) -> str:
    floors = [
        floor for metric in metrics for floor in map(_floor, scores_of(data, metric)) if floor
    ]
    splits = " or ".join(map(str, sorted({floor["splits"] for floor in floors})))
    alike = any(floor["inside"] for floor in floors)
    mark = f" {ALIKE}{FIXED}{_reach(floors)}." if alike else ""
    return (
        f"{FLOOR}: one half of the reference against the other (mean ± standard deviation over "
        f"{splits} splits); below it, as many samples of each system against a half. Compare "
        f"within this block only: scores change with the number of samples.{mark}"
    )


def _reach(floors: Sequence[Data]) -> str:
    """Say how near the floor a system must be."""
    if any(floor.get("margin") is not None for floor in floors):
        return "as near to the floor as equal distributions are in 19 of 20 runs"
    return f"within {WIDTH:g} standard deviations of the floor"


def _floor(score: Data | None) -> Data | None:
    return (score or {}).get("floor")


def _size(data: Data, metrics: Sequence[Metric], row: int) -> object:
    floors = [_floor(scores_of(data, metric)[row]) for metric in metrics]
    return next(floor["size"] for floor in floors if floor)
