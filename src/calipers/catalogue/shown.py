"""Which scores of a comparison are shown, and tested, unless others were asked for."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from calipers.catalogue.embeddings import METRICS
from calipers.score import signature_pins

HEADLINE = tuple(metric.name for metric in METRICS.values() if metric.headline)
"""The metrics that a table shows unless others were asked for."""

UNRANKED = frozenset(metric.name for metric in METRICS.values() if not metric.ranked)
"""The metrics whose good values lie in the middle, so that none is the best in its column."""

ELSEWHERE = (":group=", ":own=", ":train")
"""What the keys hold of scores that have tables of their own."""
COUNTING = "quantisation"


@dataclass(frozen=True)
class ShownKey:
    """One score to show: the view and the metric that its key names."""

    view: str
    metric: str
    key: str


def views_of(settings: Mapping[str, Any]) -> list[str]:
    """Give the names of the views of a comparison, the main one first, by its settings."""
    return list(settings.get("views") or [""])


def shown_keys(
    keys: Iterable[str],
    views: Sequence[str],
    asked: Sequence[str] | None = None,
    estimator: str = COUNTING,
) -> list[ShownKey]:
    """Choose the scores to show: those that were asked for, else the headline, by every view.

    Parameters
    ----------
    keys
        Those of all scores, in their order.
    views
        The views of the embedder, the main one first.
    asked
        The metrics that were asked for, without views; None for none in particular.
    estimator
        What frontiers are estimated by where a key does not say.
    """
    known = list(dict.fromkeys(keys))
    names = _shown_names(known, views, asked, estimator)
    every = [
        ShownKey(view, metric, metric if place == 0 else f"{view}.{metric}")
        for place, view in enumerate(views)
        for metric in names
    ]
    return [shown for shown in every if shown.key in known]


def chance_of(signature: str) -> float | None:
    """Give what a score would be of sets that cannot be told apart; None where that is unknown."""
    name = signature_pins(signature).get("metric", "").partition(":")[0]
    return METRICS[name].chance if name in METRICS else None


def split_view(key: str, views: Sequence[str]) -> tuple[str, str]:
    """Take the view off a key; it is empty for a score of the main one."""
    view, dot, rest = key.partition(".")
    return (view, rest) if dot and view in views else ("", key)


def _shown_names(
    known: Sequence[str], views: Sequence[str], asked: Sequence[str] | None, estimator: str
) -> list[str]:
    """Give the keys to show without views; some scores have tables of their own."""
    if asked:
        return list(dict.fromkeys(split_view(key, views)[1] for key in asked))
    usual = [key for key in known if not any(option in key for option in ELSEWHERE)]
    present = list(dict.fromkeys(split_view(key, views)[1] for key in usual))
    headline = [_by_estimator(name, estimator) for name in HEADLINE]
    return [name for name in headline if name in present] or present


def _by_estimator(metric: str, estimator: str) -> str:
    """The key of a headline metric where frontiers are not read from counts of cells."""
    counted = estimator == COUNTING or not metric.endswith("_star")
    return metric if counted else f"{metric.removesuffix('_star')}:{estimator}"
