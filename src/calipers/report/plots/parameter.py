"""The plot of metrics against a decoding parameter, text length, or any setting.

After figures 8, 9 and 23 of Pillutla et al. (JMLR 2023) and figures 6 and 8 of Le Bronnec et al.
(ACL 2024).
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from matplotlib.artist import Artist
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.patches import Patch
from matplotlib.ticker import FixedLocator, FuncFormatter, NullLocator, ScalarFormatter

from calipers.errors import InputError, unknown_name
from calipers.report.plots.choosing import (
    all_scores,
    bounds,
    check_one,
    chosen_view,
    drawable,
    family,
    interval_words,
    last_number,
    metric_names,
    prefix,
    view_words,
    views_of,
)
from calipers.report.plots.panels import Panel, Plot, legend_width
from calipers.report.plots.style import COLOURS, EDGE, SHADE, Look, colour, dashes, marker
from calipers.results.comparison import Comparison
from calipers.results.shown import ShownScore
from calipers.results.system import SystemResult
from calipers.score import Score

X = str | Mapping[str, float]
By = str | Mapping[str, str]

OWN = ("name", "words", "n")
WAYS = ("family", "system")

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

DOT, STAR = 5.0, 8.0
GREY = "#666666"
REFERENCE: Look = {"color": GREY, "linewidth": 1.0, "linestyle": (0, (3, 2))}
DECADES = 100.0
MOST_TICKS = 6
MINUS = "\N{MINUS SIGN}"


@dataclass(frozen=True)
class Point:
    """One system of one run: its x-value, its line, and its scores by key."""

    system: str
    x: float
    line: str
    scores: Mapping[str, Score]


def parameter_plot(
    comparisons: Comparison | Sequence[Comparison],
    *,
    x: X = "name",
    by: By | None = None,
    metrics: Sequence[str] | str | None = None,
    view: str | None = None,
    system: str | None = None,
    x_label: str | None = None,
) -> Plot:
    """Show how metrics change with a parameter: a panel for each metric, a line per family.

    A panel alone shows the one metric that is named, the first of the table by default.

    Parameters
    ----------
    comparisons
        One, or several.
    x
        The x-axis: ``"name"``, the last number in each system's name (``nucleus-0.9``
        is at 0.9), and in a comparison of ``calipers tune`` the parameter that it varied, of two
        the second; ``"words"``, its median length; ``"n"``, its samples; a key of the settings that
        the runs differ in, such as ``"match_length"``; or the value of each system by its name, of
        which others are left out. A log axis where values span two decades.
    by
        The lines: ``"family"``, the name without its last number; ``"system"``; or the line
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
        The label of the x-axis.

    Raises
    ------
    InputError
        If a system has no number for x, or a name is not known.

    Examples
    --------
    >>> import calipers
    >>> import numpy as np
    >>> real, *rows = np.random.default_rng(0).normal(size=(3, 60, 2))
    >>> systems = {"top-p-0.8": rows[0], "top-p-0.9": rows[1]}
    >>> run = calipers.compare(real, systems, metrics="precision", level=None, floor=False)
    >>> parameter_plot(run).axes().get_ylabel()
    'Precision↑'
    """
    runs = [comparisons] if isinstance(comparisons, Comparison) else list(comparisons)
    if not runs:
        raise InputError("a plot against a parameter needs at least one comparison; found none")
    varied = runs[0].varied if len(runs) == 1 else None
    if varied is not None and x == "name" and by is None:
        x, by, x_label = varied.values, varied.lines, x_label or varied.names[-1]
    placed = points(runs, x=x, by=by, system=system)
    shown = _metrics(runs, chosen_view(runs[0], view), metric_names(metrics))
    titles = [
        drawable(metric.label + metric.arrow) + view_words(runs[0], metric.view, ", {}")
        for metric in shown
    ]
    room = legend_width([*(point.line for point in placed), INTERVAL])
    below = _x_label(x, runs) if x_label is None else drawable(x_label, 80)

    def whole() -> Figure:
        columns = min(COLUMNS, len(shown)) if len(shown) != COLUMNS + 1 else 2
        rows = -(-len(shown) // columns)
        size = (PANEL[0] * columns + room, PANEL[1] * rows + 0.2)
        figure = Figure(figsize=size, layout="constrained")
        panels = list(figure.subplots(rows, columns, sharex=True, squeeze=False).flat)
        for metric, title, axes in zip(shown, titles, panels, strict=False):
            _draw(axes, placed, metric)
            axes.set_title(title, loc="left")
        for spare in range(len(shown), len(panels)):
            panels[spare].remove()
            panels[spare - columns].tick_params(labelbottom=True)
        figure.supxlabel(below, size=9)
        figure.legend(handles=_legend(placed, shown), loc="outside right upper")
        return figure

    def draw(axes: Axes) -> None:
        _draw(axes, placed, shown[0])
        axes.set_xlabel(below)
        axes.set_ylabel(titles[0])

    def panel() -> Panel:
        check_one(shown, metrics)
        return Panel(draw, PANEL_ALONE, _legend(placed, shown[:1]), room)

    return Plot(whole, panel)


def _metrics(
    runs: Sequence[Comparison], view: str, asked: Sequence[str] | None
) -> list[ShownScore]:
    """Choose the metrics, each by one view."""
    if asked is None:
        return [metric for metric in runs[0].shown if metric.view == view]
    return [_metric(runs, view, name) for name in asked]


def _metric(runs: Sequence[Comparison], view: str, name: str) -> ShownScore:
    """Find a metric by its key, or by its name in the view."""
    scores = all_scores(*runs)
    first, dot, rest = name.partition(".")
    known_view = bool(dot) and first in views_of(runs[0])
    base, of = (rest, first) if known_view else (name, view)
    key = prefix(runs[0], of) + base
    if key not in scores:
        raise unknown_name("metric", name, scores)
    return ShownScore(of, base, key, scores[key].better)


def _x_label(x: X, runs: Sequence[Comparison]) -> str:
    if not isinstance(x, str):
        return "value"
    return LABELS.get(x, drawable(x)).replace("in words", f"in {runs[0].reference.word_unit}")


# Where each system stands


def points(runs: Sequence[Comparison], *, x: X, by: By | None, system: str | None) -> list[Point]:
    """Assign every system of every run a point.

    Parameters
    ----------
    runs
        The comparisons.
    x
        ``"name"``, ``"words"``, ``"n"``, a key of the settings, or the value of each system.
    by
        ``"family"``, ``"system"``, or the line of each system; by default families where x is read
        from names or given, else systems. A system alone in its family keeps its whole name.
    system
        The one system, or the one line, to place.

    Raises
    ------
    InputError
        If a system has no number there, or `x`, `by` or `system` are not known.
    """
    systems = [(run, system) for run in runs for system in run]
    if isinstance(x, Mapping):
        _check_listed([one.name for _, one in systems], x)
        systems = [(run, one) for run, one in systems if one.name in x]
    way = "family" if x == "name" or isinstance(x, Mapping) else "system"
    lines = _lines([one.name for _, one in systems], way if by is None else by)
    placed = [
        Point(one.name, _x(run, one, x), line, one.scores)
        for (run, one), line in zip(systems, lines, strict=True)
    ]
    known = list(dict.fromkeys(name for p in placed for name in (p.line, p.system)))
    if system is not None and system not in known:
        raise unknown_name("system", system, known)
    return [p for p in placed if system is None or system in (p.line, p.system)]


def _check_listed(names: Sequence[str], x: Mapping[str, float]) -> None:
    """Refuse values for a system that no run has: they would be left out unseen."""
    for name in x:
        if name not in names:
            raise unknown_name("system", name, names)


def _lines(names: Sequence[str], by: By) -> list[str]:
    if isinstance(by, Mapping):
        return [str(by.get(name, name)) for name in names]
    if by not in WAYS:
        raise unknown_name("by", by, WAYS)
    if by == "system":
        return list(names)
    members = {line: {n for n in names if family(n) == line} for line in map(family, names)}
    return [family(name) if len(members[family(name)]) > 1 else name for name in names]


def _x(run: Comparison, system: SystemResult, x: X) -> float:
    name = system.name
    if isinstance(x, Mapping):
        return _number(x[name], f"x of the system {name!r}")
    if x == "name":
        last = last_number(name)
        if last is None:
            raise InputError(f"x='name' reads the last number in a name; {name!r} has none")
        return _number(last.value, f"the number in {name!r}")
    if x == "words":
        median = (system.summary.words or {}).get("median")
        return _number(median, f"the median length of {name!r}")
    if x == "n":
        return _number(system.summary.n, f"the number of samples of {name!r}")
    settings = {**(run.settings.get("embedding") or {}), **run.settings}
    if x not in settings:
        numbers = [key for key, value in settings.items() if _read(value) is not None]
        raise unknown_name("x", x, [*OWN, *numbers])
    return _number(settings[x], f"the setting {x!r}")


def _number(value: object, what: str) -> float:
    number = _read(value)
    if number is None:
        problem = "has no value" if value is None else f"is {value!r}"
        raise InputError(f"x must be a number; {what} {problem}")
    return number


def _read(value: object) -> float | None:
    if isinstance(value, bool) or not isinstance(value, int | float | str):
        return None
    try:
        number = float(value)
    except ValueError:
        return None
    return number if math.isfinite(number) else None


# One panel


def _draw(axes: Axes, placed: Sequence[Point], metric: ShownScore) -> None:
    """Draw the lines of one metric, with bands or bars, and what the reference itself scores."""
    for index, line in enumerate(_by_line(placed).values()):
        _draw_line(axes, line, metric.key, index)
    for value in sorted(_references(placed, metric)):
        axes.axhline(value, zorder=1, **REFERENCE)
    scores = [point.scores[metric.key] for point in placed if metric.key in point.scores]
    _scale(axes, "x", [point.x for point in placed])
    bounded = any(score.range == (0.0, 1.0) for score in scores)
    values = [score.value for score in scores if math.isfinite(score.value)]
    _scale(axes, "y", [] if bounded else values)
    axes.margins(x=0.06, y=0.08)


def _by_line(placed: Sequence[Point]) -> dict[str, list[Point]]:
    lines: dict[str, list[Point]] = {point.line: [] for point in placed}
    for point in sorted(placed, key=lambda point: point.x):
        lines[point.line].append(point)
    return lines


def _draw_line(axes: Axes, line: Sequence[Point], key: str, index: int) -> None:
    """Draw points with their bars, or a line with its band where no two points share a place."""
    scores = [point.scores.get(key) for point in line]
    xs = [point.x for point in line]
    ys = [math.nan if score is None else score.value for score in scores]
    spreads = [_spread(score) for score in scores]
    ends = [(y, y) if spread is None else spread for y, spread in zip(ys, spreads, strict=True)]
    lows, highs = zip(*ends, strict=True)
    joined = len(set(xs)) == len(xs) > 1
    if joined and any(spreads):
        axes.fill_between(xs, lows, highs, color=colour(index), alpha=SHADE, linewidth=0)
    elif any(spreads):
        axes.vlines(xs, lows, highs, color=colour(index), linewidth=1.2)
    axes.plot(xs, ys, label=drawable(line[0].line), **_look(index, joined=joined))


def _spread(score: Score | None) -> tuple[float, float] | None:
    """Return the ends of the interval, or of one standard deviation over the files."""
    if score is None or bounds(score) is not None:
        return bounds(score)
    deviation = score.seeds_sd
    if deviation is None or not math.isfinite(score.value):
        return None
    return score.value - deviation, score.value + deviation


def _references(placed: Sequence[Point], metric: ShownScore) -> set[float]:
    """Return what the reference itself scores, where the metric is a property of one set."""
    scores = [point.scores[metric.key] for point in placed if metric.key in point.scores]
    values = (score.reference for score in scores)
    return {value for value in values if value is not None and math.isfinite(value)}


def _look(index: int, *, joined: bool) -> Look:
    return {
        "color": colour(index),
        "linestyle": dashes(index // len(COLOURS)) if joined else "",
        "marker": marker(index),
        "markersize": STAR if marker(index) == "*" else DOT,
        **EDGE,
    }


def _legend(placed: Sequence[Point], metrics: Sequence[ShownScore]) -> list[Artist]:
    """Explain the lines, the bands and the reference."""
    legend: list[Artist] = [
        Line2D([], [], label=drawable(name), **_look(index, joined=len(line) > 1))
        for index, (name, line) in enumerate(_by_line(placed).items())
    ]
    keys = [metric.key for metric in metrics]
    scores = [point.scores[key] for point in placed for key in keys if key in point.scores]
    files = any(score.interval is None and score.seeds_sd is not None for score in scores)
    spreads = [*interval_words(scores), *(["±1 SD (files)"] if files else [])]
    if spreads:
        legend.append(Patch(color=GREY, alpha=0.3, linewidth=0, label=" or ".join(spreads)))
    if any(_references(placed, metric) for metric in metrics):
        legend.append(Line2D([], [], label="reference", **REFERENCE))
    return legend


# Scales


def _scale(axes: Axes, which: Literal["x", "y"], values: Sequence[float]) -> None:
    """Make an axis logarithmic where values, all above 0, span two decades."""
    axis = axes.xaxis if which == "x" else axes.yaxis
    if not spans_decades(values):
        axis.set_major_formatter(ScalarFormatter(useOffset=False))
        return
    axes.set(**{f"{which}scale": "log"})
    axis.set_major_locator(FixedLocator(log_ticks(min(values), max(values))))
    axis.set_minor_locator(NullLocator())
    axis.set_major_formatter(FuncFormatter(lambda value, _: tick_text(value)))


def spans_decades(values: Sequence[float]) -> bool:
    """Tell whether values span at least two decades."""
    return bool(values) and min(values) > 0 and max(values) / min(values) >= DECADES


def log_ticks(low: float, high: float) -> list[float]:
    """Return powers of ten in the range of values; every second, third, … where there are many."""
    first, last = math.floor(math.log10(low)), math.ceil(math.log10(high))
    step = -(-(last - first) // MOST_TICKS)
    return [10.0**power for power in range(first, last + 1, max(1, step))]


def tick_text(value: float) -> str:
    """Write a number in full: 1,000 instead of a power of ten.

    Examples
    --------
    >>> tick_text(1000.0), tick_text(0.95), tick_text(1e-05)
    ('1,000', '0.95', '1e-05')
    """
    text = f"{value:,.0f}" if value == round(value) and abs(value) < 1e6 else f"{value:.4g}"
    return text.replace("-", MINUS) if "e" not in text else text
