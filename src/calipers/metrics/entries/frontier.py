"""Entries of all that is read from a divergence frontier, and of the divergences themselves."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from math import inf, isinf, log
from typing import TYPE_CHECKING

from calipers.metrics.entries.metric import Metric
from calipers.metrics.entries.unseen import CELLS, by_estimator
from calipers.metrics.frontiers import STARRED, divergence_score, range_by, summary_score
from calipers.metrics.keys import COUNTING, USUAL, Axis, Options
from calipers.score import Score

if TYPE_CHECKING:
    from calipers.metrics.pair import Pair

Read = Callable[["Pair", Options], Score]

EVERYTHING: tuple[Axis, ...] = ("divergence", "estimator", "smoothing")
JMLR = "Pillutla et al., JMLR 2023"
FIGURE = "Le Bronnec et al., ACL 2024, figure A.4"
SIDE = "whether quality or variety is lacking"
SIDES = f"{SIDE}; {CELLS}"
HARDLY = "it hardly tells quality from variety; depends on c"
HARDLY_CELLS = f"differences within a cell; {HARDLY}"

_by_side = by_estimator(SIDES, before=SIDE)
_hardly = by_estimator(HARDLY_CELLS, after=HARDLY)


def _summary(name: str) -> Read:
    def read(pair: Pair, options: Options) -> Score:
        made, c = pair.curves, pair.curves.scaling(options.estimator)
        return summary_score(name, options, made.frontier(options), c=c, pins=made.pins(options))

    return read


def _divergence(pair: Pair, options: Options) -> Score:
    estimate, pins = pair.estimates.estimate(options), pair.curves.pins(options)
    return divergence_score("divergence", options, estimate, pins=pins)


def _beyond_divergence(options: Options) -> str:
    """Infinite are divergences without bound, where a sample may have no part in the other set."""
    bare = options.smoothing == "none" and options.estimator in (COUNTING, "knn")
    infinite = bare and isinf(range_by("divergence", options)[1])
    unseen = by_estimator(CELLS)(options)
    return f"{unseen}; where it is infinite, everything beyond that" if infinite else unseen


def _starred(metric: Metric, tells: str, equal: float) -> Metric:
    """The same metric with smoothed counts."""

    def read(pair: Pair, options: Options) -> Score:
        return metric.read(pair, replace(options, smoothing=STARRED))

    def blinded(options: Options) -> str:
        return metric.blind_of(replace(options, smoothing=STARRED))

    return replace(
        metric,
        name=f"{metric.name}_star",
        tells=tells,
        read=read,
        source=f"{metric.source}; smoothing: equation 9",
        blind=blinded(USUAL),
        blinded=blinded,
        takes=("divergence",),
        equal=equal,
    )


_MAUVE = Metric(
    name="mauve",
    family="frontier",
    by_block=True,
    tells="closeness of the two distributions, raw counts as in mauve-text",
    read=_summary("mauve"),
    source=f"{JMLR}, equation 5; for KL as mauve-text 0.4.0 on the same cells, but of two equal "
    "histograms, which score 1 here and 0.75 or 1 there",
    blind=SIDES,
    blinded=_by_side,
    takes=EVERYTHING,
    equal=1.0,
)
_INTEGRAL = Metric(
    name="frontier_integral",
    family="frontier",
    by_block=True,
    ranged=partial(range_by, "frontier_integral"),
    tells="average cost of explaining both sets by a mixture, raw counts",
    read=_summary("frontier_integral"),
    source=f"{JMLR}, equation 7",
    blind=SIDES,
    blinded=_by_side,
    takes=EVERYTHING,
    better="lower",
    equal=0.0,
)
_MIDPOINT = Metric(
    name="midpoint",
    family="frontier",
    by_block=True,
    ranged=partial(range_by, "midpoint"),
    tells="cost of explaining both sets by their even mixture, raw counts; Jensen-Shannon for KL",
    read=_summary("midpoint"),
    source=f"{JMLR}, equation 8",
    blind=SIDES,
    blinded=_by_side,
    on_request=True,
    takes=EVERYTHING,
    range=(0.0, log(2)),
    better="lower",
    equal=0.0,
)
_DIVERGENCE = Metric(
    name="divergence",
    family="frontier",
    by_block=True,
    ranged=partial(range_by, "divergence"),
    tells="f-divergence of the reference from the generated set, raw counts; KL is often infinite",
    read=_divergence,
    source=f"{JMLR}, definition 1 and table 1",
    blind=_beyond_divergence(USUAL),
    blinded=_beyond_divergence,
    on_request=True,
    takes=EVERYTHING,
    range=(0.0, inf),
    better="lower",
    equal=0.0,
)

ENTRIES = (
    _MAUVE,
    _starred(_MAUVE, "closeness of the two distributions, smoothed counts", 1.0),
    _INTEGRAL,
    _starred(_INTEGRAL, "average cost of explaining both sets by a mixture, smoothed counts", 0.0),
    _MIDPOINT,
    _starred(_MIDPOINT, "cost of explaining both sets by their even mixture, smoothed counts", 0.0),
    Metric(
        name="frontier_f8",
        family="frontier",
        by_block=True,
        tells="diversity, from the frontier as a precision-recall curve",
        read=_summary("frontier_f8"),
        source=FIGURE,
        blind=HARDLY_CELLS,
        blinded=_hardly,
        on_request=True,
        takes=EVERYTHING,
        equal=1.0,
    ),
    Metric(
        name="frontier_f1_8",
        family="frontier",
        by_block=True,
        tells="quality, from the frontier as a precision-recall curve",
        read=_summary("frontier_f1_8"),
        source=FIGURE,
        blind=HARDLY_CELLS,
        blinded=_hardly,
        on_request=True,
        takes=EVERYTHING,
        equal=1.0,
    ),
    _DIVERGENCE,
    _starred(
        _DIVERGENCE, "f-divergence of the reference from the generated set, smoothed counts", 0.0
    ),
)
