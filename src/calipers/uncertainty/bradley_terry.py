"""Rankings from pairwise preferences by the Bradley–Terry model, with standard errors.

Prob(i is preferred to j) = 1/(1 + exp(−(w_i − w_j)/scale)) where one of them is, the scores w of
mean 0 (Pillutla et al., JMLR 2023, appendix E.1, with scale 100). How often neither is, Davidson's
model tells (JASA 1970), which is the default: with d = (w_i − w_j)/scale, a win, a tie and a loss
have chances in the ratio exp(d/2) : ν : exp(−d/2), one ν for all pairs. Two equal systems tie with
probability ν/(2 + ν), unequal ones less often. Scores so keep the meaning that they have without
ties, and without ties (ν = 0) the fit is that of the plain model.

Ties split in halves, or at random as in the paper, draw the scores together: half a win is what two
equal systems expect. Dropped ties do not, where Davidson's model holds, but what ties show of who
is alike is lost. `docs/rankings.md` has both measured.

The scores are those of the greatest likelihood, where they exist; elsewhere the fit says which
systems are to blame rather than stopping at a large number. Standard errors come from the observed
information, ν being unknown too, and intervals are normal. What the model does not see: circles (a
beats b beats c beats a), the order in which the two were shown, and that answers of one person, or
about one prompt, are alike: with few people the intervals are too short.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Literal, get_args

import numpy as np
from numpy.typing import NDArray

from calipers.errors import InputError, unknown_name
from calipers.numeric.validation import check_inner_share
from calipers.uncertainty.bradley_terry_fit import check_scores_exist, climb
from calipers.uncertainty.preferences import Preferences, split_ties
from calipers.uncertainty.spread import quantile

Ties = Literal["davidson", "half", "random", "drop"]


@dataclass(frozen=True)
class ScoreDifference:
    """The difference of two scores, with its standard error and interval."""

    value: float
    standard_error: float
    interval: tuple[float, float]


@dataclass(frozen=True, eq=False)
class BradleyTerry:
    """Bradley–Terry scores, which predict how often each system is preferred to each other.

    Attributes
    ----------
    names
        The systems, in the order of the preferences.
    scores
        Their scores, shape ``(n,)``, of mean 0; higher is preferred.
    standard_errors
        Of the scores, shape ``(n,)``. Two scores are compared with each other by
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
    tie_share
        Share of ties among all comparisons, those that were dropped too.
    tie_parameter
        Davidson's ν: two equal systems tie with probability ν/(2 + ν). 0 where there are no ties,
        and NaN where `ties` is not "davidson".
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
    tie_share: float
    tie_parameter: float
    covariance: NDArray[np.float64]

    def difference(self, i: str | int, j: str | int) -> ScoreDifference:
        """Return the score of `i` minus that of `j`, given by name or index.

        Raises
        ------
        InputError
            If a name is unknown, or a place is not from 0 to n - 1.
        """
        p, q = place_of(self.names, i), place_of(self.names, j)
        return difference_of(self.scores, self.covariance, p, q, quantile(math.inf, self.level))


def fit_bradley_terry(
    preferences: Preferences,
    *,
    ties: Ties = "davidson",
    scale: float = 100.0,
    level: float = 0.95,
    seed: int = 0,
) -> BradleyTerry:
    """Fit Bradley–Terry scores to pairwise preferences.

    Parameters
    ----------
    preferences
        Wins and ties of every pair.
    ties
        "davidson" (a third outcome of its own), "half" (half a win each), "random" (a win for one,
        drawn) or "drop".
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
        or won all (or none) of their comparisons with the others; or, with "davidson", there are no
        fewer ties than wins on every way along judgements from a system back to itself.

    Examples
    --------
    Three wins in four comparisons are odds of 3, so the scores lie 100·log 3 apart:

    >>> found = fit_bradley_terry(Preferences(("x", "y"), [[0, 3], [1, 0]], [[0, 0], [0, 0]]))
    >>> found.scores.round(2).tolist(), found.standard_errors.round(2).tolist()
    ([54.93, -54.93], [57.74, 57.74])
    """
    _check(preferences, scale, level, ties)
    modelled = ties == "davidson"
    outcomes = preferences if ties == "davidson" else split_ties(preferences, ties, seed)
    dropped = ties == "drop" and bool(preferences.ties.any())
    check_scores_exist(preferences.names, outcomes.wins, outcomes.ties, dropped=dropped)
    summit = climb(outcomes.wins, outcomes.ties)
    covariance = summit.covariance * scale**2
    scores, errors = summit.theta * scale, np.sqrt(covariance.diagonal().clip(min=0))
    reach = quantile(math.inf, level) * errors
    return BradleyTerry(
        names=preferences.names,
        scores=scores,
        standard_errors=errors,
        intervals=np.column_stack([scores - reach, scores + reach]),
        log_likelihood=summit.log_likelihood,
        comparisons=outcomes.comparisons,
        iterations=summit.steps,
        scale=float(scale),
        level=level,
        ties=ties,
        tie_share=float(preferences.ties.sum() / 2) / preferences.comparisons,
        tie_parameter=math.exp(summit.log_tie) if modelled else math.nan,
        covariance=covariance,
    )


def _check(preferences: Preferences, scale: float, level: float, ties: str) -> None:
    if ties not in get_args(Ties):
        raise unknown_name("way to split ties", str(ties), get_args(Ties))
    if len(preferences.names) < 2:
        raise InputError(f"a ranking needs at least two systems, found {len(preferences.names)}")
    if not (math.isfinite(scale) and scale > 0):
        raise InputError(f"scale must be a number above 0, found {scale!r}")
    check_inner_share("level", level, "must lie between 0 and 1,")


def place_of(names: tuple[str, ...], name: str | int) -> int:
    """Return the index of a system given by name or index."""
    if isinstance(name, str):
        if name not in names:
            raise unknown_name("system", name, names)
        return names.index(name)
    if not 0 <= name < len(names):
        raise InputError(f"systems are counted from 0 to {len(names) - 1}, found {name!r}")
    return int(name)


def difference_of(
    scores: NDArray[np.float64], covariance: NDArray[np.float64], p: int, q: int, reach: float
) -> ScoreDifference:
    """Return score p minus score q, with an interval of so many standard errors."""
    value = float(scores[p] - scores[q])
    variance = float(covariance[p, p] - 2 * covariance[p, q] + covariance[q, q])
    error = math.sqrt(max(variance, 0.0))
    return ScoreDifference(value, error, (value - reach * error, value + reach * error))
