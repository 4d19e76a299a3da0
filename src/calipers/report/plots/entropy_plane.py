"""Likelihoods as data ──► the plane of generation perplexity and entropy of tokens within a text.

As papers on diffusion language models draw it (arXiv 2604.02718, 2606.08417): what lies to the left
repeats itself, what lies below is more predictable than the reference, what lies above less.
"""

from __future__ import annotations

from collections.abc import Iterator
from math import ceil, floor, isfinite, log10
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import FixedLocator, FuncFormatter, NullLocator

from calipers.errors import InputError
from calipers.report.plots.choosing import Data, drawable
from calipers.report.plots.labels import Points, label_points
from calipers.report.plots.panels import Panel, Plot
from calipers.report.plots.parameter import tick_text
from calipers.report.plots.style import GREY, INK, Look, colour, marker

X, Y = "unigram_entropy", "perplexity"
SIZE = (5.6, 4.0)
WIDE = 20
"""So many times the smallest perplexity, and the axis is logarithmic."""

STEPS = ((1,), (1, 2, 5), (1, 1.5, 2, 3, 4, 5, 7))
"""Ticks within a decade, from few to many."""

FEWEST_TICKS = 4
ALONG, AMONG = 60, 9
"""Points along a line, and along an interval, that names should not cover."""

LINE: Look = {"color": GREY, "linewidth": 0.9, "linestyle": (0, (4, 2)), "zorder": 1}


def entropy_plane_plot(data: Data) -> Plot:
    """Show every system by both numbers with their intervals; lines cross at the reference.

    Negative controls are grey.

    Parameters
    ----------
    data
        What ``LikelihoodComparison.to_dict()`` gives, or the JSON that the command line wrote.

    Raises
    ------
    InputError
        If no system has both scores.
    """
    sets = [(each["name"], each.get("scores") or {}) for each in data["systems"]]
    shown = [(place, name, scores) for place, (name, scores) in enumerate(sets) if _has(scores)]
    if not shown:
        raise InputError(f"no system has the scores {X} and {Y}; measure both (--metrics {Y},{X})")
    reference = data.get("reference") or {}
    own = reference.get("scores") or {}
    controls = data["settings"].get("controls") or ()

    def draw(axes: Axes) -> None:
        points, names, lines = [], [], list[tuple[float, float]]()
        for place, name, scores in shown:
            x, y = scores[X], scores[Y]
            axes.errorbar(
                x["value"],
                y["value"],
                xerr=_reach(x),
                yerr=_reach(y),
                marker=marker(place),
                color=GREY if name in controls else colour(place),
                linestyle="",
                zorder=3,
            )
            lines += _interval_points(x, y)
            points.append((x["value"], y["value"]))
            names.append(drawable(name))
        if _has(own):
            x, y = own[X]["value"], own[Y]["value"]
            axes.axvline(x, **LINE)
            axes.axhline(y, **LINE)
            axes.plot(x, y, marker="+", markersize=10, color=INK, linestyle="", zorder=4)
            points.append((x, y))
            names.append("reference")
        heights = [height for _, height in points]
        if max(heights) > WIDE * min(heights):
            axes.set_yscale("log")
        axes.margins(0.16)
        _set_ticks(axes)
        if _has(own):
            lines += _line_points(axes, *points[-1])
        label_points(axes, tuple(points), names, tuple(lines))
        axes.set_xlabel("Unigram entropy of a text, nats")
        axes.set_ylabel(f"Perplexity by {drawable(data['settings'].get('model', 'the model'))}")

    def whole() -> Figure:
        figure = Figure(figsize=SIZE, layout="constrained")
        draw(figure.add_subplot())
        return figure

    return Plot(whole, lambda: Panel(draw, SIZE))


def _has(scores: Data) -> bool:
    values = [(scores.get(key) or {}).get("value") for key in (X, Y)]
    return all(value is not None and isfinite(value) for value in values)


def _reach(score: Data) -> Any:
    """How far an interval reaches to either side; None where there is none."""
    interval = score.get("interval")
    if interval is None:
        return None
    low, high = interval
    value = score["value"]
    return [[max(0.0, value - low)], [max(0.0, high - value)]]


def _set_ticks(axes: Axes) -> None:
    """Write plain numbers on a logarithmic axis: 20, 50, 100."""
    if axes.get_yscale() != "log":
        return
    axes.yaxis.set_major_locator(FixedLocator(_ticks(*axes.get_ylim())))
    axes.yaxis.set_minor_locator(NullLocator())
    axes.yaxis.set_major_formatter(FuncFormatter(lambda value, _: tick_text(value)))


def _ticks(low: float, high: float) -> list[float]:
    """Give as few round numbers between two as there should be, or all that there are."""
    found: list[float] = []
    for steps in STEPS:
        powers = range(floor(log10(low)), ceil(log10(high)))
        found = [step * 10.0**power for power in powers for step in steps]
        found = [value for value in found if low <= value <= high]
        if len(found) >= FEWEST_TICKS:
            break
    return found


def _interval_points(x: Data, y: Data) -> Iterator[tuple[float, float]]:
    """Points along the intervals of a system, which names should not cover."""
    if x.get("interval"):
        low, high = x["interval"]
        yield from ((float(at), y["value"]) for at in np.linspace(low, high, AMONG))
    if y.get("interval"):
        low, high = y["interval"]
        yield from ((x["value"], float(at)) for at in np.linspace(low, high, AMONG))


def _line_points(axes: Axes, x: float, y: float) -> Points:
    """Points along the lines of the reference."""
    (left, right), (low, high) = axes.get_xlim(), axes.get_ylim()
    space = np.geomspace if axes.get_yscale() == "log" else np.linspace
    across, up = np.linspace(left, right, ALONG), space(low, high, ALONG)
    return (*((float(at), y) for at in across), *((x, float(at)) for at in up))
