"""Report data ──► what the pictures of the HTML report are drawn from, as plain data.

The page holds both as JSON; the scripts beside it draw from nothing else. Numbers are cut to what a
screen can show, and every excerpt is held once, whatever the number of views.
"""

from __future__ import annotations

from calipers.report.html.pictures_charts import chart_data
from calipers.report.html.pictures_map import map_data

__all__ = ["SCRIPTS", "STYLES", "chart_data", "map_data"]

SCRIPTS = (
    "charts_kit.js",
    "charts_figure.js",
    "charts_plane.js",
    "charts_curves.js",
    "charts_frontiers.js",
    "charts_topics.js",
    "charts.js",
    "map_points.js",
    "map_paint.js",
    "map_tip.js",
    "map_input.js",
    "map_keys.js",
    "map_search.js",
    "map.js",
)
"""The files in ``static`` that draw the pictures; all of them, in any order, after both islands."""

STYLES = ("pictures.css",)
"""The files in ``static`` that say how the pictures look."""
