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


def views_of(data: Mapping[str, Any]) -> list[str]:
    """Give the names of the views of a comparison, the main one first."""
    return list(data.get("settings", {}).get("views") or [""])


def shown_keys(data: Mapping[str, Any]) -> list[ShownKey]:
    """Choose the scores to show: those that were asked for, else the headline, by every view.

    Parameters
    ----------
    data
        What ``Comparison.to_dict()`` gives; its settings and the keys of its scores are read.
    """
    known, views = _all_keys(data), views_of(data)
    names = _shown_names(data, known)
    found = [
        ShownKey(view, metric, metric if place == 0 else f"{view}.{metric}")
        for place, view in enumerate(views)
        for metric in names
    ]
    return [shown for shown in found if shown.key in known]


def chance_of(score: Mapping[str, Any]) -> float | None:
    """Give what a score would be of sets that cannot be told apart; None where that is unknown."""
    name = signature_pins(score.get("signature") or "").get("metric", "").partition(":")[0]
    return METRICS[name].chance if name in METRICS else None


def shown_among(
    keys: Iterable[str], views: Sequence[str], asked: Sequence[str] | None, estimator: str
) -> list[str]:
    """Choose the keys that will be shown among those that are to be measured.

    Parameters
    ----------
    keys
        What is to be measured.
    views
        The views of the embedder, the main one first.
    asked
        The metrics that were asked for, without views; None for none in particular.
    estimator
        What frontiers are estimated by where a key does not say.
    """
    settings = {"views": list(views), "metrics_shown": asked, "estimator": estimator}
    scores = dict.fromkeys(keys, True)
    found = shown_keys({"settings": settings, "systems": [{"scores": scores}]})
    return [shown.key for shown in found]


def split_view(data: Mapping[str, Any], key: str) -> tuple[str, str]:
    """Take the view off a key; it is empty for a score of the main one."""
    view, dot, rest = key.partition(".")
    return (view, rest) if dot and view in views_of(data) else ("", key)


def _shown_names(data: Mapping[str, Any], known: Mapping[str, None]) -> list[str]:
    """Give the keys to show without views; some scores have tables of their own."""
    asked = data.get("settings", {}).get("metrics_shown")
    if asked:
        return list(dict.fromkeys(split_view(data, key)[1] for key in asked))
    usual = [key for key in known if not any(option in key for option in ELSEWHERE)]
    present = list(dict.fromkeys(split_view(data, key)[1] for key in usual))
    headline = [_by_estimator(data, name) for name in HEADLINE]
    return [name for name in headline if name in present] or present


def _by_estimator(data: Mapping[str, Any], metric: str) -> str:
    """The key of a headline metric where frontiers are not read from counts of cells."""
    estimator = data.get("settings", {}).get("estimator", COUNTING)
    counted = estimator == COUNTING or not metric.endswith("_star")
    return metric if counted else f"{metric.removesuffix('_star')}:{estimator}"


def _all_keys(data: Mapping[str, Any]) -> dict[str, None]:
    """The keys of all scores of all systems, in their order."""
    systems = data.get("systems", ())
    return dict.fromkeys(key for each in systems for key, s in each.get("scores", {}).items() if s)
