"""A panel by itself, with its legend to the right of it."""

from __future__ import annotations

from collections.abc import Sequence

from matplotlib.artist import Artist
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from calipers.report.plots.choosing import legend_width


def own_axes(width: float, height: float, names: Sequence[str] = ()) -> Axes:
    """Make axes of a figure of their own, with room for a legend of these names; in inches."""
    room = legend_width(names) if names else 0.0
    return Figure(figsize=(width + room, height), layout="constrained").add_subplot()


def legend_beside(axes: Axes, handles: Sequence[Artist], **look: float) -> None:
    """Add a legend to the right of the axes, where it hides nothing."""
    axes.legend(handles=handles, loc="upper left", bbox_to_anchor=(1.02, 1.0), **look)
