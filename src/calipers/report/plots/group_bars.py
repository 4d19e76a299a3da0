"""Scores by group ──► bars: which groups of the reference a system reaches, and how well."""

from __future__ import annotations

from collections.abc import Sequence

from matplotlib.artist import Artist
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.patches import Patch

from calipers.errors import InputError, unknown_name
from calipers.report.comparison.sets import MOST, WORST, shown_groups
from calipers.report.names import label
from calipers.report.of_data import comparison_of
from calipers.report.plots.choosing import (
    Data,
    all_scores,
    check_one,
    chosen_systems,
    chosen_view,
    compared,
    drawable,
    interval_words,
    metric_names,
    place_of,
    prefix,
    scores_of,
    view_words,
)
from calipers.report.plots.panels import Panel, Plot, legend_width
from calipers.report.plots.style import COLOURS, INK, Look, colour

METRICS = ("recall", "coverage", "precision")

PANEL = 2.3
NAMES = 0.9
INTERVAL = "95 % interval"
BAR = 0.13
LEAST_GROUP, LEAST = 0.3, 1.5
WIDEST = 28
HATCHES = ("", "////", "....", "xxxx")


def group_bars_plot(
    data: Data,
    *,
    view: str | None = None,
    system: str | None = None,
    metrics: Sequence[str] | str | None = None,
) -> Plot:
    """Show scores by group: a panel for each metric, the bars of the systems side by side.

    Of more than 50 groups the 20 of the lowest recall are shown, and the figure says so. A panel
    alone shows the one metric that is named, recall by default.

    Parameters
    ----------
    data
        Report data of a comparison with ``group``.
    view, system
        One view, the main one by default; one system, or all by default.
    metrics
        Of ``"recall"``, ``"coverage"`` and ``"precision"``; all that were measured by default.

    Raises
    ------
    InputError
        If nothing was measured by group, or a name is not known.
    """
    view = chosen_view(data, view)
    before = prefix(data, view)
    shown = _metrics(data, before, metrics)
    names = chosen_systems(data, system)
    every = _groups(data)
    groups = shown_groups(comparison_of(compared(data)), every, before=before)
    height = max(LEAST, len(groups) * max(LEAST_GROUP, BAR * (len(names) + 1)) + 0.9)
    room = legend_width([*names, INTERVAL])

    def draw(axes: Axes, metric: str) -> None:
        """Draw a bar for each system in every group."""
        for place, name in enumerate(names):
            keys = [f"{before}{metric}:group={group}" for group in groups]
            scores = [scores_of(data, name).get(key) for key in keys]
            _draw(axes, scores, place, len(names), place_of(data, name))
        _name_groups(axes, data, groups)
        axes.set_xlim(0.0, 1.0)
        axes.set_xticks((0.0, 0.5, 1.0), ("0", "0.5", "1"))
        axes.set_xticks((0.25, 0.75), minor=True)
        axes.set_title(label(metric) + view_words(data, view, ", {}"), loc="left")

    def whole() -> Figure:
        size = (PANEL * len(shown) + NAMES + room, height)
        figure = Figure(figsize=size, layout="constrained")
        panels = figure.subplots(1, len(shown), sharey=True, squeeze=False)[0]
        for panel, metric in zip(panels, shown, strict=True):
            draw(panel, metric)
            panel.tick_params(axis="y", labelleft=panel is panels[0])
        field = drawable(compared(data)["settings"].get("group") or "group")
        panels[0].set_ylabel(f"{field} (n)")
        figure.legend(handles=_legend(data, names), loc="outside right upper")
        told = f"The {WORST} groups of the lowest recall, of {len(every):,}"
        figure.suptitle(told if len(every) > MOST else "", size=8, x=0.01, ha="left")
        return figure

    def panel() -> Panel:
        check_one(shown, metrics)
        size = PANEL + NAMES, height
        return Panel(lambda axes: draw(axes, shown[0]), size, _legend(data, names), room)

    return Plot(whole, panel)


def _metrics(data: Data, before: str, metrics: Sequence[str] | str | None) -> list[str]:
    """Give the metrics that were measured by group, of those asked for."""
    keys = all_scores(data)
    known = [m for m in METRICS if any(key.startswith(f"{before}{m}:group=") for key in keys)]
    if not known:
        raise InputError(
            "this comparison has no scores by group; run calipers compare with --group FIELD"
        )
    asked = metric_names(metrics) or known
    for name in asked:
        if name not in known:
            raise unknown_name("metric by group", name, known)
    return asked


def _groups(data: Data) -> list[str]:
    """Give every group of the reference, then those that only generated sets have."""
    parts = [key.partition(":group=") for key in all_scores(data)]
    own = compared(data)["reference"].get("groups") or {}
    return list(dict.fromkeys([*own, *(group for _, found, group in parts if found)]))


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


def _look(index: int) -> Look:
    hatch = HATCHES[index // len(COLOURS) % len(HATCHES)]
    return {"facecolor": colour(index), "hatch": hatch, "edgecolor": "white", "linewidth": 0.0}


def _name_groups(axes: Axes, data: Data, groups: Sequence[str]) -> None:
    sizes = compared(data)["reference"].get("groups") or {}
    names = [f"{drawable(group, WIDEST)} ({sizes.get(group, 0):,})" for group in groups]
    axes.set_yticks(range(len(groups)), names)
    axes.set_ylim(len(groups) - 0.5, -0.5)
    axes.tick_params(axis="y", length=0)
    axes.grid(False, axis="y")


def _legend(data: Data, names: Sequence[str]) -> list[Artist]:
    bars = [Patch(label=drawable(name), **_look(place_of(data, name))) for name in names]
    scores = [pair for name in names for pair in scores_of(data, name).items()]
    told = interval_words(score for key, score in scores if ":group=" in key)
    return [*bars, *(Line2D([], [], color=INK, linewidth=0.9, label=words) for words in told)]
