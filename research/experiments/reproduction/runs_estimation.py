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
from calipers.uncertainty.holm import holm
from reproduction.item import Line, Setting, Verdict, numbers, worst
from reproduction.verdicts import (
    Estimate,
    at_least,
    beside,
    close,
    equal,
    fact,
    order,
    shown,
    sign,
    trials,
)

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
        yield fact(f"{name}: C0, C0*, C1, C1*, C2, C2*", told, got, np.allclose(printed, ours))
    for name in ("kl", "squared_hellinger"):
        try:
            smoothness_constants(name)
            ours = "has constants"
        except InputError:
            ours = "no"
        yield fact(f"{name} satisfies the assumptions", "no", ours, ours == "no")


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
        yield fact(f"{name}, shares of the cells", told, got, np.allclose(expected, found))


def mauve_figure_5() -> Iterator[Line]:
    """The mass that 20 samples of ten cells miss, drawn 20,000 times; no cell is empty smoothed."""
    p = smoothing.zipf(10, 1.0)
    rng = np.random.default_rng(0)
    draws = rng.multinomial(20, p, 20_000)
    missed = Estimate.mean(((draws == 0) * p).sum(axis=1))
    true = expected_missing_mass(p, n=20)
    yield beside(
        "missing mass of 20 samples, closed form and drawn", f"{true:.4f}", missed, digits=4
    )
    first = draws[(draws == 0).any(axis=1)][0]
    found = Histograms(first, first, smoothing="krichevsky-trofimov").probabilities[0]
    by_hand = (first + 0.5) / (20 + 5)
    yield equal("least share with b = 1/2", float(by_hand.min()), float(found.min()))


def mauve_figure_6() -> Iterator[Line]:
    """The four panels, 40 trials at each point: absolute error of the frontier integral.

    All estimators see the same samples, so that errors are compared trial by trial.
    """
    names = list(smoothing.ESTIMATORS)
    plain, good, krichevsky, braess = (
        names.index(n) for n in ("none", "good-turing", "krichevsky-trofimov", "braess-sauer")
    )
    for panel in smoothing.PANELS:
        errors = np.abs(smoothing.run(panel, trials=SMOOTHED_TRIALS, seed=0).errors)
        letter = f"({panel.letter}) {panel.title}"
        if panel.letter in "ab":
            at = 0 if panel.letter == "a" else -1
            yield order(
                f"{letter}: error at the largest k/n, Krichevsky-Trofimov and plain",
                "smoothing reduces it",
                trials(errors[at][:, [krichevsky, plain]]),
                own=True,
            )
            yield _best_of_two(panel, errors, (good, krichevsky))
        else:
            yield _beats(
                f"{letter}: Good-Turing beats the plain counts",
                "in various regimes of the decay",
                [errors[:, :, good]],
                errors[:, :, plain],
                everywhere=True,
            )
            yield _beats(
                f"{letter}: Krichevsky-Trofimov and Braess-Sauer beat the plain counts",
                "for particular decays",
                [errors[:, :, krichevsky], errors[:, :, braess]],
                errors[:, :, plain],
                everywhere=False,
            )


SMOOTHED_TRIALS = 40


def _best_of_two(panel: smoothing.Panel, errors: np.ndarray, two: tuple[int, int]) -> Line:
    """At every point the better of two estimators beside each of the others, by Holm over all."""
    gaps, whose = [], []
    for point, drawn in zip(panel.points, errors, strict=True):
        best = min(two, key=lambda estimator, drawn=drawn: float(drawn[:, estimator].mean()))
        for other, name in enumerate(smoothing.ESTIMATORS.values()):
            if other not in two:
                gaps.append(Estimate.mean(drawn[:, other] - drawn[:, best]))
                whose.append(f"{name} at {smoothing.number(point)}")
    beyond = holm([gap.p_value for gap in gaps]) < 0.05
    worse = [
        who for who, gap, far in zip(whose, gaps, beyond, strict=True) if far and gap.value < 0
    ]
    better = int(beyond.sum()) - len(worse)
    verdict: Verdict = "opposite" if worse else "reproduced" if better else "not distinguishable"
    told = f"better than another in {better} of {len(gaps)} comparisons, worse in {len(worse)}"
    return Line(
        f"({panel.letter}) {panel.title}: Good-Turing or Krichevsky-Trofimov has the best error",
        "the best error",
        told + (f" ({', '.join(worse)})" if worse else ""),
        verdict,
        (),
        (),
        "beyond noise, by Holm over the panel",
    )


def _beats(
    what: str, paper: str, mine: list[np.ndarray], plain: np.ndarray, *, everywhere: bool
) -> Line:
    """Where along the decay each estimator beats the plain counts beyond noise, or loses to them.

    `everywhere`: that it beats them at one point or more and loses at none; otherwise that each
    beats them at one point or more, and not everywhere.
    """
    told, verdicts = [], []
    for each in mine:
        gaps = [Estimate.mean(row) for row in plain - each]
        adjusted = holm([gap.p_value for gap in gaps])
        wins = sum(p < 0.05 and gap.value > 0 for p, gap in zip(adjusted, gaps, strict=True))
        losses = sum(p < 0.05 and gap.value < 0 for p, gap in zip(adjusted, gaps, strict=True))
        told.append(f"better at {wins} of {len(gaps)} decays, worse at {losses}")
        verdict: Verdict = "reproduced" if wins else "opposite" if losses else "not distinguishable"
        if (losses > 0) if everywhere else (wins == len(gaps)):
            verdict = "opposite"
        verdicts.append(verdict)
    basis = "beyond noise, by Holm over the decays"
    return Line(what, paper, "; ".join(told), worst(verdicts), (), (), basis)


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
    yield shown("error of 4, 8, 16, 32, 64 cells", losses, digits=5)
    yield fact("its slope in k", "O(1/k): -1 or steeper", f"{slope:.2f}", slope <= -1)
    bounds_hold = all(
        loss <= quantisation_bound("frontier_integral", k=k)
        for loss, k in zip(losses, (4, 8, 16, 32, 64), strict=True)
    )
    yield fact("below the bound of the theorem", "yes", "yes" if bounds_hold else "no", bounds_hold)


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
    areas = []
    for seed in range(10):
        rng = np.random.default_rng(seed)
        p, q = rng.standard_normal((2, 200, 2))
        pairs = (knn_ratios(p, q + shift, k=k, dimensions=None) for shift in (2.3, 0.3))
        areas.append([calipers.divergence_frontier(each).area(c=10) for each in pairs])
    yield order("MAUVE, far and near sets, ten draws", "larger is closer", trials(areas), own=True)


KL, KL_TRIALS = 0.5, 8


def mauve_figure_9() -> Iterator[Line | Setting]:
    """Rank correlation with the default, over thirteen decodings, by estimator; with intervals.

    The paper's correlations are 0.95 to 1. Ours have an interval over the texts, the decodings
    being fixed, by halves of the prompts. And eight draws of two Gaussians of known KL.
    """
    yield Setting(
        (decodings.continued.NGRAMS,),
        "MiniLM, by meaning and by form",
        f"1,000 a side, 100 cells, {decodings.HALVES} halves; 2,000 of each Gaussian",
        0,
    )
    for view in decodings.VIEWS:
        found = decodings.agreements(view)
        for name in decodings.NARROW:
            for points in ("both_sides", "other_side"):
                each = found[name, points]
                yield at_least(
                    f"{view}, {name}, {points.replace('_', ' ')}",
                    "0.95 to 1.00",
                    Estimate(each.value, each.over_texts),
                    decodings.CLAIM,
                )
    drawn = [gaussians.estimates(KL, 3, 2000, seed=seed, threads=1) for seed in range(KL_TRIALS)]
    for name in drawn[0]:
        ours = Estimate.mean([each[name] for each in drawn])
        yield beside(f"KL by {name}", "0.500", ours)


def mauve_figure_21() -> Iterator[Line]:
    """Slopes in log-log of the error and of both bounds, over n and k, 30 trials a point."""
    for make in (lambda: news_population(DATA, seed=0), lambda: synthetic_population(seed=0)):
        population = make()
        for sweep in bounds.sweeps(
            population, sizes=(200, 1_000, 5_000), cells=(16, 64, 256), trials=30, seed=0, threads=1
        ):
            where = f"{sweep.population}, {sweep.fixed}"
            yield _slope(where, sweep)
            yield _bounded(where, sweep)


def _slope(where: str, sweep: bounds.Sweep) -> Line:
    """The power of n or k with which the error goes, with its interval from those of the points.

    The paper: over n the error falls as fast as the bounds, or faster; over k it grows, as they do.
    """
    x = np.log(sweep.values(sweep.over))
    weights = (x - x.mean()) / ((x - x.mean()) ** 2).sum()
    relative = sweep.values("doubt") / sweep.values("error")
    reach = 1.96 * float(np.sqrt(((weights * relative) ** 2).sum()))
    slope = sweep.slope("error")
    ours = Estimate(slope, (slope - reach, slope + reach))
    others = [sweep.slope(name) for name in ("oracle", "free")]
    told = f"{where}: slope over {sweep.over} of the error; of the bounds {numbers(others, 2)}"
    if sweep.over == "k":
        return sign(told, "grows with k", ours, direction=1, own=True, digits=2)
    return sign(
        told,
        "falls as fast as the bounds, or faster",
        ours,
        direction=-1,
        null=min(others),
        own=True,
        digits=2,
    )


def _bounded(where: str, sweep: bounds.Sweep) -> Line:
    """Whether the whole interval of the mean error lies below both proven bounds everywhere."""
    shares = [
        (point.error + 2.05 * point.doubt) / min(point.equation_10, point.equation_11)
        for point in sweep.points
    ]
    return fact(
        f"{where}: error below both bounds at every point",
        "yes",
        f"at most {max(shares):.3f} of the smaller bound",
        max(shares) < 1,
    )
