"""Report data ──► the systems as points in the plane of two scores, with their errors."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import isfinite
from typing import Any

from calipers.errors import InputError, unknown_name
from calipers.report.plots.choosing import prefix, scores_of, system_names, views_of
from calipers.report.plots.curves_content import Data, level_of, shown_names
from calipers.report.plots.ellipse import Extent, error_ellipse

Interval = tuple[float, float]


@dataclass(frozen=True)
class Place:
    """A system in the plane.

    Attributes
    ----------
    index
        Its place among all systems of the run.
    name
        What it is called, fit to be drawn.
    x, y
        Its two scores.
    ellipse
        Where the two are to be sought; None where the correlation of their errors is unknown.
    x_interval, y_interval
        Their confidence intervals; None where not known.
    """

    index: int
    name: str
    x: float
    y: float
    ellipse: Extent | None
    x_interval: Interval | None
    y_interval: Interval | None


@dataclass(frozen=True)
class Floor:
    """What two halves of the reference score against each other: middle and spread, x then y."""

    middle: tuple[float, float]
    spread: tuple[float, float] | None
    size: int | None


def places(data: Data, view: str, x: str, y: str) -> list[Place]:
    """Give the systems that have both scores in a view."""
    shown, level = shown_names(data), level_of(data)
    found = []
    for i, name in enumerate(system_names(data)):
        first, second = _pair(data, view, name, x, y)
        if _is_number(first.get("value")) and _is_number(second.get("value")):
            errors = first.get("standard_error"), second.get("standard_error")
            ellipse = error_ellipse(*errors, _correlation(data, view, name, x, y), level=level)
            both = first["value"], second["value"]
            found.append(Place(i, shown[i], *both, ellipse, _interval(first), _interval(second)))
    return found


def floors(data: Data, view: str, x: str, y: str) -> list[Floor]:
    """Give the different noise floors of the systems that are drawn."""
    pairs = (_pair(data, view, name, x, y) for name in system_names(data))
    return list(dict.fromkeys(floor for floor in map(_floor, pairs) if floor is not None))


def views_with_scores(data: Data, x: str, y: str) -> list[str]:
    """Give the views in which any system has both scores, defined or not.

    Raises
    ------
    InputError
        If no system has one of them in any view: names those that there are, or the metric.
    """
    for key in (x, y):
        _check_score(data, key)
    views = views_of(data)
    return [
        view for view in views if any(all(_pair(data, view, s, x, y)) for s in system_names(data))
    ]


def missing_scores(data: Data, view: str | None, x: str, y: str) -> InputError:
    """Say that no system has both scores."""
    where = "" if view is None else f" by {view}"
    return InputError(f"no system has both {x!r} and {y!r}{where}: ask for these metrics")


def ends_of(data: Data, view: str, key: str) -> tuple[float | None, float | None]:
    """Give the smallest and the largest value that a score can take."""
    scores = (scores_of(data, name).get(prefix(data, view) + key) for name in system_names(data))
    low, high = next((score["range"] for score in scores if score), (None, None))
    return low, high


def _check_score(data: Data, key: str) -> None:
    """Refuse a score that no system has in any view."""
    before = [prefix(data, view) for view in views_of(data)]
    found = {score for name in system_names(data) for score in scores_of(data, name)}
    if not any(f"{each}{key}" in found for each in before):
        bare = [score for score in found if not any(e and score.startswith(e) for e in before)]
        slip = unknown_name("score", key, bare)
        raise InputError(f"{slip}; if it is no slip, ask for this metric when comparing")


def _pair(data: Data, view: str, system: str, x: str, y: str) -> list[dict[str, Any]]:
    scores, before = scores_of(data, system), prefix(data, view)
    return [scores.get(before + key) or {} for key in (x, y)]


def _correlation(data: Data, view: str, system: str, x: str, y: str) -> float | None:
    known, before = (data.get("correlations") or {}).get(system) or {}, prefix(data, view)
    keys = [f"{before}{a}|{before}{b}" for a, b in ((x, y), (y, x))]
    return next((known[key] for key in keys if key in known), None)


def _interval(score: dict[str, Any]) -> Interval | None:
    ends = score.get("interval")
    return (ends[0], ends[1]) if ends and all(map(_is_number, ends)) else None


def _floor(pair: Sequence[dict[str, Any]]) -> Floor | None:
    x, y = (score.get("noise_floor") for score in pair)
    if x is None or y is None:
        return None
    first, second = (score.get("floor") or {} for score in pair)
    wide, tall = first.get("spread"), second.get("spread")
    spread = None if wide is None or tall is None else (wide, tall)
    return Floor((x, y), spread, first.get("size"))


def _is_number(value: Any) -> bool:
    return value is not None and isfinite(value)
