"""The kinds of plots by name: what each shows, from which result, and with which options.

Those of a comparison are listed here; a command whose result has a figure of its own names that in
its record. What draws a kind is imported when it is asked for, so the command line can list the
kinds without matplotlib.
"""

from __future__ import annotations

import importlib
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import cache
from typing import TYPE_CHECKING, Any, Literal, TypedDict, Unpack

from calipers.command import PlotKind
from calipers.command import kinds as result_kinds
from calipers.errors import InputError, unknown_name
from calipers.wording.short_names import among

if TYPE_CHECKING:
    from calipers.report.plots import Axes, Figure, Plot
    from calipers.results.comparison import Comparison
    from calipers.results.result import Result

COMPARISON = "comparison"
COMPARED = "a comparison (RUN.zip from `calipers compare --save`)"
"""What a person calls a comparison, and where it comes from."""


def _of_comparison(name: str, shows: str, drawn_by: str, *options: str, **more: Any) -> PlotKind:
    return PlotKind(
        name=name,
        shows=shows,
        drawn_by=f"calipers.report.plots.{drawn_by}",
        source=COMPARED,
        takes=COMPARISON,
        options=options,
        **more,
    )


OF_COMPARISONS = (
    _of_comparison(
        "plane",
        "precision against recall, or two other scores, with error ellipses",
        "plane:plane_plot",
        *("view", "x", "y", "join"),
    ),
    _of_comparison(
        "curves",
        "precision-recall curves of all systems, with bands",
        "curves:curves_plot",
        *("view", "curve"),
        needs="curves",
    ),
    _of_comparison(
        "frontiers",
        "divergence frontiers of all systems, with bands",
        "frontiers:frontiers_plot",
        *("view", "curve", "scale"),
        needs="curves",
    ),
    _of_comparison(
        "f-scores",
        "F8 against F1/8: recall and precision of distributions",
        "f_scores:f_scores_plot",
        *("view", "curve", "join"),
    ),
    _of_comparison(
        "map",
        "all samples in two dimensions, a panel for each system; samples outside the "
        "reference's support are marked",
        "map:map_plot",
        *("view", "system"),
        needs="maps",
    ),
    _of_comparison(
        "cells",
        "topics or clusters by keywords: their shares in both sets and contributions to the gap",
        "cells:cells_plot",
        *("view", "system", "regions", "limit"),
        needs="explanations",
    ),
    _of_comparison(
        "group-bars",
        "recall, coverage and precision by group, systems side by side",
        "group_bars:group_bars_plot",
        *("view", "system", "metrics"),
    ),
    _of_comparison(
        "parameter",
        "metrics against a decoding parameter, text length or a setting, over systems and runs",
        "parameter:parameter_plot",
        *("view", "system", "metrics", "x", "by", "x_label"),
        several=True,
    ),
)


@cache
def plot_kinds() -> Mapping[str, PlotKind]:
    """Return all kinds by name, in the order of the help."""
    of_commands = [
        replace(
            record.plot, takes=record.kind, drawn_by=":".join(record.address(record.plot.drawn_by))
        )
        for record in result_kinds().values()
        if record.plot is not None
    ]
    of_commands.sort(key=lambda kind: (kind.place, kind.name))
    return {kind.name: kind for kind in (*OF_COMPARISONS, *of_commands)}


class PlotOptions(TypedDict, total=False):
    """The options of plots; ``kind_of(name).options`` lists those of one kind.

    Attributes
    ----------
    view
        The view of the samples, such as ``"form"``; the main one by default.
    system
        The one system to draw; all by default.
    metrics
        Keys of the scores to draw.
    x, by, x_label
        As :func:`calipers.report.plots.parameter.parameter_plot` has them; `x` and `y` also as
        :func:`calipers.report.plots.plane.plane_plot`.
    curve, scale
        As :func:`calipers.report.plots.frontiers.frontiers_plot` has them.
    join
        Systems that a line joins, in its order; ``"family"`` for those whose names differ in the
        last number alone.
    regions, limit
        As :func:`calipers.report.plots.cells.cells_plot` has them.
    """

    view: str | None
    system: str | None
    metrics: Sequence[str] | None
    x: str | Mapping[str, float] | None
    y: str | None
    curve: str | None
    scale: str | None
    join: Literal["family"] | Sequence[Sequence[str]] | None
    by: str | Mapping[str, str] | None
    x_label: str | None
    regions: str | None
    limit: int | None


def draw(kind: str, result: Result | Sequence[Result], **options: Unpack[PlotOptions]) -> Figure:
    """Draw a figure of one kind.

    Parameters
    ----------
    kind
        The name of a kind, such as ``"plane"``.
    result
        What the kind takes, such as a comparison. A list of them for the kinds that draw several.
    options
        See :class:`PlotOptions`; None leaves the default.

    Raises
    ------
    InputError
        If there is no such kind, it takes other results, has no such option, or the result lacks
        what it draws.
    """
    return _plot(kind, result, options).figure()


def draw_axes(
    kind: str,
    result: Result | Sequence[Result],
    axes: Axes | None = None,
    **options: Unpack[PlotOptions],
) -> Axes:
    """Draw the single panel of a kind into given Axes.

    Parameters and errors are those of :func:`draw`; `axes` are axes of a figure of their own by
    default.
    """
    return _plot(kind, result, options).axes(axes)


def kind_of(name: str) -> PlotKind:
    """Look up a kind of plot by name.

    Raises
    ------
    InputError
        If there is no such kind; names the nearest.
    """
    if name not in plot_kinds():
        raise unknown_name("plot", name, plot_kinds())
    return plot_kinds()[name]


def check_options(name: str, given: Mapping[str, Any]) -> None:
    """Refuse options that a kind does not have, if they were given.

    Raises
    ------
    InputError
        Names the first one, and the options that the kind has.
    """
    options = kind_of(name).options
    for option, value in given.items():
        if value is not None and option not in options:
            known = ", ".join(options) or "none"
            raise InputError(f"the plot {name!r} has no option {option!r}; its options: {known}")


def check_input(name: str, result: Any, source: str = "the input") -> None:
    """Refuse a result of the wrong kind for a plot.

    Raises
    ------
    InputError
        Names the input, what it is, and what the plot takes.
    """
    kind = kind_of(name)
    if not _is_of(kind, result):
        noun = next((_noun(known) for known in plot_kinds().values() if _is_of(known, result)), "")
        problem = f"is a {noun}" if noun else "cannot be drawn"
    elif kind.needs and _has_only_scores(result, kind.needs):
        problem = "holds only scores"
    else:
        return
    raise InputError(f"{source}: {problem}; the plot {name!r} takes {kind.source}")


def _is_of(kind: PlotKind, result: Any) -> bool:
    """Whether a result is one that a kind is drawn from."""
    from calipers.results import Comparison, Result

    if kind.takes == COMPARISON:
        return isinstance(result, Comparison)
    return isinstance(result, Result) and result.kind == kind.takes


def _noun(kind: PlotKind) -> str:
    return kind.noun or kind.takes


def _has_only_scores(comparison: Comparison, needs: str) -> bool:
    """Whether a comparison has neither what is needed nor samples to make it of, as its JSON."""
    parts = {
        "curves": any(system.curves for system in comparison),
        "maps": bool(comparison.maps),
        "explanations": any(system.explained for system in comparison),
    }
    return comparison.reference_samples is None and not parts[needs]


def _plot(name: str, result: Result | Sequence[Result], options: Mapping[str, Any]) -> Plot:
    """Check what was given, and give it to the function of the kind."""
    from calipers.results.result import Result, names_of

    kind = kind_of(name)
    check_options(name, options)
    results = [result] if isinstance(result, Result) else list(result)
    if len(results) != 1 and not (kind.several and results):
        count = "at least one input" if kind.several else "one input"
        raise InputError(f"the plot {name!r} takes {count}; found {len(results)}")
    for source in results:
        check_input(name, source)
    complete = [_complete(kind, source) for source in results]
    module, _, function = kind.drawn_by.partition(":")
    given = {option: value for option, value in options.items() if value is not None}
    names = tuple(name for source in results for name in names_of(source))
    with among(names):
        plot: Plot = getattr(importlib.import_module(module), function)(
            complete if kind.several else complete[0], **given
        )
    return replace(plot, names=names)


def _complete(kind: PlotKind, result: Result) -> Result:
    """Return a result with what a kind needs; maps and explanations that were kept stay."""
    from calipers.results import Comparison

    if isinstance(result, Comparison) and kind.needs == "maps":
        return result.with_maps()
    if isinstance(result, Comparison) and kind.needs == "explanations":
        return result.with_explanations()
    return result
