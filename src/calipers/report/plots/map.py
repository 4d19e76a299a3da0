"""The map of all samples as data ──► points in the plane, a panel for each system.

Distances on a map are only roughly those that the scores are read from; the share of the variance
that each axis keeps says how roughly.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from matplotlib.artist import Artist
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from calipers.errors import InputError
from calipers.report.plots.choosing import (
    Data,
    chosen_systems,
    chosen_view,
    drawable,
    place_of,
    view_words,
)
from calipers.report.plots.panels import Panel, Plot, legend_width
from calipers.report.plots.style import COLOURS, GREY, Look, colour, marker

PANEL = 2.3
COLUMNS = 4
SINGLE, PANEL_ALONE = (3.2, 4.1), (3.4, 3.2)
OUTSIDE = "outside the reference's support"
REFERENCE = "#bdbdbd"
MANY = 2000
LONGEST = 26
METHODS = {"pca": "PC", "umap": "UMAP"}
MARGIN = 0.04
DOT: Look = {"linestyle": "", "marker": "o", "markeredgewidth": 0.0}
CROSS: Look = {**DOT, "marker": "x", "markeredgewidth": 0.9}
CLOSE: Look = {"handlelength": 1.2}


def map_plot(data: Data, *, view: str | None = None, system: str | None = None) -> Plot:
    """Show the map: a panel for each system over the reference, samples outside it as crosses.

    All panels have the same limits. A panel alone shows all systems over the reference.

    Parameters
    ----------
    data
        Report data with a map.
    view, system
        One view, the main one by default; one system, or all by default.

    Raises
    ------
    InputError
        If there is no map of the view, or a name is not known.
    """
    view = chosen_view(data, view)
    layout, names = _layout(data, view), chosen_systems(data, system)
    x_name, y_name = (_axis_name(data, view, layout, axis) for axis in (0, 1))

    def whole() -> Figure:
        columns = -(-len(names) // -(-len(names) // COLUMNS))
        rows = -(-len(names) // columns)
        size = SINGLE if columns == 1 else (PANEL * columns + 0.4, (PANEL + 0.25) * rows + 0.45)
        figure = Figure(figsize=size, layout="constrained")
        panels = list(figure.subplots(rows, columns, sharex=True, sharey=True, squeeze=False).flat)
        for panel, name in zip(panels, names, strict=False):
            _draw(panel, data, layout, [name])
            panel.set_title(drawable(name, LONGEST), loc="left", pad=14)
            _write_outside(panel, _set(layout, name))
        for spare in panels[len(names) :]:
            spare.remove()
        figure.supxlabel(x_name, size=9)
        figure.supylabel(y_name, size=9)
        handles = _legend(data, layout, names, named=False)
        together = len(handles) if columns > 1 else 1
        figure.legend(handles=handles, loc="outside upper left", ncols=together, **CLOSE)
        return figure

    def draw(axes: Axes) -> None:
        _draw(axes, data, layout, names)
        axes.set_xlabel(x_name)
        axes.set_ylabel(y_name)

    def panel() -> Panel:
        legend = _legend(data, layout, names, named=True)
        return Panel(draw, PANEL_ALONE, legend, legend_width([*names, OUTSIDE]), CLOSE)

    return Plot(whole, panel)


def _layout(data: Data, view: str) -> Data:
    found: Data | None = (data.get("map") or {}).get(view)
    if not found or not found.get("sets"):
        raise InputError(f"there is no map of the samples by the view {view!r}")
    return found


def _set(layout: Data, system: str | None) -> Data:
    """Give the set of a system, or of the reference where it is None; roles tell them apart."""
    role = "reference" if system is None else "generated"
    for each in layout["sets"]:
        if each["role"] == role and system in (None, each["name"]):
            chosen: Data = each
            return chosen
    raise InputError(f"there is no map of the samples of the system {system!r}")


def _draw(axes: Axes, data: Data, layout: Data, names: Sequence[str]) -> None:
    reference = _set(layout, None)
    _dots(axes, reference["x"], reference["y"], color=REFERENCE, markersize=1.6, label="reference")
    for name in names:
        _draw_system(axes, _set(layout, name), place_of(data, name))
    _limit(axes, layout["sets"])
    axes.set_aspect("equal", adjustable="box")
    axes.tick_params(labelbottom=False, labelleft=False, length=0)
    axes.spines[:].set_visible(True)
    axes.spines[:].set_color("#c8c8c8")
    axes.grid(False)


def _draw_system(axes: Axes, samples: Data, index: int) -> None:
    """Draw what lies in the reference's support as dots, and what lies outside as crosses."""
    inside = [bool(each) for each in samples.get("inside") or [1] * len(samples["x"])]
    name = drawable(samples["name"])
    cross: Look = {**CROSS, "color": colour(index), "markersize": 3.4}
    marks = ((True, name, _dot(index)), (False, f"{name}, outside", cross))
    for within, told, look in marks:
        rows = [row for row, flag in enumerate(inside) if flag is within]
        xs, ys = ([samples[axis][row] for row in rows] for axis in ("x", "y"))
        _dots(axes, xs, ys, label=told, **look)


def _dots(axes: Axes, xs: Sequence[float], ys: Sequence[float], **look: Any) -> None:
    # Thousands of shapes make a file that no reader opens gladly
    axes.plot(xs, ys, rasterized=len(xs) > MANY, **{**DOT, **look})


def _dot(index: int) -> Look:
    """Give the look of a system's dots; where colours come again, the shape is another."""
    shape = marker(index // len(COLOURS))
    return {"color": colour(index), "marker": shape, "markersize": 2.0, "alpha": 0.4}


def _limit(axes: Axes, sets: Sequence[Data]) -> None:
    """Give every panel the same limits, whichever sets it shows."""
    for axis, setter in (("x", axes.set_xlim), ("y", axes.set_ylim)):
        values = [value for each in sets for value in each[axis]]
        room = MARGIN * (max(values) - min(values)) or 1.0
        setter(min(values) - room, max(values) + room)


def _write_outside(axes: Axes, samples: Data) -> None:
    """Write above a panel how many crosses it has."""
    inside = samples.get("inside")
    if inside is None:
        return
    told = f"{len(inside) - sum(map(bool, inside)):,} of {len(inside):,} outside"
    look: Look = {"xycoords": "axes fraction", "textcoords": "offset points"}
    axes.annotate(told, (0.0, 1.0), (0, 4), size=7, color=GREY, **look)


def _axis_name(data: Data, view: str, layout: Data, axis: int) -> str:
    """Name an axis, with the share of the variance that it keeps."""
    name = f"{METHODS.get(layout['method'], drawable(layout['method']))} {axis + 1}"
    explained = layout.get("explained")
    kept = f" ({100 * explained[axis]:.1f} % of variance)" if explained else ""
    return name + view_words(data, view, " of {}") + kept


def _legend(data: Data, layout: Data, names: Sequence[str], *, named: bool) -> list[Artist]:
    """Explain the marks; with `named` each system by its colour, else what all have in common."""
    large: Look = {"markersize": 4.0, "alpha": 1.0}
    looks = [(drawable(name), {**_dot(place_of(data, name)), **large}) for name in names]
    dots = looks if named else [("generated", {"color": GREY, "markersize": 4.0})]
    crossed = any(_set(layout, name).get("inside") for name in names)
    look = {**CROSS, "color": GREY, "markersize": 4.5}
    cross = [Line2D([], [], label=OUTSIDE, **look)] if crossed else []
    return [
        Line2D([], [], color=REFERENCE, label="reference", **DOT),
        *(Line2D([], [], label=name, **{**DOT, **look}) for name, look in dots),
        *cross,
    ]
