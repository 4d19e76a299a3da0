"""Newton's method for the Bradley–Terry likelihood and Davidson's, on scores of mean 0 and scale 1.

With d the difference of two scores, the log weights of a win, a tie and a loss are d/2, δ and −d/2
(Davidson, JASA 1970; ν = exp δ). The model without ties is δ = −∞. The log-likelihood is concave in
the scores and δ together, and its observed information equals the expected one.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from calipers.errors import InputError

Matrix = NDArray[np.float64]

CLOSE = 1e-10
"""Largest step, in log odds, at which the scores count as found."""

MOST_STEPS = 200
MOST_HALVINGS = 40


@dataclass(frozen=True, eq=False)
class Summit:
    """Where the likelihood is greatest.

    Attributes
    ----------
    theta
        The scores, shape ``(n,)``, of mean 0.
    log_tie
        δ; −∞ where there are no ties.
    covariance
        Of the scores, the tie parameter being unknown too, shape ``(n, n)``; rows add up to 0.
    log_likelihood
        At the summit.
    steps
        Newton steps taken.
    """

    theta: Matrix
    log_tie: float
    covariance: Matrix
    log_likelihood: float
    steps: int


def climb(wins: Matrix, ties: Matrix) -> Summit:
    """Find the best scores of wins and ties, each tie standing twice in the symmetric `ties`.

    The scores must exist (:mod:`~calipers.uncertainty.bradley_terry_exists`).
    """
    n, tied = len(wins), float(ties.sum() / 2)
    free = n + 1 if tied else n  # without ties, δ stays at −∞
    point: Matrix = np.append(np.zeros(n), math.log(2 * tied / wins.sum()) if tied else -math.inf)
    for step in range(1, MOST_STEPS + 1):
        gradient, information = _derivatives(wins, ties, point)
        # Adding 1/n to each entry lifts the one direction, all scores alike, that is flat
        information[:n, :n] += 1 / n
        move = np.zeros(n + 1)
        move[:free] = np.linalg.solve(information[:free, :free], gradient[:free])
        move[:n] -= move[:n].mean()
        point = _ascend(wins, ties, point, move)
        if np.abs(move).max() < CLOSE:
            _, information = _derivatives(wins, ties, point)
            information[:n, :n] += 1 / n
            inverse = np.linalg.inv(information[:free, :free])
            covariance = np.asarray(inverse[:n, :n] - 1 / n, dtype=np.float64)
            likelihood = _likelihood(wins, ties, point)
            theta: Matrix = point[:n]
            return Summit(theta, float(point[n]), covariance, likelihood, step)
    raise InputError(
        f"the scores did not settle in {MOST_STEPS} steps: some wins are too lopsided to be fitted"
    )


def _log_chances(point: Matrix) -> tuple[Matrix, Matrix]:
    """Log of Prob(i is preferred to j) and of Prob(i and j tie), shape (n, n) each."""
    half = np.subtract.outer(point[:-1], point[:-1]) / 2
    total = np.logaddexp(np.logaddexp(half, -half), point[-1])
    return half - total, point[-1] - total


def _derivatives(wins: Matrix, ties: Matrix, point: Matrix) -> tuple[Matrix, Matrix]:
    """Gradient and information by the scores, then δ; shapes (n + 1,) and (n + 1, n + 1)."""
    n, played = len(wins), wins + wins.T + ties
    won, tie = (np.exp(each) for each in _log_chances(point))
    lost = won.T
    # Wins less those expected would cancel digits: what a win by d/2, and a tie by 0, add instead
    pull = wins * (lost + tie / 2) + ties * (lost - won) / 4
    gradient = np.append(
        pull.sum(axis=1) - pull.sum(axis=0),
        (ties * (won + lost)).sum() / 2 - (wins * tie).sum(),
    )
    weights = played * (won * lost + tie * (won + lost) / 4)
    information = np.zeros((n + 1, n + 1))
    information[:n, :n] = np.diag(weights.sum(axis=1)) - weights
    information[:n, n] = information[n, :n] = (played * tie * (lost - won)).sum(axis=1) / 2
    information[n, n] = (np.triu(played, 1) * tie * (won + lost)).sum()
    return gradient, information


def _likelihood(wins: Matrix, ties: Matrix, point: Matrix) -> float:
    """Σ W_ij log Prob(i is preferred to j) + Σ_{i<j} T_ij log Prob(i and j tie)."""
    won, tie = _log_chances(point)
    return float((wins * won).sum()) + (float((ties * tie).sum()) / 2 if ties.any() else 0.0)


def _ascend(wins: Matrix, ties: Matrix, point: Matrix, move: Matrix) -> Matrix:
    """Go the largest half, quarter, ... of a step that does not lower the likelihood."""
    before = _likelihood(wins, ties, point)
    slack = 1e-13 * abs(before)  # near the top, rounding is all that is left
    for halving in range(MOST_HALVINGS):
        there: Matrix = point + move / 2**halving
        if _likelihood(wins, ties, there) >= before - slack:
            return there
    return point
