"""How the error of the frontier integral falls with n and grows with k, beside its proven bounds.

    python research/experiments/bounds.py
    python research/experiments/bounds.py --plot docs/images/bounds.svg

The study of figure 21 of "MAUVE Scores for Generative Models" (Pillutla et al., JMLR 2023, section
7.8). The rows of two populations are cut into k cells by joint k-means, which gives two known
distributions. Samples of n rows are drawn from them with replacement, and the mean absolute error
of the frontier integral over the trials is set beside the two rates of theorem 10, divided by 30 as
in the paper: only slopes are to be compared. The bounds with their constants stand in the table.

Populations: AG News embeddings where the data are (``ag_news/test.csv`` in the folder that --data
or the environment variable CALIPERS_DATA names), and always a synthetic one.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from ag_news import DATA
from bounds_populations import Cells, Population, populations
from calipers.catalogue.estimation import Smoothing
from calipers.curves.bounds import (
    FRONTIER_INTEGRAL,
    oracle_bound,
    oracle_rate,
    statistical_bound,
    statistical_rate,
)
from calipers.curves.frontier import f_divergence
from calipers.estimate import Histograms, LikelihoodRatios

SIZES = (100, 200, 500, 1_000, 2_000, 5_000, 10_000)
CELLS = (8, 16, 32, 64, 128, 256, 512, 1_024)
FIXED_K, FIXED_N = 64, 1_000
SCALE = 30
CURVES = {
    "error": "Monte Carlo",
    "smoothed": "Monte Carlo, Krichevsky–Trofimov",
    "oracle": "Oracle bound / 30",
    "free": "Bound / 30",
}
PROVEN = ("equation_10", "equation_11")


@dataclass(frozen=True)
class Point:
    """What was measured and what is proven, at one n and one k.

    A bias is a mean signed error; `empty` is the share of cells that one population lacks.
    """

    n: int
    k: int
    true: float
    empty: float
    error: float
    doubt: float
    bias: float
    smoothed: float
    smoothed_bias: float
    oracle: float
    free: float
    equation_10: float
    equation_11: float


@dataclass(frozen=True)
class Sweep:
    """A panel of the figure: one size moves, the other is fixed."""

    population: str
    over: str
    fixed: str
    points: tuple[Point, ...]

    def values(self, curve: str) -> np.ndarray:
        return np.array([getattr(point, curve) for point in self.points], float)

    def slope(self, curve: str, *, last: int = 0) -> float:
        """The power of n or k with which a curve goes, over all or only the last points."""
        x, y = (np.log(self.values(name)[-last:]) for name in (self.over, curve))
        return float(np.polyfit(x, y, 1)[0])


def measure(cells: Cells, *, n: int, trials: int, seed: int) -> Point:
    """Draw pairs of samples from two known distributions, and compare with the bounds."""
    p, q = cells
    rng = np.random.default_rng([seed, n, len(p)])
    pairs = list(zip(rng.multinomial(n, p, trials), rng.multinomial(n, q, trials), strict=True))
    true = f_divergence(known(p, q), FRONTIER_INTEGRAL)
    plain, smoothed = (
        np.array(integrals(pairs, way)) - true for way in ("none", "krichevsky-trofimov")
    )
    return Point(
        n=n,
        k=len(p),
        true=true,
        empty=float(np.mean((p == 0) | (q == 0))),
        error=np.abs(plain).mean(),
        doubt=np.abs(plain).std(ddof=1) / np.sqrt(trials),
        bias=plain.mean(),
        smoothed=np.abs(smoothed).mean(),
        smoothed_bias=smoothed.mean(),
        oracle=oracle_rate(p, q, n=n) / SCALE,
        free=statistical_rate(n=n, k=len(p)) / SCALE,
        equation_10=oracle_bound("frontier_integral", p, q, n=n).value,
        equation_11=statistical_bound("frontier_integral", n=n, k=len(p)).value,
    )


def integrals(pairs: Iterable[tuple[np.ndarray, np.ndarray]], smoothing: Smoothing) -> list[float]:
    """The frontier integral of every pair of counts."""
    return [
        f_divergence(Histograms(*pair, smoothing=smoothing), FRONTIER_INTEGRAL) for pair in pairs
    ]


def known(p: np.ndarray, q: np.ndarray) -> LikelihoodRatios:
    """Two known distributions, as what divergences are read from."""
    with np.errstate(divide="ignore"):
        logs = np.log(p) - np.log(q)
    return LikelihoodRatios(logs[p > 0], logs[q > 0], p[p > 0], q[q > 0])


def sweeps(
    population: Population,
    *,
    sizes: Sequence[int],
    cells: Sequence[int],
    trials: int,
    seed: int,
    threads: int | None,
) -> list[Sweep]:
    """Both panels of a population: over n with k fixed, and over k with n fixed."""
    fixed = population.cells(FIXED_K, seed=seed, threads=threads)
    over_n = [measure(fixed, n=n, trials=trials, seed=seed) for n in sizes]
    over_k = [
        measure(
            population.cells(k, seed=seed, threads=threads), n=FIXED_N, trials=trials, seed=seed
        )
        for k in cells
    ]
    return [
        Sweep(population.name, "n", f"k = {FIXED_K}", tuple(over_n)),
        Sweep(population.name, "k", f"n = {FIXED_N:,}", tuple(over_k)),
    ]


def table(sweep: Sweep) -> list[str]:
    """Markdown: a row for each point; below, slopes over all points and over the last two."""
    heads = [sweep.over, "true", "empty", CURVES["error"], "bias", CURVES["smoothed"], "bias"]
    heads += [CURVES["oracle"], CURVES["free"], *(name.replace("_", " ") for name in PROVEN)]
    lines = [f"{sweep.population}, {sweep.fixed}", "", "| " + " | ".join(heads) + " |"]
    lines.append("|" + " ---: |" * len(heads))
    for point in sweep.points:
        cells = [f"{getattr(point, sweep.over):,}", f"{point.true:.4f}", f"{point.empty:.0%}"]
        cells += [f"{point.error:.4f} ± {point.doubt:.4f}", f"{point.bias:+.4f}"]
        cells += [f"{point.smoothed:.4f}", f"{point.smoothed_bias:+.4f}"]
        cells += [f"{point.oracle:.4f}", f"{point.free:.4f}"]
        cells += [f"{point.equation_10:.1f}", f"{point.equation_11:.1f}"]
        lines.append("| " + " | ".join(cells) + " |")
    for name, last in (("slope", len(sweep.points)), ("slope at the end", 2)):
        slopes = [f"{sweep.slope(curve, last=last):.2f}" for curve in (*CURVES, *PROVEN)]
        lines.append(f"| {name} | | | {slopes[0]} | | {slopes[1]} | | {' | '.join(slopes[2:])} |")
    return [*lines, ""]


def main() -> None:
    options = arguments()
    found, sources = [], populations(options.data, seed=options.seed)
    if len(sources) == 1:
        print(
            f"there is no ag_news/test.csv in {options.data}: synthetic rows only", file=sys.stderr
        )
    for make in sources:
        population = make()
        print(f"{population.name}: {population.tells}")
        found += sweeps(
            population,
            sizes=SIZES,
            cells=CELLS,
            trials=options.trials,
            seed=options.seed,
            threads=options.threads,
        )
    print(f"Mean absolute errors over {options.trials} trials, ± their standard error\n")
    for sweep in found:
        print("\n".join(table(sweep)))
    if options.plot:
        from bounds_plot import figure
        from calipers.report.plots import save_figure

        save_figure(figure(found), options.plot)


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", type=Path, default=DATA, help="folder that holds ag_news/")
    parser.add_argument("--trials", type=int, default=100, help="at each point (default 100)")
    parser.add_argument("--seed", type=int, default=0, help="of populations, k-means and trials")
    parser.add_argument("--threads", type=int, help="threads of k-means (default: all cores)")
    parser.add_argument("--plot", metavar="FILE", help="keep the figure as .svg, .pdf or .png")
    options = parser.parse_args()
    if options.trials < 2 or options.seed < 0:
        parser.error("--trials must be at least 2, --seed at least 0")
    if options.plot and not options.plot.endswith((".svg", ".pdf", ".png")):
        parser.error(f"--plot must end in .svg, .pdf or .png; found {options.plot}")
    return options


if __name__ == "__main__":
    main()
