"""Summaries of Rényi frontiers: the area under the frontier, and F-scores.

The frontier is that of :mod:`calipers.curves.renyi` (Djolonga et al., AISTATS 2020) over raw counts
of the cells behind MAUVE, or over the likelihood ratios of any estimator. Of order infinity it is
the curve of PRD, on these cells; inclusive and of order 1 it is MAUVE's, without its scaling.

What it does not detect: differences within a cell. The area does not tell whether quality or
variety is lacking, and orders above 1 are at the mercy of a single cell.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from calipers.catalogue.estimation import EstimationOptions
from calipers.curves.renyi import RenyiFrontier
from calipers.metrics.reading import scored
from calipers.score import Score

if TYPE_CHECKING:
    from calipers.metrics.pair import Pair

READINGS: dict[str, Callable[[RenyiFrontier], float]] = {
    "renyi_area": lambda frontier: frontier.area(),
    "renyi_f8": lambda frontier: frontier.f_beta(8.0),
    "renyi_f1_8": lambda frontier: frontier.f_beta(1 / 8),
}
"""What is read off a Rényi frontier, by the name of its metric."""


def read_renyi_area(pair: Pair, options: EstimationOptions) -> Score:
    return _read("renyi_area", pair, options)


def read_renyi_f8(pair: Pair, options: EstimationOptions) -> Score:
    return _read("renyi_f8", pair, options)


def read_renyi_f1_8(pair: Pair, options: EstimationOptions) -> Score:
    return _read("renyi_f1_8", pair, options)


def _read(name: str, pair: Pair, options: EstimationOptions) -> Score:
    frontier = pair.curves.renyi(options)
    pins = {
        "order": options.order,
        "common": options.common,
        "points": len(frontier.precision),
        **pair.curves.pins(options),
    }
    return scored(name, READINGS[name](frontier), pins, options=options)
