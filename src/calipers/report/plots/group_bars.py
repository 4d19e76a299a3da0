"""The bar chart of scores by group: which groups of the reference a system covers, and how well."""

from __future__ import annotations

from collections.abc import Sequence
from math import isfinite

from matplotlib.artist import Artist
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.patches import Patch

from calipers.errors import InputError, unknown_name
from calipers.report.comparison.sets import MOST, WORST, shown_groups
from calipers.report.plots.choosing import (
    all_scores,
    bounds,
    check_one,
    chosen_systems,
    chosen_view,
    drawable,
    interval_words,
    metric_names,
    place_of,
    prefix,
    view_words,
)
from calipers.report.plots.panels import Panel, Plot, legend_width
from calipers.report.plots.style import COLOURS, INK, Look, colour
from calipers.results.comparison import Comparison
from calipers.score import Score
from calipers.wording.names import label

METRICS = ("recall", "coverage", "precision")

PANEL = 2.3
NAMES = 0.9
INTERVAL = "95 % interval"
BAR = 0.13
LEAST_GROUP, LEAST = 0.3, 1.5
WIDEST = 28
HATCHES = ("", "////", "....", "xxxx")


def group_bars_plot(
    comparison: Comparison,
    *,
    view: str | None = None,
    system: str | None = None,
    metrics: Sequence[str] | str | None = None,
) -> Plot:
    """Show scores by group: a panel for each metric, with systems as adjacent bars.

    Of more than 50 groups the 20 of the lowest recall are shown, and the figure says so. A panel
    alone shows the one metric that is named, recall by default.

    Parameters
    ----------
    comparison
        With scores by group.
    view, system
        One view, the main one by default; one system, or all by default.
    metrics
        Of ``"recall"``, ``"coverage"`` and ``"precision"``; all that were measured by default.

    Raises
    ------
    InputError
        If nothing was measured by group, or a name is not known.

    Examples
    --------
    >>> import calipers
    >>> texts = [{"text": f"{w} {n}", "topic": w} for n in range(12) for w in ("sea", "sky")]
    >>> run = calipers.compare(
    ...     texts, {"model": texts[::-1]}, group="topic", embedder="characters", level=None,
    ...     floor=False,
    ... )
    >>> type(group_bars_plot(run, metrics="recall")).__name__
    'Plot'
    """
    view = chosen_view(comparison, view)
    before = prefix(comparison, view)
    shown = _metrics(comparison, before, metrics)
    names = chosen_systems(comparison, system)
    every = _groups(comparison)
    groups = shown_groups(comparison, every, before=before)
    height = max(LEAST, len(groups) * max(LEAST_GROUP, BAR * (len(names) + 1)) + 0.9)
    room = legend_width([*names, INTERVAL])

    def draw(axes: Axes, metric: str) -> None:
        """Draw a bar for each system in every group."""
        for place, name in enumerate(names):
            keys = [f"{before}{metric}:group={group}" for group in groups]
            scores = [comparison[name].scores.get(key) for key in keys]
            _draw(axes, scores, place, len(names), place_of(comparison, name))
        _name_groups(axes, comparison, groups)
        axes.set_xlim(0.0, 1.0)
        axes.set_xticks((0.0, 0.5, 1.0), ("0", "0.5", "1"))
        axes.set_xticks((0.25, 0.75), minor=True)
        axes.set_title(label(metric) + view_words(comparison, view, ", {}"), loc="left")

    def whole() -> Figure:
        size = (PANEL * len(shown) + NAMES + room, height)
        figure = Figure(figsize=size, layout="constrained")
        panels = figure.subplots(1, len(shown), sharey=True, squeeze=False)[0]
        for panel, metric in zip(panels, shown, strict=True):
            draw(panel, metric)
            panel.tick_params(axis="y", labelleft=panel is panels[0])
        field = drawable(comparison.settings.get("group") or "group")
        panels[0].set_ylabel(f"{field} (n)")
        figure.legend(handles=_legend(comparison, names), loc="outside right upper")
        note = f"The {WORST} groups of the lowest recall, of {len(every):,}"
        figure.suptitle(note if len(every) > MOST else "", size=8, x=0.01, ha="left")
        return figure

    def panel() -> Panel:
        check_one(shown, metrics)
        size = PANEL + NAMES, height
        return Panel(lambda axes: draw(axes, shown[0]), size, _legend(comparison, names), room)

    return Plot(whole, panel)


def _metrics(comparison: Comparison, before: str, metrics: Sequence[str] | str | None) -> list[str]:
    """Return the metrics that were measured by group, of those asked for."""
    keys = all_scores(comparison)
    known = [m for m in METRICS if any(key.startswith(f"{before}{m}:group=") for key in keys)]
    if not known:
        raise InputError(
            "this comparison has no scores by group; run `calipers.compare` with `group`"
        )
    asked = metric_names(metrics) or known
    for name in asked:
        if name not in known:
            raise unknown_name("metric by group", name, known)
    return asked


def _groups(comparison: Comparison) -> list[str]:
    """Return every group of the reference, then those that only generated sets have."""
    parts = [key.partition(":group=") for key in all_scores(comparison)]
    of_reference = comparison.reference.groups or {}
    return list(dict.fromkeys([*of_reference, *(group for _, by, group in parts if by)]))


def _draw(axes: Axes, scores: Sequence[Score | None], place: int, systems: int, index: int) -> None:
    """Draw the bars of one system; a dash where a group has no score."""
    width = 0.8 / systems
    for row, score in enumerate(scores):
        y = row - 0.4 + width * (place + 0.5)
        if score is None or not isfinite(score.value):
            axes.annotate("–", (0.0, y), (2, 0), textcoords="offset points", va="center", size=6)
            continue
        axes.barh(y, score.value, 0.92 * width, **_look(index))
        if ends := bounds(score):
            # The white rim keeps the line in sight on dark bars
            axes.hlines(y, *ends, color="white", linewidth=2.0)
            axes.hlines(y, *ends, color=INK, linewidth=0.9)


def _look(index: int) -> Look:
    hatch = HATCHES[index // len(COLOURS) % len(HATCHES)]
    return {"facecolor": colour(index), "hatch": hatch, "edgecolor": "white", "linewidth": 0.0}


def _name_groups(axes: Axes, comparison: Comparison, groups: Sequence[str]) -> None:
    sizes = comparison.reference.groups or {}
    names = [f"{drawable(group, WIDEST)} ({sizes.get(group, 0):,})" for group in groups]
    axes.set_yticks(range(len(groups)), names)
    axes.set_ylim(len(groups) - 0.5, -0.5)
    axes.tick_params(axis="y", length=0)
    axes.grid(False, axis="y")


def _legend(comparison: Comparison, names: Sequence[str]) -> list[Artist]:
    bars = [Patch(label=drawable(name), **_look(place_of(comparison, name))) for name in names]
    scores = [pair for name in names for pair in comparison[name].scores.items()]
    levels = interval_words(score for key, score in scores if ":group=" in key)
    return [*bars, *(Line2D([], [], color=INK, linewidth=0.9, label=words) for words in levels)]
