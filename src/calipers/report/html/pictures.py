"""Report data ──► what the charts of the page are drawn from: a point, a curve, a bar each.

The page holds it as JSON; the scripts beside it draw from nothing else. Numbers are cut to what a
screen can show.

How wide an error ellipse is: for two estimates with normal errors the region that holds a share
``level`` of them is an ellipse whose half axes are sqrt(−2·ln(1 − level)) times the standard errors
along them (paper 000, figure 1, draws it at 2). Bars and bands are z standard errors to each side.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Sequence
from statistics import NormalDist
from typing import Any

from calipers.catalogue.estimation import DIVERGENCE
from calipers.explain.model import Topic
from calipers.report.names import MADE_BY, VIEWS, clean, shorten
from calipers.report.of_data import comparison_of, explanation_of
from calipers.report.shown import TEXT, short
from calipers.report.table import Data
from calipers.report.topics import ratio_words
from calipers.report.verdict import furthest_first
from calipers.score import WIDTH

SCRIPTS = (
    "charts_kit.js",
    "charts_figure.js",
    "charts_plane.js",
    "charts_curves.js",
    "charts_frontiers.js",
    "charts_topics.js",
    "charts.js",
    "map_points.js",
    "map_paint.js",
    "map_tip.js",
    "map_input.js",
    "map_keys.js",
    "map_search.js",
    "map.js",
)
"""The files in ``static`` that draw the pictures; all of them, in any order, after both islands."""

STYLES = ("pictures.css",)
"""The files in ``static`` that say how the pictures look."""

LEVEL, USUAL_C = 0.95, 5.0
"""The level of intervals and the scaling of MAUVE where a run does not say."""
DIGITS = 5

PAIRS = (("recall", "precision"), ("coverage", "precision"), ("coverage", "density"))
"""What lies across (diversity) and what goes up (quality); recall does not see missing topics."""

NEAREST = 1 / 300
"""Points of a curve that are nearer to the last one than this add nothing that can be seen."""
CURVES = {"prd": "from cells of k-means"}
FRONTIERS = {
    "frontier_star": "smoothed by Krichevsky and Trofimov",
    "frontier": "unsmoothed",
}

WORDS, LONGEST_WORD = 8, 24
"""Keywords that a bar has at most, and the width of each."""

Rows = Sequence[Sequence[float | None]]


def chart_data(data: Data) -> dict[str, Any]:
    """Give the charts as plain data; what was not measured is an empty list or None.

    Parameters
    ----------
    data
        What ``Comparison.report_data()`` gives.

    Returns
    -------
    dict
        ``level`` of the intervals, ``z`` and ``radius`` that go with it, the names of the
        ``systems`` in the order of their colours, the ``views`` with what they see, and ``planes``,
        ``curves``, ``frontiers`` and ``topics``: lists with an entry for each view and choice,
        where systems stand by their place in ``systems`` and views by theirs in ``views``.
    """
    views = views_of(data)
    level = _level(data)
    return {
        "level": level,
        "z": number(NormalDist().inv_cdf((1 + level) / 2)),
        "radius": number(math.sqrt(-2 * math.log(1 - level))),
        "systems": shown_names(data),
        "views": described(views),
        "planes": plane_data(data, views),
        "curves": curve_data(data, views),
        "frontiers": frontier_data(data, views),
        "topics": topic_data(data, views),
    }


def _level(data: Data) -> float:
    """Give the level that the run chose, or the usual one."""
    level = (data["comparison"].get("settings") or {}).get("level")
    return float(level) if level and 0 < level < 1 else LEVEL


# ------------------------------------------------------------------ what all pictures share


def number(value: Any, digits: int = DIGITS) -> float | None:
    """Cut a number to what a picture can show; None for what is no finite number."""
    if not isinstance(value, int | float) or not math.isfinite(value):
        return None
    return round(float(value), digits)


def systems_of(data: Data) -> list[Data]:
    """Give the systems in the order of the table, which is that of their colours."""
    systems: list[Data] = list(data["comparison"].get("systems") or [])
    return systems


def shown_names(data: Data) -> list[str]:
    """Name the systems; one that is called as the reference says that it is none."""
    taken = {reference_name(data), "reference"}
    names = [short(system["name"]) for system in systems_of(data)]
    told = [f"{name} (generated)" if name in taken else name for name in names]
    before = [told[:place].count(name) for place, name in enumerate(told)]
    return [f"{name} ({n + 1})" if n else name for name, n in zip(told, before, strict=True)]


def reference_name(data: Data) -> str:
    """What the reference is called in the pictures."""
    return short((data["comparison"].get("reference") or {}).get("name") or "reference")


def views_of(data: Data) -> list[str]:
    """Give the views of the run that have a geometry: all but the strings themselves."""
    settings = data["comparison"].get("settings") or {}
    return [view for view in settings.get("views") or [] if view != TEXT]


def described(views: Sequence[str]) -> list[dict[str, str]]:
    """Name views, each with what it sees; empty where that is not known."""
    return [{"name": short(view), "sees": VIEWS.get(view, "")} for view in views]


def prefix(views: Sequence[str], view: str) -> str:
    """Give what stands before the keys of a view: nothing for the first."""
    return "" if view == views[0] else f"{view}."


# ------------------------------------------------------------------ the precision-recall plane


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
    keys = [prefix(views, view) + name for name in pair]
    made = [_point(data, row, keys) for row in range(len(systems_of(data)))]
    about = {"view": views.index(view), "across": pair[0], "up": pair[1]}
    return {**about, "points": list(filter(None, made)), "floor": _floor(data, keys)}


def _point(data: Data, row: int, keys: Sequence[str]) -> dict[str, Any] | None:
    """Give the point of a system; None where it lacks a score."""
    system = systems_of(data)[row]
    scores = [system["scores"].get(key) or {} for key in keys]
    values = _both(score.get("value") for score in scores)
    if values is None:
        return None
    correlations = (data.get("correlations") or {}).get(system["name"]) or {}
    return {
        "system": row,
        "x": values[0],
        "y": values[1],
        "error": [number(score.get("standard_error")) for score in scores],
        "interval": [
            _both(score["interval"]) if score.get("interval") else None for score in scores
        ],
        "correlation": number(correlations.get(f"{keys[1]}|{keys[0]}")),
        "beside": _both(_of_floors(scores, "beside")),
    }


def _floor(data: Data, keys: Sequence[str]) -> dict[str, Any] | None:
    """Give the first noise floor that is known for both scores; None without one."""
    for system in systems_of(data):
        scores = [system["scores"].get(key) or {} for key in keys]
        middle = _both(_of_floors(scores, "value"))
        if middle is not None:
            half = [number(WIDTH * (spread or 0.0)) for spread in _of_floors(scores, "spread")]
            return {"middle": middle, "half": half, "size": scores[0]["floor"].get("size")}
    return None


def _of_floors(scores: Sequence[Data], field: str) -> list[Any]:
    return [(score.get("floor") or {}).get(field) for score in scores]


def _both(values: Iterable[Any]) -> list[float] | None:
    """Give two numbers, or None where one of them is not known."""
    found = [each for value in values if (each := number(value)) is not None]
    return found if len(found) == 2 else None


# ------------------------------------------------------------------ curves


def curve_data(data: Data, views: Sequence[str]) -> list[dict[str, Any]]:
    """Give the PR-curves (Sajjadi et al., NeurIPS 2018) by view and estimator, ``prd`` first.

    A line has ``x`` (recall), ``y`` (precision) and their standard errors, lists of one length, or
    None where no error is known.
    """
    return [
        {**about, "lines": _lines(data, key, up=0)} for about, key in _kinds(data, views, CURVES)
    ]


def frontier_data(data: Data, views: Sequence[str]) -> list[dict[str, Any]]:
    """Give the divergence frontiers (Pillutla et al., JMLR 2023) by view and estimate.

    A line has ``x`` (the cost of the generated set, D(Q‖R)), ``y`` (that of the reference, D(P‖R))
    and their standard errors; ``c`` is the scaling constant that MAUVE used.
    """
    return [
        {**about, "c": _scaling(data, key), "lines": _lines(data, key, up=2)}
        for about, key in _kinds(data, views, FRONTIERS)
    ]


def _kinds(
    data: Data, views: Sequence[str], bases: dict[str, str]
) -> list[tuple[dict[str, Any], str]]:
    """Find which curves there are: what to call them, and their key."""
    held = dict.fromkeys(key for curves in (data.get("curves") or {}).values() for key in curves)
    found = []
    for place, view in enumerate(views):
        before = prefix(views, view)
        for base, words in bases.items():
            keys = [key for key in held if key.partition(":")[0] == before + base]
            for key in sorted(keys, key=len):
                about = {"view": place, "says": _says(words, key)}
                found.append((about, key))
    return found


def _says(words: str, key: str) -> str:
    """Say how a curve was made."""
    options = [option.partition("=") for option in key.partition(":")[2].split(":") if option]
    told = [
        MADE_BY.get(name) or clean(f"{DIVERGENCE.labels.get(name, name)} {weight}".strip())
        for name, _, weight in options
    ]
    estimated = any(name in MADE_BY and not weight for name, _, weight in options)
    return ", ".join(told if estimated else [words, *told])


def _lines(data: Data, key: str, *, up: int) -> list[dict[str, Any]]:
    """Give the curve of every system that has it; what lies across is column 1 of all curves."""
    made = []
    for row, system in enumerate(systems_of(data)):
        points = (data["curves"].get(system["name"]) or {}).get(key) or []
        errors = ((data.get("curve_errors") or {}).get(system["name"]) or {}).get(key) or []
        kept, known = _kept(points, up), len(errors) == len(points)
        if kept:
            x, y = (_column(points, kept, column) for column in (1, up))
            own = [_column(errors, kept, column) if known else None for column in (1, up)]
            made.append({"system": row, "x": x, "y": y, "x_error": own[0], "y_error": own[1]})
    return made


def _column(rows: Rows, kept: list[int], column: int) -> list[float | None]:
    return [number(rows[place][column], 4) for place in kept]


def _kept(points: Rows, up: int) -> list[int]:
    """Choose the points to draw: the ends, and those that are not on top of the last one."""
    at = {place: _both((point[1], point[up])) for place, point in enumerate(points)}
    known = {place: point for place, point in at.items() if point is not None}
    kept = list(known)[:1]
    for place, point in known.items():
        if math.dist(point, known[kept[-1]]) >= NEAREST:
            kept.append(place)
    return [*kept, *(place for place in list(known)[-1:] if place != kept[-1])]


def _scaling(data: Data, key: str) -> float:
    """Read the scaling constant off the score that belongs to a frontier."""
    score = re.sub(r"(^|\.)frontier(_star)?(?=:|$)", r"\1mauve\2", key)
    signatures = [
        (system["scores"].get(score) or {}).get("signature") or "" for system in systems_of(data)
    ]
    found = [match for each in signatures if (match := re.search(r"\|c:([\d.]+)(\||$)", each))]
    chosen = (data["comparison"].get("settings") or {}).get("c")
    return float(found[0][1]) if found else number(chosen) or USUAL_C


# ------------------------------------------------------------------ topics


def topic_data(data: Data, views: Sequence[str]) -> list[dict[str, Any]]:
    """Give the topics of every view and system that was explained, largest share first.

    The system furthest from the reference comes first, as in the lists of the page.

    A bar has the ``keywords`` of the topic (none where samples are no texts), its ``share`` of the
    gap, negative where the system has less of the topic than the reference, both shares of samples,
    ``expected`` (reference) and ``produced`` (generated), and whether they differ by more than
    chance (``significant``), with their ``ratio`` in words.
    """
    told, made = data.get("explanations") or {}, []
    for place, view in enumerate(views):
        for row in furthest_first(comparison_of(data["comparison"])):
            name = systems_of(data)[row]["name"]
            explanation = told.get(name, {}).get(view)
            topics = explanation_of(explanation).topics if explanation else ()
            level = explanation_of(explanation).level if explanation else 0.0
            bars = [_bar(topic, level) for topic in topics if number(topic.share) is not None]
            made += [{"view": place, "system": row, "bars": bars}] if bars else []
    return made


def _bar(topic: Topic, level: float) -> dict[str, Any]:
    sign = -1 if topic.direction == "under" else 1
    return {
        "keywords": [shorten(clean(word), LONGEST_WORD) for word in topic.keywords[:WORDS]],
        "share": number(sign * topic.share),
        "expected": number(topic.reference_share),
        "produced": number(topic.generated_share),
        "significant": topic.significant,
        "ratio": ratio_words(topic, level),
    }
