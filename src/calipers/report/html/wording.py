"""Small words of the page: names kept apart from the sentence around them, lists, shares."""

from __future__ import annotations

from collections.abc import Sequence

from calipers.report.names import WIDEST_NAME, clean, shorten
from calipers.report.numbers import MISSING

START, END = "\N{FIRST STRONG ISOLATE}", "\N{POP DIRECTIONAL ISOLATE}"
"""Around a name in a sentence: the page sets it apart there, whichever way it is written."""

MOST = 4


def short(name: object) -> str:
    """Write the name of a set or a word: one line, not too long."""
    return shorten(clean(name), WIDEST_NAME)


def named(name: object) -> str:
    """Write the name of a set for a sentence, set apart."""
    return f"{START}{short(name)}{END}"


def plain(sentence: str) -> str:
    """Take the marks around names out again."""
    return sentence.replace(START, "").replace(END, "")


def listing(parts: Sequence[str], most: int = MOST) -> str:
    """Join parts as in speech.

    Examples
    --------
    >>> listing(["a"]), listing(["a", "b", "c"]), listing(["a", "b", "c"], most=2)
    ('a', 'a, b and c', 'a, b and 1 more')
    """
    rest = len(parts) - most
    shown = [*parts[:most], *([f"{rest} more"] if rest > 0 else [])]
    return " and ".join(filter(None, [", ".join(shown[:-1]), *shown[-1:]]))


def share(value: float | None) -> str:
    """Write a share as a percentage with two digits, never a small one as nothing.

    Examples
    --------
    >>> share(0.1234), share(0.0), share(0.0004), share(1.0), share(0.9996)
    ('12 %', '0 %', '0.04 %', '100 %', '99.96 %')
    """
    if value is None:
        return MISSING
    number = 100 * value
    if 0 < number < 0.01:
        return "< 0.01 %"
    if 99.99 < number < 100:
        return "> 99.99 %"
    return f"{_two_digits(number)} %"


def count(number: int | None) -> str:
    """Write a count with its thousands apart."""
    return MISSING if number is None else f"{number:,}"


def _two_digits(number: float) -> str:
    near_end = 0 < number < 1 or 99 < number < 100
    decimals = 2 if near_end else 1 if number < 10 else 0
    text = f"{number:.{decimals}f}"
    return text.rstrip("0").rstrip(".") if "." in text else text
