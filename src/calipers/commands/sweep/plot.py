"""The figure of a sweep: metrics against what was varied (paper 000, figures 6 and B.1)."""

from __future__ import annotations

from collections.abc import Sequence

from matplotlib.artist import Artist
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.patches import Patch
from matplotlib.ticker import FixedLocator, NullLocator, StrMethodFormatter

from calipers.commands.sweep.result import PlacedCurve, Sweep
from calipers.report.plots.choosing import drawable
from calipers.report.plots.panels import Panel, Plot
from calipers.report.plots.style import GREY, SHADE, Look, colour, line
from calipers.wording.names import label
from calipers.wording.short_names import short

AXIS = {
    "k": "k, nearest neighbours that span a ball",
    "n": "N, samples on each side",
    "length": "words that texts are cut to",
    "buckets": "cells of the quantisation",
    "axes": "leading axes",
}
REPLICATES = {"n": "orders", "buckets": "starts"}
"""What bands are over, where not over files."""
PANEL = (3.6, 2.6)
LEGEND = 1.7
# More curves than two for each system would hide each other
METRICS_TOGETHER = 2


def sweep_plot(
    sweep: Sweep, *, view: str | None = None, metrics: Sequence[str] | None = None
) -> Plot:
    """Show a sweep: a column of panels for each view, at most two metrics per panel.

    Colours are for systems, markers and dashes for metrics. Bands are one standard deviation over
    the replicates to each side. A vertical tick on a curve stands where its plateau starts.

    Metrics that are better when lower have panels of their own, as far as their values reach: next
    to shares they would lie flat on the axis. A panel alone shows all metrics by the first view.

    Parameters
    ----------
    sweep
        The curves of all systems.
    view, metrics
        Which view, and which metrics; all by default.
    """
    views = list(sweep.views) if view is None else [view]
    shown = list(sweep.settings["metrics"] if metrics is None else metrics)

    def whole() -> Figure:
        rows = _rows(sweep, shown)
        size = (PANEL[0] * len(views) + LEGEND, PANEL[1] * len(rows))
        figure = Figure(figsize=size, layout="constrained")
        panels = figure.subplots(len(rows), len(views), sharex=True, sharey="row", squeeze=False)
        for row, together in enumerate(rows):
            for panel, view in zip(panels[row], views, strict=True):
                _draw_panel(panel, sweep, view, together)
                panel.label_outer()
                if row == 0 and len(sweep.settings["views"]) > 1:
                    panel.set_title(f"By {drawable(view)}", loc="left")
        figure.legend(handles=_legend(sweep, shown), loc="outside right upper")
        return figure

    def draw(axes: Axes) -> None:
        _draw_panel(axes, sweep, views[0], shown)

    return Plot(whole, lambda: Panel(draw, PANEL, _legend(sweep, shown)))


def _draw_panel(axes: Axes, sweep: Sweep, view: str, metrics: Sequence[str]) -> None:
    shown = [
        placed
        for placed in sweep.placed_curves()
        if placed.view == view and placed.metric in metrics
    ]
    for placed in shown:
        _draw(axes, placed, sweep)
    for placed in shown:
        _mark_plateau(axes, placed, sweep)
    _scale_x(axes, sweep)
    _scale_y(axes, sweep, metrics)


def _rows(sweep: Sweep, metrics: Sequence[str]) -> list[list[str]]:
    """Return the metrics that share a panel: none that falls beside one that rises."""
    falling = _falling(sweep)
    kinds = [[m for m in metrics if m not in falling], [m for m in metrics if m in falling]]
    return [
        kind[start : start + METRICS_TOGETHER]
        for kind in kinds
        for start in range(0, len(kind), METRICS_TOGETHER)
    ]


def _falling(sweep: Sweep) -> set[str]:
    """Return the metrics that are better when lower."""
    return {placed.metric for placed in sweep.placed_curves() if placed.curve.better == "lower"}


def _draw(axes: Axes, placed: PlacedCurve, sweep: Sweep) -> None:
    curve = placed.curve
    values, shade = curve.values.tolist(), colour(_systems(sweep).index(placed.system))
    metric = sweep.settings["metrics"].index(placed.metric)
    if curve.low is not None and curve.high is not None:
        axes.fill_between(values, curve.low, curve.high, color=shade, alpha=SHADE, linewidth=0)
    name, every = f"{short(placed.system)}, {label(placed.metric)}", max(1, len(values) // 10)
    axes.plot(values, curve.mean, label=name, markevery=every, **line(shade, metric))


def _mark_plateau(axes: Axes, placed: PlacedCurve, sweep: Sweep) -> None:
    start = placed.curve.plateau.start
    if start is None:
        return
    height = float(placed.curve.mean[placed.curve.values.tolist().index(start)])
    shade = colour(_systems(sweep).index(placed.system))
    axes.plot([start], [height], **_tick(shade), label="_plateau", clip_on=False)


def _scale_x(axes: Axes, sweep: Sweep) -> None:
    values, over = sweep.settings["values"], sweep.over
    axes.set_xlabel(AXIS[over])
    axes.set_xscale("linear" if over == "k" else "log")
    axes.xaxis.set_major_locator(FixedLocator(_ticks(values, over)))
    axes.xaxis.set_minor_locator(NullLocator())
    axes.xaxis.set_major_formatter(StrMethodFormatter("{x:,.0f}"))


def _scale_y(axes: Axes, sweep: Sweep, metrics: Sequence[str]) -> None:
    """Go from 0 to 1, or as far as a density passes it, or as a distance goes, in any view."""
    same = [placed.curve for placed in sweep.placed_curves() if placed.metric in metrics]
    tops = [curve.mean if curve.high is None else curve.high for curve in same]
    reached = max((float(top) for curve in tops for top in curve if top == top), default=0.0)
    least = 0.0 if set(metrics) <= _falling(sweep) and reached > 0 else 1.0
    axes.set_ylim(0.0, 1.03 * max(least, reached))
    names = [label(metric) for metric in metrics]
    axes.set_ylabel(" and ".join(names) if len(names) <= METRICS_TOGETHER else "Score")


def _ticks(values: Sequence[int], over: str) -> list[float]:
    """Return round values, and the ends where these are not too near."""
    if over == "k":
        step = max(5, 5 * round((values[-1] - values[0]) / 30))
        inner = range(step, values[-1] + 1, step)
        return [float(values[0]), *(float(t) for t in inner if t > values[0])]
    powers = [m * 10**e for e in range(12) for m in (1, 2, 5)]
    inside = [float(t) for t in powers if values[0] * 1.3 < t < values[-1] / 1.3]
    return [float(values[0]), *inside, float(values[-1])]


def _legend(sweep: Sweep, metrics: Sequence[str]) -> list[Artist]:
    """Explain the colours, the markers and dashes, and the tick of a plateau."""
    every = sweep.settings["metrics"]
    gap = Line2D([], [], linestyle="", label=" ")
    systems = [
        Line2D([], [], color=colour(index), linewidth=4, label=drawable(name))
        for index, name in enumerate(map(short, _systems(sweep)))
    ]
    styles = [Line2D([], [], label=label(m), **line(GREY, every.index(m))) for m in metrics]
    marked = any(placed.curve.plateau.start is not None for placed in sweep.placed_curves())
    tick = [gap, Line2D([], [], **_tick(GREY), label="plateau starts")] if marked else []
    return [*systems, gap, *styles, *tick, *_band(sweep)]


def _band(sweep: Sweep) -> list[Patch]:
    """Explain the bands, where there are any."""
    if all(placed.curve.deviation is None for placed in sweep.placed_curves()):
        return []
    over = REPLICATES.get(sweep.over, "files")
    return [Patch(color=GREY, alpha=SHADE, linewidth=0, label=f"±1 SD ({over})")]


def _tick(shade: str) -> Look:
    mark: Look = {"marker": "|", "markersize": 13, "markeredgewidth": 1.6}
    return {"color": shade, "linestyle": "", **mark}


def _systems(sweep: Sweep) -> list[str]:
    return list(dict.fromkeys(placed.system for placed in sweep.placed_curves()))
