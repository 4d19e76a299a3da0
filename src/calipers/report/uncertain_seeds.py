"""Several seed files of one system ──► a block: mean and standard deviation, as in papers."""

from __future__ import annotations

from collections.abc import Sequence

from calipers.report.content import Data, Metric, writer
from calipers.report.grid import Cell, Column
from calipers.report.layout import arrange
from calipers.report.names import clean
from calipers.report.numbers import MISSING
from calipers.report.uncertain_block import Block
from calipers.report.uncertain_numbers import half_text


def seeds_block(data: Data, metrics: Sequence[Metric], width: int, *, plain: bool) -> Block | None:
    """Lay out the spread over the files of each system that has several; None without any."""
    systems = [each for each in data.get("systems", ()) if len(each.get("seeds") or ()) > 1]
    shown = [
        metric for metric in metrics if any(_spread(each, metric) is not None for each in systems)
    ]
    if not shown:
        return None
    names = tuple(Cell(clean(each["name"])) for each in systems)
    files = tuple(Cell(str(len(each["seeds"]))) for each in systems)
    lead = [Column("system", names, right=False), Column("files", files)]
    columns = [
        Column(metric.header, tuple(_cell(each, metric) for each in systems), clean(metric.view))
        for metric in shown
    ]
    grids = arrange(lead, columns, width=width, labelled=plain)
    return Block("Over the seed files: mean ± standard deviation", grids)


def _cell(system: Data, metric: Metric) -> Cell:
    score = system.get("scores", {}).get(metric.key)
    text = writer(metric)(score)
    spread = _spread(system, metric)
    return Cell(text if spread is None else text + half_text(spread, text))


def _spread(system: Data, metric: Metric) -> float | None:
    score = system.get("scores", {}).get(metric.key)
    return None if score is None or writer(metric)(score) == MISSING else score.get("seeds_sd")
