"""Scores of dropped and invented digits ──► the panels of figure 5."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from calipers.report.plots import Figure
from calipers.report.plots.style import colour, dashes, marker, styled
from digits_modes import IN_REFERENCE, SYSTEMS, Found, column, curves

# Light to dark as more modes are right, and as more are invented; the right ones in black
DROPPED = ("#9ecae1", "#6baed6", "#3182bd", "#08519c")
RIGHT = ("#000000",)
INVENTED = ("#fdbe85", "#fd8d3c", "#e6550d", "#c2410c", "#7f2704")
SHADES = dict(zip(SYSTEMS, (*DROPPED, *RIGHT, *INVENTED), strict=True))
KINDS = {"drops": DROPPED[-1], "right": RIGHT[0], "invents": INVENTED[2]}


def figure(results: Sequence[dict[str, Found]]) -> Figure:
    """Draw the Fréchet distance, the PRD curves, and the two F-scores read from them."""
    with styled():
        drawn = Figure(figsize=(7.2, 2.9), layout="constrained")
        left, middle, right = drawn.subplots(1, 3)
        _by_modes(left, results, {"frechet_distance": "Fréchet distance"}, first=6)
        left.set_yscale("log")
        left.set_yticks([1, 2, 5, 10], ["1", "2", "5", "10"])
        left.minorticks_off()
        left.set_ylabel("Fréchet distance")
        _kinds(left)
        _prd(middle, results)
        scores = {"prd_f1_8": "$F_{1/8}$ (precision)", "prd_f8": "$F_8$ (recall)"}
        _by_modes(right, results, scores, first=2)
        right.set_ylim(0, 1.03)
        right.set_ylabel("Best F-score on the curve")
        right.legend(loc="lower right")
        for letter, axes in zip("abc", (left, middle, right), strict=True):
            axes.set_title(f"({letter})", loc="left")
        handles, labels = middle.get_legend_handles_labels()
        drawn.legend(
            handles,
            labels,
            loc="outside lower center",
            ncols=len(labels),
            handlelength=1.4,
            columnspacing=1.2,
        )
    return drawn


def _by_modes(axes, results: Sequence[dict[str, Found]], names: dict[str, str], first: int) -> None:
    modes = np.arange(1, len(SYSTEMS) + 1)
    axes.axvline(IN_REFERENCE, color="#bbbbbb", linewidth=0.8, zorder=0)
    for i, (name, label) in enumerate(names.items()):
        shade = colour(first + i)
        values = np.array([column(results, name, system) for system in SYSTEMS])
        mean, spread = values.mean(axis=1), values.std(axis=1)
        axes.fill_between(modes, mean - spread, mean + spread, color=shade, alpha=0.16, lw=0)
        edge = {"markeredgecolor": "white", "markeredgewidth": 0.5}
        looks = {"color": shade, "linestyle": dashes(i), "marker": marker(i)}
        axes.plot(modes, mean, label=label, **looks, **edge)
    axes.set_xticks(modes)
    axes.set_xlabel("Digits in Q")


def _kinds(axes) -> None:
    """Say on which side modes are dropped, and on which invented."""
    for x, side, words in ((0.42, "right", "drops"), (0.47, "left", "invents")):
        axes.text(x, 0.95, words, ha=side, color=KINDS[words], fontsize=8, transform=axes.transAxes)


def _prd(axes, results: Sequence[dict[str, Found]]) -> None:
    """Draw the curve of every Q, the mean over the trials."""
    for system, curve in curves(results).items():
        shade = SHADES[system]
        axes.plot(curve.recall, curve.precision, color=shade, label=system)
    axes.set_xlim(0, 1.03)
    axes.set_ylim(0, 1.03)
    axes.set_xlabel("Recall β")
    axes.set_ylabel("Precision α")
