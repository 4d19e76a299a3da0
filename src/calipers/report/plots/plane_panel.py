"""One panel of systems as points: what is drawn in it, in which order, and its legend."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.ticker import MaxNLocator

from calipers.errors import InputError, unknown_name
from calipers.report.names import label
from calipers.report.plots.choosing import compared, drawable, place_of, system_names
from calipers.report.plots.curves_content import (
    Data,
    chosen_views,
    deviations,
    level_of,
    shown_names,
)
from calipers.report.plots.curves_panels import (
    EMPTY,
    Entry,
    lacking,
    panel_figure,
    panel_names,
)
from calipers.report.plots.plane_content import (
    Place,
    ends_of,
    floors,
    missing_scores,
    places,
    views_with_scores,
)
from calipers.report.plots.plane_limits import Span, limits, span
from calipers.report.plots.plane_marks import (
    PALE,
    draw_family,
    draw_floor,
    draw_place,
    mark_entries,
    mark_of,
    name_places,
)
from calipers.report.plots.style import styled

NAMED = 12
TICKS = 6
SHORT = 16
TELLS = {
    "precision": "quality",
    "density": "quality",
    "recall": "diversity",
    "coverage": "diversity",
}
"""Last word of a metric's name to what it tells."""


@dataclass(frozen=True)
class Plane:
    """What to draw.

    Attributes
    ----------
    x, y
        Keys of the two scores, without a view.
    families
        Places of the systems that lines join.
    labels
        Whether names stand beside the points; None to go by their number.
    floor, whole
        Whether to show the noise floor, and the whole scale.
    x_name, y_name
        What the axes are called; by the scores where None.
    alike
        Whether both axes have the same limits, and a diagonal.
    """

    x: str
    y: str
    families: tuple[tuple[int, ...], ...] = ()
    labels: bool | None = None
    floor: bool = True
    whole: bool = False
    x_name: str | None = None
    y_name: str | None = None
    alike: bool = False


def planes_figure(data: Data, views: list[str], plane: Plane) -> Figure:
    """Draw a panel for each view, with one legend."""
    with styled():
        return panel_figure(
            data,
            views,
            lambda axes, view: plane_panel(axes, data, view, plane),
            entries(data, views, plane),
        )


def plane_panel(axes: Axes, data: Data, view: str, plane: Plane) -> None:
    """Draw one view: the floor below, then lines, ellipses and points, names on top."""
    found, reach = places(data, view, plane.x, plane.y), deviations(level_of(data))
    _scale(axes, data, view, plane, found)
    for floor in floors(data, view, plane.x, plane.y) if plane.floor else ():
        draw_floor(axes, floor, reach)
    families = [[p for i in family for p in found if p.index == i] for family in plane.families]
    for family in families:
        draw_family(axes, family)
    for place in found:
        draw_place(axes, place, among=len(found))
    if _beside(data, plane):
        name_places(axes, found, families)
    axes.set_xlabel(plane.x_name or _axis_name(plane.x))
    axes.set_ylabel(plane.y_name or _axis_name(plane.y))


def entries(data: Data, views: list[str], plane: Plane) -> list[Entry]:
    """Explain a plane: the systems that have no name beside them, the marks, the floor."""
    found = {view: places(data, view, plane.x, plane.y) for view in views}
    every = [place for each in found.values() for place in each]
    boxes = [floor for view in views for floor in floors(data, view, plane.x, plane.y)]
    name = drawable(compared(data)["reference"]["name"], SHORT)
    marks = mark_entries(every, boxes if plane.floor else [], level_of(data), name)
    return [*_systems(data, views, plane), *marks]


def planes_views(data: Data, view: str | None, plane: Plane) -> list[str]:
    """Give the views to draw."""
    having = views_with_scores(data, plane.x, plane.y)
    return chosen_views(data, view, having, missing_scores(data, view, plane.x, plane.y))


def check_families(data: Data, join: Sequence[Sequence[str]]) -> tuple[tuple[int, ...], ...]:
    """Turn names of systems into their places."""
    if isinstance(join, str) or any(isinstance(family, str) for family in join):
        raise InputError(f"join must be a list of lists of systems; found {join!r}")
    known = system_names(data)
    for name in (name for family in join for name in family):
        if name not in known:
            raise unknown_name("system", name, known)
    return tuple(tuple(place_of(data, name) for name in family) for family in join)


def _systems(data: Data, views: list[str], plane: Plane) -> list[Entry]:
    """Name systems that are missing somewhere, and all where none is named in the panels."""
    drawn = [{place.index for place in places(data, view, plane.x, plane.y)} for view in views]
    names, by = shown_names(data), panel_names(data, views)
    missing = [[i for i in range(len(names)) if i not in each] for each in drawn]
    return [
        Entry(
            Line2D([], [], **(mark_of(i) if any(i in each for each in drawn) else EMPTY)),
            f"{name}{gone}",
        )
        for i, name in enumerate(names)
        if (gone := lacking(i, missing, by)) or not _beside(data, plane)
    ]


def _beside(data: Data, plane: Plane) -> bool:
    return len(system_names(data)) <= NAMED if plane.labels is None else plane.labels


def _scale(axes: Axes, data: Data, view: str, plane: Plane, found: list[Place]) -> None:
    boxes = floors(data, view, plane.x, plane.y) if plane.floor else []
    reach = deviations(level_of(data))
    spans: list[Span | None] = [span(found, boxes, reach, axis) for axis in (0, 1)]
    if plane.alike:
        spans = [_both(spans)] * 2
    ends = [ends_of(data, view, key) for key in (plane.x, plane.y)]
    x, y = (limits(each, end, whole=plane.whole) for each, end in zip(spans, ends, strict=True))
    axes.set(xlim=x, ylim=y, box_aspect=1)
    for axis in (axes.xaxis, axes.yaxis):
        axis.set_major_locator(MaxNLocator(TICKS, steps=[1, 2, 2.5, 5, 10]))
    if plane.alike:
        axes.axline((x[0], x[0]), slope=1, color=PALE, linewidth=0.8, zorder=1, label="_diagonal")


def _both(spans: list[Span | None]) -> Span | None:
    known = [each for each in spans if each is not None]
    return (min(each[0] for each in known), max(each[1] for each in known)) if known else None


def _axis_name(key: str) -> str:
    words = key.split("_")
    if words[-1] not in TELLS:
        return drawable(label(key))
    return f"{' '.join(words).capitalize()} ({TELLS[words[-1]]})"
