"""Stored results ──► figures. The only room that imports matplotlib; computes nothing.

Figures are made without pyplot, so there is no state beside them and no display is needed.
"""

from __future__ import annotations

from matplotlib.axes import Axes
from matplotlib.figure import Figure

from calipers.report.plots.cells import cells_axes, cells_figure
from calipers.report.plots.curves import curves_axes, curves_figure
from calipers.report.plots.f_scores import f_scores_axes, f_scores_figure
from calipers.report.plots.files import save_figure
from calipers.report.plots.frontiers import frontiers_axes, frontiers_figure
from calipers.report.plots.group_bars import group_bars_axes, group_bars_figure
from calipers.report.plots.heat_map import heat_map_axes, heat_map_figure
from calipers.report.plots.map import map_axes, map_figure
from calipers.report.plots.parameter import parameter_axes, parameter_figure
from calipers.report.plots.plane import plane_axes, plane_figure
from calipers.report.plots.sweep import sweep_axes, sweep_figure

__all__ = [
    "Axes",
    "Figure",
    "cells_axes",
    "cells_figure",
    "curves_axes",
    "curves_figure",
    "f_scores_axes",
    "f_scores_figure",
    "frontiers_axes",
    "frontiers_figure",
    "group_bars_axes",
    "group_bars_figure",
    "heat_map_axes",
    "heat_map_figure",
    "map_axes",
    "map_figure",
    "parameter_axes",
    "parameter_figure",
    "plane_axes",
    "plane_figure",
    "save_figure",
    "sweep_axes",
    "sweep_figure",
]
