"""Two Gaussians of equal covariance and known divergence: how far off each estimator is."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterable

import numpy as np
from scipy.spatial import cKDTree

from calipers import Histograms, LikelihoodRatios
from calipers.curves.divergences import find_divergence
from calipers.estimate import gaussian_ratios, kde_ratios, knn_ratios
from calipers.estimate.classifier import classify
from calipers.estimate.quantise import quantise

Rows = np.ndarray
Found = dict[str, float]
Results = dict[tuple[float, int, int], list[Found]]

CELLS, OWN_CELLS, FEW_CELLS = "cells, n/10", "these cells, exact", "cells, n^(1/3)"
KT = "krichevsky-trofimov"
FRESH = 1_000_000

ESTIMATORS: dict[str, Callable[[Rows, Rows, int, int | None], LikelihoodRatios]] = {
    "k-NN, k = 50": lambda x, y, seed, threads: knn_ratios(x, y, threads=threads),
    "k-NN, k auto": lambda x, y, seed, threads: knn_ratios(x, y, k="auto", threads=threads),
    "KDE": lambda x, y, seed, threads: kde_ratios(x, y, threads=threads),
    "classifier": lambda x, y, seed, threads: classify(x, y, seed=seed, threads=threads).ratios,
    "boosted": lambda x, y, seed, threads: (
        classify(x, y, model="boosted", seed=seed, threads=threads).ratios
    ),
    "Gaussian": lambda x, y, seed, threads: gaussian_ratios(x, y, seed=seed),
}
NAMES = (CELLS, OWN_CELLS, FEW_CELLS, *ESTIMATORS)


def draw(kl: float, d: int, n: int, rng: np.random.Generator) -> tuple[Rows, Rows]:
    """n rows each of N(μ, I) and N(0, I), where ½|μ|² is the divergence."""
    reference, generated = rng.standard_normal((2, n, d))
    return reference + shift(kl, d), generated


def shift(kl: float, d: int) -> Rows:
    """The difference of the means, alike on all axes."""
    return np.full(d, np.sqrt(2 * kl / d))


def mean_over_generated(ratios: LikelihoodRatios) -> float:
    """E_Q[f(r)] for f(t) = t log t − t + 1: equation 24 of paper 004, without P(q = 0)."""
    return ratios.mean_generated(find_divergence("kl")(ratios.at_generated))


def estimates(kl: float, d: int, n: int, *, seed: int, threads: int | None) -> Found:
    """KL by every estimator, from one draw."""
    rng = np.random.default_rng([seed, d, n])
    x, y = draw(kl, d, n, rng)
    found = quantised(x, y, kl, rng, threads)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for name, estimate in ESTIMATORS.items():
            found[name] = mean_over_generated(estimate(x, y, seed, threads))
    return found


def quantised(x: Rows, y: Rows, kl: float, rng: np.random.Generator, threads: int | None) -> Found:
    """KL by cells, n/10 of them, and the exact one of these very cells, from fresh samples."""
    cells = quantise(x, y, restarts=1, threads=threads)
    union, labels = np.concatenate([x, y]), np.concatenate(cells.labels)
    used = np.unique(labels)
    centres = cKDTree(np.stack([union[labels == cell].mean(axis=0) for cell in used]))
    fresh = [counts(centres, len(used), shift(kl, x.shape[1]) * side, rng) for side in (1, 0)]
    few = quantise(x, y, buckets=round(len(x) ** (1 / 3)), restarts=1, threads=threads)
    return {
        CELLS: mean_over_generated(cells.best.smoothed(KT).ratios),
        OWN_CELLS: mean_over_generated(Histograms(*fresh, smoothing=KT).ratios),
        FEW_CELLS: mean_over_generated(few.best.smoothed(KT).ratios),
    }


def counts(centres: cKDTree, cells: int, mean: Rows, rng: np.random.Generator) -> Rows:
    """How many of a million fresh samples come into each cell."""
    total = np.zeros(cells, np.int64)
    for _ in range(10):
        rows = rng.standard_normal((FRESH // 10, len(mean))) + mean
        total += np.bincount(centres.query(rows)[1], minlength=cells)
    return total


def table(kls: Iterable[float], results: Results) -> list[str]:
    """Mean and spread of the relative errors, as Markdown."""
    lines: list[str] = []
    for kl in kls:
        lines += [f"KL = {kl}: relative error in %, mean ± sd over the draws", ""]
        lines += ["| d | n | " + " | ".join(NAMES) + " |", "| --- " * (len(NAMES) + 2) + "|"]
        for (true, d, n), draws in results.items():
            if true == kl:
                cells = [relative(draws, name, kl) for name in NAMES]
                shown = (f"{c.mean():+.0f} ± {c.std():.0f}" for c in cells)
                lines.append(f"| {d} | {n:,} | " + " | ".join(shown) + " |")
        lines.append("")
    return lines


def relative(draws: list[Found], name: str, kl: float) -> Rows:
    """Errors in percent of the truth, one for each draw."""
    return 100 * (np.array([found[name] for found in draws]) / kl - 1)


def summary(sizes: Iterable[int], results: Results) -> list[str]:
    """Size of the mean error, averaged over all divergences and dimensions, for every n."""
    lines = ["Size of the mean error in %, averaged over all KL and d", ""]
    lines += ["| n | " + " | ".join(NAMES) + " |", "| --- " * (len(NAMES) + 1) + "|"]
    for size in sizes:
        cells = []
        for name in NAMES:
            errors = [
                abs(relative(draws, name, kl).mean())
                for (kl, _, n), draws in results.items()
                if n == size
            ]
            cells.append(f"{np.mean(errors):.0f}")
        lines.append(f"| {size:,} | " + " | ".join(cells) + " |")
    return [*lines, ""]
