"""The data of the page's charts: points, curves and bars of a comparison.

The page holds it as JSON; the scripts beside it draw from nothing else. Numbers are cut to what a
screen can show.

How wide an error ellipse is: for two estimates with normal errors the region that holds a share
``level`` of them is an ellipse whose half axes are sqrt(−2·ln(1 − level)) times the standard errors
along them (paper 000, figure 1, draws it at 2). Bars and bands are z standard errors to each side.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from statistics import NormalDist
from typing import Any

from numpy.typing import NDArray

from calipers.catalogue.estimation import DIVERGENCE
from calipers.catalogue.shown import TEXT
from calipers.evaluate.verdict import furthest_first
from calipers.explain.model import Topic
from calipers.report.scale import bulk
from calipers.report.topics import ratio_words
from calipers.results.comparison import Comparison
from calipers.score import WIDTH
from calipers.wording.names import MADE_BY, clean, sees, shorten
from calipers.wording.short_names import short

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

NEAREST = 1 / 120
"""Points of a curve nearer to the last one than this change it by less than a tenth of a pixel."""
CURVES = {"prd": "from cells of k-means", "renyi": "by Rényi divergences, from cells of k-means"}
FRONTIERS = {
    "frontier_star": "smoothed by Krichevsky and Trofimov",
    "frontier": "unsmoothed",
}

WORDS, LONGEST_WORD = 8, 24
"""Keywords that a bar has at most, and the width of each."""

Rows = Sequence[Sequence[float | None]]


def chart_data(comparison: Comparison) -> dict[str, Any]:
    """Return the charts as plain data; what was not measured is an empty list or None.

    Parameters
    ----------
    comparison
        With all that :meth:`Comparison.explained` adds.

    Returns
    -------
    dict
        ``level`` of the intervals, ``z`` and ``radius`` that go with it, the names of the
        ``systems`` in the order of their colours, the ``views`` with what they see, and ``planes``,
        ``curves``, ``frontiers`` and ``topics``: lists with an entry for each view and choice,
        where systems stand by their place in ``systems`` and views by theirs in ``views``.
    """
    views = views_of(comparison)
    level = _level(comparison)
    return {
        "level": level,
        "z": number(NormalDist().inv_cdf((1 + level) / 2)),
        "radius": number(math.sqrt(-2 * math.log(1 - level))),
        "systems": shown_names(comparison),
        "views": described(comparison, views),
        "planes": plane_data(comparison, views),
        "curves": curve_data(comparison, views),
        "frontiers": frontier_data(comparison, views),
        "topics": topic_data(comparison, views),
    }


def _level(comparison: Comparison) -> float:
    """Return the level that the run chose, or the usual one."""
    level = comparison.settings.get("level")
    return float(level) if level and 0 < level < 1 else LEVEL


# ------------------------------------------------------------------ what all pictures share


def number(value: Any, digits: int = DIGITS) -> float | None:
    """Round a number to the precision of a picture; None for one that is not finite."""
    if not isinstance(value, int | float) or not math.isfinite(value):
        return None
    return round(float(value), digits)


def shown_names(comparison: Comparison) -> list[str]:
    """Name the systems, distinguishing one with the name of the reference from it."""
    taken = {reference_name(comparison), "reference"}
    names = [short(system.name) for system in comparison]
    apart = [f"{name} (generated)" if name in taken else name for name in names]
    before = [apart[:place].count(name) for place, name in enumerate(apart)]
    return [f"{name} ({n + 1})" if n else name for name, n in zip(apart, before, strict=True)]


def reference_name(comparison: Comparison) -> str:
    """Return the name of the reference in the pictures."""
    return short(comparison.reference.name or "reference")


def views_of(comparison: Comparison) -> list[str]:
    """Return the views of the run that have a geometry: all except the strings themselves."""
    return [view for view in comparison.settings.get("views") or [] if view != TEXT]


def described(comparison: Comparison, views: Sequence[str]) -> list[dict[str, str]]:
    """Name views with what each represents; empty where that is unknown."""
    samples = comparison.settings.get("samples")
    return [{"name": short(view), "sees": sees(view, samples)} for view in views]


def prefix(views: Sequence[str], view: str) -> str:
    """Return the prefix of the keys of a view: empty for the first."""
    return "" if view == views[0] else f"{view}."


# ------------------------------------------------------------------ the precision-recall plane


def plane_data(comparison: Comparison, views: Sequence[str]) -> list[dict[str, Any]]:
    """Return a plane for each view and pair of scores that some system has.

    A point has its values ``x`` and ``y``, their ``error`` (standard errors) and ``interval``, the
    ``correlation`` of the errors, and ``beside``, the scores at the size of the noise floor; all
    but the values may be None, each error and each interval on its own. The ``floor`` of a plane
    is what two halves of the reference score, ``half`` is two standard deviations over the splits,
    ``size`` the samples in a half. ``bulk`` is how far the points go on each axis, without those
    that lie far from the others or hold only samples of the reference, which stand at the border.
    """
    made = [_plane(comparison, views, view, pair) for view in views for pair in PAIRS]
    return [plane for plane in made if plane["points"]]


def _plane(
    comparison: Comparison, views: Sequence[str], view: str, pair: tuple[str, str]
) -> dict[str, Any]:
    keys = [prefix(views, view) + name for name in pair]
    points = [_point(comparison, row, keys) for row in range(len(comparison))]
    about = {"view": views.index(view), "across": pair[0], "up": pair[1]}
    known = [point for point in points if point is not None]
    ranked = [p for p in known if not comparison.systems[p["system"]].is_reference] or known
    reach = [bulk(point[axis] for point in ranked) for axis in ("x", "y")]
    return {**about, "points": known, "bulk": reach, "floor": _floor(comparison, keys)}


def _point(comparison: Comparison, row: int, keys: Sequence[str]) -> dict[str, Any] | None:
    """Return the point of a system; None where it lacks a score."""
    system = comparison.systems[row]
    scores = [system.scores[key] for key in keys if key in system.scores]
    values = _both(score.value for score in scores)
    if values is None:
        return None
    return {
        "system": row,
        "x": values[0],
        "y": values[1],
        "error": [number(score.standard_error) for score in scores],
        "interval": [_both(score.interval or ()) for score in scores],
        "correlation": number(system.correlations.get(f"{keys[1]}|{keys[0]}")),
        "beside": _both(score.floor.beside for score in scores if score.floor is not None),
    }


def _floor(comparison: Comparison, keys: Sequence[str]) -> dict[str, Any] | None:
    """Return the first noise floor that is known for both scores; None without one."""
    for system in comparison:
        scores = [system.scores[key] for key in keys if key in system.scores]
        floors = [score.floor for score in scores if score.floor is not None]
        middle = _both(floor.value for floor in floors)
        if middle is not None:
            half = [number(WIDTH * floor.spread) for floor in floors]
            return {"middle": middle, "half": half, "size": floors[0].size}
    return None


def _both(values: Iterable[Any]) -> list[float] | None:
    """Return two numbers, or None where one of them is not known."""
    known = [cut for value in values if (cut := number(value)) is not None]
    return known if len(known) == 2 else None


# ------------------------------------------------------------------ curves


def curve_data(comparison: Comparison, views: Sequence[str]) -> list[dict[str, Any]]:
    """Return the PR-curves (Sajjadi et al., NeurIPS 2018) by view and estimator, ``prd`` first.

    A line has ``x`` (recall), ``y`` (precision) and their standard errors, lists of one length, or
    None where no error is known.
    """
    return [
        {**about, "lines": _lines(comparison, key, up=0)}
        for about, key in _kinds(comparison, views, CURVES)
    ]


def frontier_data(comparison: Comparison, views: Sequence[str]) -> list[dict[str, Any]]:
    """Return the divergence frontiers (Pillutla et al., JMLR 2023) by view and estimate.

    A line has ``x`` (the cost of the generated set, D(Q‖R)), ``y`` (that of the reference, D(P‖R))
    and their standard errors; ``c`` is the scaling constant that MAUVE used.
    """
    return [
        {**about, "c": _scaling(comparison, key), "lines": _lines(comparison, key, up=2)}
        for about, key in _kinds(comparison, views, FRONTIERS)
    ]


def _kinds(
    comparison: Comparison, views: Sequence[str], bases: Mapping[str, str]
) -> Iterator[tuple[dict[str, Any], str]]:
    """Return which curves there are: what to call them, and their key."""
    known = dict.fromkeys(key for system in comparison for key in system.curves)
    for place, view in enumerate(views):
        before = prefix(views, view)
        for base, words in bases.items():
            keys = [key for key in known if key.partition(":")[0] == before + base]
            for key in sorted(keys, key=len):
                yield {"view": place, "says": _says(words, key)}, key


def _says(words: str, key: str) -> str:
    """Say how a curve was made."""
    options = [option.partition("=") for option in key.partition(":")[2].split(":") if option]
    parts = [
        MADE_BY.get(name) or clean(f"{DIVERGENCE.labels.get(name, name)} {weight}".strip())
        for name, _, weight in options
    ]
    estimated = any(name in MADE_BY and not weight for name, _, weight in options)
    return ", ".join(parts if estimated else [words, *parts])


def _lines(comparison: Comparison, key: str, *, up: int) -> list[dict[str, Any]]:
    """Return the curve of every system that has it; what lies across is column 1 of all curves."""
    lines = []
    for row, system in enumerate(comparison):
        points, errors = (_rows(curves.get(key)) for curves in (system.curves, system.curve_errors))
        drawn, known = _drawn(points, up), len(errors) == len(points)
        if drawn:
            x, y = (_column(points, drawn, column) for column in (1, up))
            x_error, y_error = (
                _column(errors, drawn, column, 3) if known else None for column in (1, up)
            )
            lines.append({"system": row, "x": x, "y": y, "x_error": x_error, "y_error": y_error})
    return lines


def _rows(points: NDArray[Any] | None) -> Rows:
    rows: Rows = [] if points is None else points.tolist()
    return rows


def _column(rows: Rows, drawn: Sequence[int], column: int, digits: int = 4) -> list[float | None]:
    return [number(rows[place][column], digits) for place in drawn]


def _drawn(points: Rows, up: int) -> list[int]:
    """Choose the points to draw: the ends, and those that are not on top of the last one."""
    at = {place: _both((point[1], point[up])) for place, point in enumerate(points)}
    known = {place: point for place, point in at.items() if point is not None}
    drawn = list(known)[:1]
    for place, point in known.items():
        if math.dist(point, known[drawn[-1]]) >= NEAREST:
            drawn.append(place)
    return [*drawn, *(place for place in list(known)[-1:] if place != drawn[-1])]


def _scaling(comparison: Comparison, key: str) -> float:
    """Read the scaling constant off the score that belongs to a frontier."""
    name = re.sub(r"(^|\.)frontier(_star)?(?=:|$)", r"\1mauve\2", key)
    signatures = [system.scores[name].signature for system in comparison if name in system.scores]
    pins = [match for line in signatures if (match := re.search(r"\|c:([\d.]+)(\||$)", line))]
    return float(pins[0][1]) if pins else number(comparison.settings.get("c")) or USUAL_C


# ------------------------------------------------------------------ topics


def topic_data(comparison: Comparison, views: Sequence[str]) -> list[dict[str, Any]]:
    """Return the topics of every explained view and system, largest share first.

    The system furthest from the reference comes first, as in the lists of the page.

    A bar has the ``keywords`` of the topic (none where samples are no texts), its ``share`` of the
    gap, negative where the system has less of the topic than the reference, both shares of samples,
    ``expected`` (reference) and ``produced`` (generated), and whether they differ by more than
    chance (``significant``), with their ``ratio`` in words.
    """
    charts = []
    for place, view in enumerate(views):
        for row in furthest_first(comparison):
            explanation = comparison.systems[row].explained.get(view)
            topics = () if explanation is None else explanation.topics
            level = LEVEL if explanation is None else explanation.level
            bars = [_bar(topic, level) for topic in topics if number(topic.share) is not None]
            charts += [{"view": place, "system": row, "bars": bars}] if bars else []
    return charts


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
