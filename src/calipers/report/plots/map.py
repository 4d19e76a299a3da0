"""The plot of the map of all samples: points in the plane, a panel for each system.

Distances on a map are only roughly those that the scores are read from; the share of the variance
that each axis keeps says how roughly.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from matplotlib.artist import Artist
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from numpy.typing import NDArray

from calipers.errors import InputError
from calipers.report.placed import PlacedSet, placed_sets
from calipers.report.plots.choosing import (
    chosen_systems,
    chosen_view,
    drawable,
    place_of,
    view_words,
)
from calipers.report.plots.panels import Panel, Plot, legend_width
from calipers.report.plots.style import COLOURS, GREY, Look, colour, marker
from calipers.results.comparison import Comparison
from calipers.wording.short_names import among

Sets = Mapping[str | None, PlacedSet]
Numbers = NDArray[np.float64]

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


def map_plot(comparison: Comparison, *, view: str | None = None, system: str | None = None) -> Plot:
    """Show the map: a panel for each system over the reference, samples outside it as crosses.

    All panels have the same limits. A panel alone shows all systems over the reference.

    Parameters
    ----------
    comparison
        With maps (:meth:`Comparison.explained`).
    view, system
        One view, the main one by default; one system, or all by default.

    Raises
    ------
    InputError
        If there is no map of the view, or a name is not known.

    Examples
    --------
    >>> import calipers
    >>> import numpy as np
    >>> real, rows = np.random.default_rng(0).normal(size=(2, 60, 2))
    >>> run = calipers.compare(
    ...     real, {"model": rows}, metrics="frontier_integral_star", level=None, floor=False
    ... )
    >>> type(map_plot(run.explained())).__name__
    'Plot'
    """
    view = chosen_view(comparison, view)
    sets, names = _sets(comparison, view), chosen_systems(comparison, system)
    x_name, y_name = (_axis_name(comparison, view, axis) for axis in (0, 1))

    def whole() -> Figure:
        columns = -(-len(names) // -(-len(names) // COLUMNS))
        rows = -(-len(names) // columns)
        size = SINGLE if columns == 1 else (PANEL * columns + 0.4, (PANEL + 0.25) * rows + 0.45)
        figure = Figure(figsize=size, layout="constrained")
        panels = list(figure.subplots(rows, columns, sharex=True, sharey=True, squeeze=False).flat)
        for panel, name in zip(panels, names, strict=False):
            _draw(panel, comparison, sets, [name])
            with among(names):
                panel.set_title(drawable(name, LONGEST), loc="left", pad=14)
            _write_outside(panel, sets[name])
        for spare in panels[len(names) :]:
            spare.remove()
        figure.supxlabel(x_name, size=9)
        figure.supylabel(y_name, size=9)
        handles = _legend(comparison, sets, names, named=False)
        together = len(handles) if columns > 1 else 1
        figure.legend(handles=handles, loc="outside upper left", ncols=together, **CLOSE)
        return figure

    def draw(axes: Axes) -> None:
        _draw(axes, comparison, sets, names)
        axes.set_xlabel(x_name)
        axes.set_ylabel(y_name)

    def panel() -> Panel:
        legend = _legend(comparison, sets, names, named=True)
        return Panel(draw, PANEL_ALONE, legend, legend_width([*names, OUTSIDE]), CLOSE)

    return Plot(whole, panel)


def _sets(comparison: Comparison, view: str) -> Sets:
    """Return all sets by their names, the reference under None."""
    placed = placed_sets(comparison, view)
    if not placed:
        raise InputError(f"there is no map of the samples by the view {view!r}")
    return {None if one.system is None else one.name: one for one in placed}


def _draw(axes: Axes, comparison: Comparison, sets: Sets, names: Sequence[str]) -> None:
    reference = sets[None]
    _dots(axes, reference.x, reference.y, color=REFERENCE, markersize=1.6, label="reference")
    for name in names:
        _draw_system(axes, sets[name], place_of(comparison, name))
    _limit(axes, sets)
    axes.set_aspect("equal", adjustable="box")
    axes.tick_params(labelbottom=False, labelleft=False, length=0)
    axes.spines[:].set_visible(True)
    axes.spines[:].set_color("#c8c8c8")
    axes.grid(False)


def _draw_system(axes: Axes, samples: PlacedSet, index: int) -> None:
    """Draw what lies in the reference's support as dots, and what lies outside as crosses."""
    everywhere = np.ones(len(samples.rows), bool)
    inside = everywhere if samples.inside is None else samples.inside
    name = drawable(samples.name)
    cross: Look = {**CROSS, "color": colour(index), "markersize": 3.4}
    marks = ((inside, name, _dot(index)), (~inside, f"{name}, outside", cross))
    for rows, words, look in marks:
        _dots(axes, samples.x[rows], samples.y[rows], label=words, **look)


def _dots(axes: Axes, xs: Numbers, ys: Numbers, **look: Any) -> None:
    # Thousands of shapes make a file that no reader opens gladly
    axes.plot(xs, ys, rasterized=len(xs) > MANY, **{**DOT, **look})


def _dot(index: int) -> Look:
    """Return the look of a system's dots; where colours come again, the shape is another."""
    shape = marker(index // len(COLOURS))
    return {"color": colour(index), "marker": shape, "markersize": 2.0, "alpha": 0.4}


def _limit(axes: Axes, sets: Sets) -> None:
    """Give every panel the same limits, whichever sets it shows."""
    for axis, setter in (("x", axes.set_xlim), ("y", axes.set_ylim)):
        values = np.concatenate([getattr(samples, axis) for samples in sets.values()])
        low, high = float(values.min()), float(values.max())
        room = MARGIN * (high - low) or 1.0
        setter(low - room, high + room)


def _write_outside(axes: Axes, samples: PlacedSet) -> None:
    """Write above a panel how many crosses it has."""
    if samples.inside is None:
        return
    words = f"{int((~samples.inside).sum()):,} of {len(samples.inside):,} outside"
    look: Look = {"xycoords": "axes fraction", "textcoords": "offset points"}
    axes.annotate(words, (0.0, 1.0), (0, 4), size=7, color=GREY, **look)


def _axis_name(comparison: Comparison, view: str, axis: int) -> str:
    """Name an axis, with the share of the variance that it keeps."""
    layout = comparison.maps[view]
    name = f"{METHODS.get(layout.method, drawable(layout.method))} {axis + 1}"
    share = f" ({100 * layout.explained[axis]:.1f} % of variance)" if layout.explained else ""
    return name + view_words(comparison, view, " of {}") + share


def _legend(
    comparison: Comparison, sets: Sets, names: Sequence[str], *, named: bool
) -> list[Artist]:
    """Explain the marks; with `named` each system by its colour, else what all have in common."""
    large: Look = {"markersize": 4.0, "alpha": 1.0}
    looks = [(drawable(name), {**_dot(place_of(comparison, name)), **large}) for name in names]
    dots = looks if named else [("generated", {"color": GREY, "markersize": 4.0})]
    crossed = any(sets[name].inside is not None for name in names)
    look = {**CROSS, "color": GREY, "markersize": 4.5}
    cross = [Line2D([], [], label=OUTSIDE, **look)] if crossed else []
    return [
        Line2D([], [], color=REFERENCE, label="reference", **DOT),
        *(Line2D([], [], label=name, **{**DOT, **look}) for name, look in dots),
        *cross,
    ]
