"""Logistic regression with an L2 penalty, fitted to the precision of float64.

    minimise over w, b:   Σᵢ log(1 + exp(oᵢ)) − tᵢ oᵢ + ½ · penalty · ‖w‖²,   with o = X w + b

The intercept b carries no penalty, as in scikit-learn's ``LogisticRegression(C=1 / penalty)``, of
which this is the converged solution. L-BFGS takes some twenty cheap steps where the columns hardly
depend on each other, as on principal axes, and thousands where they do; so after a while it goes on
in coordinates in which the curvature of the loss, as it is there, is the same in all directions.
With more columns than rows the weights lie in the span of the rows, and are found there.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from calipers.numeric.arrays import Floats

STEPS = 5000
"""Most steps; they are tens."""
SMALL = 1e-17
"""A step that is expected to lower the loss by no more than this share of it is not taken."""
ROUNDING = 1e-10
"""A step that is expected to lower the loss by less than this share of it is taken as it is: that
it does could not be seen in the loss."""
PAIRS = 10
"""Steps that L-BFGS remembers."""
ROWS = 2048
"""Rows whose share of the curvature is computed at a time."""


def fit_logistic(rows: Floats, targets: NDArray[Any], penalty: float) -> tuple[Floats, float]:
    """Fit weights and intercept.

    Parameters
    ----------
    rows
        Float64 of shape (n, d), in columns of about the same size.
    targets
        Of each row whether it is positive, or the probability of it; neither all 0 nor all 1.
    penalty
        Above 0.

    Returns
    -------
    weights, intercept
        Log-odds of being positive are ``rows @ weights + intercept``.
    """
    return fit_design(np.column_stack([rows, np.ones(len(rows))]), targets, penalty)


def fit_design(design: Floats, targets: NDArray[Any], penalty: float) -> tuple[Floats, float]:
    """Fit rows that end in a one, which are only read and may lie in a file.

    Parameters
    ----------
    design
        Shape (n, d + 1).
    """
    from scipy.linalg import qr

    if design.shape[1] - 1 <= len(design):
        return _fit(design, targets.astype(np.float64), float(penalty))
    span, coordinates = qr(design[:, :-1].T, mode="economic", check_finite=False)
    reduced = np.column_stack([coordinates.T, design[:, -1]])
    weights, intercept = _fit(reduced, targets.astype(np.float64), float(penalty))
    return span @ weights, intercept


def _fit(design: Floats, targets: Floats, penalty: float) -> tuple[Floats, float]:
    from scipy.special import expit

    ridge = np.full(design.shape[1], penalty)
    ridge[-1] = 0.0
    weights, odds = np.zeros(design.shape[1]), np.zeros(len(design))
    loss, share = _loss(odds, targets, weights, ridge), np.full(len(design), 0.5)
    slope = design.T @ (share - targets)
    pairs: deque[tuple[Floats, Floats, float]] = deque(maxlen=PAIRS)
    diagonal = 0.25 * np.einsum("ij,ij->j", design, design) + ridge
    divide: Callable[[Floats], Floats] = lambda vector: vector / diagonal  # noqa: E731
    # As many steps as cost about twice the curvature of all directions, and then half as many
    left, patience = 40 + len(weights) // 20, 20 + len(weights) // 40
    for _ in range(STEPS):
        if left == 0:
            divide = _divider(_curvature(design, share * (1 - share), ridge))
            pairs.clear()
            left = patience
        left -= 1
        step = _direction(slope, pairs, divide)
        gain, size, change = float(slope @ step), 1.0, design @ step
        if gain <= SMALL * loss:
            break
        while True:
            tried, moved = weights - size * step, odds - size * change
            lower = _loss(moved, targets, tried, ridge)
            if gain <= ROUNDING * loss or lower <= loss - 0.1 * size * gain or size < 1e-10:
                break
            size /= 2
        share = expit(moved)
        turned = design.T @ (share - targets) + ridge * tried
        bend = float((tried - weights) @ (turned - slope))
        if bend > 0:
            pairs.append((tried - weights, turned - slope, 1 / bend))
        weights, odds, loss, slope = tried, moved, lower, turned
    return weights[:-1], float(weights[-1])


def _loss(odds: Floats, targets: Floats, weights: Floats, ridge: Floats) -> float:
    penalty = 0.5 * float(weights @ (ridge * weights))
    return float(np.sum(np.logaddexp(0, odds) - targets * odds)) + penalty


def _direction(
    slope: Floats,
    pairs: deque[tuple[Floats, Floats, float]],
    divide: Callable[[Floats], Floats],
) -> Floats:
    """Divide the slope by the curvature, as far as the last steps and a first guess show it."""
    step, shares = slope.copy(), list[float]()
    for move, turn, scale in reversed(pairs):
        shares.append(scale * float(move @ step))
        step -= shares[-1] * turn
    step = divide(step)
    for (move, turn, scale), share in zip(pairs, reversed(shares), strict=True):
        step += move * (share - scale * float(turn @ step))
    return step


def _curvature(design: Floats, weights: Floats, ridge: Floats) -> Floats:
    """Second derivatives of the loss."""
    hessian = np.diag(ridge)
    for start in range(0, len(design), ROWS):
        block = slice(start, start + ROWS)
        part = design[block] * np.sqrt(weights[block, None])
        hessian += part.T @ part
    return hessian


def _divider(curvature: Floats) -> Callable[[Floats], Floats]:
    """Solve with a matrix; where rounding leaves it singular, with a little more of it."""
    from scipy.linalg import cho_factor, cho_solve

    extra = 0.0
    while True:
        try:
            factor = cho_factor(curvature + extra * np.eye(len(curvature)), check_finite=False)
        except np.linalg.LinAlgError:
            extra = max(10 * extra, 1e-14 * float(np.trace(curvature)), 1e-300)
        else:
            return lambda vector: np.asarray(cho_solve(factor, vector, check_finite=False))
