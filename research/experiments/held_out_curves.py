"""How near precision-recall curves by held-out classifiers come to the truth, and their intervals.

    python research/experiments/held_out_curves.py --only known
    python research/experiments/held_out_curves.py --only intervals --worlds 100

Two Gaussians N(0, I) and N(μ, I), whose curve is known: α(λ) = λ·Φ(−t) + Φ(t − μ) with t =
(log λ + μ²/2) / μ. ``known`` prints the total variation and the area under the curve by every
family, with what likelihood ratios of the same name give; ``intervals`` how often 95 % intervals
hold the mean over all worlds, and pointwise bands that of the curve.
"""

from __future__ import annotations

import argparse

import numpy as np
from scipy.stats import norm

from calipers.catalogue.choosing import find
from calipers.catalogue.settings import Settings
from calipers.curves import PrecisionRecallCurve, precision_recall_curve
from calipers.estimate import estimate_ratios, sample_odds
from calipers.metrics.pair import Pair
from calipers.uncertainty.replicates import columns, curve_variances, delete_blocks, spreads
from calipers.uncertainty.spread import confidence_interval

FAMILIES = ("support", "coverage", "knn", "kde", "classifier")
RATIOS = ("knn", "kde", "classifier")
READ = ("prd_f8", "prd_f1_8", "total_variation", "prd_area")
SLOPES = np.tan(np.linspace(1e-10, np.pi / 2 - 1e-10, 1001))


def truth(gap: float) -> PrecisionRecallCurve:
    """The curve of N(0, I) and N(gap, I)."""
    if gap == 0:
        precision = np.minimum(1.0, SLOPES)
    else:
        limit = (np.log(SLOPES) + gap**2 / 2) / gap
        precision = SLOPES * norm.sf(limit) + norm.cdf(limit - gap)
    tv = 2 * norm.cdf(gap / 2) - 1
    return PrecisionRecallCurve(precision, precision / SLOPES, 1.0, 1.0, float(tv))


def draw(n: int, d: int, gap: float, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    x, y = rng.standard_normal((2, n, d))
    y[:, 0] += gap
    return x, y


def known(draws: int, n: int = 1000) -> None:
    """Total variation and area, mean ± sd over some draws."""
    print("| d | gap | curve | total variation | area |\n| --- | --- | --- | --- | --- |")
    for d in (5, 20):
        for gap in (0.0, 1.0, 2.0):
            exact = truth(gap)
            print(f"| {d} | {gap:g} | true | {exact.total_variation:.3f} | {exact.area():.3f} |")
            for name, held_out in [(f, True) for f in FAMILIES] + [(r, False) for r in RATIOS]:
                rng, found = np.random.default_rng(1), []
                for seed in range(draws):
                    sets = draw(n, d, gap, rng)
                    curve = precision_recall_curve(
                        sample_odds(*sets, name, seed=seed)  # type: ignore[arg-type]
                        if held_out
                        else estimate_ratios(name, *sets, seed=seed)
                    )
                    found.append((curve.total_variation, curve.area()))
                (tv, area), (tv_sd, area_sd) = np.mean(found, 0), np.std(found, 0, ddof=1)
                label = f"{name}, held out" if held_out else f"{name}, ratios"
                print(
                    f"| {d} | {gap:g} | {label} | {tv:.3f} ± {tv_sd:.3f} "
                    f"| {area:.3f} ± {area_sd:.3f} |",
                    flush=True,
                )


def intervals(worlds: int, n: int, d: int, gap: float) -> None:
    """How often intervals and bands hold the mean over all worlds."""
    choices = [find(f"{metric}:{family}:held_out") for family in FAMILIES for metric in READ]
    values = {choice.name: [] for choice in choices}
    ends = {choice.name: [] for choice in choices}
    points, errors = [], []
    rng = np.random.default_rng(7)
    for seed in range(worlds):
        x, y = rng.standard_normal((n, d)), rng.standard_normal((n, d))
        y[:, 0] += gap
        pair = Pair(x, y, Settings(seed=seed, threads=1))
        for choice in choices:
            values[choice.name].append(choice.score(pair).value)
        left_out = delete_blocks(pair)
        moved = spreads(pair, choices, left_out=left_out)
        for choice in choices:
            found = confidence_interval(values[choice.name][-1], moved[choice.name])
            ends[choice.name].append(found or (np.nan, np.nan))
        variances = curve_variances(pair, left_out)["prd:knn:held_out"]
        points.append(columns(pair.curves.by_key["prd:knn:held_out"])[100:901:100])
        errors.append(np.sqrt(variances.sum(axis=0))[100:901:100])
    print("| score | mean | sd | coverage |\n| --- | --- | --- | --- |")
    for name, value in values.items():
        mean, (low, high) = np.mean(value), np.array(ends[name]).T
        held = np.mean((low <= mean) & (mean <= high))
        print(f"| {name} | {mean:.3f} | {np.std(value, ddof=1):.4f} | {held:.2f} |", flush=True)
    gaps = np.abs(np.array(points) - np.mean(points, axis=0))
    print(
        "bands of prd:knn:held_out:", np.round((gaps <= 1.96 * np.array(errors)).mean(0)[:, 0], 2)
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--only", choices=("known", "intervals"), default="known")
    parser.add_argument("--draws", type=int, default=12)
    parser.add_argument("--worlds", type=int, default=100)
    parser.add_argument("--size", type=int, default=400)
    parser.add_argument("--gap", type=float, default=1.0)
    options = parser.parse_args()
    if options.only == "known":
        known(options.draws)
    else:
        intervals(options.worlds, options.size, 8, options.gap)


if __name__ == "__main__":
    main()
