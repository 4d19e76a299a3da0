"""What an answer to "a or b?" means: a system's name first, then a letter, then a step of five."""

from __future__ import annotations

import math
import re

import numpy as np

from calipers.errors import InputError

STEPS = ("definitely a", "slightly a", "tie", "slightly b", "definitely b")
"""The five answers, in the order of their numbers 1 to 5."""

NUMBERS = tuple(str(step) for step in range(1, len(STEPS) + 1))


class Answers:
    """Reads answers about systems of known names; raises InputError where one is called "tie"."""

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
        side = self._side(answer)
        if side is None:
            raise InputError(self._unread(row, a, b, answer))
        return None if side == "tie" else _in_column(row, a, b, answer, side)

    def _side(self, answer: str) -> str | None:
        """Tell the side that an answer speaks for: "a", "b" or "tie"; None if it is no answer."""
        step = re.fullmatch(r"([1-5])(\.0)?", answer)  # tables with gaps turn 3 into 3.0
        if step and not self._numbered:
            answer = STEPS[int(step[1]) - 1]
        plain = _plain(answer)
        return plain.split()[-1] if plain in ("a", "b", *STEPS) else None

    def _unread(self, row: int, a: str, b: str, answer: str) -> str:
        if self._numbered and answer.removesuffix(".0") in NUMBERS:
            return (
                f"row {row}: the answer {answer} is not read as a step from 1 to 5, "
                "as a system has such a number for its name; rename it, or write the answers out"
            )
        known = f"{a!r}, {b!r}, 'a', 'b', {', '.join(map(repr, STEPS))}, or a number from 1 to 5"
        return f"row {row}: the answer {answer!r} is none of {known}"


def as_name(row: int, column: str, given: object) -> str:
    """Give a system's name as text, or say in which row it is missing."""
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
        raise InputError(f"row {row}: the answer {given!r} is no name, letter, step or number")
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
