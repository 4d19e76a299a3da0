"""How far the marks of a system go: the limits of axes, and the lines that names keep off."""

from __future__ import annotations

from collections.abc import Sequence
from math import cos, pi, radians, sin

from calipers.report.plots.plane_content import Floor, Place

Span = tuple[float, float]

ROOM = 0.08
LEAST = 0.1
EDGE = 0.025
RIM = 24
BETWEEN = 12


def span(places: Sequence[Place], floors: Sequence[Floor], reach: float, axis: int) -> Span | None:
    """Give how far everything that is drawn goes along an axis; None for nothing."""
    ends = [end for place in places for end in _ends(place, axis)]
    for floor in floors:
        wide = 0.0 if floor.spread is None else reach * floor.spread[axis]
        ends += [floor.middle[axis] - wide, floor.middle[axis] + wide]
    return (min(ends), max(ends)) if ends else None


def limits(found: Span | None, ends: tuple[float | None, float | None], *, whole: bool) -> Span:
    """Give the limits of an axis: as far as things go and a little more, not beyond its scale."""
    low, high = found or (0.0, 1.0)
    if whole or found is None:
        low, high = (
            a if b is None else b for a, b in zip((min(0.0, low), high), ends, strict=True)
        )
    bounded = None not in ends
    wide = max(high - low, LEAST if bounded else LEAST * abs(high)) or 1.0
    low, high = ((low + high) - wide) / 2 - ROOM * wide, ((low + high) + wide) / 2 + ROOM * wide
    edge = EDGE * (high - low)
    return (
        low if ends[0] is None else max(low, ends[0] - (edge if not whole else 0.0)),
        high if ends[1] is None else min(high, ends[1] + edge),
    )


def _ends(place: Place, axis: int) -> list[float]:
    at, interval = ((place.x, place.x_interval), (place.y, place.y_interval))[axis]
    if place.ellipse is not None:
        half = place.ellipse.reach[axis]
        return [at - half, at + half]
    return [at, *(interval or ())]


def rim(place: Place) -> list[Span]:
    """Give places along the ellipse or the bars of a system."""
    if place.ellipse is None:
        return [at for ends, _ in bars(place) for at in along(*ends)]
    a, b = place.ellipse.width / 2, place.ellipse.height / 2
    c, s = cos(radians(place.ellipse.angle)), sin(radians(place.ellipse.angle))
    turns = [2 * pi * i / RIM for i in range(RIM)]
    spots = [(a * cos(turn), b * sin(turn)) for turn in turns]
    return [(place.x + c * u - s * v, place.y + s * u + c * v) for u, v in spots]


def along(start: Span, end: Span) -> list[Span]:
    """Give places along a line."""
    shares = [i / BETWEEN for i in range(BETWEEN + 1)]
    return [
        (start[0] + t * (end[0] - start[0]), start[1] + t * (end[1] - start[1])) for t in shares
    ]


def bars(place: Place) -> list[tuple[tuple[Span, Span], str]]:
    """Give the ends of a system's intervals, as far as they are known, and what each is."""
    across = place.x_interval and ((place.x_interval[0], place.y), (place.x_interval[1], place.y))
    upright = place.y_interval and ((place.x, place.y_interval[0]), (place.x, place.y_interval[1]))
    both = ((across, "x interval"), (upright, "y interval"))
    return [(ends, name) for ends, name in both if ends is not None]
