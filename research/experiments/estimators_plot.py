"""Errors of the estimators ──► small multiples: a row for each divergence, a column for each d."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from matplotlib.ticker import FixedLocator, NullLocator, StrMethodFormatter

from calipers.report.plots import Figure
from calipers.report.plots.style import colour, dashes, marker, styled
from estimators_gaussians import CELLS, OWN_CELLS, Results, relative

SHOWN = (CELLS, OWN_CELLS, "k-NN, k = 50", "KDE", "classifier", "boosted", "Gaussian")
LOWEST, HIGHEST = -60, 140


def figure(
    kls: Sequence[float], dimensions: Sequence[int], sizes: Sequence[int], results: Results
) -> Figure:
    """Draw mean relative errors in percent against n, with bands of two standard errors."""
    with styled():
        drawn = Figure(figsize=(7.2, 5.0), layout="constrained")
        axes = drawn.subplots(len(kls), len(dimensions), sharex=True, sharey=True, squeeze=False)
        for row, kl in enumerate(kls):
            for column, d in enumerate(dimensions):
                panel = axes[row, column]
                _draw(panel, sizes, [results[kl, d, n] for n in sizes], kl)
                panel.set_title(f"KL = {kl:g}, d = {d}", loc="left", fontsize=9)
                panel.label_outer()
        for panel in axes[:, 0]:
            panel.set_ylabel("Error of KL, %")
        for panel in axes[-1]:
            panel.set_xlabel("n = m")
        handles, labels = axes[0, 0].get_legend_handles_labels()
        drawn.legend(handles, labels, loc="outside lower center", ncols=4)
    return drawn


def _draw(panel, sizes: Sequence[int], draws: Sequence[list[dict[str, float]]], kl: float) -> None:
    panel.axhspan(-10, 10, color="#000000", alpha=0.06, linewidth=0)
    for j, name in enumerate(SHOWN):
        errors = [relative(found, name, kl) for found in draws]
        mean = np.array([e.mean() for e in errors])
        doubt = np.array([2 * e.std(ddof=1) / np.sqrt(len(e)) for e in errors])
        panel.fill_between(sizes, mean - doubt, mean + doubt, color=colour(j), alpha=0.14, lw=0)
        look = {"color": colour(j), "linestyle": dashes(j), "marker": marker(j)}
        panel.plot(sizes, mean, label=name, markeredgecolor="white", markeredgewidth=0.5, **look)
    panel.set_xscale("log")
    panel.xaxis.set_major_locator(FixedLocator(sizes))
    panel.xaxis.set_major_formatter(StrMethodFormatter("{x:,.0f}"))
    panel.xaxis.set_minor_locator(NullLocator())
    panel.set_ylim(LOWEST, HIGHEST)
