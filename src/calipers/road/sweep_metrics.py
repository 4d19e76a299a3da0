"""Which metrics can be swept, and how a person names them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping

from calipers.comparison.sweep import Over
from calipers.errors import InputError, unknown_name
from calipers.estimate.neighbourhoods import Neighbourhoods
from calipers.metrics.catalogue import METRICS, check_keys
from calipers.metrics.clipped import clipped_coverage_score
from calipers.metrics.support import coverage_score, density_score, precision_score, recall_score
from calipers.score import Score

BY_K: Mapping[str, Callable[[Neighbourhoods, int], Score]] = {
    "precision": precision_score,
    "recall": recall_score,
    "density": density_score,
    "coverage": coverage_score,
    "clipped_coverage": clipped_coverage_score,
}
"""The metrics that one pass over the distances gives for every k."""


def choose_metrics(
    names: str | Iterable[str], views: tuple[str, ...], over: Over
) -> dict[str, list[str]]:
    """Turn keys ``[view.]metric`` into metrics by view; a plain name means every view.

    Raises
    ------
    InputError
        If a view or metric is unknown, or k is swept and the metric is not in `BY_K`.
    """
    check_keys(names)
    if isinstance(names, str):
        names = names.replace(",", " ").split()
    chosen: dict[str, list[str]] = {view: [] for view in views}
    for name in names:
        view, _, metric = str(name).rpartition(".")
        if view and view not in views:
            raise unknown_name("view", view, views)
        for each in [view] if view else views:
            chosen[each] += [m for m in _expand(metric, over) if m not in chosen[each]]
    if not any(chosen.values()):
        raise InputError("metrics must name at least one metric; found none")
    return {view: metrics for view, metrics in chosen.items() if metrics}


def _expand(metric: str, over: Over) -> list[str]:
    known = list(BY_K if over == "k" else METRICS)
    if metric == "all":
        return known
    if metric in METRICS and metric not in known:
        raise InputError(
            f"metric {metric!r} is not read from balls of any k; "
            f"a sweep over k knows {', '.join(known)}"
        )
    if metric not in known:
        raise unknown_name("metric", metric, [*known, "all"])
    return [metric]
