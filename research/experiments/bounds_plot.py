"""Errors and bounds ──► the panels of figure 21."""

from __future__ import annotations

from collections.abc import Sequence

from bounds import CURVES, Sweep
from calipers.report.plots import Figure
from calipers.report.plots.style import colour, dashes, marker, styled

AXIS = {"n": "n, samples on each side", "k": "k, cells"}
# Bounds in dark, plain lines; what was measured in colour, with markers
LOOKS = {
    "error": {"color": colour(0), "linestyle": dashes(0), "marker": marker(0)},
    "smoothed": {"color": colour(3), "linestyle": dashes(3), "marker": marker(3)},
    "oracle": {"color": colour(1), "linestyle": dashes(1), "marker": marker(1)},
    "free": {"color": colour(6), "linestyle": dashes(2), "marker": marker(2)},
}


def figure(sweeps: Sequence[Sweep]) -> Figure:
    """Draw a row of panels for each population, on logarithmic axes, slopes in a corner."""
    with styled():
        rows = len(sweeps) // 2
        drawn = Figure(figsize=(7.2, 2.7 * rows + 0.5), layout="constrained")
        axes = drawn.subplots(rows, 2, sharey="row", squeeze=False).ravel()
        for panel, sweep in zip(axes, sweeps, strict=True):
            _draw(panel, sweep)
        for left in axes[::2]:
            left.set_ylabel("Mean absolute error")
        handles, labels = axes[0].get_legend_handles_labels()
        drawn.legend(handles, labels, loc="outside lower center", ncols=len(labels))
    return drawn


def _draw(axes, sweep: Sweep) -> None:
    sizes, error, doubt = (sweep.values(name) for name in (sweep.over, "error", "doubt"))
    axes.fill_between(
        sizes, error - 2 * doubt, error + 2 * doubt, color=colour(0), alpha=0.16, lw=0
    )
    for name, label in CURVES.items():
        edge = {"markeredgecolor": "white", "markeredgewidth": 0.5}
        axes.plot(sizes, sweep.values(name), label=label, **edge, **LOOKS[name])
    _slopes(axes, sweep)
    axes.set_xscale("log")
    axes.set_yscale("log")
    axes.set_xlabel(AXIS[sweep.over])
    axes.set_title(f"{sweep.population}, {sweep.fixed}", loc="left")


def _slopes(axes, sweep: Sweep) -> None:
    """Write the slopes where no curve runs: below falling ones, above rising ones."""
    lines = [("slope", "#444444")]
    lines += [(f"{sweep.slope(name):+.2f}", LOOKS[name]["color"]) for name in CURVES]
    top = 0.02 + 0.075 * len(lines) if sweep.over == "n" else 0.98
    for row, (text, shade) in enumerate(lines):
        axes.text(
            0.02,
            top - 0.075 * row,
            text.replace("-", "−"),
            color=shade,
            fontsize=8,
            va="top",
            transform=axes.transAxes,
        )
