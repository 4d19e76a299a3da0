"""Who was preferred to whom, counted: rows of (a, b, answer) become wins and ties of every pair.

An answer is the name of the winner, or "a", "b" or "tie", or one of five steps: "definitely a",
"slightly a", "tie", "slightly b", "definitely b", or their numbers 1 to 5. The steps "definitely"
and "slightly" count alike, as in Pillutla et al. (JMLR 2023, appendix E.1); how sure people were is
not seen, nor who they were: answers of one person count as those of many.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import get_args

import numpy as np
from numpy.typing import NDArray

from calipers.errors import InputError, unknown_name
from calipers.uncertainty.preferences_answers import Answers, as_name
from calipers.uncertainty.preferences_counts import TieRule, check_counts, check_names, halve, toss

Counts = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Preferences:
    """How often each system was preferred to each other.

    Attributes
    ----------
    names
        The systems, each once.
    wins
        How often system i was preferred to system j, shape ``(n, n)``; zeros on the diagonal.
    ties
        How often neither was, shape ``(n, n)``; symmetric, so each tie stands in it twice.

    Raises
    ------
    InputError
        If names repeat, or counts are negative, not finite, of another shape, not symmetric (ties)
        or stand on the diagonal.
    """

    names: tuple[str, ...]
    wins: Counts
    ties: Counts

    def __post_init__(self) -> None:
        names = check_names(self.names)
        object.__setattr__(self, "names", names)
        object.__setattr__(self, "wins", check_counts("wins", self.wins, len(names)))
        ties = check_counts("ties", self.ties, len(names), symmetric=True)
        object.__setattr__(self, "ties", ties)

    @property
    def comparisons(self) -> float:
        """How many comparisons were made, each tie counted once."""
        return float(self.wins.sum() + self.ties.sum() / 2)


def count_preferences(
    a: Sequence[object],
    b: Sequence[object],
    answer: Sequence[object],
    *,
    names: Sequence[str] | None = None,
) -> Preferences:
    """Count who was preferred to whom.

    Parameters
    ----------
    a, b
        Names of the two systems that each row compares.
    answer
        Who was preferred in each row: the name of the winner; else "a", "b" or "tie" (in any case);
        else one of five steps, "definitely a", "slightly a", "tie", "slightly b", "definitely b",
        or 1 to 5 for them in this order. A system's name goes before all other readings: where a
        system is called "b", the answer "b" is that system, in whichever column it stands; where
        one is called "2", all numbers are names.
    names
        The systems, in the order wanted; a row with any other is an error. None takes those that
        the rows name, in the order in which they appear.

    Raises
    ------
    InputError
        If the columns differ in length; or, with the number of the row (from 1), if a name is
        missing or unknown, a system is compared with itself, or the answer is missing, is none of
        the above, names a system that the row does not compare, or could mean either side. Also if
        a system is called as an answer is ("tie", "slightly a").

    Examples
    --------
    >>> found = count_preferences(["x", "y", "x"], ["y", "x", "y"], ["x", "slightly a", "tie"])
    >>> found.names, found.wins.tolist(), found.ties.tolist()
    (('x', 'y'), [[0.0, 1.0], [1.0, 0.0]], [[0.0, 1.0], [1.0, 0.0]])
    """
    pairs = _pairs(a, b, answer)
    known = check_names(tuple(dict.fromkeys(name for pair in pairs for name in pair)))
    if names is not None:
        known = _check_known(pairs, check_names(tuple(names)))
    place = {name: i for i, name in enumerate(known)}
    read = Answers(known)
    wins, ties = np.zeros((2, len(known), len(known)))
    for row, (pair, given) in enumerate(zip(pairs, answer, strict=True), start=1):
        i, j = (place[name] for name in pair)
        winner = read(row, *pair, given)
        if winner is None:
            ties[i, j] += 1
            ties[j, i] += 1
        else:
            wins[(i, j) if winner == pair[0] else (j, i)] += 1
    return Preferences(known, wins, ties)


def split_ties(preferences: Preferences, how: TieRule = "half", seed: int = 0) -> Preferences:
    """Make wins of the ties.

    Parameters
    ----------
    preferences
        Wins and ties.
    how
        "half" gives each side half a win; "random" gives a whole one to a side drawn at random, as
        Pillutla et al. (JMLR 2023, appendix E.1) do; "drop" leaves ties out.
    seed
        Fixes the draws of "random"; the others draw nothing.

    Raises
    ------
    InputError
        If `how` is none of these, or ties that are not whole numbers are to be drawn.

    Examples
    --------
    >>> split_ties(Preferences(("x", "y"), [[0, 3], [1, 0]], [[0, 1], [1, 0]])).wins.tolist()
    [[0.0, 3.5], [1.5, 0.0]]
    """
    if how not in get_args(TieRule):
        raise unknown_name("way to split ties", str(how), get_args(TieRule))
    won = {
        "half": lambda: halve(preferences.ties),
        "random": lambda: toss(preferences.ties, seed),
        "drop": lambda: np.zeros_like(preferences.ties),
    }[how]()
    return replace(preferences, wins=preferences.wins + won, ties=np.zeros_like(won))


def _pairs(
    a: Sequence[object], b: Sequence[object], answer: Sequence[object]
) -> list[tuple[str, str]]:
    if not len(a) == len(b) == len(answer):
        raise InputError(
            "a, b and answer must have one value for each comparison, "
            f"found {len(a)}, {len(b)} and {len(answer)}"
        )
    rows = enumerate(zip(a, b, strict=True), start=1)
    pairs = [(as_name(row, "a", one), as_name(row, "b", other)) for row, (one, other) in rows]
    for row, (one, other) in enumerate(pairs, start=1):
        if one == other:
            raise InputError(f"row {row}: {one!r} is compared with itself")
    return pairs


def _check_known(pairs: list[tuple[str, str]], known: tuple[str, ...]) -> tuple[str, ...]:
    for row, pair in enumerate(pairs, start=1):
        for name in pair:
            if name not in known:
                raise InputError(f"row {row}: {unknown_name('system', name, known)}")
    return known
