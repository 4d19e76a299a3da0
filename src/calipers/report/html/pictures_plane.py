"""Report data ──► the precision-recall plane: a point for each system, with its errors."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from calipers.report.html.pictures_parts import Data, number, prefix, systems_of
from calipers.score import WIDTH

PAIRS = (("recall", "precision"), ("coverage", "density"))
"""What lies across (diversity) and what goes up (quality)."""


def plane_data(data: Data, views: Sequence[str]) -> list[dict[str, Any]]:
    """Give a plane for each view and pair of scores that some system has.

    A point has its values ``x`` and ``y``, their ``error`` (standard errors) and ``interval``, the
    ``correlation`` of the errors, and ``beside``, the scores at the size of the noise floor; all
    but the values may be None, each error and each interval on its own. The ``floor`` of a plane
    is what two halves of the reference score, ``half`` is two standard deviations over the splits,
    ``size`` the samples in a half.
    """
    made = [_plane(data, views, view, pair) for view in views for pair in PAIRS]
    return [plane for plane in made if plane["points"]]


def _plane(data: Data, views: Sequence[str], view: str, pair: tuple[str, str]) -> dict[str, Any]:
    before = prefix(views, view)
    across, up = before + pair[0], before + pair[1]
    points = [
        _point(data, row, across, up)
        for row, system in enumerate(systems_of(data))
        if _known(system, across) and _known(system, up)
    ]
    about = {"view": views.index(view), "across": pair[0], "up": pair[1]}
    return {**about, "points": points, "floor": _floor(data, across, up)}


def _known(system: Data, key: str) -> bool:
    return number((system["scores"].get(key) or {}).get("value")) is not None


def _point(data: Data, row: int, across: str, up: str) -> dict[str, Any]:
    system = systems_of(data)[row]
    x, y = system["scores"][across], system["scores"][up]
    correlations = (data.get("correlations") or {}).get(system["name"]) or {}
    return {
        "system": row,
        "x": number(x["value"]),
        "y": number(y["value"]),
        "error": [number(score.get("standard_error")) for score in (x, y)],
        "interval": [_interval(x), _interval(y)],
        "correlation": number(correlations.get(f"{up}|{across}")),
        "beside": _both(_of_floor(x, "beside"), _of_floor(y, "beside")),
    }


def _floor(data: Data, across: str, up: str) -> dict[str, Any] | None:
    """Give the first noise floor that is known for both scores; None without one."""
    for system in systems_of(data):
        x, y = system["scores"].get(across) or {}, system["scores"].get(up) or {}
        middle = _both(_of_floor(x, "value"), _of_floor(y, "value"))
        if middle is not None:
            spreads = [_of_floor(score, "spread") or 0.0 for score in (x, y)]
            half = [number(WIDTH * spread) for spread in spreads]
            return {"middle": middle, "half": half, "size": x["floor"].get("size")}
    return None


def _of_floor(score: Data, field: str) -> Any:
    return (score.get("floor") or {}).get(field)


def _both(x: Any, y: Any) -> list[float] | None:
    """Give two numbers, or None where one of them is not known."""
    first, second = number(x), number(y)
    return None if first is None or second is None else [first, second]


def _interval(score: Data) -> list[float] | None:
    return _both(*score["interval"]) if score.get("interval") else None
