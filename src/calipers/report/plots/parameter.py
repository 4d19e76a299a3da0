"""Comparisons as data ──► metrics against a decoding parameter, text length, or any setting.

After figures 8, 9 and 23 of Pillutla et al. (JMLR 2023) and figures 6 and 8 of Le Bronnec et al.
(ACL 2024).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from matplotlib.axes import Axes
from matplotlib.figure import Figure

from calipers.errors import InputError, unknown_name
from calipers.report.plots.beside import legend_beside, own_axes
from calipers.report.plots.choosing import (
    chosen_view,
    compared,
    drawable,
    legend_width,
    metric_names,
    prefix,
    views_of,
)
from calipers.report.plots.parameter_panel import draw_panel, panel_entries
from calipers.report.plots.parameter_points import By, X, points
from calipers.report.plots.style import styled
from calipers.report.shown import Metric, shown_metrics
from calipers.report.table import ARROWS

Data = Mapping[str, Any]

PANEL, PANEL_ALONE = (2.7, 2.2), (3.2, 2.5)
INTERVAL = "95 % interval"
COLUMNS = 3
LABELS = {
    "name": "number in the system's name",
    "words": "median length in words",
    "n": "N, samples on each side",
    "k": "k, nearest neighbours that span a ball",
    "match_length": "length in words (match_length)",
    "c": "c, scaling constant",
}


def parameter_figure(
    data: Data | Sequence[Data],
    *,
    x: X = "name",
    by: By | None = None,
    metrics: Sequence[str] | str | None = None,
    view: str | None = None,
    system: str | None = None,
    x_label: str | None = None,
) -> Figure:
    """Draw how metrics move with a parameter: a panel for each metric, a line for each family.

    Parameters
    ----------
    data
        Report data of a comparison, or of several.
    x
        What is on the x-axis: ``"name"``, the last number in each system's name (``nucleus-0.9``
        is at 0.9); ``"words"``, its median length; ``"n"``, its samples; a key of the settings that
        the runs differ in, such as ``"match_length"``; or the value of each system by its name, of
        which others are left out. A log axis where values span two decades.
    by
        What makes a line: ``"family"``, the name without its last number; ``"system"``; or the line
        of each system by its name. By default families where x is read from names or given, else
        systems. Points that share their x with another of their line are not joined.
    metrics
        Keys of scores, such as ``mauve_star`` or ``form.recall``; those that the table shows by
        default.
    view
        The view of metrics without one; the main one by default.
    system
        The one system or line to draw; all by default.
    x_label
        What to write below the x-axis.

    Returns
    -------
    Figure
        ``figure.axes`` holds the panels, row by row.

    Raises
    ------
    InputError
        If a system has no number for x, or a name is not known.
    """
    runs = _runs(data)
    placed = points(runs, x=x, by=by, system=system)
    shown = _metrics(runs, metrics, view)
    columns = min(COLUMNS, len(shown)) if len(shown) != COLUMNS + 1 else 2
    rows = -(-len(shown) // columns)
    with styled():
        names = [*(point.line for point in placed), INTERVAL]
        size = (PANEL[0] * columns + legend_width(names), PANEL[1] * rows + 0.2)
        figure = Figure(figsize=size, layout="constrained")
        panels = list(figure.subplots(rows, columns, sharex=True, squeeze=False).flat)
        for metric, panel in zip(shown, panels, strict=False):
            draw_panel(panel, placed, metric)
            panel.set_title(_title(metric, runs), loc="left")
        for spare in range(len(shown), len(panels)):
            panels[spare].remove()
            panels[spare - columns].tick_params(labelbottom=True)
        figure.supxlabel(_x_label(x, x_label), size=9)
        handles = panel_entries(placed, shown)
        figure.legend(handles=handles, loc="outside right upper")
    return figure


def parameter_axes(
    data: Data | Sequence[Data],
    axes: Axes | None = None,
    *,
    x: X = "name",
    by: By | None = None,
    metrics: Sequence[str] | str | None = None,
    view: str | None = None,
    system: str | None = None,
    x_label: str | None = None,
) -> Axes:
    """Draw how one metric moves with a parameter.

    The options are those of :func:`parameter_figure`; of `metrics` there is one, and where none is
    named the first that the table shows is drawn. `axes` are those of a figure of their own by
    default.
    """
    runs = _runs(data)
    placed = points(runs, x=x, by=by, system=system)
    shown = _metrics(runs, metrics, view)
    if metrics is not None and len(shown) != 1:
        raise InputError(f"one axes shows one metric; found {len(shown)}")
    with styled():
        names = [*(point.line for point in placed), INTERVAL]
        axes = own_axes(*PANEL_ALONE, names) if axes is None else axes
        draw_panel(axes, placed, shown[0])
        axes.set_xlabel(_x_label(x, x_label))
        axes.set_ylabel(_title(shown[0], runs))
        legend_beside(axes, panel_entries(placed, shown[:1]))
    return axes


def _runs(data: Data | Sequence[Data]) -> list[Data]:
    runs = [data] if isinstance(data, Mapping) else list(data)
    if not runs:
        raise InputError("a plot against a parameter needs at least one comparison; found none")
    return runs


def _metrics(
    runs: Sequence[Data], metrics: Sequence[str] | str | None, view: str | None
) -> list[Metric]:
    """Choose the metrics, each by one view."""
    chosen, asked = chosen_view(runs[0], view), metric_names(metrics)
    if asked is None:
        return [each for each in shown_metrics(compared(runs[0])) if each.view == chosen]
    return [_metric(runs, chosen, name) for name in dict.fromkeys(asked)]


def _metric(runs: Sequence[Data], view: str, name: str) -> Metric:
    """Find a metric by its key, or by its name in the view."""
    scores = {
        key: score
        for run in runs
        for system in compared(run)["systems"]
        for key, score in system["scores"].items()
    }
    first, dot, rest = name.partition(".")
    known_view = bool(dot) and first in views_of(runs[0])
    base, of = (rest, first) if known_view else (name, view)
    key = prefix(runs[0], of) + base
    if key not in scores:
        raise unknown_name("metric", name, scores)
    return Metric(of, base, key, scores[key].get("better") or "higher")


def _title(metric: Metric, runs: Sequence[Data]) -> str:
    several = len(views_of(runs[0])) > 1
    arrow = ARROWS.get(metric.direction, "")
    return drawable(metric.label + arrow) + (f", {drawable(metric.view)}" if several else "")


def _x_label(x: X, given: str | None) -> str:
    if given is not None:
        return drawable(given, 80)
    return LABELS.get(x, drawable(x)) if isinstance(x, str) else "value"
