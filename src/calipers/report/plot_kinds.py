"""The kinds of plots by name: what each shows, what it is drawn from, and where it is drawn.

What draws a kind is imported when it is asked for, so the command line can list the kinds without
matplotlib.
"""

from __future__ import annotations

import importlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, TypedDict, Unpack

from calipers.errors import InputError, unknown_name

if TYPE_CHECKING:
    from calipers.report.plots import Axes, Figure, Plot

Data = Mapping[str, Any]

COMPARISON, SWEEP, RANKING, LIKELIHOOD = "comparison", "sweep", "ranking", "likelihood"
PROMPTS = "prompts"

INPUTS = {
    COMPARISON: "a comparison (RUN.zip from `calipers compare --save`)",
    SWEEP: "a sweep (JSON from `calipers sweep --json`)",
    RANKING: "a ranking (JSON from `calipers rank --json`)",
    PROMPTS: "answers by prompt (JSON or RUN.zip from `calipers prompts`)",
    LIKELIHOOD: "likelihoods (JSON or RUN.zip from `calipers likelihood`)",
}
"""Kind of input to what a person calls it, and where it comes from."""


@dataclass(frozen=True)
class Kind:
    """One kind of plot.

    Attributes
    ----------
    shows
        What it shows, in one line.
    takes
        What it is drawn from: ``"comparison"``, ``"sweep"``, ``"ranking"``, ``"prompts"`` or
        ``"likelihood"``.
    drawn_by
        The function that draws it, ``"module:name"`` within ``calipers``.
    options
        Which options it has.
    needs
        What of report data it is drawn from, besides the scores.
    several
        Whether it is drawn from one or more inputs; from exactly one otherwise.
    """

    shows: str
    takes: str
    drawn_by: str
    options: tuple[str, ...] = ()
    needs: str | None = None
    several: bool = False


KINDS = {
    "plane": Kind(
        "precision against recall, or two other scores, with error ellipses",
        COMPARISON,
        "report.plots.plane:plane_plot",
        ("view", "x", "y", "join"),
    ),
    "curves": Kind(
        "precision-recall curves of all systems, with bands",
        COMPARISON,
        "report.plots.curves:curves_plot",
        ("view", "curve"),
        needs="curves",
    ),
    "frontiers": Kind(
        "divergence frontiers of all systems, with bands",
        COMPARISON,
        "report.plots.frontiers:frontiers_plot",
        ("view", "curve", "scale"),
        needs="curves",
    ),
    "f-scores": Kind(
        "F8 against F1/8: recall and precision of distributions",
        COMPARISON,
        "report.plots.f_scores:f_scores_plot",
        ("view", "curve", "join"),
    ),
    "map": Kind(
        "all samples in two dimensions, a panel for each system; samples outside the "
        "reference's support are marked",
        COMPARISON,
        "report.plots.map:map_plot",
        ("view", "system"),
        needs="map",
    ),
    "cells": Kind(
        "topics or clusters by keywords: their shares in both sets and contributions to the gap",
        COMPARISON,
        "report.plots.cells:cells_plot",
        ("view", "system", "regions", "limit"),
        needs="explanations",
    ),
    "group-bars": Kind(
        "recall, coverage and precision by group, systems side by side",
        COMPARISON,
        "report.plots.group_bars:group_bars_plot",
        ("view", "system", "metrics"),
    ),
    "parameter": Kind(
        "metrics against a decoding parameter, text length or a setting, over systems and runs",
        COMPARISON,
        "report.plots.parameter:parameter_plot",
        ("view", "system", "metrics", "x", "by", "x_label"),
        several=True,
    ),
    "sweep": Kind(
        "metrics against k or the number of samples, with bands",
        SWEEP,
        "commands.sweep.plot:sweep_plot",
    ),
    "heat-map": Kind(
        "how metrics correlate with each other over systems",
        RANKING,
        "commands.rank.plot:heat_map_plot",
    ),
    "homogeneity": Kind(
        "how alike systems answer the same prompts, beside how alike each answers itself",
        PROMPTS,
        "report.plots.homogeneity:homogeneity_plot",
    ),
    "entropy-plane": Kind(
        "perplexity against the entropy of tokens within a text, with the reference",
        LIKELIHOOD,
        "report.plots.entropy_plane:entropy_plane_plot",
    ),
}
"""Name to kind, in the order in which help lists them."""


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
    return _plot(kind, data, options).figure()


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
    return _plot(kind, data, options).axes(axes)


def kind_of(name: str) -> Kind:
    """Look a kind up.

    Raises
    ------
    InputError
        If there is no such kind; names the nearest.
    """
    if name not in KINDS:
        raise unknown_name("plot", name, KINDS)
    return KINDS[name]


def input_of(data: Any) -> str | None:
    """Tell what data are, by the names of `INPUTS`; None where of none of them."""
    if not isinstance(data, Mapping):
        return None
    if isinstance(data.get("comparison"), Mapping):
        return COMPARISON
    settings = data.get("settings")
    if isinstance(settings, Mapping) and "first_token" in settings:
        return LIKELIHOOD
    if isinstance(settings, Mapping) and "over" in settings:
        return SWEEP
    if isinstance(data.get("homogeneity"), Mapping):
        return PROMPTS
    if isinstance(data.get("matrix"), Mapping):
        return RANKING
    known = {"reference", "systems", "settings"} <= set(data) and "judges" not in data
    return COMPARISON if known else None


def check_options(name: str, given: Mapping[str, Any]) -> None:
    """Refuse options that a kind does not have; those that are None were not given.

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


def check_input(name: str, data: Any, source: str = "the input") -> None:
    """Refuse data of another kind than a plot takes.

    Raises
    ------
    InputError
        Names the input, what it is, and what the plot takes.
    """
    kind, found = kind_of(name), input_of(data)
    if found != kind.takes:
        what = "cannot be drawn" if found is None else f"is a {found}"
    elif kind.needs and kind.needs not in data:
        what = "holds only scores"
    else:
        return
    raise InputError(f"{source}: {what}; the plot {name!r} takes {INPUTS[kind.takes]}")


def as_report(data: Data) -> Data:
    """Give report data, of a comparison's JSON too; that has neither curves nor samples."""
    return data if "comparison" in data else {"comparison": data}


def _plot(name: str, data: Data | Sequence[Data], options: Mapping[str, Any]) -> Plot:
    """Check what was given, and give it to the function of the kind."""
    kind = kind_of(name)
    check_options(name, options)
    inputs = [data] if isinstance(data, Mapping) else list(data)
    if len(inputs) != 1 and not (kind.several and inputs):
        count = "at least one input" if kind.several else "one input"
        raise InputError(f"the plot {name!r} takes {count}; found {len(inputs)}")
    for source in inputs:
        check_input(name, source)
    reports: list[Any] = (
        [as_report(source) for source in inputs] if kind.takes == COMPARISON else list(inputs)
    )
    if kind.takes in (SWEEP, RANKING):
        from calipers.results.result import class_of

        reports = [class_of(kind.takes).from_dict(source) for source in inputs]
    module, _, function = kind.drawn_by.partition(":")
    given = {option: value for option, value in options.items() if value is not None}
    plot: Plot = getattr(importlib.import_module(f"calipers.{module}"), function)(
        reports if kind.several else reports[0], **given
    )
    return plot
