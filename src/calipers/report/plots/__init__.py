"""Figures of results, drawn by matplotlib.

Each kind has one function, ``NAME_plot(comparison, ...)``, that checks its options and gives a
:class:`Plot`: its ``figure()`` draws all panels, its ``axes(axes)`` one of them into axes of yours.
Figures are made without pyplot, so there is no state beside them and no display is needed.
"""

from __future__ import annotations

from matplotlib.axes import Axes
from matplotlib.figure import Figure

from calipers.report.plots.cells import cells_plot
from calipers.report.plots.curves import curves_plot
from calipers.report.plots.f_scores import f_scores_plot
from calipers.report.plots.frontiers import frontiers_plot
from calipers.report.plots.group_bars import group_bars_plot
from calipers.report.plots.map import map_plot
from calipers.report.plots.panels import Plot
from calipers.report.plots.parameter import parameter_plot
from calipers.report.plots.plane import plane_plot
from calipers.report.plots.style import save_figure

__all__ = [
    "Axes",
    "Figure",
    "Plot",
    "cells_plot",
    "curves_plot",
    "f_scores_plot",
    "frontiers_plot",
    "group_bars_plot",
    "map_plot",
    "parameter_plot",
    "plane_plot",
    "save_figure",
]
