"""Points in the plane of two scores ──► markers, ellipses, bars, names, and what explains them."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import Any

from matplotlib.artist import Artist
from matplotlib.axes import Axes
from matplotlib.lines import Line2D
from matplotlib.patches import Ellipse, Patch, Rectangle

from calipers.report.plots.curves_panels import EDGE, GREY, Entry
from calipers.report.plots.plane_content import Floor, Place
from calipers.report.plots.plane_labels import label_points
from calipers.report.plots.plane_limits import along, bars, rim
from calipers.report.plots.style import colour, marker

MARKER = 5.5
LARGER = {"*": 1.7, "P": 1.3, "X": 1.3, "D": 0.9}
"""Shapes that look smaller or larger than they are."""

FILL, FEW = 0.14, 4
PALE = "#8c8c8c"
JOINED: dict[str, Any] = {"color": PALE, "linewidth": 0.9, "zorder": 1.8}
CHANCE: dict[str, Any] = {
    "facecolor": (PALE, 0.22),
    "edgecolor": PALE,
    "linestyle": (0, (2, 1.5)),
    "linewidth": 0.8,
}
BAR: dict[str, Any] = {"linewidth": 1.0, "zorder": 2}


def draw_place(axes: Axes, place: Place, *, among: int) -> None:
    """Draw a system: its ellipse, or its intervals as a cross, or the bare point.

    Among many the ellipses are fainter, since they lie on each other.
    """
    shade = colour(place.index)
    if place.ellipse is not None:
        extent = place.ellipse
        size = extent.width, extent.height
        fill = shade, FILL * min(1.0, FEW / among)
        look: dict[str, Any] = {"facecolor": fill, "edgecolor": shade, "linewidth": 0.8}
        axes.add_patch(Ellipse((place.x, place.y), *size, angle=extent.angle, zorder=1.9, **look))
    else:
        for ends, bar in bars(place):
            axes.plot(*zip(*ends, strict=True), color=shade, label=f"_{bar}", **BAR)
    axes.plot([place.x], [place.y], label=place.name, **mark_of(place.index))


def mark_of(index: int) -> dict[str, Any]:
    """Give the look of a system's point."""
    point = {"color": colour(index), "marker": marker(index), "linestyle": ""}
    size = MARKER * LARGER.get(marker(index), 1.0)
    return {**point, "markersize": size, "zorder": 3, **EDGE}


def draw_floor(axes: Axes, floor: Floor, reach: float) -> None:
    """Draw what the reference scores against itself: a grey box, or a cross without a spread."""
    x, y = floor.middle
    if floor.spread is None:
        axes.plot([x], [y], marker="+", color=PALE, markersize=9, label="_floor", linestyle="")
        return
    wide, tall = (reach * each for each in floor.spread)
    box = Rectangle((x - wide, y - tall), 2 * wide, 2 * tall, zorder=1.2, **CHANCE)
    axes.add_patch(box)


def draw_family(axes: Axes, family: Sequence[Place]) -> None:
    """Join the systems of a family by a line."""
    axes.plot([p.x for p in family], [p.y for p in family], label="_family", **JOINED)


def name_places(axes: Axes, places: Sequence[Place], families: Sequence[Sequence[Place]]) -> None:
    """Write the systems' names beside their points, off the lines where there is room."""
    lines = [at for place in places for at in rim(place)]
    pairs = [pair for family in families for pair in pairwise(family)]
    joins = [at for a, b in pairs for at in along((a.x, a.y), (b.x, b.y))]
    points = tuple((place.x, place.y) for place in places)
    label_points(axes, points, [place.name for place in places], (*lines, *joins))


def mark_entries(
    places: Sequence[Place], floors: Sequence[Floor], level: float, reference: str
) -> list[Entry]:
    """Explain ellipses, crosses and boxes, as far as they are there."""
    share = f"{100 * level:.3g} %"
    found: list[Entry] = []
    if any(place.ellipse for place in places):
        found.append(Entry(_round(), f"{share} ellipse"))
    if any(place.ellipse is None and bars(place) for place in places):
        cross = Line2D([], [], color=GREY, marker="+", markersize=9, linestyle="")
        found.append(Entry(cross, f"{share} intervals"))
    for size in dict.fromkeys(floor.size for floor in floors):
        each = "" if size is None else f", {size:,} each"
        same = [floor for floor in floors if floor.size == size]
        found.append(Entry(_box(same), f"noise floor: halves of {reference}{each}"))
    return found


def _round() -> Line2D:
    look: dict[str, Any] = {
        "markerfacecolor": (GREY, FILL),
        "markeredgecolor": GREY,
        "markeredgewidth": 0.8,
    }
    return Line2D([], [], marker="o", markersize=9, linestyle="", **look)


def _box(floors: Sequence[Floor]) -> Artist:
    if all(floor.spread is None for floor in floors):
        return Line2D([], [], color=PALE, marker="+", markersize=9, linestyle="")
    return Patch(**CHANCE)
