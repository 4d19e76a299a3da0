"""Whether scores of greatest likelihood exist (Ford, American Mathematical Monthly, 1957).

Without ties they do where, however the systems are split in two groups, each group has won against
the other: where the graph with an arrow from each winner to each loser is strongly connected.

With ties in the model a tie is an arrow both ways, and one more thing is needed: a walk along the
arrows back to where it began, on wins more often than on ties. For the likelihood has no summit
where it does not fall along some line: where moves u of the scores and s of δ exist with
u_i − u_j ≥ max(2s, 0) for every win of i over j and |u_i − u_j| ≤ 2s for every tie. With s = 0 this
asks for the connection; with 2s = 1 it is a system of difference constraints, which has a solution
unless such a walk exists (Bellman, 1958). A circle of wins alone, which Davidson (JASA 1970) asks
for by way of Ford's condition on the wins, is enough but not needed.
"""

from __future__ import annotations

from typing import Literal

import numpy as np
from numpy.typing import NDArray

from calipers.errors import InputError

MOST_NAMED = 8
HALVES = "collect more judgements, or count a tie as half a win to each (ties 'half')"


def check_scores_exist(
    names: tuple[str, ...],
    wins: NDArray[np.float64],
    ties: NDArray[np.float64],
    *,
    dropped: bool,
) -> None:
    """Raise InputError, with the names, where no scores of greatest likelihood exist.

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
    """Give the connected components as places of systems, the largest last."""
    from scipy.sparse.csgraph import connected_components

    count, label = connected_components(wins > 0, directed=True, connection=connection)
    return sorted((np.flatnonzero(label == each) for each in range(count)), key=len)


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
    found = [_record(names, wins, side) for side in sides]
    told = ". ".join(words for words in found if words)
    return (
        f"no finite scores fit best: {told}. Such systems would score infinitely high or low; "
        "collect more judgements of them, or leave them out"
    )


def _record(names: tuple[str, ...], wins: NDArray[np.float64], side: NDArray[np.intp]) -> str:
    rest = np.setdiff1d(np.arange(len(names)), side)
    won, lost = (float(wins[np.ix_(*each)].sum()) for each in ((side, rest), (rest, side)))
    if won and lost:
        return ""  # in the middle: those on the way to it are to blame
    found, total = ("won", won) if won else ("lost", lost)
    many = "its" if len(side) == 1 else "their"
    whom = "" if len(rest) > 1 and len(side) == 1 else f" with {_named(names, rest)}"
    return f"{_named(names, side)} {found} all {total:g} of {many} comparisons{whom}"


def _named(names: tuple[str, ...], group: NDArray[np.intp]) -> str:
    shown = ", ".join(repr(names[place]) for place in group[:MOST_NAMED])
    more = len(group) - MOST_NAMED
    return shown if more <= 0 else f"{shown} and {more} more"
