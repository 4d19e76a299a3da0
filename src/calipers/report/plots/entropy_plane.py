"""Likelihoods as data ──► the plane of generation perplexity and entropy of tokens within a text.

As papers on diffusion language models draw it (arXiv 2604.02718, 2606.08417): what lies to the left
repeats itself, what lies below is more predictable than the reference, what lies above less.
"""

from __future__ import annotations

from math import isfinite
from typing import Any

from matplotlib.axes import Axes
from matplotlib.figure import Figure

from calipers.errors import InputError
from calipers.report.plots.choosing import Data, drawable
from calipers.report.plots.labels import label_points
from calipers.report.plots.panels import Panel, Plot
from calipers.report.plots.style import GREY, INK, Look, colour, marker

X, Y = "unigram_entropy", "perplexity"
SIZE = (5.6, 4.0)
WIDE = 20
"""So many times the smallest perplexity, and the axis is logarithmic."""

LINE: Look = {"color": GREY, "linewidth": 0.9, "linestyle": (0, (4, 2)), "zorder": 1}


def entropy_plane_plot(data: Data) -> Plot:
    """Show every system by both numbers with their intervals; lines cross at the reference.

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

    def draw(axes: Axes) -> None:
        points, names = [], []
        for place, name, scores in shown:
            x, y = scores[X], scores[Y]
            axes.errorbar(
                x["value"],
                y["value"],
                xerr=_reach(x),
                yerr=_reach(y),
                marker=marker(place),
                color=colour(place),
                linestyle="",
                zorder=3,
            )
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
        axes.margins(0.12)
        label_points(axes, tuple(points), names)
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
