"""Held-out scores of a classifier turned into log-odds that can be believed (Platt, 1999)."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit

Vector = NDArray[np.float64]

STEPS = 100


def platt(scores: Vector, positive: NDArray[np.bool_]) -> tuple[float, float]:
    """Fit a line from scores to log-odds by maximum likelihood.

    Targets are (N₊ + 1) / (N₊ + 2) and 1 / (N₋ + 2) in place of 1 and 0, as Platt has them, so that
    the line stays finite when the scores separate the classes. The slope is not below 0: scores
    that order held-out samples the wrong way round tell nothing. Where it is 0 the log-odds are
    those of the counts, log (N₊ / N₋), at every score.

    Both classes must occur.

    Returns
    -------
    slope, intercept
        log-odds = slope · score + intercept.
    """
    spread = float(np.abs(scores).max(initial=0.0))
    count = int(positive.sum()), int((~positive).sum())
    prior = float(np.log(count[0] / count[1]))  # nothing separates: no need for Platt's targets
    if scores.min() == scores.max():
        return 0.0, prior
    x = scores / spread
    targets = np.where(positive, (count[0] + 1) / (count[0] + 2), 1 / (count[1] + 2))
    slope, intercept = _newton(x, targets, prior)
    return (slope / spread, intercept) if slope > 0 else (0.0, prior)


def _newton(x: Vector, targets: Vector, prior: float) -> tuple[float, float]:
    """Newton's method with halved steps, for two parameters."""
    found, loss = np.array([0.0, prior]), np.inf
    design = np.stack([x, np.ones_like(x)])
    loss = _loss(found @ design, targets)
    for _ in range(STEPS):
        odds = found @ design
        share = expit(odds)
        slope = design @ (share - targets)
        bend = (design * (share * (1 - share))) @ design.T + 1e-10 * np.eye(2)
        step = np.linalg.solve(bend, slope)
        size = 1.0
        while _loss((found - size * step) @ design, targets) > loss and size > 1e-6:
            size /= 2
        found = found - size * step
        before, loss = loss, _loss(found @ design, targets)
        if before - loss <= 1e-14 * abs(before):
            break
    return float(found[0]), float(found[1])


def _loss(odds: Vector, targets: Vector) -> float:
    return float(np.sum(np.logaddexp(0, odds) - targets * odds))
