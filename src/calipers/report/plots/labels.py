"""Names beside points, placed so that they hide neither points nor other names.

Places are found when the figure is drawn, since only then the sizes of axes are known, and anew
when they change.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from itertools import product
from typing import Any

import numpy as np
from matplotlib.artist import Artist
from matplotlib.axes import Axes
from matplotlib.backend_bases import RendererBase
from matplotlib.text import Annotation
from numpy.typing import NDArray

from calipers.report.plots.curves import GREY
from calipers.report.plots.panels import text_width
from calipers.report.plots.style import INK

Points = tuple[tuple[float, float], ...]
Numbers = NDArray[np.float64]

SIZE, HEIGHT, GAP = 7.5, 8.5, 6.0
DIRECTIONS = ((1, 0), (-1, 0), (0, 1), (0, -1), (1, 1), (-1, 1), (1, -1), (-1, -1))
DISTANCES = (4.0, 8.0, 13.0, 18.0, 24.0, 32.0, 42.0, 54.0, 70.0)
LED = 7.0
"""Farther names than this have a line to their point."""

MARK = 4.0
CROWD = 40.0
ROUNDS = 4
HIDDEN, CROSSED, OUTSIDE, PREFERRED = 40.0, 1.5, 80.0, 0.3


def label_points(axes: Axes, points: Points, names: Sequence[str], lines: Points = ()) -> None:
    """Write names beside the points of Axes.

    Parameters
    ----------
    points
        x and y of each point, as data.
    names
        What to write, as matplotlib reads it.
    lines
        Places that names should rather not cover: along lines and rims.
    """
    texts = [_annotation(axes, point, name) for point, name in zip(points, names, strict=True)]
    axes.add_artist(Placer(texts, lines))


class Placer(Artist):
    """An invisible artist that places names just before they are drawn."""

    def __init__(self, texts: Sequence[Annotation], lines: Points) -> None:
        super().__init__()
        self.texts, self.lines = list(texts), lines
        self.set_zorder(0)
        self.set_in_layout(False)

    def draw(self, renderer: RendererBase) -> None:
        """Place the names for the present state of the Axes."""
        assert self.axes is not None
        points, lines = (self._on_page(at) for at in (self._points(), self.lines))
        widths = [text_width(text.get_text(), SIZE) for text in self.texts]
        width, height = (self._scale() * float(side) for side in self.axes.bbox.size)
        sizes = tuple((wide + GAP, HEIGHT) for wide in widths)
        places = arrange(points, sizes, lines, (width, height))
        for text, wide, at in zip(self.texts, widths, places, strict=True):
            text.set_position(at)
            arrow: Any = text.arrow_patch
            arrow.set_visible(_gap(at, (wide, HEIGHT)) > LED)

    def _points(self) -> Points:
        return tuple((float(text.xy[0]), float(text.xy[1])) for text in self.texts)

    def _on_page(self, points: Points) -> Points:
        """Turn data into 1/72 inch from the lower left corner of the axes."""
        assert self.axes is not None
        if not points:
            return ()
        pixels = self.axes.transData.transform(points) - self.axes.bbox.min
        return tuple((round(float(x), 2), round(float(y), 2)) for x, y in self._scale() * pixels)

    def _scale(self) -> float:
        figure: Any = self.get_figure(root=True)
        return 72.0 / float(figure.dpi)


@lru_cache(maxsize=64)
def arrange(points: Points, sizes: Points, lines: Points, frame: tuple[float, float]) -> Points:
    """Find a position for every name: near its point, clear of points and names, in the frame.

    Names take places in turn, those in a crowd first, and move for some rounds to better ones that
    come free. The same input gives the same places.

    Parameters
    ----------
    points, sizes
        Of every name its point, and its width and height, in 1/72 inch.
    lines
        What it is better not to cover.
    frame
        Width and height of the axes.

    Returns
    -------
    tuple of (x, y)
        Middles of the names, seen from their points.
    """
    marks = [_box(point, (0.0, 0.0), (2 * MARK, 2 * MARK)) for point in points]
    order = sorted(range(len(points)), key=lambda i: (-_crowd(points, i), i))
    chosen: dict[int, tuple[float, float]] = {}
    for _, i in product(range(ROUNDS), order):
        others = [_box(points[j], at, sizes[j]) for j, at in chosen.items() if j != i]
        spots = _spots(sizes[i])
        boxes = np.array([_box(points[i], at, sizes[i]) for at in spots])
        costs = _costs(boxes, np.array([*marks, *others]), np.array(lines).reshape(-1, 2), frame)
        chosen[i] = spots[int(np.argmin(costs + _distances()))]
    return tuple(chosen[i] for i in range(len(points)))


def _costs(boxes: Numbers, hard: Numbers, soft: Numbers, frame: tuple[float, float]) -> Numbers:
    """What stands in the way of every box: points and names, lines, the edge of the axes."""
    low, high = boxes[:, None, :2], boxes[:, None, 2:]
    shared = np.minimum(high, hard[:, 2:]) - np.maximum(low, hard[:, :2])
    hits = np.all(shared > 0, axis=2).sum(axis=1)
    area = np.prod(np.clip(shared, 0, None), axis=2).sum(axis=1)
    crossed = np.all((soft > low) & (soft < high), axis=2).sum(axis=1)
    beyond = np.clip(-boxes[:, :2], 0, None) + np.clip(boxes[:, 2:] - frame, 0, None)
    outside = OUTSIDE * (beyond > 0).any(axis=1) + 5 * beyond.sum(axis=1)
    return np.asarray(HIDDEN * hits + area + CROSSED * crossed + outside, dtype=np.float64)


def _spots(size: tuple[float, float]) -> list[tuple[float, float]]:
    """Where the middle of a name may be, seen from its point."""
    w, h = size[0] / 2, size[1] / 2
    return [
        (dx * (far * (0.75 if dx and dy else 1) + w), dy * (far * (0.75 if dx and dy else 1) + h))
        for far in DISTANCES
        for dx, dy in DIRECTIONS
    ]


def _distances() -> Numbers:
    places = product(DISTANCES, range(len(DIRECTIONS)))
    return np.array([far + PREFERRED * way for far, way in places])


def _gap(at: tuple[float, float], size: tuple[float, float]) -> float:
    """How far the rim of a name is from its point."""
    x, y = (max(0.0, abs(a) - s / 2) for a, s in zip(at, size, strict=True))
    return float(np.hypot(x, y))


def _box(
    point: tuple[float, float], at: tuple[float, float], size: tuple[float, float]
) -> tuple[float, ...]:
    x, y = point[0] + at[0], point[1] + at[1]
    return x - size[0] / 2, y - size[1] / 2, x + size[0] / 2, y + size[1] / 2


def _crowd(points: Points, i: int) -> int:
    x, y = points[i]
    return sum(abs(x - a) < 2 * CROWD and abs(y - b) < CROWD for a, b in points)


def _annotation(axes: Axes, point: tuple[float, float], name: str) -> Annotation:
    line = {"arrowstyle": "-", "color": GREY, "linewidth": 0.5, "shrinkA": 0.5, "shrinkB": 2.5}
    look: dict[str, Any] = {"size": SIZE, "color": INK, "ha": "center", "va": "center", "zorder": 4}
    offset: dict[str, Any] = {"xytext": (0, 0), "textcoords": "offset points", "arrowprops": line}
    backing: dict[str, Any] = {"facecolor": ("white", 0.6), "edgecolor": "none", "pad": 0.6}
    text = axes.annotate(name, point, bbox=backing, **offset, **look)
    text.set_in_layout(False)
    return text
