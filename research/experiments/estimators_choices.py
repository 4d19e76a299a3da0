"""What the choices that the paper leaves open are worth: calibration, bandwidth, dimensions."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import numpy as np

from calipers import LikelihoodRatios
from calipers.estimate import gaussian_ratios, kde_ratios
from calipers.estimate.classifier import classify
from estimators_gaussians import draw, mean_over_generated

Rows = np.ndarray
Setting = tuple[str, float, int, int, Callable[[Rows, Rows], LikelihoodRatios]]


def settings(threads: int | None) -> list[Setting]:
    """Name, KL, dimensions, samples and estimator."""

    def classifier(penalty: float, calibrate: bool) -> Callable[[Rows, Rows], LikelihoodRatios]:
        return lambda x, y: (
            classify(x, y, penalty=penalty, calibrate=calibrate, threads=threads).ratios
        )

    found: list[Setting] = []
    for kl, d, n in ((0.0, 100, 1000), (0.5, 100, 1000), (0.5, 5, 4000)):
        found.append(("classifier", kl, d, n, classifier(1.0, True)))
        found.append(("classifier, λ = 0.001/N", kl, d, n, classifier(1e-3, True)))
        found.append(("classifier, not calibrated", kl, d, n, classifier(1.0, False)))
    found += [
        (f"KDE, {rule}", 0.125, 5, 4000, partial(kde_ratios, bandwidth=rule, threads=threads))
        for rule in ("balloon", "scott")
    ]
    found.append(("Gaussian, 10 axes", 0.0, 100, 1000, gaussian_ratios))
    found.append(("Gaussian, all axes", 0.0, 100, 1000, partial(gaussian_ratios, dimensions=None)))
    return found


def table(draws: int, threads: int | None) -> list[str]:
    """Estimated KL of two Gaussians, mean ± sd over the draws, as Markdown."""
    lines = ["| estimator | d | n | true KL | estimated |", "| --- " * 5 + "|"]
    for name, kl, d, n, estimate in settings(threads):
        values = [
            mean_over_generated(estimate(*draw(kl, d, n, np.random.default_rng([seed, d, n]))))
            for seed in range(draws)
        ]
        shown = f"{np.mean(values):,.3f} ± {np.std(values):,.3f}"
        lines.append(f"| {name} | {d} | {n:,} | {kl} | {shown} |")
    return [*lines, ""]
