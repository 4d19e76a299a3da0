"""Small words of the page: lists as in speech, shares, counts."""

from __future__ import annotations

from collections.abc import Sequence

from calipers.report.numbers import MISSING
from calipers.report.table import Name, Words

MOST = 4


def words(*parts: str | Name | Words) -> Words:
    """Put a sentence together of words, names and parts of sentences."""
    made: list[str | Name] = []
    for part in parts:
        made += part if isinstance(part, tuple) else [part]
    return tuple(made)


def joined(parts: Sequence[str | Name | Words], between: str) -> Words:
    """Join parts of a sentence."""
    return words(*(each for part in parts for each in (between, part)))[1:]


def listing(parts: Sequence[str | Name | Words], most: int = MOST) -> Words:
    """Join parts as in speech.

    Examples
    --------
    >>> listing(["a"]), "".join(listing(["a", "b", "c"])), "".join(listing(["a", "b"], most=1))
    (('a',), 'a, b and c', 'a and 1 more')
    """
    rest = len(parts) - most
    shown = [*parts[:most], *([f"{rest} more"] if rest > 0 else [])]
    first = joined(shown[:-1], ", ")
    return joined([first, *shown[-1:]] if first else shown, " and ")


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
    near_end = 0 < number < 1 or 99 < number < 100
    decimals = 2 if near_end else 1 if number < 10 else 0
    text = f"{number:.{decimals}f}"
    return f"{text.rstrip('0').rstrip('.') if '.' in text else text} %"


def count(number: int | None) -> str:
    """Write a count with its thousands apart."""
    return MISSING if number is None else f"{number:,}"
