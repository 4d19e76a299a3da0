"""How well divergences are estimated: constants, smoothing, bounds, and the algorithms by hand."""

from __future__ import annotations

import math
from collections.abc import Iterator

import numpy as np

import bounds
import calipers
import estimators_decodings as decodings
import estimators_gaussians as gaussians
import smoothing
from ag_news import DATA
from bounds_populations import news_population, synthetic_population
from calipers import metrics
from calipers.curves import expected_missing_mass, quantisation_bound, smoothness_constants
from calipers.curves.bounds import FRONTIER_INTEGRAL
from calipers.errors import InputError
from calipers.estimate import Histograms, LikelihoodRatios, knn_ratios, preprocess, quantise
from reproduction.item import Line, close, equal, rises, trend

LAMBDA = 0.3
REST = 1 - LAMBDA
CONSTANTS = {
    f"interpolated_kl={LAMBDA}": (
        REST, math.log(1 / LAMBDA) - REST, 1, REST**2 / LAMBDA, 1 / 2, REST / (8 * LAMBDA)
    ),
    "jensen_shannon": (math.log(2) / 2, math.log(2) / 2, 1 / 2, 1 / 2, 1 / 4, 1 / 4),
    f"skew_jensen_shannon={LAMBDA}": (
        REST * math.log(1 / REST), LAMBDA * math.log(1 / LAMBDA), LAMBDA, REST, LAMBDA / 2, REST / 2
    ),
    "frontier_integral": (1 / 2, 1 / 2, 4, 4, 1 / 2, 1 / 2),
    f"interpolated_chi2={LAMBDA}": tuple(
        REST**2 * value
        for value in (
            1 / REST, 1 / LAMBDA, 2 / REST**2, 2 / LAMBDA**2,
            4 / (27 * LAMBDA * REST**2), 4 / (27 * LAMBDA**2 * REST),
        )
    ),
    "le_cam": (1 / 2, 1 / 2, 2, 2, 8 / 27, 8 / 27),
}  # fmt: skip
"""C0, C0*, C1, C1*, C2, C2* as printed; those of the interpolated χ² times (1 - λ)²."""


def mauve_table_1() -> Iterator[Line]:
    """The six constants of six divergences at λ = 0.3, and which divergences have none."""
    for name, printed in CONSTANTS.items():
        found = smoothness_constants(name)
        ours = (found.at_zero, found.conjugate_at_zero, found.slope, found.conjugate_slope)
        ours += (found.curvature, found.conjugate_curvature)
        told = ", ".join(f"{value:.4f}" for value in printed)
        got = ", ".join(f"{value:.4f}" for value in ours)
        yield Line(f"{name}: C0, C0*, C1, C1*, C2, C2*", told, got, np.allclose(printed, ours))
    for name in ("kl", "squared_hellinger"):
        try:
            smoothness_constants(name)
            ours = "has constants"
        except InputError:
            ours = "no"
        yield Line(f"{name} satisfies the assumptions", "no", ours, ours == "no")


def mauve_table_2() -> Iterator[Line]:
    """What each smoothing adds to cells that were met 0, 1, 2 and 7 times."""
    counts = [0, 1, 2, 7]
    added = {
        "braess-sauer": (0.5, 1.0, 0.75, 0.75),
        "krichevsky-trofimov": (0.5,) * 4,
        "laplace": (1.0,) * 4,
    }
    for name, b in added.items():
        smoothed = np.array(counts) + b
        expected = smoothed / smoothed.sum()
        found = Histograms(counts, counts, smoothing=name).probabilities[0]
        told = ", ".join(f"{value:.4f}" for value in expected)
        got = ", ".join(f"{value:.4f}" for value in found)
        yield Line(f"{name}, shares of the cells", told, got, np.allclose(expected, found))


def mauve_figure_5() -> Iterator[Line]:
    """The mass that 20 samples of ten cells miss, drawn 20,000 times; no cell is empty smoothed."""
    p = smoothing.zipf(10, 1.0)
    rng = np.random.default_rng(0)
    draws = rng.multinomial(20, p, 20_000)
    missed = float(((draws == 0) * p).sum(axis=1).mean())
    yield close(
        "missing mass of 20 samples, closed form and drawn",
        expected_missing_mass(p, n=20),
        missed,
        within=2e-3,
        digits=4,
    )
    first = draws[(draws == 0).any(axis=1)][0]
    found = Histograms(first, first, smoothing="krichevsky-trofimov").probabilities[0]
    by_hand = (first + 0.5) / (20 + 5)
    yield equal("least share with b = 1/2", float(by_hand.min()), float(found.min()))


def mauve_figure_6() -> Iterator[Line]:
    """The four panels, 40 trials at each point: mean absolute error of the frontier integral."""
    names = list(smoothing.ESTIMATORS)
    plain, good, krichevsky = (
        names.index(n) for n in ("none", "good-turing", "krichevsky-trofimov")
    )
    for panel in smoothing.PANELS:
        mean = smoothing.run(panel, trials=40, seed=0).mean
        points = len(mean)
        letter = f"({panel.letter}) {panel.title}"
        kt = int((mean[:, krichevsky] < mean[:, plain]).sum())
        gt = int((mean[:, good] < mean[:, plain]).sum())
        if panel.letter in "ab":
            at = 0 if panel.letter == "a" else -1
            yield trend(
                f"{letter}: error at the largest k/n, plain and Krichevsky-Trofimov",
                "smoothing reduces it",
                [mean[at, plain], mean[at, krichevsky]],
                mean[at, krichevsky] < mean[at, plain] / 2,
            )
            best = mean[:, [good, krichevsky]].min(axis=1) <= 1.1 * mean.min(axis=1)
            yield Line(
                f"{letter}: Good-Turing or Krichevsky-Trofimov is best, points",
                "the best error",
                f"{int(best.sum())} of {points}",
                best.mean() >= 0.8,
            )
        else:
            yield Line(
                f"{letter}: Good-Turing beats the plain counts, points",
                "in various regimes",
                f"{gt} of {points}",
                gt == points,
            )
            yield Line(
                f"{letter}: Krichevsky-Trofimov does",
                "for particular decays",
                f"{kt} of {points}",
                0 < kt < points,
            )


def mauve_figure_7() -> Iterator[Line]:
    """Cells by the ratio of two Gaussian densities, on a fine grid: what k of them lose."""
    x = np.linspace(-8, 9, 200_001)
    p, q = (np.exp(-0.5 * (x - mean) ** 2) for mean in (0.0, 1.0))
    p, q = p / p.sum(), q / q.sum()
    true = calipers.f_divergence(_known(p, q), FRONTIER_INTEGRAL)
    losses = []
    for k in (4, 8, 16, 32, 64):
        mixed = np.cumsum((p + q) / 2)  # the ratio falls with x
        cells = np.minimum((mixed * k).astype(int), k - 1)
        cut = _known(np.bincount(cells, p), np.bincount(cells, q))
        losses.append(true - calipers.f_divergence(cut, FRONTIER_INTEGRAL))
    slope = float(np.polyfit(np.log((4, 8, 16, 32, 64)), np.log(losses), 1)[0])
    yield trend("error of 4, 8, 16, 32, 64 cells", "O(1/k)", losses, rises(losses[::-1]), digits=5)
    yield trend("its slope in k", "-1 or steeper", [slope], slope <= -1, digits=2)
    bounds_hold = all(
        loss <= quantisation_bound("frontier_integral", k=k)
        for loss, k in zip(losses, (4, 8, 16, 32, 64), strict=True)
    )
    yield Line("below the bound of the theorem", "yes", "yes" if bounds_hold else "no", bounds_hold)


def _known(p: np.ndarray, q: np.ndarray) -> LikelihoodRatios:
    held = (p > 0) & (q > 0)
    p, q = p[held] / p[held].sum(), q[held] / q[held].sum()
    logs = np.log(p) - np.log(q)
    return LikelihoodRatios(logs, logs, p, q)


def _clouds(n: int = 500, d: int = 8) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(0)
    return rng.standard_normal((n, d)), rng.standard_normal((n, d)) + 0.3


def mauve_algorithm_1() -> Iterator[Line]:
    """The steps after clustering, by hand: add 1/2, mix at 25 weights, area by trapezia."""
    rows = preprocess(*_clouds())
    cells = quantise(rows.reference, rows.generated, buckets=50)
    k = len(cells.best.reference)
    p, q = (
        (counts + 0.5) / (500 + 0.5 * k) for counts in (cells.best.reference, cells.best.generated)
    )
    found = metrics.mauve(*_clouds(), buckets=50)
    yield equal("MAUVE*, KL, c = 5", _area(p, q), found.mauve_star.value)
    return


def _area(p: np.ndarray, q: np.ndarray) -> float:
    points = [(1.0, 0.0), (0.0, 1.0)]
    for weight in np.linspace(1e-6, 1 - 1e-6, 25):
        mixed = weight * p + (1 - weight) * q
        costs = (float(np.sum(side * np.log(side / mixed))) for side in (q, p))
        x, y = (math.exp(-5 * cost) for cost in costs)
        points.append((x, y))
    x, y = np.array(sorted(points)).T
    order = np.argsort(y, kind="stable")
    return float(np.trapezoid(y, x) + np.trapezoid(x[order], y[order])) / 2


def mauve_algorithm_2() -> Iterator[Line]:
    """Neighbours of every sample by hand, among both sets, on two axes."""
    reference, generated = _clouds(200, 2)
    union = np.vstack([reference, generated])
    k = 10
    distances = np.linalg.norm(union[:, None] - union[None], axis=2)
    np.fill_diagonal(distances, np.inf)
    near = np.argsort(distances, axis=1)[:, :k]
    own = (near < 200).sum(axis=1)
    ratio = own[200:] / (k - own[200:] + 1)
    found = knn_ratios(reference, generated, k=k, dimensions=None)
    worst = float(np.abs(np.exp(found.log_generated) - ratio).max())
    yield close("largest difference of the ratio at a generated sample", 0, worst, within=1e-9)
    area = calipers.divergence_frontier(found).area(c=10)
    far = knn_ratios(reference, generated + 2, k=k, dimensions=None)
    other = calipers.divergence_frontier(far).area(c=10)
    yield trend("MAUVE, near and far sets", "larger is closer", [area, other], area > other)


def mauve_figure_9() -> Iterator[Line]:
    """Rank correlation with the default, over thirteen decodings, by estimator; with intervals.

    A line holds where the whole interval over the texts lies at or above what the paper claims,
    fails where the whole of it lies below, and is open where it holds both.
    """
    for view in decodings.VIEWS:
        found = decodings.agreements(view)
        for name in decodings.NARROW:
            for points in ("both_sides", "other_side"):
                each = found[name, points]
                over = each.over_decodings or (np.nan, np.nan)
                yield Line(
                    f"{view}, {name}, over {points.replace('_', ' ')}: Spearman with MAUVE*, "
                    "[over texts], [over decodings]",
                    "0.95 to 1.00",
                    f"{decodings.told(each)} [{over[0]:.2f}, {over[1]:.2f}]"
                    + (", open" if each.holds is None else ""),
                    each.holds,
                )
    for name, value in gaussians.estimates(0.5, 3, 2000, seed=0, threads=2).items():
        usable = 0.2 < value < 0.8
        yield Line(f"{name}, true KL 0.500", "a useful estimate", f"{value:.3f}", usable)


def mauve_figure_21() -> Iterator[Line]:
    """Slopes in log-log of the error and of both bounds, over n and k, 30 trials a point."""
    for make in (lambda: news_population(DATA, seed=0), lambda: synthetic_population(seed=0)):
        population = make()
        for sweep in bounds.sweeps(
            population, sizes=(200, 1_000, 5_000), cells=(16, 64, 256), trials=30, seed=0, threads=2
        ):
            slopes = {name: sweep.slope(name) for name in ("error", "oracle", "free")}
            told = ", ".join(f"{value:.2f}" for value in slopes.values())
            faster = slopes["error"] <= min(slopes["oracle"], slopes["free"]) + 0.15
            said = "error falls as fast as the bounds, or faster"
            if sweep.over == "k":
                faster = slopes["error"] > 0
                said = "error grows with k, as the bounds do"
            where = f"{sweep.population}, {sweep.fixed}"
            yield Line(
                f"{where}: slopes over {sweep.over} of error, oracle bound, bound",
                said,
                told,
                faster,
            )
            below = all(
                point.error <= point.equation_10 and point.error <= point.equation_11
                for point in sweep.points
            )
            yield Line(
                f"{where}: error below both bounds at every point",
                "yes",
                "yes" if below else "no",
                below,
            )
