"""Draw the figures that explain the noise floor, the two views of a text, and MAUVE*.

``python docs/figures.py`` writes ``noise-floor.svg``, ``views.svg`` and ``mauve-star.svg`` into
``docs/images``. Nothing is drawn by hand: the floor is measured on Gaussian rows, the views are the
numbers of the table in ``docs/embedders.md``, MAUVE* is that of the counts in
``docs/divergences.md``.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

import calipers
from calipers.report.plots.style import COLOURS, GREY, SHADE, save_figure, styled

DOCS = Path(__file__).parent
COUNTS = calipers.Histograms(reference=[30, 10, 8, 2, 0], generated=[21, 17, 0, 9, 3])
CHANGES = {
    "words shuffled": "words shuffled",
    "truncated to half of the words": "cut at half",
    "typos": "typos",
    "end repeated": "end repeated",
    "sentences shuffled": "sentences shuffled",
}
"""Of the table in ``docs/embedders.md``: the changes that are drawn, and their names."""


def noise_floor() -> Figure:
    """Two systems beside the floor of a Gaussian: one equal to the reference, one narrower."""
    rng = np.random.default_rng(0)
    reference, equal, narrow = (
        spread * rng.standard_normal((600, 8)) for spread in (1.0, 1.0, 0.85)
    )
    systems = {"equal": equal, "narrow": narrow}
    metrics = {"precision": "Precision", "recall": "Recall"}
    found = calipers.compare(
        reference, systems, metrics=",".join(metrics), floor=True, level=None, cache=False
    )
    figure = Figure(figsize=(7.2, 2.9), layout="constrained")
    for axes, (metric, label) in zip(
        figure.subplots(1, 2, sharey=True), metrics.items(), strict=True
    ):
        for place, name in enumerate(systems):
            score = found[name].scores[metric]
            floor, shade = score.floor, COLOURS[place]
            axes.fill_between(
                (place - 0.38, place + 0.38),
                floor.value - floor.margin,
                floor.value + floor.margin,
                color=GREY,
                alpha=SHADE,
                linewidth=0,
                label="noise floor ± margin" if place == 0 else None,
            )
            axes.hlines(floor.value, place - 0.38, place + 0.38, color=GREY)
            axes.plot(
                place,
                floor.beside,
                "o",
                color=shade,
                markersize=7,
                label=f"{name}, n = {floor.size}",
            )
            axes.plot(place + 0.22, score.value, "o", markersize=7, fillstyle="none", color=shade)
            axes.annotate(
                "inside: ✓" if floor.inside else "outside",
                (place, floor.beside),
                (0, -7),
                textcoords="offset points",
                ha="center",
                va="top",
                fontsize=8,
            )
        axes.plot([], [], "o", fillstyle="none", color=GREY, markersize=7, label="all 600 samples")
        axes.set(title=label, xlim=(-0.6, 1.6), xticks=range(2), xticklabels=systems)
        axes.grid(visible=False, axis="x")
        axes.margins(y=0.2)
    figure.legend(
        *figure.axes[0].get_legend_handles_labels(),
        loc="outside lower center",
        ncols=4,
        handlelength=1.5,
    )
    return figure


def views() -> Figure:
    """How far each change of 500 stories lowers MAUVE*, by meaning and by form."""
    rows = _rows_of(
        (DOCS / "embedders.md").read_text("utf-8"), "| change | stories: minilm meaning"
    )
    figure = Figure(figsize=(6.4, 2.6), layout="constrained")
    axes = figure.subplots()
    places = np.arange(len(CHANGES))
    for column, (name, offset) in enumerate({"meaning": -0.19, "form": 0.19}.items(), start=1):
        falls = [-float(rows[change][column].split(",")[0].replace("−", "-")) for change in CHANGES]
        bars = axes.barh(places + offset, falls, 0.36, color=COLOURS[column - 1], label=name)
        axes.bar_label(bars, [f"{fall:.2f}" for fall in falls], padding=3, fontsize=8)
    axes.set_yticks(places, CHANGES.values())
    axes.invert_yaxis()
    axes.set(xlim=(0, 1.08), xlabel="fall of MAUVE*")
    axes.grid(visible=False, axis="y")
    axes.legend(loc="lower right")
    return figure


def mauve_star() -> Figure:
    """From the shares of five cells to the area under the curve of both costs."""
    smoothed = COUNTS.smoothed("krichevsky-trofimov")
    frontier = calipers.divergence_frontier(smoothed)
    figure = Figure(figsize=(7.2, 2.8), layout="constrained")
    cells, curve = figure.subplots(1, 2, width_ratios=(1.15, 1))
    _cells(cells)
    points = frontier.points()
    points = points[np.lexsort((-points[:, 1], points[:, 0]))]
    curve.fill_between(*points.T, color=COLOURS[2], alpha=SHADE, linewidth=0)
    curve.plot(*points.T, color=COLOURS[2], marker="o", markersize=3)
    curve.annotate(f"MAUVE* = {frontier.area():.2f}", (0.36, 0.36), ha="center")
    curve.annotate("R near P", (0.04, 0.9), fontsize=8)
    curve.annotate(
        "R near Q", points[-2], (-4, 5), textcoords="offset points", fontsize=8, ha="right"
    )
    curve.set(
        title="2, 3. costs of mixtures R",
        xlabel="exp(−5·KL(Q‖R))",
        ylabel="exp(−5·KL(P‖R))",
        xlim=(0, 1.03),
        ylim=(0, 1.03),
        aspect="equal",
    )
    return figure


def _cells(axes: Axes) -> None:
    """Counts of both sides in five cells."""
    sides = {"reference P": COUNTS.reference, "generated Q": COUNTS.generated}
    for place, (name, counts) in enumerate(sides.items()):
        where = np.arange(1, len(counts) + 1) + (place - 0.5) * 0.38
        bars = axes.bar(where, counts, 0.36, color=COLOURS[place], label=name)
        axes.bar_label(bars, fontsize=8)
    axes.set(title="1. samples in each cell", xlabel="cell", ylabel="samples")
    axes.grid(visible=False, axis="x")
    axes.legend()


def _rows_of(page: str, head: str) -> dict[str, list[str]]:
    """Rows of a table by their first cell."""
    table = page[page.index(head) :].partition("\n\n")[0]
    cells = (
        [cell.strip() for cell in line.strip("|").split("|")] for line in table.split("\n")[2:]
    )
    return {row[0]: row for row in cells}


def main() -> None:
    """Write all figures."""
    for draw in (noise_floor, views, mauve_star):
        with styled():
            figure = draw()
        save_figure(figure, DOCS / "images" / f"{draw.__name__.replace('_', '-')}.svg")


if __name__ == "__main__":
    main()
