"""The catalogue as plain data: what a person should know of a metric before asking for it."""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import Any

from calipers.errors import InputError
from calipers.estimate.estimators import PAIRED_C
from calipers.metrics.catalogue import FAMILIES, Metric, choose, split_key
from calipers.metrics.frontiers import SUMMARIES
from calipers.metrics.keys import COUNTING, ESTIMATORS, USUAL, Axis, Options, vocabulary


def describe_all(names: Iterable[str] = ()) -> list[dict[str, Any]]:
    """Describe metrics: all of them, or those of families and keys by name.

    Raises
    ------
    InputError
        If a name is neither a family nor the key of a metric.
    """
    asked = list(names) or ["all"]
    for name in asked:
        view, metric, words = split_key(name)
        if view:
            key = ":".join((metric, *words))
            raise InputError(f"metrics are the same in every view: ask for {key!r}; found {name!r}")
    return [describe(choice.metric, choice.options) for choice in choose(asked, ())]


def describe(metric: Metric, options: Options = USUAL) -> dict[str, Any]:
    """Describe one metric as plain data, fit for strict JSON.

    Returns
    -------
    dict
        ``key``, ``family``, ``tells``, ``range`` (None for no bound), ``better``, ``equal`` (what a
        set scores against itself, where that is fixed; ``"inf"`` where it has no bound),
        ``default`` (whether it is measured unless others are asked for), ``options`` (the words
        that it takes, the usual one first), ``c`` (the scaling constant that goes with each
        estimator, where the metric has one), ``needs`` (an extra of Calipers, with
        ``needs_if_unequal`` only for sets of different size), ``source``, ``blind`` (what it does
        not detect).
    """
    return {
        "key": options.key(metric.name),
        "family": metric.family,
        "tells": _tells(metric, options),
        "range": [_number(bound) for bound in metric.range_of(options)],
        "better": metric.better,
        "equal": _equal(metric, options),
        "default": not metric.on_request and options == USUAL,
        "options": {axis: words(axis) for axis in metric.takes},
        "c": {name: PAIRED_C[name] for name in ESTIMATORS} if _is_scaled(metric) else None,
        "needs": None if metric.extra is None else f"calipers[{metric.extra}]",
        "needs_if_unequal": metric.extra_if_unequal,
        "source": metric.source,
        "blind": metric.blind_of(options),
    }


def words(axis: Axis) -> list[str]:
    """The words of an option, the usual one first; a weight stands for any in (0, 1)."""
    return list(vocabulary(axis))


def questions() -> dict[str, str]:
    """Families by name, each with the question that it answers."""
    return {str(name): question for name, question in FAMILIES.items()}


def stands_for_many(name: str) -> bool:
    """Whether a name asks for a family, with options or without, or for all."""
    base = split_key(name)[1]
    return base == "all" or (base in FAMILIES and not name.endswith(":"))


def _tells(metric: Metric, options: Options) -> str:
    """One line on the metric; counts and cells are spoken of where it takes the usual ones."""
    if (options.estimator, options.smoothing) == (USUAL.estimator, USUAL.smoothing):
        return metric.tells
    tells = metric.tells.partition(", raw counts")[0]
    if options.estimator != COUNTING:
        tells = tells.replace(" over 20 cells", "").replace("in cells that", "in what")
    return tells.removesuffix(",")


def _equal(metric: Metric, options: Options) -> float | str | None:
    """What a set scores against itself; estimated ratios leave that open."""
    if options.estimator != COUNTING or metric.equal is None:
        return None
    return "inf" if metric.equal == math.inf else metric.equal


def _is_scaled(metric: Metric) -> bool:
    summary = SUMMARIES.get(metric.name.removesuffix("_star"))
    return summary is not None and summary.scaled


def _number(value: float) -> float | None:
    return value if math.isfinite(value) else None
