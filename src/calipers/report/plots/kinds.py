"""Every kind of plot by its name: one way in for the command line and for notebooks.

What draws a kind is imported when it is asked for.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Literal, TypedDict, Unpack

from matplotlib.axes import Axes
from matplotlib.figure import Figure

from calipers.errors import InputError
from calipers.report.plot_kinds import (
    COMPARISON,
    KINDS,
    Kind,
    as_report,
    check_input,
    check_options,
    input_of,
    kind_of,
)
from calipers.report.plots.choosing import system_names
from calipers.report.plots.parameter_points import families

__all__ = ["KINDS", "Kind", "PlotOptions", "draw", "draw_axes", "input_of"]

Data = Mapping[str, Any]


class PlotOptions(TypedDict, total=False):
    """What the kinds can be told; ``KINDS[kind].options`` says which of it one understands.

    Attributes
    ----------
    view
        The view of the samples, such as ``"form"``; the main one by default.
    system
        The one system to draw; all by default.
    metrics
        Keys of the scores to draw.
    x, by, x_label
        As :func:`calipers.report.plots.parameter.parameter_figure` has them; `x` and `y` also as
        :func:`calipers.report.plots.plane.plane_figure`.
    curve, scale
        As :func:`calipers.report.plots.frontiers.frontiers_figure` has them.
    join
        Systems that a line joins, in its order; ``"family"`` for those whose names differ in the
        last number alone.
    regions, limit
        As :func:`calipers.report.plots.cells.cells_figure` has them.
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


def draw(kind: str, data: Data | Sequence[Data], **options: Unpack[PlotOptions]) -> Figure:
    """Draw a figure of one kind.

    Parameters
    ----------
    kind
        A key of :data:`KINDS`, such as ``"plane"``.
    data
        What the kind takes: report data or ``to_dict()`` of a comparison, ``to_dict()`` of a sweep
        or of a ranking. A list of them for the kinds that draw several.
    options
        See :class:`PlotOptions`; None leaves the default.

    Raises
    ------
    InputError
        If there is no such kind, it takes other data, has no such option, or the data lack what
        it draws.
    """
    prepared, given = _prepared(kind, data, options)
    figure: Figure = _drawer(kind, "figure")(prepared, **given)
    return figure


def draw_axes(
    kind: str,
    data: Data | Sequence[Data],
    axes: Axes | None = None,
    **options: Unpack[PlotOptions],
) -> Axes:
    """Draw a kind into one Axes: what one panel shows, where its figure has several.

    Parameters and errors are those of :func:`draw`; `axes` are axes of a figure of their own by
    default.
    """
    prepared, given = _prepared(kind, data, options)
    drawn: Axes = _drawer(kind, "axes")(prepared, axes, **given)
    return drawn


def _prepared(
    name: str, data: Data | Sequence[Data], options: Mapping[str, Any]
) -> tuple[Any, dict[str, Any]]:
    """Check what was given, and give the data and the options that the drawer takes."""
    kind = kind_of(name)
    check_options(name, options)
    inputs = [data] if isinstance(data, Mapping) else list(data)
    if len(inputs) != 1 and not (kind.several and inputs):
        count = "at least one input" if kind.several else "one input"
        raise InputError(f"the plot {name!r} is drawn from {count}; found {len(inputs)}")
    for each in inputs:
        check_input(name, each)
    reports = [as_report(each) for each in inputs] if kind.takes == COMPARISON else inputs
    given = {option: value for option, value in options.items() if value is not None}
    if given.get("join") == "family":
        given["join"] = families(system_names(reports[0]))
    return (reports if kind.several else reports[0]), given


def _drawer(name: str, what: str) -> Callable[..., Any]:
    """Import the function that draws a kind."""
    stem = KINDS[name].module
    module = importlib.import_module(f"calipers.report.plots.{stem}")
    drawer: Callable[..., Any] = getattr(module, f"{stem}_{what}")
    return drawer
