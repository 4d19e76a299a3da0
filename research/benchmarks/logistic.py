"""Logistic regression against scikit-learn's default, and how far each is from the converged fit.

    OMP_NUM_THREADS=1 python research/benchmarks/logistic.py

Two Gaussian sets, hardly apart to separable, on columns that do not depend on each other, as
principal axes do not, or that do. Both solvers run in turn; printed are the least processor times
of three rounds and the largest difference in log-odds to Newton's method with tolerance 1e-13.
"""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable
from functools import partial

import numpy as np
from sklearn.linear_model import LogisticRegression

from calipers.estimate.logistic import fit_logistic

CASES = [  # rows, columns, gap, penalty, whether columns depend on each other
    (600, 80, 0.1, 1.0, False),
    (2000, 150, 0.05, 1.0, False),
    (2000, 384, 0.05, 1.0, False),
    (2000, 384, 1.0, 1.0, False),
    (10000, 200, 0.05, 1.0, False),
    (2000, 384, 0.05, 1.0, True),
    (2000, 384, 0.05, 1e-4, True),
]


def two_sets(n: int, d: int, gap: float, tangled: bool) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(0)
    rows = rng.standard_normal((n, d))
    rows[: n // 2] += gap * rng.standard_normal(d)
    if tangled:
        rows *= np.geomspace(1, 0.05, d)
        rows = rows @ rng.standard_normal((d, d))
    return (rows - rows.mean(axis=0)) / rows.std(axis=0), np.arange(n) < n // 2


def ours(rows: np.ndarray, labels: np.ndarray, penalty: float) -> np.ndarray:
    weights, intercept = fit_logistic(rows, labels, penalty)
    return rows @ weights + intercept


def theirs(rows: np.ndarray, labels: np.ndarray, penalty: float, **options: object) -> np.ndarray:
    chosen = {"tol": 1e-8, "max_iter": 2000} | options
    return LogisticRegression(C=1 / penalty, **chosen).fit(rows, labels).decision_function(rows)


def timed(function: Callable[[], np.ndarray]) -> tuple[float, np.ndarray]:
    start = time.process_time()
    found = function()
    return time.process_time() - start, found


def main() -> None:
    warnings.simplefilter("ignore")
    print("rows x columns    gap  penalty             ours            scikit-learn")
    for n, d, gap, penalty, tangled in CASES:
        rows, labels = two_sets(n, d, gap, tangled)
        exact = theirs(rows, labels, penalty, solver="newton-cholesky", tol=1e-13)
        line = f"{n:6} x {d:<4} {gap:8} {penalty:8}{'  dependent' if tangled else '':11}"
        rounds = [
            [timed(partial(fit, rows, labels, penalty)) for fit in (ours, theirs)] for _ in range(3)
        ]
        for side in zip(*rounds, strict=True):
            seconds = min(taken for taken, _ in side)
            line += f"  {1e3 * seconds:7.1f} ms, {np.abs(side[0][1] - exact).max():.0e} off"
        print(line, flush=True)


if __name__ == "__main__":
    main()
