"""One panel of a metric against a parameter: lines with their bands, and what a legend says."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from matplotlib.artist import Artist
from matplotlib.axes import Axes
from matplotlib.lines import Line2D
from matplotlib.patches import Patch

from calipers.report.plots.choosing import drawable
from calipers.report.plots.parameter_points import Point
from calipers.report.plots.parameter_scale import scale_axis
from calipers.report.plots.style import COLOURS, colour, dashes, marker
from calipers.report.shown import Metric

Data = Mapping[str, Any]

DOT, STAR = 5.0, 8.0
NAN = float("nan")
GREY = "#666666"


def draw_panel(axes: Axes, placed: Sequence[Point], metric: Metric) -> None:
    """Draw the lines of one metric, with bands or bars, and what the reference itself scores."""
    for index, (_, line) in enumerate(_lines(placed)):
        _draw_line(axes, line, metric.key, index)
    _mark_reference(axes, placed, metric)
    scores = [point.scores[metric.key] for point in placed if metric.key in point.scores]
    scale_axis(axes, "x", [point.x for point in placed])
    bounded = any(score.get("range") == [0.0, 1.0] for score in scores)
    values = [score["value"] for score in scores if score.get("value") is not None]
    scale_axis(axes, "y", [] if bounded else values)
    axes.margins(x=0.06, y=0.08)


def _lines(placed: Sequence[Point]) -> Iterator[tuple[str, list[Point]]]:
    for name in dict.fromkeys(point.line for point in placed):
        yield name, sorted((p for p in placed if p.line == name), key=lambda p: p.x)


def _draw_line(axes: Axes, line: Sequence[Point], key: str, index: int) -> None:
    """Draw points with their bars, or a line with its band where no two points share a place."""
    scores = [point.scores.get(key) for point in line]
    xs, ys = [point.x for point in line], [_value(score) for score in scores]
    spreads = [_spread(score) for score in scores]
    lows = [y if s is None else s[0] for y, s in zip(ys, spreads, strict=True)]
    highs = [y if s is None else s[1] for y, s in zip(ys, spreads, strict=True)]
    joined = len(set(xs)) == len(xs) > 1
    if joined and any(spreads):
        axes.fill_between(xs, lows, highs, color=colour(index), alpha=0.16, linewidth=0)
    elif any(spreads):
        axes.vlines(xs, lows, highs, color=colour(index), linewidth=1.2)
    axes.plot(xs, ys, label=drawable(line[0].line), **_look(index, joined=joined))


def _mark_reference(axes: Axes, placed: Sequence[Point], metric: Metric) -> None:
    """Draw what the reference itself scores, where the metric is a property of one set."""
    for value in sorted(_references(placed, metric)):
        axes.axhline(value, color=GREY, linewidth=1.0, linestyle=(0, (3, 2)), zorder=1)


def _references(placed: Sequence[Point], metric: Metric) -> set[float]:
    scores = [point.scores.get(metric.key) or {} for point in placed]
    return {score["reference"] for score in scores if score.get("reference") is not None}


def _value(score: Data | None) -> float:
    value = (score or {}).get("value")
    return NAN if value is None else float(value)


def _spread(score: Data | None) -> tuple[float, float] | None:
    """Give the ends of the interval, or of one standard deviation over the files."""
    bounds = (score or {}).get("interval")
    if score and bounds and None not in bounds:
        return float(bounds[0]), float(bounds[1])
    if score and score.get("seeds_sd") is not None and score.get("value") is not None:
        return score["value"] - score["seeds_sd"], score["value"] + score["seeds_sd"]
    return None


def _look(index: int, *, joined: bool) -> dict[str, Any]:
    return {
        "color": colour(index),
        "linestyle": dashes(index // len(COLOURS)) if joined else "",
        "marker": marker(index),
        "markersize": STAR if marker(index) == "*" else DOT,
        "markeredgecolor": "white",
        "markeredgewidth": 0.5,
    }


def panel_entries(placed: Sequence[Point], metrics: Sequence[Metric]) -> list[Artist]:
    """Explain the lines, the bands and the reference, for a legend."""
    lines: list[Artist] = [
        Line2D([], [], label=drawable(name), **_look(index, joined=len(line) > 1))
        for index, (name, line) in enumerate(_lines(placed))
    ]
    spread = _spread_words(placed, metrics)
    more: list[Artist] = [Patch(color=GREY, alpha=0.3, linewidth=0, label=spread)] if spread else []
    if any(_references(placed, metric) for metric in metrics):
        look: dict[str, Any] = {"color": GREY, "linewidth": 1.0, "linestyle": (0, (3, 2))}
        more.append(Line2D([], [], label="reference", **look))
    return [*lines, *more]


def _spread_words(placed: Sequence[Point], metrics: Sequence[Metric]) -> str:
    """Say what the bands are."""
    scores = [point.scores.get(metric.key) or {} for point in placed for metric in metrics]
    levels = sorted({s["level"] for s in scores if s.get("interval") and s.get("level")})
    told = [f"{100 * level:.4g} % interval" for level in levels]
    files = any(not s.get("interval") and s.get("seeds_sd") is not None for s in scores)
    return " or ".join([*told, *(["±1 SD (files)"] if files else [])])
