"""The figure of a history: a panel for each score, a line for each system, one point per run."""

from __future__ import annotations

import math
from collections.abc import Sequence

from matplotlib.artist import Artist
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from calipers.commands.history.document import score_name
from calipers.commands.history.result import History, ScoreHistory
from calipers.report.plots.choosing import drawable
from calipers.report.plots.panels import Panel, Plot
from calipers.report.plots.style import INK, Look, colour, line

PANEL = (3.4, 2.4)
LEGEND = 1.7
ACROSS = 2
"""Panels beside each other."""

MOST_NAMES = 12
"""Runs whose names fit below a panel; of more, every second, third … is named."""


def history_plot(history: History) -> Plot:
    """Show how scores change over runs: intervals as bars, and a ring on the first worse run.

    Parameters
    ----------
    history
        The saved runs and their scores; scores of the same key share a panel.
    """
    keys = list(dict.fromkeys(score.score for score in history))
    systems = list(dict.fromkeys(score.system for score in history))
    legend = _legend(systems, history)

    def whole() -> Figure:
        across = min(ACROSS, len(keys))
        down = math.ceil(len(keys) / across)
        size = (PANEL[0] * across + LEGEND, PANEL[1] * down)
        figure = Figure(figsize=size, layout="constrained")
        panels = figure.subplots(down, across, sharex=True, squeeze=False).ravel()
        for panel, key in zip(panels, keys, strict=False):
            _draw(panel, history, key, systems)
        for panel in panels[len(keys) :]:
            panel.set_axis_off()
        figure.legend(handles=legend, loc="outside right upper")
        return figure

    return Plot(
        whole, lambda: Panel(lambda axes: _draw(axes, history, keys[0], systems), PANEL, legend)
    )


def _draw(axes: Axes, history: History, key: str, systems: Sequence[str]) -> None:
    scores = [score for score in history if score.score == key]
    for score in scores:
        _draw_score(axes, score, systems.index(score.system), len(systems))
    names = [drawable(run.name) for run in history.runs]
    step = math.ceil(len(names) / MOST_NAMES)
    axes.set_xticks(
        range(0, len(names), step), names[::step], rotation=30, ha="right", rotation_mode="anchor"
    )
    axes.tick_params(axis="x", labelbottom=True)
    axes.set_title(drawable(score_name(scores[0])), loc="left")


def _draw_score(axes: Axes, score: ScoreHistory, place: int, systems: int) -> None:
    shift = 0.12 * (place - (systems - 1) / 2)
    known = [(at, point) for at, point in enumerate(score.points) if math.isfinite(point.value)]
    at = [run + shift for run, _ in known]
    values = [point.value for _, point in known]
    ends = [point.interval or (point.value, point.value) for _, point in known]
    bars = [
        [max(0.0, value - low) for value, (low, _) in zip(values, ends, strict=True)],
        [max(0.0, high - value) for value, (_, high) in zip(values, ends, strict=True)],
    ]
    axes.errorbar(at, values, yerr=bars, fmt="none", ecolor=colour(place), elinewidth=1.0)
    axes.plot(at, values, label=score.system, **line(colour(place), place))
    if score.first_worse is not None:
        value = score.points[score.first_worse].value
        axes.plot([score.first_worse + shift], [value], **_RING)


_RING: Look = {
    "linestyle": "",
    "marker": "o",
    "markersize": 10,
    "markerfacecolor": "none",
    "markeredgecolor": INK,
    "markeredgewidth": 1.2,
}


def _legend(systems: Sequence[str], history: History) -> list[Artist]:
    handles: list[Artist] = [
        Line2D([], [], label=drawable(name), **line(colour(place), place))
        for place, name in enumerate(systems)
    ]
    if history.first_worse is not None:
        handles.append(Line2D([], [], label="first worse run", **_RING))
    return handles
