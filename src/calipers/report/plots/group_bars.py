"""Scores by group ──► bars: which groups of the reference a system reaches, and how well."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from matplotlib.artist import Artist
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.patches import Patch

from calipers.errors import InputError
from calipers.report.documents.compare_sets import MOST, WORST
from calipers.report.names import label
from calipers.report.plots.beside import legend_beside, own_axes
from calipers.report.plots.choosing import (
    chosen_systems,
    chosen_view,
    compared,
    drawable,
    legend_width,
    place_of,
    scores_of,
    views_of,
)
from calipers.report.plots.group_bars_content import (
    all_groups,
    group_key,
    grouped_metrics,
    shown_by_view,
)
from calipers.report.plots.style import COLOURS, colour, styled

Data = Mapping[str, Any]

PANEL = 2.3
NAMES = 0.9
INTERVAL = "95 % interval"
BAR = 0.13
LEAST_GROUP, LEAST = 0.3, 1.5
WIDEST = 28
HATCHES = ("", "////", "....", "xxxx")
INK = "#1a1a1a"


def group_bars_figure(
    data: Data,
    *,
    view: str | None = None,
    system: str | None = None,
    metrics: Sequence[str] | str | None = None,
) -> Figure:
    """Draw scores by group: a panel for each metric, the bars of the systems side by side.

    Parameters
    ----------
    data
        Report data of a comparison with ``group``.
    view, system
        One view, the main one by default; one system, or all by default.
    metrics
        Of ``"recall"``, ``"coverage"`` and ``"precision"``; all that were measured by default.

    Returns
    -------
    Figure
        ``figure.axes`` holds the panels. Of more than 50 groups the 20 of the lowest recall are
        shown, and the figure says so.

    Raises
    ------
    InputError
        If nothing was measured by group, or a name is not known.
    """
    chosen = grouped_metrics(data, view, metrics)
    names, groups = chosen_systems(data, system), shown_by_view(data, view)
    with styled():
        width = PANEL * len(chosen) + NAMES + legend_width([*names, INTERVAL])
        size = (width, _height(len(groups), len(names)))
        figure = Figure(figsize=size, layout="constrained")
        panels = figure.subplots(1, len(chosen), sharey=True, squeeze=False)[0]
        for panel, metric in zip(panels, chosen, strict=True):
            group_bars_axes(data, panel, view=view, system=system, metrics=metric, legend=False)
            panel.tick_params(axis="y", labelleft=panel is panels[0])
            panel.set_ylabel("")
        panels[0].set_ylabel(_group_field(data))
        figure.legend(handles=_handles(data, names), loc="outside right upper")
        figure.suptitle(_left_out(data), size=8, x=0.01, ha="left")
    return figure


def group_bars_axes(
    data: Data,
    axes: Axes | None = None,
    *,
    view: str | None = None,
    system: str | None = None,
    metrics: Sequence[str] | str | None = None,
    legend: bool = True,
) -> Axes:
    """Draw one metric by group, with intervals: a bar for each system in every group.

    The options are those of :func:`group_bars_figure`; of `metrics` there is one, recall by
    default. `axes` are those of a figure of their own by default; `legend` says whether to add one.
    """
    (metric, *others) = grouped_metrics(data, view, metrics)
    if metrics is not None and others:
        raise InputError(f"one axes shows one metric; found {1 + len(others)}")
    names, groups = chosen_systems(data, system), shown_by_view(data, view)
    with styled():
        width, height = PANEL + NAMES, _height(len(groups), len(names))
        axes = own_axes(width, height, [*names, INTERVAL]) if axes is None else axes
        for place, name in enumerate(names):
            keys = [group_key(data, view, metric, group) for group in groups]
            scores = [scores_of(data, name).get(key) for key in keys]
            _draw(axes, scores, place, len(names), place_of(data, name))
        _name_groups(axes, data, groups)
        axes.set_xlim(0.0, 1.0)
        axes.set_xticks((0.0, 0.5, 1.0), ("0", "0.5", "1"))
        axes.set_xticks((0.25, 0.75), minor=True)
        axes.set_title(label(metric) + _by(data, view), loc="left")
        if legend:
            legend_beside(axes, _handles(data, names))
    return axes


def _height(groups: int, systems: int) -> float:
    """Give the inches that the bars need."""
    return max(LEAST, groups * max(LEAST_GROUP, BAR * (systems + 1)) + 0.9)


def _draw(axes: Axes, scores: Sequence[Data | None], place: int, systems: int, index: int) -> None:
    """Draw the bars of one system; a dash where a group has no score."""
    width = 0.8 / systems
    for row, score in enumerate(scores):
        y = row - 0.4 + width * (place + 0.5)
        value = score["value"] if score else None
        if value is None:
            axes.annotate("–", (0.0, y), (2, 0), textcoords="offset points", va="center", size=6)
            continue
        axes.barh(y, value, 0.92 * width, **_look(index))
        if score and score.get("interval") and None not in score["interval"]:
            # The white rim keeps the line in sight on dark bars
            axes.hlines(y, *score["interval"], color="white", linewidth=2.0)
            axes.hlines(y, *score["interval"], color=INK, linewidth=0.9)


def _look(index: int) -> dict[str, Any]:
    hatch = HATCHES[index // len(COLOURS) % len(HATCHES)]
    return {"facecolor": colour(index), "hatch": hatch, "edgecolor": "white", "linewidth": 0.0}


def _name_groups(axes: Axes, data: Data, groups: Sequence[str]) -> None:
    sizes = compared(data)["reference"].get("groups") or {}
    names = [f"{drawable(group, WIDEST)} ({sizes.get(group, 0):,})" for group in groups]
    axes.set_yticks(range(len(groups)), names)
    axes.set_ylim(len(groups) - 0.5, -0.5)
    axes.tick_params(axis="y", length=0)
    axes.grid(False, axis="y")


def _handles(data: Data, names: Sequence[str]) -> list[Artist]:
    bars = [Patch(label=drawable(name), **_look(place_of(data, name))) for name in names]
    levels = {
        score["level"]
        for name in names
        for key, score in scores_of(data, name).items()
        if ":group=" in key and score.get("interval") and score.get("level")
    }
    told = [f"{100 * level:.4g} % interval" for level in sorted(levels)]
    return [*bars, *(Line2D([], [], color=INK, linewidth=0.9, label=each) for each in told)]


def _group_field(data: Data) -> str:
    return f"{drawable(compared(data)['settings'].get('group') or 'group')} (n)"


def _by(data: Data, view: str | None) -> str:
    """Say by which view, where there are several."""
    several = len(views_of(data)) > 1
    return f", {drawable(chosen_view(data, view))}" if several else ""


def _left_out(data: Data) -> str:
    """Say which groups are shown, where not all are."""
    every = len(all_groups(data))
    return f"The {WORST} groups of the lowest recall, of {every:,}" if every > MOST else ""
