"""Stored results ──► figures. The only room that imports matplotlib; computes nothing.

Figures are made without pyplot, so there is no state beside them and no display is needed.
"""

from __future__ import annotations

from matplotlib.figure import Figure

from calipers.report.plots.files import save_figure
from calipers.report.plots.heat_map import heat_map_axes, heat_map_figure
from calipers.report.plots.sweep import sweep_axes, sweep_figure

__all__ = [
    "Figure",
    "heat_map_axes",
    "heat_map_figure",
    "save_figure",
    "sweep_axes",
    "sweep_figure",
]
