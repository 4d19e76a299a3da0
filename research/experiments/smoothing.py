"""Which smoothing brings the frontier integral of two samples closest to the true one.

    python research/experiments/smoothing.py
    python research/experiments/smoothing.py --plot docs/images/smoothing.svg

The simulation of figure 6 of "MAUVE Scores for Generative Models" (Pillutla et al., JMLR 2023,
section 4.1.1), and one setting more. Two known distributions over k cells, Zipf(r) with P_l ~ 1/l^r
and Dir(alpha), which is drawn anew in every trial; a sample of n from each; and the mean absolute
error of the frontier integral, for five estimates of the cell probabilities. Smoothing reaches all
k cells, also those that neither sample hits. All five see the same samples, drawn from a seed.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from calipers.curves.bounds import FRONTIER_INTEGRAL
from calipers.curves.frontier import f_divergence
from calipers.estimate import Histograms, LikelihoodRatios

ESTIMATORS = {
    "none": "Empirical",
    "braess-sauer": "Braess–Sauer",
    "good-turing": "Good–Turing",
    "krichevsky-trofimov": "Krichevsky–Trofimov",
    "laplace": "Laplace",
}
Pair = tuple[np.ndarray, np.ndarray]


@dataclass(frozen=True)
class Panel:
    """One panel of the figure: what lies on its axis, and the distributions at each point."""

    letter: str
    title: str
    axis: str
    points: Sequence[float]
    draw: Callable[[float, np.random.Generator], Pair]
    size: Callable[[float], int]
    log: bool = True


@dataclass(frozen=True)
class Result:
    """Errors of a panel, shape ``(points, trials, estimators)``; positive where too large."""

    panel: Panel
    errors: np.ndarray

    @property
    def mean(self) -> np.ndarray:
        """Mean absolute error, shape ``(points, estimators)``."""
        return np.abs(self.errors).mean(axis=1)

    @property
    def doubt(self) -> np.ndarray:
        """Standard error of the mean."""
        return np.abs(self.errors).std(axis=1, ddof=1) / np.sqrt(self.errors.shape[1])


def zipf(cells: int, decay: float) -> np.ndarray:
    """P_l ~ 1/l^decay; 0 gives equal cells."""
    weights = np.arange(1, cells + 1) ** -float(decay)
    return weights / weights.sum()


def uniform_and_dirichlet(cells: float, rng: np.random.Generator) -> Pair:
    return zipf(int(cells), 0), rng.dirichlet(np.full(int(cells), 0.5))


SIZES = (1_000, 2_000, 5_000, 10_000, 20_000, 50_000, 100_000)
CELLS = (10, 30, 100, 300, 1_000, 3_000, 10_000)
DECAYS = tuple(np.linspace(0, 2, 9).tolist())
PANELS = (
    Panel(
        "a",
        "Zipf(0) and Dir(½), k = 1,000",
        "n, samples on each side",
        SIZES,
        lambda n, rng: uniform_and_dirichlet(1_000, rng),
        int,
    ),
    Panel(
        "b",
        "Zipf(0) and Dir(½), n = 20,000",
        "k, cells",
        CELLS,
        uniform_and_dirichlet,
        lambda k: 20_000,
    ),
    Panel(
        "c",
        "Dir(1) and Zipf(r), k = 1,000, n = 10,000",
        "r, decay of the tail",
        DECAYS,
        lambda r, rng: (rng.dirichlet(np.ones(1_000)), zipf(1_000, r)),
        lambda r: 10_000,
        log=False,
    ),
    Panel(
        "d",
        "Zipf(2) and Zipf(r), k = 1,000, n = 10,000",
        "r, decay of the tail",
        DECAYS,
        lambda r, rng: (zipf(1_000, 2), zipf(1_000, r)),
        lambda r: 10_000,
        log=False,
    ),
)
BEYOND = Panel(
    "e",
    "not in the paper: Zipf(2) and Zipf(0), k = 1,000",
    "n, samples on each side",
    (1_000, 3_000, 10_000, 30_000, 100_000, 300_000, 1_000_000),
    lambda n, rng: (zipf(1_000, 2), zipf(1_000, 0)),
    int,
)
"""Where panel (d) shows the largest errors, with fewer and with more samples."""


def run(panel: Panel, *, trials: int, seed: int) -> Result:
    """Draw pairs of samples at every point of a panel, and score each with every estimator."""
    errors = np.zeros((len(panel.points), trials, len(ESTIMATORS)))
    for i, point in enumerate(panel.points):
        rng = np.random.default_rng([seed, ord(panel.letter), i])
        for trial in range(trials):
            pair = panel.draw(point, rng)
            counts = [rng.multinomial(panel.size(point), side) for side in pair]
            true = f_divergence(known(*pair), FRONTIER_INTEGRAL)
            for j, smoothing in enumerate(ESTIMATORS):
                found = f_divergence(Histograms(*counts, smoothing=smoothing), FRONTIER_INTEGRAL)
                errors[i, trial, j] = found - true
    return Result(panel, errors)


def known(p: np.ndarray, q: np.ndarray) -> LikelihoodRatios:
    """Two distributions that are known and nowhere 0, as what divergences are read from."""
    logs = np.log(p) - np.log(q)
    return LikelihoodRatios(logs, logs, p / p.sum(), q / q.sum())


def table(result: Result) -> list[str]:
    """Markdown: mean absolute errors in thousandths; the smallest, and its equals, in bold."""
    panel = result.panel
    lines = [f"({panel.letter}) {panel.title}", ""]
    lines.append(f"| {panel.axis[0]} | " + " | ".join(ESTIMATORS.values()) + " |")
    lines.append("| ---: |" + " ---: |" * len(ESTIMATORS))
    for i, point in enumerate(panel.points):
        marks = np.where(equals(result, i), "**", "")
        cells = [
            f"{mark}{1000 * mean:.1f}{mark} ± {1000 * doubt:.1f}"
            for mean, doubt, mark in zip(result.mean[i], result.doubt[i], marks, strict=True)
        ]
        lines.append(f"| {number(point)} | " + " | ".join(cells) + " |")
    return [*lines, ""]


def number(point: float) -> str:
    return f"{point:,}" if isinstance(point, int) else f"{point:g}"


def equals(result: Result, point: int) -> np.ndarray:
    """Which estimators are as good as the best: within two standard errors of the difference."""
    errors = np.abs(result.errors[point])
    apart = errors - errors[:, [int(errors.mean(axis=0).argmin())]]
    doubt = apart.std(axis=0, ddof=1) / np.sqrt(len(apart))
    return apart.mean(axis=0) <= 2 * doubt


def reading(results: Sequence[Result]) -> list[str]:
    """Markdown: how each estimator does over a panel, against the empirical one and the best."""
    lines = ["| panel | | " + " | ".join(ESTIMATORS.values()) + " |"]
    lines.append("| --- | --- |" + " ---: |" * len(ESTIMATORS))
    for result in results:
        points, mean = len(result.panel.points), result.mean
        best = np.sum([equals(result, i) for i in range(points)], axis=0)
        better = (mean < mean[:, [0]]).sum(axis=0)
        ratio = (mean / mean.min(axis=1, keepdims=True)).max(axis=0)
        letter = f"({result.panel.letter})"
        lines.append(_row(letter, "best, or equal to it", (f"{b} of {points}" for b in best)))
        lines.append(_row("", "better than empirical", (f"{b} of {points}" for b in better)))
        lines.append(_row("", "at worst, times the best", (f"{r:.1f}" for r in ratio)))
    return [*lines, ""]


def _row(*cells: object) -> str:
    *heads, values = cells
    return "| " + " | ".join([*map(str, heads), *values]) + " |"


def main() -> None:
    options = arguments()
    results = [run(panel, trials=options.trials, seed=options.seed) for panel in (*PANELS, BEYOND)]
    print("Mean absolute error of the frontier integral × 1,000, ± its standard error over")
    print(f"{options.trials} trials; bold: the best, and what is within 2 standard errors of it.\n")
    for result in results:
        print("\n".join(table(result)))
    print("\n".join(reading(results)))
    if options.plot:
        from calipers.report.plots import save_figure
        from smoothing_plot import figure

        save_figure(figure(results[: len(PANELS)]), options.plot)


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--trials", type=int, default=200, help="at each point (default 200)")
    parser.add_argument("--seed", type=int, default=0, help="of all trials (default 0)")
    parser.add_argument("--plot", metavar="FILE", help="keep the figure as .svg, .pdf or .png")
    options = parser.parse_args()
    if options.trials < 2 or options.seed < 0:
        parser.error("--trials must be at least 2, --seed at least 0")
    if options.plot and not options.plot.endswith((".svg", ".pdf", ".png")):
        parser.error(f"--plot must end in .svg, .pdf or .png; found {options.plot}")
    return options


if __name__ == "__main__":
    main()
