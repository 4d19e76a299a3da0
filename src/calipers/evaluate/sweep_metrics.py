"""Which metrics can be swept, and how a person names them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping

from calipers.catalogue.choosing import Choice, check_keys, choose
from calipers.catalogue.embeddings import FAMILIES, METRICS
from calipers.catalogue.keys import split_key
from calipers.errors import InputError, unknown_name
from calipers.estimate.knn.neighbourhoods import Neighbourhoods
from calipers.metrics.knn_support import (
    coverage_score,
    density_score,
    precision_score,
    recall_score,
)
from calipers.metrics.robust import clipped_coverage_score
from calipers.results.sweep import Over
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
) -> dict[str, list[Choice]]:
    """Turn keys ``[view.]metric[:option…]`` into metrics by view; a plain name means every view.

    Raises
    ------
    InputError
        If a view or metric is unknown, or k is swept and the metric is not in `BY_K`.
    """
    check_keys(names)
    if isinstance(names, str):
        names = names.replace(",", " ").split()
    names = list(names)
    if over == "k":
        names = [key for name in names for key in _read_from_balls(str(name), views)]
    choices = choose(names, views)
    chosen = {
        view: {choice.name: choice for choice in choices if choice.view in (None, view)}
        for view in views
    }
    return {view: list(found.values()) for view, found in chosen.items() if found}


def _read_from_balls(name: str, views: tuple[str, ...]) -> list[str]:
    """The key itself, or those that all stands for; refused where no ball of any k tells it."""
    view, metric, words = split_key(name)
    if view and view not in views:
        raise unknown_name("view", view, views)
    if metric == "all":
        return [f"{view}.{each}" if view else each for each in BY_K]
    if metric in (*METRICS, *FAMILIES) and (metric not in BY_K or words):
        raise InputError(
            f"metric {':'.join((metric, *words))!r} is not read from balls of any k; "
            f"a sweep over k knows {', '.join(BY_K)}"
        )
    if metric not in BY_K:
        raise unknown_name("metric", metric, [*BY_K, "all"])
    return [name]
