"""Counts of preferences: rows of (a, b, answer) become wins and ties of every pair.

An answer is the name of the winner, or "a", "b" or "tie", or one of five steps: "definitely a",
"slightly a", "tie", "slightly b", "definitely b", or their numbers 1 to 5; a system's name goes
before a letter, and a letter before a step. The steps "definitely" and "slightly" count alike, as
in Pillutla et al. (JMLR 2023, appendix E.1); how sure people were is not seen, nor who they were:
answers of one person count as those of many.
"""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Literal, get_args

import numpy as np
from numpy.typing import ArrayLike

from calipers.errors import InputError, unknown_name
from calipers.numeric.arrays import Floats

TieRule = Literal["half", "random", "drop"]


def check_names(names: tuple[str, ...]) -> tuple[str, ...]:
    """Return the names as a tuple; raise an error for an invalid or repeated one."""
    names = tuple(names)
    for place, name in enumerate(names, start=1):
        if not isinstance(name, str) or not name.strip():
            raise InputError(f"names: every system needs a name, found {name!r} as number {place}")
        if name in names[: place - 1]:
            raise InputError(f"names: {name!r} occurs twice")
    return names


def check_counts(name: str, counts: ArrayLike, n: int, *, symmetric: bool = False) -> Floats:
    """Return the table in float64; raise an error if it holds no counts."""
    try:
        table = np.asarray(counts, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise InputError(f"{name} must be a table of numbers: {error}") from error
    if table.shape != (n, n):
        raise InputError(
            f"{name} must have a row and a column for each of the {n} names, "
            f"found the shape {table.shape}"
        )
    if not (np.isfinite(table).all() and (table >= 0).all()):
        raise InputError(f"{name} must be finite and not negative")
    if table.diagonal().any():
        raise InputError(f"{name} must be 0 on the diagonal: no system meets itself")
    if symmetric and not np.array_equal(table, table.T):
        raise InputError(f"{name} must be symmetric: a tie of i with j is one of j with i")
    return table


def toss(ties: Floats, seed: int) -> Floats:
    """Assign every tie to a random side."""
    if (ties % 1).any():
        raise InputError("ties can be drawn only where they are whole numbers")
    upper = np.triu(ties).astype(np.int64)
    won = np.random.default_rng(seed).binomial(upper, 0.5)
    drawn: Floats = (won + (upper - won).T).astype(np.float64)
    return drawn


STEPS = ("definitely a", "slightly a", "tie", "slightly b", "definitely b")
"""The five answers, in the order of their numbers 1 to 5."""

NUMBERS = tuple(str(step) for step in range(1, len(STEPS) + 1))


class PreferenceAnswers:
    """Parses answers about systems of known names; raises InputError if one is named "tie"."""

    def __init__(self, names: tuple[str, ...]) -> None:
        for name in names:
            if _plain(name) in STEPS:
                raise InputError(f"a system cannot be called {name!r}: that is an answer")
        self._names = frozenset(names)
        self._numbered = not self._names.isdisjoint(NUMBERS)

    def __call__(self, row: int, a: str, b: str, given: object) -> str | None:
        """Name the winner of a row; None for a tie."""
        answer = _as_text(row, given)
        if answer in (a, b):
            return answer
        if answer in self._names:
            raise InputError(
                f"row {row}: the answer is {answer!r}, but the row compares {a!r} with {b!r}"
            )
        number = re.fullmatch(r"([1-5])(\.0)?", answer)  # tables with gaps turn 3 into 3.0
        if number and not self._numbered:  # a number means a column, whatever systems are called
            return (a, a, None, b, b)[int(number[1]) - 1]
        plain = _plain(answer)
        if plain not in ("a", "b", *STEPS):
            raise InputError(self._unread(row, a, b, answer))
        side = plain.split()[-1]
        return None if side == "tie" else _in_column(row, a, b, answer, side)

    def _unread(self, row: int, a: str, b: str, answer: str) -> str:
        if self._numbered and answer.removesuffix(".0") in NUMBERS:
            return (
                f"row {row}: the answer {answer} is not read as a step from 1 to 5, "
                "as a system has such a number for its name; rename it, or write the answers out"
            )
        known = f"{a!r}, {b!r}, 'a', 'b', {', '.join(map(repr, STEPS))}, or a number from 1 to 5"
        return f"row {row}: the answer {answer!r} is not one of {known}"


def as_name(row: int, column: str, given: object) -> str:
    """Return a system's name as text; raise an error with the row if it is missing."""
    if _is_missing(given):
        raise InputError(f"row {row}: the name of the system in column {column!r} is missing")
    return _text(given)


def _in_column(row: int, a: str, b: str, answer: str, side: str) -> str:
    """Name the system in a column, unless the other is called by that column's letter."""
    winner, other = (a, b) if side == "a" else (b, a)
    if _plain(other) == side:
        raise InputError(
            f"row {row}: the answer {answer!r} could mean the column {side!r} or the system "
            f"{other!r}, which stands in the other; answer with the winner's name"
        )
    return winner


def _as_text(row: int, given: object) -> str:
    if _is_missing(given):
        raise InputError(f"row {row}: the answer is missing")
    if isinstance(given, bool | np.bool_):
        raise InputError(f"row {row}: the answer {given!r} is not a name, letter, step or number")
    return _text(given)


def _text(given: object) -> str:
    """Write names and numbers alike, 3.0 as 3."""
    if isinstance(given, float | np.floating) and float(given).is_integer():
        given = int(given)
    return str(given).strip()


def _is_missing(given: object) -> bool:
    if isinstance(given, float | np.floating):
        return math.isnan(given)
    return given is None or not str(given).strip()


def _plain(text: str) -> str:
    return re.sub(r"[\s_-]+", " ", text).strip().casefold()


@dataclass(frozen=True, eq=False)
class Preferences:
    """Counts of how often each system was preferred to each other.

    Attributes
    ----------
    names
        The systems, each once.
    wins
        How often system i was preferred to system j, shape ``(n, n)``; zeros on the diagonal.
    ties
        How often neither was, shape ``(n, n)``; symmetric, so each tie is in it twice.

    Raises
    ------
    InputError
        If names repeat, or counts are negative, not finite, of another shape, not symmetric (ties)
        or stand on the diagonal.
    """

    names: tuple[str, ...]
    wins: Floats
    ties: Floats

    def __post_init__(self) -> None:
        names = check_names(self.names)
        object.__setattr__(self, "names", names)
        object.__setattr__(self, "wins", check_counts("wins", self.wins, len(names)))
        ties = check_counts("ties", self.ties, len(names), symmetric=True)
        object.__setattr__(self, "ties", ties)

    @property
    def comparisons(self) -> float:
        """Number of comparisons, with each tie counted once."""
        return float(self.wins.sum() + self.ties.sum() / 2)


def count_preferences(
    a: Sequence[object],
    b: Sequence[object],
    answer: Sequence[object],
    *,
    names: Sequence[str] | None = None,
) -> Preferences:
    """Count the wins and ties of every pair of systems.

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
        missing or unknown, a system is compared with itself, or the answer is missing, is not one
        of the above, names a system that the row does not compare, or is a letter or step in words
        that could mean either side. Also if a system is called as an answer is ("tie", "slightly
        a").

    Examples
    --------
    >>> found = count_preferences(["x", "y", "x"], ["y", "x", "y"], ["x", "slightly a", "tie"])
    >>> found.names, found.wins.tolist(), found.ties.tolist()
    (('x', 'y'), [[0.0, 1.0], [1.0, 0.0]], [[0.0, 1.0], [1.0, 0.0]])
    """
    known, pairs = read_pairs(a, b, answer, names)
    place = {name: i for i, name in enumerate(known)}
    read = PreferenceAnswers(known)
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
    """Convert ties to wins.

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
        If `how` is not one of these, or ties that are not whole numbers are to be drawn.

    Examples
    --------
    >>> split_ties(Preferences(("x", "y"), [[0, 3], [1, 0]], [[0, 1], [1, 0]])).wins.tolist()
    [[0.0, 3.5], [1.5, 0.0]]
    """
    if how not in get_args(TieRule):
        raise unknown_name("way to split ties", str(how), get_args(TieRule))
    won = {
        "half": lambda: preferences.ties / 2,
        "random": lambda: toss(preferences.ties, seed),
        "drop": lambda: np.zeros_like(preferences.ties),
    }[how]()
    return replace(preferences, wins=preferences.wins + won, ties=np.zeros_like(won))


def read_pairs(
    a: Sequence[object],
    b: Sequence[object],
    answer: Sequence[object],
    names: Sequence[str] | None,
) -> tuple[tuple[str, ...], list[tuple[str, str]]]:
    """Return the names of all systems, and the two compared in each row.

    Raises
    ------
    InputError
        As :func:`count_preferences` does of names.
    """
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
    known = check_names(tuple(dict.fromkeys(name for pair in pairs for name in pair)))
    if names is not None:
        known = check_names(tuple(names))
        _check_known(pairs, known)
    return known, pairs


def _check_known(pairs: list[tuple[str, str]], known: tuple[str, ...]) -> None:
    for row, pair in enumerate(pairs, start=1):
        for name in pair:
            if name not in known:
                raise InputError(f"row {row}: {unknown_name('system', name, known)}")
