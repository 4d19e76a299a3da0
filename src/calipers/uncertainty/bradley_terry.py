"""A ranking from pairwise preferences: the Bradley–Terry model, with how sure it is.

Prob(i beats j) = 1/(1 + exp(−(w_i − w_j)/scale)), the scores w of mean 0 (Pillutla et al., JMLR
2023, appendix E.1, with scale 100). The scores are those of the greatest likelihood, which exist
only where the wins connect every two systems both ways (Ford, 1957); elsewhere the fit says which
systems are to blame rather than stopping at a large number.

Standard errors come from the Fisher information on scores of mean 0, and intervals are normal. Ties
split in halves count as whole comparisons, which makes the intervals a little too wide, not too
narrow. What the model does not see: circles (a beats b beats c beats a), the order in which the two
were shown, and that answers of one person, or about one prompt, are alike: with few people the
intervals are too short.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from calipers.errors import InputError, unknown_name
from calipers.uncertainty.bradley_terry_exists import check_scores_exist
from calipers.uncertainty.bradley_terry_newton import climb
from calipers.uncertainty.preferences import Preferences, split_ties
from calipers.uncertainty.preferences_counts import TieRule


@dataclass(frozen=True)
class ScoreDifference:
    """How far one score lies above another: `value`, its standard error, its interval."""

    value: float
    standard_error: float
    interval: tuple[float, float]


@dataclass(frozen=True, eq=False)
class BradleyTerry:
    """Scores that tell how often each system is preferred to each other.

    Attributes
    ----------
    names
        The systems, in the order of the preferences.
    scores
        Their scores, shape ``(n,)``, of mean 0; higher is preferred.
    standard_errors
        Of the scores, shape ``(n,)``. Two scores are held against each other by
        :meth:`difference`, not by these.
    intervals
        Lower and upper ends, shape ``(n, 2)``.
    log_likelihood
        Of the comparisons, half a win counting half.
    comparisons
        How many the scores rest on; ties that were dropped are not among them.
    iterations
        Newton steps taken.
    scale, level, ties
        As given.
    covariance
        Of the scores, shape ``(n, n)``; its rows add up to 0.
    """

    names: tuple[str, ...]
    scores: NDArray[np.float64]
    standard_errors: NDArray[np.float64]
    intervals: NDArray[np.float64]
    log_likelihood: float
    comparisons: float
    iterations: int
    scale: float
    level: float
    ties: str
    covariance: NDArray[np.float64]

    def difference(self, i: str | int, j: str | int) -> ScoreDifference:
        """Tell how far the score of `i` lies above that of `j`; both names, or places from 0.

        Raises
        ------
        InputError
            If a name is unknown, or a place is not from 0 to n - 1.
        """
        p, q = _place(self.names, i), _place(self.names, j)
        value = float(self.scores[p] - self.scores[q])
        v = self.covariance
        error = math.sqrt(max(float(v[p, p] - 2 * v[p, q] + v[q, q]), 0.0))
        reach = _quantile(self.level) * error
        return ScoreDifference(value, error, (value - reach, value + reach))


def fit_bradley_terry(
    preferences: Preferences,
    *,
    ties: TieRule = "half",
    scale: float = 100.0,
    level: float = 0.95,
    seed: int = 0,
) -> BradleyTerry:
    """Score systems by who was preferred to whom.

    Parameters
    ----------
    preferences
        Wins and ties of every pair.
    ties
        "half" (half a win each), "random" (a win for one, drawn) or "drop".
    scale
        Unit of the scores: ``log(odds) * scale``; above 0.
    level
        Share of intervals that are to hold the true score.
    seed
        Fixes the draws of ``ties="random"``.

    Raises
    ------
    InputError
        If there are fewer than two systems, an option is out of its range, or no scores of greatest
        likelihood exist: some systems were never compared with others, even by way of third ones,
        or won all (or none) of their comparisons with the others.

    Examples
    --------
    Three wins in four comparisons are odds of 3, so the scores lie 100·log 3 apart:

    >>> found = fit_bradley_terry(Preferences(("x", "y"), [[0, 3], [1, 0]], [[0, 0], [0, 0]]))
    >>> found.scores.round(2).tolist(), found.standard_errors.round(2).tolist()
    ([54.93, -54.93], [57.74, 57.74])
    """
    _check(preferences, scale, level)
    wins = split_ties(preferences, ties, seed).wins
    dropped = ties == "drop" and bool(preferences.ties.any())
    check_scores_exist(preferences.names, wins, dropped=dropped)
    theta, information, log_likelihood, iterations = climb(wins)
    ones = np.full_like(wins, 1 / len(wins))
    covariance = (np.linalg.inv(information + ones) - ones) * scale**2
    scores, errors = theta * scale, np.sqrt(covariance.diagonal().clip(min=0))
    reach = _quantile(level) * errors
    return BradleyTerry(
        names=preferences.names,
        scores=scores,
        standard_errors=errors,
        intervals=np.column_stack([scores - reach, scores + reach]),
        log_likelihood=log_likelihood,
        comparisons=float(wins.sum()),
        iterations=iterations,
        scale=float(scale),
        level=level,
        ties=ties,
        covariance=covariance,
    )


def _check(preferences: Preferences, scale: float, level: float) -> None:
    if len(preferences.names) < 2:
        raise InputError(f"a ranking needs at least two systems, found {len(preferences.names)}")
    if not (math.isfinite(scale) and scale > 0):
        raise InputError(f"scale must be a number above 0, found {scale!r}")
    if not 0 < level < 1:
        raise InputError(f"level must lie between 0 and 1, found {level!r}")


def _place(names: tuple[str, ...], name: str | int) -> int:
    if isinstance(name, str):
        if name not in names:
            raise unknown_name("system", name, names)
        return names.index(name)
    if not 0 <= name < len(names):
        raise InputError(f"systems are counted from 0 to {len(names) - 1}, found {name!r}")
    return int(name)


def _quantile(level: float) -> float:
    from scipy.special import ndtri

    return float(ndtri((1 + level) / 2))
