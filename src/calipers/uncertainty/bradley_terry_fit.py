"""Maximum-likelihood scores of the Bradley–Terry model and of Davidson's, where they exist.

With d the difference of two scores, the log weights of a win, a tie and a loss are d/2, δ and −d/2
(Davidson, JASA 1970; ν = exp δ). The model without ties is δ = −∞. The log-likelihood is concave in
the scores and δ together, and its observed information equals the expected one; Newton's method
finds its summit, on scores of mean 0 and scale 1.

Without ties there is one where, however the systems are split in two groups, each group has won
against the other: where the graph with an arrow from each winner to each loser is strongly
connected (Ford, American Mathematical Monthly, 1957). With ties in the model a tie is an arrow both
ways, and one more thing is needed: a walk along the arrows back to where it began, on wins more
often than on ties. For the likelihood has no summit where it does not fall along some line: where
moves u of the scores and s of δ exist with u_i − u_j ≥ max(2s, 0) for every win of i over j and
|u_i − u_j| ≤ 2s for every tie. With s = 0 this asks for the connection; with 2s = 1 it is a system
of difference constraints, which has a solution unless such a walk exists (Bellman, 1958). A circle
of wins alone, which Davidson asks for by way of Ford's condition on the wins, is enough but not
needed.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from calipers.errors import InputError
from calipers.numeric.arrays import Matrix

MOST_NAMED = 8
HALVES = "collect more judgements, or count a tie as half a win to each (ties 'half')"


def check_scores_exist(
    names: tuple[str, ...],
    wins: NDArray[np.float64],
    ties: NDArray[np.float64],
    *,
    dropped: bool,
) -> None:
    """Raise InputError, with the names, where no maximum-likelihood scores exist.

    Parameters
    ----------
    names
        The systems.
    wins
        How often i beat j, shape ``(n, n)``.
    ties
        How often the two tied, shape ``(n, n)``, symmetric, where the model has ties; else zeros.
    dropped
        Whether ties were left out, which the message then says.
    """
    hint = "; ties were dropped, and keeping them may connect the systems" if dropped else ""
    met = wins + ties
    if not met.any():
        raise InputError(f"a ranking needs comparisons, found none{hint}")
    apart = _groups(met, "weak")
    if len(apart) > 1:
        raise InputError(_never_compared(names, apart) + hint)
    if not wins.any():
        raise InputError(
            f"all {ties.sum() / 2:g} judgements are ties: a model of ties finds no scores in them; "
            + HALVES
        )
    sides = _groups(met, "strong")
    if len(sides) > 1:
        raise InputError(_one_sided(names, wins, sides) + hint)
    if ties.any() and not _turns_back(wins, ties):
        raise InputError(
            "no finite scores fit best by a model of ties: every circle of systems, each preferred "
            "to the next or tied with it, holds at least as many ties as wins, so that ever larger "
            f"differences with ever more ties fit ever better; {HALVES}"
        )


def _groups(
    wins: NDArray[np.float64], connection: Literal["weak", "strong"]
) -> list[NDArray[np.intp]]:
    """Return the connected components as places of systems, the largest last."""
    from scipy.sparse.csgraph import connected_components

    count, label = connected_components(wins > 0, directed=True, connection=connection)
    return sorted((np.flatnonzero(label == group) for group in range(count)), key=len)


def _turns_back(wins: NDArray[np.float64], ties: NDArray[np.float64]) -> bool:
    """Whether a walk along wins and ties, back to where it began, has more wins than ties."""
    from scipy.sparse.csgraph import NegativeCycleError, floyd_warshall

    lengths = np.where(wins > 0, -1.0, np.where(ties > 0, 1.0, np.inf))
    try:
        floyd_warshall(lengths)
    except NegativeCycleError:
        return True
    return False


def _never_compared(names: tuple[str, ...], apart: list[NDArray[np.intp]]) -> str:
    groups = " | ".join(_named(names, group) for group in apart)
    return (
        "the scores cannot be put on one scale: no comparison, direct or by way of others, links "
        f"these groups: {groups}. Compare a system of each with one of another, or rank them apart"
    )


def _one_sided(
    names: tuple[str, ...], wins: NDArray[np.float64], sides: list[NDArray[np.intp]]
) -> str:
    """Name the groups that never lost to the others, and those that never won against them."""
    groups = [_record(names, wins, side) for side in sides]
    records = ". ".join(words for words in groups if words)
    return (
        f"no finite scores fit best: {records}. Such systems would score infinitely high or low; "
        "collect more judgements of them, or leave them out"
    )


def _record(names: tuple[str, ...], wins: NDArray[np.float64], side: NDArray[np.intp]) -> str:
    rest = np.setdiff1d(np.arange(len(names)), side)
    won, lost = (float(wins[np.ix_(*sides)].sum()) for sides in ((side, rest), (rest, side)))
    if won and lost:
        return ""  # in the middle: those on the way to it are to blame
    verb, total = ("won", won) if won else ("lost", lost)
    many = "its" if len(side) == 1 else "their"
    whom = "" if len(rest) > 1 and len(side) == 1 else f" with {_named(names, rest)}"
    return f"{_named(names, side)} {verb} all {total:g} of {many} comparisons{whom}"


def _named(names: tuple[str, ...], group: NDArray[np.intp]) -> str:
    shown = ", ".join(repr(names[place]) for place in group[:MOST_NAMED])
    more = len(group) - MOST_NAMED
    return shown if more <= 0 else f"{shown} and {more} more"


CLOSE = 1e-10
"""Largest step, in log odds, at which the scores count as found."""

MOST_STEPS = 200
MOST_HALVINGS = 40


@dataclass(frozen=True, eq=False)
class Summit:
    """The maximum of the likelihood.

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
    """Maximise the likelihood of wins and ties; each tie is counted twice in the symmetric `ties`.

    The scores must exist (:mod:`~calipers.uncertainty.bradley_terry_fit`).
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
        f"the scores did not converge in {MOST_STEPS} steps: some wins are too lopsided to be "
        "fitted"
    )


def _log_chances(point: Matrix) -> tuple[Matrix, Matrix]:
    """Log of Prob(i is preferred to j) and of Prob(i and j tie), shape (n, n) each."""
    half = np.subtract.outer(point[:-1], point[:-1]) / 2
    total = np.logaddexp(np.logaddexp(half, -half), point[-1])
    return half - total, point[-1] - total


def _derivatives(wins: Matrix, ties: Matrix, point: Matrix) -> tuple[Matrix, Matrix]:
    """Gradient and information by the scores, then δ; shapes (n + 1,) and (n + 1, n + 1)."""
    n, played = len(wins), wins + wins.T + ties
    won, tie = (np.exp(log_chance) for log_chance in _log_chances(point))
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
