"""Conditions on scores, in the written form ``[system:]key op limit``.

The limit is a number, or the score of a baseline that may be multiplied and moved::

    condition  =  [system ":"] key  ("<" | "<=" | ">" | ">=")  limit
    limit      =  number  |  product [("+" | "-") number]
    product    =  "baseline" ["*" number]  |  number "*" "baseline"

A key may hold colons and equality signs (``precision:group=news``), and so may the name of a
system, so that the left side is parsed by the names of the scores and systems that there are.
Nothing is evaluated: the text is cut into words, and each of them has one place where it may be.
"""

from __future__ import annotations

import json
import math
import re
import tomllib
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from calipers.errors import InputError, either

Operator = Literal["<", "<=", ">", ">="]

BASELINE = "baseline"
OPERATOR = re.compile(r"[<>]=?")
WORD = re.compile(
    r"\s*(?:(?P<number>(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][+-]?[0-9]+)?)|(?P<name>\w+)|(?P<sign>\S))"
)
NUMBER = "a number"
LONGEST = 500
"""Characters of a condition, at most."""
LARGEST = 10**6
"""Bytes of a file of conditions, at most."""


@dataclass(frozen=True)
class Condition:
    """A condition on scores; the check fails where it is met.

    Attributes
    ----------
    text
        As it was written, without spaces around it.
    left
        The system and the key.
    operator
        On which side of the limit it is met.
    factor, offset
        The limit: the score of the baseline times `factor` plus `offset`; `factor` is 0 where the
        limit is a number.
    """

    text: str
    left: str
    operator: Operator
    factor: float
    offset: float

    @property
    def needs_baseline(self) -> bool:
        """Whether the limit depends on a baseline run."""
        return self.factor != 0

    @property
    def side(self) -> Literal["below", "above"]:
        """The side of the limit on which the condition is met."""
        return "below" if self.operator.startswith("<") else "above"

    @property
    def inclusive(self) -> bool:
        """Whether a score equal to the limit meets the condition."""
        return self.operator.endswith("=")

    def split(self, systems: Mapping[str, Collection[str]]) -> tuple[str | None, str]:
        """Split the text into system and key, both as written; the system is None for all systems.

        Parameters
        ----------
        systems
            The keys of the scores of every system.
        """
        if any(self.left in keys for keys in systems.values()):
            return None, self.left
        for name in sorted(systems, key=len, reverse=True):
            key = self.left.removeprefix(name).lstrip()
            if self.left.startswith(name) and key.startswith(":"):
                return name, key[1:].strip()
        return None, self.left


def parse_condition(text: str) -> Condition:
    """Parse one condition.

    Raises
    ------
    InputError
        Names the condition, the place, what was expected there and what was found.

    Examples
    --------
    >>> condition = parse_condition("mauve_star < baseline - 0.02")
    >>> condition.left, condition.operator, condition.factor, condition.offset
    ('mauve_star', '<', 1.0, -0.02)
    """
    if not isinstance(text, str) or not text.strip():
        raise InputError(f"a condition must be a text, such as 'recall < 0.8'; found {text!r:.100}")
    if len(text) > LONGEST:
        raise InputError(f"a condition has at most {LONGEST} characters; found {len(text):,}")
    text = text.strip()
    signs = list(OPERATOR.finditer(text))
    if not signs:
        raise _unexpected(text, len(text), "<, <=, > or >= after the name of a score")
    # Labels of groups may hold such a sign; a limit never does
    sign = signs[-1]
    left = text[: sign.start()].strip()
    if not left:
        raise _unexpected(text, sign.start(), "the name of a score, such as recall")
    words = _Words(text, sign.end())
    factor, offset = _limit(words)
    words.end()
    operator: Operator = sign.group()  # type: ignore[assignment]  # by its pattern
    return Condition(text, left, operator, factor, offset)


def read_conditions(path: str | Path) -> list[str]:
    """Read conditions from the list ``fail_if`` of a TOML or JSON file, which holds nothing else.

    Raises
    ------
    InputError
        If the file is missing or too large, cannot be read, or holds something else.
    """
    place = Path(path)
    try:
        if place.stat().st_size > LARGEST:
            raise InputError(f"{place}: a file of conditions has at most {LARGEST:,} bytes")
        text = place.read_text("utf-8")
        data = json.loads(text) if place.suffix.lower() == ".json" else tomllib.loads(text)
    except OSError as error:
        raise InputError(f"{place}: cannot be read: {error.strerror or error}") from error
    except InputError:
        raise
    except (ValueError, RecursionError) as error:
        kind = "JSON" if place.suffix.lower() == ".json" else "TOML"
        raise InputError(f"{place}: is not valid {kind}: {error!s:.200}") from error
    conditions = data.get("fail_if") if isinstance(data, dict) and len(data) == 1 else None
    if not isinstance(conditions, list) or not conditions:
        raise InputError(
            f"{place}: must hold the list fail_if and nothing else, such as "
            "fail_if = ['recall < 0.8']"
        )
    return conditions


def _limit(words: _Words) -> tuple[float, float]:
    """Read the right side: what the baseline is multiplied by, and what is added."""
    if words.take(BASELINE):
        factor = words.factor() if words.take("*") else 1.0
        return factor, _offset(words)
    place = words.place
    value = words.signed(f"{NUMBER} or {BASELINE}")
    if not words.take("*"):
        return 0.0, value
    if not words.take(BASELINE):
        raise words.unexpected(BASELINE)
    if value <= 0:
        raise _unexpected(words.text, place, "a number above 0 to multiply the baseline by")
    return value, _offset(words)


def _offset(words: _Words) -> float:
    if words.take("-"):
        return -words.number(NUMBER)
    return words.number(NUMBER) if words.take("+") else 0.0


class _Words:
    """The words of a limit, from left to right."""

    def __init__(self, text: str, start: int) -> None:
        self.text, self._next = text, start

    @property
    def place(self) -> int:
        """Where the next word begins."""
        rest = self.text[self._next :]
        return self._next + len(rest) - len(rest.lstrip())

    def take(self, word: str) -> bool:
        """Go past a word, if it is the next one."""
        match = WORD.match(self.text, self._next)
        if match is None or match.group().strip() != word:
            return False
        self._next = match.end()
        return True

    def signed(self, expected: str) -> float:
        """Go past a number that may have a sign."""
        sign = -1 if self.take("-") else 1
        if sign == 1:
            self.take("+")
        return sign * self.number(expected)

    def factor(self) -> float:
        """Go past a number above 0."""
        place, value = self.place, self.number(NUMBER)
        if value <= 0:
            raise _unexpected(self.text, place, "a number above 0 to multiply the baseline by")
        return value

    def number(self, expected: str) -> float:
        """Go past a number without a sign."""
        match = WORD.match(self.text, self._next)
        if match is None or match["number"] is None:
            raise self.unexpected(expected)
        value = float(match["number"])
        if not math.isfinite(value):
            raise self.unexpected("a finite number")
        self._next = match.end()
        return value

    def end(self) -> None:
        """Refuse what comes behind the last word."""
        if self.place < len(self.text):
            more = ["*", "+", "-"] if self.text[: self._next].rstrip().endswith(BASELINE) else []
            raise self.unexpected(either([*more, "the end"]))

    def unexpected(self, expected: str) -> InputError:
        """Say what should stand next."""
        return _unexpected(self.text, self.place, expected)


def _unexpected(text: str, place: int, expected: str) -> InputError:
    rest = text[place:].split()
    instead = repr(rest[0]) if rest else "nothing"
    return InputError(
        f"condition {text!r}: expected {expected} at character {place + 1}; found {instead}"
    )
