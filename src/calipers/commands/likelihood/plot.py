"""The plane of generation perplexity and entropy of tokens within a text.

As papers on diffusion language models draw it (arXiv 2604.02718, 2606.08417): what lies to the left
repeats itself, what lies below is more predictable than the reference, what lies above less.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from math import ceil, floor, isfinite, log10

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import FixedLocator, FuncFormatter, NullLocator

from calipers.commands.likelihood.result import LikelihoodComparison
from calipers.errors import InputError
from calipers.report.plots.choosing import bounds, drawable
from calipers.report.plots.labels import Points, label_points
from calipers.report.plots.panels import Panel, Plot
from calipers.report.plots.parameter import tick_text
from calipers.report.plots.style import GREY, INK, Look, colour, marker
from calipers.score import Score

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


def entropy_plane_plot(likelihoods: LikelihoodComparison) -> Plot:
    """Plot every system by both numbers with intervals, with lines through the reference.

    Negative controls are grey.

    Raises
    ------
    InputError
        If no system has both scores.
    """
    pairs = [_pair(system.scores) for system in likelihoods]
    shown = [
        (place, system.name, *pair)
        for place, (system, pair) in enumerate(zip(likelihoods, pairs, strict=True))
        if pair is not None
    ]
    if not shown:
        raise InputError(
            f"no system has the scores {X} and {Y}; measure both (`metrics='{Y},{X}'`)"
        )
    of_reference = _pair(likelihoods.reference_scores)
    controls = likelihoods.settings.get("controls") or ()

    def draw(axes: Axes) -> None:
        points, names, lines = [], [], list[tuple[float, float]]()
        for place, name, x, y in shown:
            axes.errorbar(
                x.value,
                y.value,
                xerr=_reach(x),
                yerr=_reach(y),
                marker=marker(place),
                color=GREY if name in controls else colour(place),
                linestyle="",
                zorder=3,
            )
            lines += _interval_points(x, y)
            points.append((x.value, y.value))
            names.append(drawable(name))
        if of_reference is not None:
            across, upright = (score.value for score in of_reference)
            axes.axvline(across, **LINE)
            axes.axhline(upright, **LINE)
            axes.plot(across, upright, marker="+", markersize=10, color=INK, linestyle="", zorder=4)
            points.append((across, upright))
            names.append("reference")
        heights = [height for _, height in points]
        if max(heights) > WIDE * min(heights):
            axes.set_yscale("log")
        axes.margins(0.16)
        _set_ticks(axes)
        if of_reference is not None:
            lines += _line_points(axes, *points[-1])
        label_points(axes, tuple(points), names, tuple(lines))
        axes.set_xlabel("Unigram entropy of a text, nats")
        axes.set_ylabel(f"Perplexity by {drawable(likelihoods.settings.get('model', 'the model'))}")

    def whole() -> Figure:
        figure = Figure(figsize=SIZE, layout="constrained")
        draw(figure.add_subplot())
        return figure

    return Plot(whole, lambda: Panel(draw, SIZE))


def _pair(scores: Mapping[str, Score]) -> tuple[Score, Score] | None:
    """Return both scores; None where one of them is missing or undefined."""
    x, y = scores.get(X), scores.get(Y)
    if x is None or y is None or not (isfinite(x.value) and isfinite(y.value)):
        return None
    return x, y


def _reach(score: Score) -> list[list[float]] | None:
    """How far an interval reaches to either side; None where there is none."""
    ends = bounds(score)
    if ends is None:
        return None
    low, high = ends
    return [[max(0.0, score.value - low)], [max(0.0, high - score.value)]]


def _set_ticks(axes: Axes) -> None:
    """Write plain numbers on a logarithmic axis: 20, 50, 100."""
    if axes.get_yscale() != "log":
        return
    axes.yaxis.set_major_locator(FixedLocator(_ticks(*axes.get_ylim())))
    axes.yaxis.set_minor_locator(NullLocator())
    axes.yaxis.set_major_formatter(FuncFormatter(lambda value, _: tick_text(value)))


def _ticks(low: float, high: float) -> list[float]:
    """Return as few round numbers between two as there should be, or all that there are."""
    ticks: list[float] = []
    for steps in STEPS:
        powers = range(floor(log10(low)), ceil(log10(high)))
        ticks = [step * 10.0**power for power in powers for step in steps]
        ticks = [value for value in ticks if low <= value <= high]
        if len(ticks) >= FEWEST_TICKS:
            break
    return ticks


def _interval_points(x: Score, y: Score) -> Iterator[tuple[float, float]]:
    """Points along the intervals of a system, which names should not cover."""
    if ends := bounds(x):
        yield from ((float(at), y.value) for at in np.linspace(*ends, AMONG))
    if ends := bounds(y):
        yield from ((x.value, float(at)) for at in np.linspace(*ends, AMONG))


def _line_points(axes: Axes, x: float, y: float) -> Points:
    """Points along the lines of the reference."""
    (left, right), (low, high) = axes.get_xlim(), axes.get_ylim()
    space = np.geomspace if axes.get_yscale() == "log" else np.linspace
    across, up = np.linspace(left, right, ALONG), space(low, high, ALONG)
    return (*((float(at), y) for at in across), *((x, float(at)) for at in up))
