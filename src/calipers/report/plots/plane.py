"""The plot of two scores of each system as a point: paper 000, figure 1."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from math import atan2, cos, degrees, hypot, inf, isfinite, log, pi, radians, sin, sqrt

from matplotlib.artist import Artist
from matplotlib.axes import Axes
from matplotlib.lines import Line2D
from matplotlib.patches import Ellipse, Patch, Rectangle
from matplotlib.ticker import MaxNLocator

from calipers.errors import InputError, unknown_name
from calipers.report.plots.choosing import (
    all_scores,
    bounds,
    chosen_views,
    drawable,
    families,
    level_of,
    place_of,
    prefix,
    system_names,
    views_of,
)
from calipers.report.plots.curves import GREY, deviations
from calipers.report.plots.labels import label_points
from calipers.report.plots.panels import EMPTY, Plot, gaps, shown_names, views_plot
from calipers.report.plots.style import EDGE, Look, colour, marker
from calipers.report.scale import bulk
from calipers.results.comparison import Comparison
from calipers.results.system import SystemResult
from calipers.score import Score
from calipers.wording.names import WIDEST_NAME, label

Families = str | Sequence[Sequence[str]]
Span = tuple[float, float]
Ends = tuple[float | None, float | None]

NAMED, SHORT = 12, 16
TICKS = 6
NOTE_SIZE = 7
ROOM, LEAST, MARGIN = 0.08, 0.1, 0.025
RIM, BETWEEN = 24, 12
TELLS = {
    "precision": "quality",
    "density": "quality",
    "recall": "diversity",
    "coverage": "diversity",
}
"""Last word of a metric's name to what it tells."""

MARKER = 5.5
LARGER = {"*": 1.7, "P": 1.3, "X": 1.3, "D": 0.9}
"""Shapes that look smaller or larger than they are."""

FILL, FEW = 0.14, 4
PALE = "#8c8c8c"
JOINED: Look = {"color": PALE, "linewidth": 0.9, "zorder": 1.8}
CHANCE: Look = {
    "facecolor": (PALE, 0.22),
    "edgecolor": PALE,
    "linestyle": (0, (2, 1.5)),
    "linewidth": 0.8,
}
BAR: Look = {"linewidth": 1.0, "zorder": 2}
TO_FLOOR: Look = {"linestyle": (0, (1, 1.5)), "linewidth": 0.8, "zorder": 1.7}
CROSS: Look = {"marker": "+", "markersize": 9, "linestyle": ""}


@dataclass(frozen=True)
class Plane:
    """The contents of a plane.

    Attributes
    ----------
    x, y
        Keys of the two scores, without a view.
    join
        Families of systems, as :func:`plane_plot` has them.
    labels
        Whether names are written beside the points; None to go by their number.
    floor, whole
        Whether to show the noise floor, and the whole scale.
    x_name, y_name
        What the axes are called; by the scores where None.
    alike
        Whether both axes have the same limits, and a diagonal.
    """

    x: str
    y: str
    join: Families = ()
    labels: bool | None = None
    floor: bool = True
    whole: bool = False
    x_name: str | None = None
    y_name: str | None = None
    alike: bool = False


@dataclass(frozen=True)
class Extent:
    """An ellipse about a point.

    Attributes
    ----------
    width, height
        Whole lengths of its longer and its shorter axis.
    angle
        Degrees from the x-axis to the longer one, counter-clockwise, in (-90, 90].
    """

    width: float
    height: float
    angle: float

    @property
    def reach(self) -> tuple[float, float]:
        """The extent from its centre, to the right and upwards."""
        a, b, turn = self.width / 2, self.height / 2, radians(self.angle)
        return hypot(a * cos(turn), b * sin(turn)), hypot(a * sin(turn), b * cos(turn))


@dataclass(frozen=True)
class Place:
    """A system in the plane.

    Attributes
    ----------
    index
        Its place among all systems of the run.
    name
        What it is called, fit to be drawn.
    x, y
        Its two scores.
    ellipse
        Where the two are to be sought; None where the correlation of their errors is unknown.
    x_interval, y_interval
        Their confidence intervals; None where not known.
    at_floor
        Both scores of as many samples as the noise floor is of; None where it has no floor.
    ranked
        Whether it is a system, and does not hold only samples of the reference.
    """

    index: int
    name: str
    x: float
    y: float
    ellipse: Extent | None
    x_interval: Span | None
    y_interval: Span | None
    at_floor: Span | None = None
    ranked: bool = True

    @property
    def bars(self) -> list[tuple[tuple[Span, Span], str]]:
        """The known ends of its intervals, and the meaning of each."""
        across, upright = self.x_interval, self.y_interval
        x = ((across[0], self.y), (across[1], self.y)) if across else None
        y = ((self.x, upright[0]), (self.x, upright[1])) if upright else None
        return [(ends, name) for ends, name in ((x, "x interval"), (y, "y interval")) if ends]


@dataclass(frozen=True)
class Floor:
    """The noise floor in the plane: centre and spread, x then y."""

    middle: tuple[float, float]
    spread: tuple[float, float]
    size: int


@dataclass(frozen=True)
class Scene:
    """The contents of the plane of one view: the systems that have both scores, the floors."""

    places: Sequence[Place]
    floors: Sequence[Floor]

    def parted(self) -> tuple[list[Place], list[Place]]:
        """Separate the systems that set the scale from those far away from all others.

        What holds only samples of the reference sets no scale.
        """
        ranked = [place for place in self.places if place.ranked] or self.places
        spans = [bulk(at) for at in zip(*((p.x, p.y) for p in ranked), strict=True)]

        def within(place: Place) -> bool:
            ends = zip(spans, (place.x, place.y), strict=True)
            return all(span is None or span[0] <= at <= span[1] for span, at in ends)

        near = [place for place in self.places if within(place)]
        far = [place for place in self.places if not within(place)]
        return (near, far) if near else (far, near)


def plane_plot(
    comparison: Comparison,
    *,
    view: str | None = None,
    x: str = "recall",
    y: str = "precision",
    join: Families = (),
    labels: bool | None = None,
    floor: bool = True,
    whole: bool = False,
) -> Plot:
    """Show every system as a point of two scores with its uncertainty, view by view.

    Ellipses hold, at the confidence level of the run, both scores together; where the correlation
    of their errors is not known, crosses show their intervals. The legend names the systems whose
    scores are undefined. A system that lies far from all others does not set the scale: it stands
    hollow at the border, with its value, unless the `whole` scale is asked for.

    Parameters
    ----------
    comparison
        With both scores of some system.
    view
        Draw this view alone; all that have both scores by default.
    x, y
        Keys of the scores without the view: also ``"coverage"`` and ``"density"``, or
        ``"clipped_coverage"`` and ``"clipped_density"``.
    join
        Families of systems, each the names in the order in which a line joins them; ``"family"``
        for those whose names differ in the last number alone.
    labels
        Whether names are written beside the points, or in the legend; by default beside up to 12.
    floor
        Whether to show what two halves of the reference score against each other. Scores change
        with the number of samples, so hollow marks show every system at the size of the halves:
        these are to be compared with the box, not the full marks.
    whole
        Show the whole scale of both scores, not just where the systems are.

    Raises
    ------
    InputError
        If a view, a score or a system is unknown, or no system has both scores.

    Examples
    --------
    >>> import calipers
    >>> import numpy as np
    >>> real, rows = np.random.default_rng(0).normal(size=(2, 60, 2))
    >>> run = calipers.compare(
    ...     real, {"model": rows}, metrics="precision,recall", level=None, floor=False
    ... )
    >>> axes = plane_plot(run).axes()
    >>> axes.get_xlabel(), axes.get_ylabel()
    ('Recall (diversity)', 'Precision (quality)')
    """
    return planes(comparison, view, Plane(x, y, join, labels, floor, whole))


def planes(comparison: Comparison, view: str | None, plane: Plane) -> Plot:
    """Make a plot with a plane for each view."""
    joined = _families(comparison, plane.join)
    scenes = {name: _scene(comparison, name, plane) for name in _views(comparison, view, plane)}
    level = level_of(comparison)
    few = len(system_names(comparison)) <= NAMED
    beside = few if plane.labels is None else plane.labels

    def draw(axes: Axes, view: str) -> None:
        """Draw the floor below, then lines, ellipses and points, names on top."""
        whole, reach = scenes[view], deviations(level)
        near, far = (list(whole.places), []) if plane.whole else whole.parted()
        _limit(
            axes,
            plane,
            Scene(near, whole.floors),
            [_ends_of(comparison, view, key) for key in (plane.x, plane.y)],
            reach,
        )
        far = [place for place in far if not _is_on(axes, place)]
        scene = Scene([place for place in whole.places if place not in far], whole.floors)
        for floor in scene.floors:
            _draw_floor(axes, floor, reach)
        for place in scene.places if scene.floors else ():
            _draw_at_floor(axes, place)
        lines = [[p for i in line for p in scene.places if p.index == i] for line in joined]
        for line in lines:
            axes.plot([p.x for p in line], [p.y for p in line], label="_family", **JOINED)
        for place in scene.places:
            _draw_place(axes, place, among=len(scene.places))
        for place in far:
            _draw_at_border(axes, place)
        if beside:
            _name_places(axes, scene.places, lines)
        axes.set_xlabel(plane.x_name or _axis_name(plane.x))
        axes.set_ylabel(plane.y_name or _axis_name(plane.y))

    def legend(views: Sequence[str]) -> list[Artist]:
        """Name the systems that are missing somewhere or cut, and all where panels name none."""
        brief = shown_names(comparison)
        shown = [{place.index for place in scenes[view].places} for view in views]
        whole = shown_names(comparison, WIDEST_NAME)
        named = enumerate(zip(whole, gaps(comparison, views, shown), strict=True))
        systems: list[Artist] = [
            Line2D([], [], label=name + gap, **(_mark(i) if any(i in s for s in shown) else EMPTY))
            for i, (name, gap) in named
            if gap or not beside or name != brief[i]
        ]
        return [*systems, *_marks(comparison, [scenes[view] for view in views], level)]

    return views_plot(comparison, list(scenes), draw, legend)


# What stands in the plane


def error_ellipse(
    x_error: float | None, y_error: float | None, correlation: float | None, *, level: float
) -> Extent | None:
    """Return the ellipse that holds the share `level` of a bivariate normal error.

    Its half axes are sqrt(-2·ln(1 - level)) times the roots of the eigenvalues of the covariance
    [[sx², r·sx·sy], [r·sx·sy, sy²]]: 2.45 standard errors at 95 %. Le Bronnec et al., ACL 2024,
    figure 1, draw two, which hold 86 %.

    Parameters
    ----------
    x_error, y_error
        Standard errors.
    correlation
        Of the two errors, in [-1, 1].
    level
        In (0, 1).

    Returns
    -------
    Extent or None
        None where an error or the correlation is unknown.
    """
    if x_error is None or y_error is None or correlation is None:
        return None
    if not all(abs(value) < inf for value in (x_error, y_error, correlation)):
        return None
    r = min(1.0, max(-1.0, correlation))
    a, b, c = x_error**2, r * x_error * y_error, y_error**2
    middle, half = (a + c) / 2, hypot((a - c) / 2, b)
    radius = sqrt(-2 * log(1 - level))
    longer, shorter = sqrt(middle + half), sqrt(max(0.0, middle - half))
    return Extent(2 * radius * longer, 2 * radius * shorter, degrees(atan2(2 * b, a - c)) / 2)


def _families(comparison: Comparison, join: Families) -> list[list[int]]:
    """Turn names of systems into their places."""
    known = system_names(comparison)
    lines = families(known) if join == "family" else join
    if isinstance(lines, str) or any(isinstance(line, str) for line in lines):
        raise InputError(f"join must be a list of lists of systems; found {join!r}")
    for name in (name for line in lines for name in line):
        if name not in known:
            raise unknown_name("system", name, known)
    return [[place_of(comparison, name) for name in line] for line in lines]


def _views(comparison: Comparison, view: str | None, plane: Plane) -> list[str]:
    """Return the views to draw, of those in which any system has both scores, defined or not."""
    for key in (plane.x, plane.y):
        _check_score(comparison, key)
    having = [
        name
        for name in views_of(comparison)
        if any(_pair(comparison, name, system, plane) is not None for system in comparison)
    ]
    where = "" if view is None else f" by {view}"
    both = f"both {plane.x!r} and {plane.y!r}{where}"
    missing = InputError(f"no system has {both}: ask for these metrics")
    return chosen_views(comparison, view, having, missing)


def _check_score(comparison: Comparison, key: str) -> None:
    """Refuse a score that no system has in any view."""
    before, known = (
        [prefix(comparison, view) for view in views_of(comparison)],
        all_scores(comparison),
    )
    if not any(f"{start}{key}" in known for start in before):
        bare = [score for score in known if not any(s and score.startswith(s) for s in before)]
        slip = unknown_name("score", key, bare)
        raise InputError(
            f"{slip}; if the name is correct, add this metric to `metrics` of `calipers.compare`"
        )


def _scene(comparison: Comparison, view: str, plane: Plane) -> Scene:
    level, places, floors = level_of(comparison), list[Place](), dict[Floor, None]()
    for index, (system, name) in enumerate(zip(comparison, shown_names(comparison), strict=True)):
        pair = _pair(comparison, view, system, plane)
        if pair is None:
            continue
        if (floor := _floor(*pair)) is not None:
            floors[floor] = None
        if all(isfinite(score.value) for score in pair):
            correlation = _correlation(comparison, view, system, plane)
            place = _place(index, name, *pair, correlation, level)
            places.append(replace(place, ranked=not system.is_reference))
    return Scene(places, list(floors) if plane.floor else [])


def _pair(
    comparison: Comparison, view: str, system: SystemResult, plane: Plane
) -> tuple[Score, Score] | None:
    """Return both scores of a system; None where it lacks one."""
    before = prefix(comparison, view)
    x, y = (system.scores.get(before + key) for key in (plane.x, plane.y))
    return None if x is None or y is None else (x, y)


def _correlation(
    comparison: Comparison, view: str, system: SystemResult, plane: Plane
) -> float | None:
    known, before = system.correlations, prefix(comparison, view)
    x, y = before + plane.x, before + plane.y
    return next((known[key] for key in (f"{x}|{y}", f"{y}|{x}") if key in known), None)


def _place(
    index: int, name: str, x: Score, y: Score, correlation: float | None, level: float
) -> Place:
    ellipse = error_ellipse(x.standard_error, y.standard_error, correlation, level=level)
    beside = None
    if x.floor is not None and y.floor is not None:
        beside = (x.floor.beside, y.floor.beside)
    return Place(index, name, x.value, y.value, ellipse, bounds(x), bounds(y), beside)


def _floor(x: Score, y: Score) -> Floor | None:
    if x.floor is None or y.floor is None:
        return None
    return Floor((x.floor.value, y.floor.value), (x.floor.spread, y.floor.spread), x.floor.size)


# How far the axes go


def span(places: Sequence[Place], floors: Sequence[Floor], reach: float, axis: int) -> Span | None:
    """Return the range of everything drawn along an axis; None for nothing."""
    ends = [end for place in places for end in _ends(place, axis)]
    if floors:
        ends += [place.at_floor[axis] for place in places if place.at_floor]
    for floor in floors:
        wide = reach * floor.spread[axis]
        ends += [floor.middle[axis] - wide, floor.middle[axis] + wide]
    return (min(ends), max(ends)) if ends else None


def _limit(axes: Axes, plane: Plane, scene: Scene, ends: Sequence[Ends], reach: float) -> None:
    spans = [span(scene.places, scene.floors, reach, axis) for axis in (0, 1)]
    if plane.alike:
        known = [ends for ends in spans if ends is not None]
        spans = [(min(s[0] for s in known), max(s[1] for s in known)) if known else None] * 2
    x, y = (_limits(reached, end, plane.whole) for reached, end in zip(spans, ends, strict=True))
    axes.set(xlim=x, ylim=y, box_aspect=1)
    for axis in (axes.xaxis, axes.yaxis):
        axis.set_major_locator(MaxNLocator(TICKS, steps=[1, 2, 2.5, 5, 10]))
    if plane.alike:
        axes.axline((x[0], x[0]), slope=1, color=PALE, linewidth=0.8, zorder=1, label="_diagonal")


def _is_on(axes: Axes, place: Place) -> bool:
    """Whether a system lies within the limits of both axes, whoever set them."""
    sides = zip((axes.get_xlim(), axes.get_ylim()), (place.x, place.y), strict=True)
    return all(low <= at <= high for (low, high), at in sides)


def _limits(reached: Span | None, ends: Ends, whole: bool) -> Span:
    """Return the limits of an axis: as far as things go and a little more, not beyond its scale."""
    low, high = reached or (0.0, 1.0)
    if whole or reached is None:
        low = min(0.0, low) if ends[0] is None else ends[0]
        high = high if ends[1] is None else ends[1]
    bounded = None not in ends
    wide = max(high - low, LEAST if bounded else LEAST * abs(high)) or 1.0
    low, high = ((low + high) - wide) / 2 - ROOM * wide, ((low + high) + wide) / 2 + ROOM * wide
    edge = MARGIN * (high - low)
    return (
        low if ends[0] is None else max(low, ends[0] - (edge if not whole else 0.0)),
        high if ends[1] is None else min(high, ends[1] + edge),
    )


def _ends_of(comparison: Comparison, view: str, key: str) -> Ends:
    """Return the smallest and the largest value that a score can take."""
    full = prefix(comparison, view) + key
    ranges = (system.scores[full].range for system in comparison if full in system.scores)
    low, high = next(ranges, (-inf, inf))
    return (low if isfinite(low) else None), (high if isfinite(high) else None)


def _ends(place: Place, axis: int) -> list[float]:
    at, interval = ((place.x, place.x_interval), (place.y, place.y_interval))[axis]
    if place.ellipse is not None:
        half = place.ellipse.reach[axis]
        return [at - half, at + half]
    return [at, *(interval or ())]


# What is drawn


def _draw_place(axes: Axes, place: Place, *, among: int) -> None:
    """Draw a system: its ellipse, or its intervals as a cross, or the bare point.

    Among many the ellipses are fainter, since they lie on each other.
    """
    shade, extent = colour(place.index), place.ellipse
    if extent is not None:
        fill = shade, FILL * min(1.0, FEW / among)
        look: Look = {"facecolor": fill, "edgecolor": shade, "linewidth": 0.8, "zorder": 1.9}
        at, size = (place.x, place.y), (extent.width, extent.height)
        axes.add_patch(Ellipse(at, *size, angle=extent.angle, **look))
    else:
        for ends, bar in place.bars:
            axes.plot(*zip(*ends, strict=True), color=shade, label=f"_{bar}", **BAR)
    axes.plot([place.x], [place.y], label=place.name, **_mark(place.index))


def _draw_at_border(axes: Axes, place: Place) -> None:
    """Draw a system beyond the scale: a hollow mark at the border, its name and its value."""
    limits = axes.get_xlim(), axes.get_ylim()
    values = place.x, place.y
    at = [min(high, max(low, v)) for (low, high), v in zip(limits, values, strict=True)]
    beyond = [f"{v:.2f}" for v, edge in zip(values, at, strict=True) if v != edge]
    text = beyond[0] if len(beyond) == 1 else f"({', '.join(beyond)})"
    shade = colour(place.index)
    look: Look = {**_mark(place.index), "markerfacecolor": "white", "markeredgecolor": shade}
    axes.plot(*([value] for value in at), label="_beyond", **(look | {"clip_on": False}))
    right, up = (at[axis] > (limits[axis][0] + limits[axis][1]) / 2 for axis in (0, 1))
    axes.annotate(
        f"{place.name} {text}",
        (at[0], at[1]),
        xytext=(-8 if right else 8, -6 if up else 6),
        textcoords="offset points",
        ha="right" if right else "left",
        va="top" if up else "bottom",
        size=NOTE_SIZE,
        color=GREY,
        zorder=4,
    )


def _mark(index: int) -> Look:
    """Return the look of a system's point."""
    point = {"color": colour(index), "marker": marker(index), "linestyle": ""}
    size = MARKER * LARGER.get(marker(index), 1.0)
    return {**point, "markersize": size, "zorder": 3, **EDGE}


def _draw_floor(axes: Axes, floor: Floor, reach: float) -> None:
    """Draw what the reference scores against itself: a grey box."""
    x, y = floor.middle
    wide, tall = (reach * side for side in floor.spread)
    axes.add_patch(Rectangle((x - wide, y - tall), 2 * wide, 2 * tall, zorder=1.2, **CHANCE))


def _draw_at_floor(axes: Axes, place: Place) -> None:
    """Draw a system at the size of the floor: a hollow mark, with a line to the full one."""
    if place.at_floor is None:
        return
    (x, y), shade = place.at_floor, colour(place.index)
    axes.plot([x, place.x], [y, place.y], color=shade, label="_to_floor", **TO_FLOOR)
    look = {**_mark(place.index), "markerfacecolor": "white", "markeredgecolor": shade}
    axes.plot([x], [y], label="_at_floor", **look)


def _name_places(axes: Axes, places: Sequence[Place], lines: Sequence[Sequence[Place]]) -> None:
    """Write the systems' names beside their points, off the lines where there is room."""
    rims = [at for place in places for at in _rim(place)]
    pairs = [pair for line in lines for pair in pairwise(line)]
    joins = [at for a, b in pairs for at in _along((a.x, a.y), (b.x, b.y))]
    points = tuple((place.x, place.y) for place in places)
    label_points(axes, points, [place.name for place in places], (*rims, *joins))


def _rim(place: Place) -> list[Span]:
    """Return places along the ellipse or the bars of a system."""
    if place.ellipse is None:
        return [at for ends, _ in place.bars for at in _along(*ends)]
    a, b = place.ellipse.width / 2, place.ellipse.height / 2
    c, s = cos(radians(place.ellipse.angle)), sin(radians(place.ellipse.angle))
    turns = [2 * pi * i / RIM for i in range(RIM)]
    spots = [(a * cos(turn), b * sin(turn)) for turn in turns]
    return [(place.x + c * u - s * v, place.y + s * u + c * v) for u, v in spots]


def _along(start: Span, end: Span) -> list[Span]:
    """Return places along a line."""
    shares = [i / BETWEEN for i in range(BETWEEN + 1)]
    return [
        (start[0] + t * (end[0] - start[0]), start[1] + t * (end[1] - start[1])) for t in shares
    ]


def _marks(comparison: Comparison, scenes: Sequence[Scene], level: float) -> list[Artist]:
    """Explain ellipses, crosses and boxes, as far as they are there."""
    places = [place for scene in scenes for place in scene.places]
    floors = [floor for scene in scenes for floor in scene.floors]
    share = f"{100 * level:.3g} %"
    marks: list[Artist] = []
    if any(place.ellipse for place in places):
        look: Look = {"markerfacecolor": (GREY, FILL), "markeredgewidth": 0.8}
        disc: Look = {**CROSS, "marker": "o", "markeredgecolor": GREY, **look}
        marks.append(Line2D([], [], label=f"{share} ellipse", **disc))
    if any(place.ellipse is None and place.bars for place in places):
        marks.append(Line2D([], [], color=GREY, label=f"{share} intervals", **CROSS))
    reference = drawable(comparison.reference.name, SHORT)
    for size in dict.fromkeys(floor.size for floor in floors):
        name = f"noise floor: halves of {reference}, {size:,} each"
        marks.append(Patch(label=name, **CHANCE))
    if floors and any(place.at_floor for place in places):
        hollow: Look = {"markerfacecolor": "white", "markeredgecolor": GREY}
        name = "systems at that size, to compare with the floor"
        marks.append(
            Line2D([], [], label=name, **{**CROSS, "marker": "o", "markersize": 5.5}, **hollow)
        )
    return marks


def _axis_name(key: str) -> str:
    words = key.split("_")
    if words[-1] not in TELLS:
        return drawable(label(key))
    return f"{' '.join(words).capitalize()} ({TELLS[words[-1]]})"
