"""Whether scores of greatest likelihood exist (Ford, American Mathematical Monthly, 1957).

They do where, however the systems are split in two groups, each group has won against the other:
where the graph with an arrow from each winner to each loser is strongly connected.
"""

from __future__ import annotations

from typing import Literal

import numpy as np
from numpy.typing import NDArray

from calipers.errors import InputError

MOST_NAMED = 8


def check_scores_exist(names: tuple[str, ...], wins: NDArray[np.float64], *, dropped: bool) -> None:
    """Raise InputError, with the names, where no scores of greatest likelihood exist.

    Parameters
    ----------
    names
        The systems.
    wins
        How often i beat j, shape ``(n, n)``.
    dropped
        Whether ties were left out, which the message then says.
    """
    hint = "; ties were dropped, and keeping them may connect the systems" if dropped else ""
    if not wins.any():
        raise InputError(f"a ranking needs comparisons, found none{hint}")
    apart = _groups(wins, "weak")
    if len(apart) > 1:
        raise InputError(_never_compared(names, apart) + hint)
    sides = _groups(wins, "strong")
    if len(sides) > 1:
        raise InputError(_one_sided(names, wins, sides) + hint)


def _groups(
    wins: NDArray[np.float64], connection: Literal["weak", "strong"]
) -> list[NDArray[np.intp]]:
    """Give the connected components as places of systems, the largest last."""
    from scipy.sparse.csgraph import connected_components

    count, label = connected_components(wins > 0, directed=True, connection=connection)
    return sorted((np.flatnonzero(label == each) for each in range(count)), key=len)


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
