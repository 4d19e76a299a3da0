"""Report data ──► what the charts of the HTML report are drawn from: a point, a curve, a bar each.

How wide an error ellipse is: for two estimates with normal errors the region that holds a share
``level`` of them is an ellipse whose half axes are sqrt(−2·ln(1 − level)) times the standard errors
along them (paper 000, figure 1, draws it at 2). Bars and bands are z standard errors to each side.
"""

from __future__ import annotations

import math
from statistics import NormalDist
from typing import Any

from calipers.report.html.pictures_curves import curve_data, frontier_data
from calipers.report.html.pictures_parts import Data, described, number, shown_names, views_of
from calipers.report.html.pictures_plane import plane_data
from calipers.report.html.pictures_topics import topic_data

LEVEL = 0.95


def chart_data(data: Data) -> dict[str, Any]:
    """Give the charts as plain data; what was not measured is an empty list or None.

    Parameters
    ----------
    data
        What ``Comparison.report_data()`` gives.

    Returns
    -------
    dict
        ``level`` of the intervals, ``z`` and ``radius`` that go with it, the names of the
        ``systems`` in the order of their colours, the ``views`` with what they see, and ``planes``,
        ``curves``, ``frontiers`` and ``topics``: lists with an entry for each view and choice,
        where systems stand by their place in ``systems`` and views by theirs in ``views``.
    """
    views = views_of(data)
    level = _level(data)
    return {
        "level": level,
        "z": number(NormalDist().inv_cdf((1 + level) / 2)),
        "radius": number(math.sqrt(-2 * math.log(1 - level))),
        "systems": shown_names(data),
        "views": described(views),
        "planes": plane_data(data, views),
        "curves": curve_data(data, views),
        "frontiers": frontier_data(data, views),
        "topics": topic_data(data, views),
    }


def _level(data: Data) -> float:
    """Give the level that the run chose, or the usual one."""
    level = (data["comparison"].get("settings") or {}).get("level")
    return float(level) if level and 0 < level < 1 else LEVEL
