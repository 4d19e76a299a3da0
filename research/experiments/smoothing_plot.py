"""Errors of the five estimators ──► the four panels of figure 6."""

from __future__ import annotations

from collections.abc import Sequence

from calipers.report.plots import Figure
from calipers.report.plots.style import colour, dashes, marker, styled
from smoothing import ESTIMATORS, Result


def figure(results: Sequence[Result]) -> Figure:
    """Draw the mean absolute errors on a logarithmic axis, with bands of two standard errors."""
    with styled():
        drawn = Figure(figsize=(7.2, 5.6), layout="constrained")
        axes = drawn.subplots(2, 2, sharey="row").ravel()
        for panel, result in zip(axes, results, strict=True):
            _draw(panel, result)
        for left in axes[::2]:
            left.set_ylabel("Mean absolute error")
        handles, labels = axes[0].get_legend_handles_labels()
        drawn.legend(handles, labels, loc="outside lower center", ncols=len(labels))
    return drawn


def _draw(axes, result: Result) -> None:
    panel = result.panel
    for j, name in enumerate(ESTIMATORS.values()):
        mean, doubt = result.mean[:, j], result.doubt[:, j]
        axes.fill_between(
            panel.points, mean - 2 * doubt, mean + 2 * doubt, color=colour(j), alpha=0.16, lw=0
        )
        axes.plot(
            panel.points,
            mean,
            color=colour(j),
            linestyle=dashes(j),
            marker=marker(j),
            markeredgecolor="white",
            markeredgewidth=0.5,
            label=name,
        )
    axes.set_yscale("log")
    if panel.log:
        axes.set_xscale("log")
    axes.set_xlabel(panel.axis)
    axes.set_title(f"({panel.letter}) {panel.title}", loc="left", fontsize=9)
