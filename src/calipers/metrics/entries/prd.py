"""Entries of what is read from the precision-recall curve."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from calipers.metrics.entries.metric import Metric
from calipers.metrics.entries.unseen import by_estimator
from calipers.metrics.keys import Axis, Options
from calipers.metrics.prd import curve_score
from calipers.score import Score

if TYPE_CHECKING:
    from calipers.metrics.pair import Pair

TAKES: tuple[Axis, ...] = ("estimator",)
SAJJADI = "Sajjadi et al., NeurIPS 2018"
CELLS = "differences within a cell, of which there are 20; values follow the cells"
OFTEN = "how often the {} makes what it reaches"


def _from_curve(name: str) -> Callable[[Pair, Options], Score]:
    def read(pair: Pair, options: Options) -> Score:
        curve = pair.curves.trade_off(options.estimator)
        return curve_score(name, options, curve, pins=pair.curves.trade_off_pins(options.estimator))

    return read


ENTRIES = (
    Metric(
        name="prd_f8",
        family="prd",
        by_block=True,
        tells="diversity, from the precision-recall curve over 20 cells",
        read=_from_curve("prd_f8"),
        source=f"{SAJJADI}, section 4.1",
        blind=CELLS,
        blinded=by_estimator(CELLS),
        takes=TAKES,
        equal=1.0,
    ),
    Metric(
        name="prd_f1_8",
        family="prd",
        by_block=True,
        tells="quality, from the precision-recall curve over 20 cells",
        read=_from_curve("prd_f1_8"),
        source=f"{SAJJADI}, section 4.1",
        blind=CELLS,
        blinded=by_estimator(CELLS),
        takes=TAKES,
        equal=1.0,
    ),
    Metric(
        name="max_precision",
        family="prd",
        by_block=True,
        tells="share of the generated set in cells that the reference reaches: quality",
        read=_from_curve("max_precision"),
        source=f"{SAJJADI}, theorem 1; α∞ of Le Bronnec et al., ACL 2024",
        blind=(cells := f"{CELLS}; how much of the reference lies in a cell"),
        blinded=by_estimator(cells, after=OFTEN.format("reference")),
        on_request=True,
        takes=TAKES,
        equal=1.0,
    ),
    Metric(
        name="max_recall",
        family="prd",
        by_block=True,
        tells="share of the reference in cells that the generated set reaches: diversity",
        read=_from_curve("max_recall"),
        source=f"{SAJJADI}, theorem 1; β₀ of Le Bronnec et al., ACL 2024",
        blind=(cells := f"{CELLS}; how much of the generated set lies in a cell"),
        blinded=by_estimator(cells, after=OFTEN.format("generated set")),
        on_request=True,
        takes=TAKES,
        equal=1.0,
    ),
    Metric(
        name="total_variation",
        family="prd",
        by_block=True,
        tells="largest difference in the probability of any event, over 20 cells",
        read=_from_curve("total_variation"),
        source=f"{SAJJADI}, theorem 2, at slope 1: 1 - α(1)",
        blind=CELLS,
        blinded=by_estimator(CELLS),
        on_request=True,
        takes=TAKES,
        better="lower",
        equal=0.0,
    ),
)
