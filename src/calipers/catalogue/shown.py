"""Which scores of a comparison are shown and tested by default."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from calipers.catalogue.embeddings import METRICS
from calipers.score import signature_pins

HEADLINE = tuple(metric.name for metric in METRICS.values() if metric.headline)
"""The metrics that a table shows unless others were asked for."""

UNRANKED = frozenset(metric.name for metric in METRICS.values() if not metric.ranked)
"""The metrics whose good values lie in the middle, so that none is the best in its column."""

TEXT = "text"
"""The view of statistics that need no embeddings; metrics of its names may mean others there."""

ELSEWHERE = (":group=", ":own=", ":train")
"""What the keys hold of scores that have tables of their own."""


def views_of(settings: Mapping[str, Any]) -> list[str]:
    """Return the names of the views in the settings of a comparison, the main one first."""
    return list(settings.get("views") or [""])


def chance_of(signature: str) -> float | None:
    """Return the score of indistinguishable sets; None where it is unknown."""
    name = signature_pins(signature).get("metric", "").partition(":")[0]
    return METRICS[name].chance if name in METRICS else None


def split_view(key: str, views: Sequence[str]) -> tuple[str, str]:
    """Split the view off a key; it is empty for a score of the main view."""
    view, dot, rest = key.partition(".")
    return (view, rest) if dot and view in views else ("", key)
