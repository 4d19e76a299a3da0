"""Newton's method for the Bradley–Terry likelihood, on scores of mean 0 and scale 1."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from calipers.errors import InputError

Matrix = NDArray[np.float64]

CLOSE = 1e-10
"""Largest step, in log odds, at which the scores count as found."""

MOST_STEPS = 200
MOST_HALVINGS = 40


def climb(wins: Matrix) -> tuple[Matrix, Matrix, float, int]:
    """Give the best scores, their Fisher information and log-likelihood, and the steps taken."""
    n, played = len(wins), wins + wins.T
    theta = np.zeros(n)
    for step in range(1, MOST_STEPS + 1):
        surprise = wins * _chances(theta).T  # wins less those expected would cancel digits
        gradient = surprise.sum(axis=1) - surprise.sum(axis=0)
        # Adding 1/n to each entry lifts the one direction, all scores alike, that is flat
        move = np.linalg.solve(_information(played, theta) + 1 / n, gradient)
        theta = _ascend(wins, theta, move - move.mean())
        if np.abs(move).max() < CLOSE:
            return theta, _information(played, theta), _likelihood(wins, theta), step
    raise InputError(
        f"the scores did not settle in {MOST_STEPS} steps: some wins are too lopsided to be fitted"
    )


def _chances(theta: Matrix) -> Matrix:
    """Prob(i beats j), shape (n, n)."""
    from scipy.special import expit

    chances: Matrix = expit(np.subtract.outer(theta, theta))
    return chances


def _information(played: Matrix, theta: Matrix) -> Matrix:
    chances = _chances(theta)
    weights = played * chances * chances.T
    information: Matrix = np.diag(weights.sum(axis=1)) - weights
    return information


def _likelihood(wins: Matrix, theta: Matrix) -> float:
    """Σ N_ij log Prob(i beats j)."""
    return -float((wins * np.logaddexp(0, -np.subtract.outer(theta, theta))).sum())


def _ascend(wins: Matrix, theta: Matrix, move: Matrix) -> Matrix:
    """Go the largest half, quarter, ... of a step that does not lower the likelihood."""
    before = _likelihood(wins, theta)
    slack = 1e-13 * abs(before)  # near the top, rounding is all that is left
    for halving in range(MOST_HALVINGS):
        there: Matrix = theta + move / 2**halving
        if _likelihood(wins, there) >= before - slack:
            return there
    return theta
