"""Short phrases of the page: enumerations and counts."""

from __future__ import annotations

from collections.abc import Sequence

from calipers.wording.numbers import MISSING
from calipers.wording.words import Name, Words

MOST = 4


def words(*parts: str | Name | Words) -> Words:
    """Join words, names and parts into a sentence."""
    made: list[str | Name] = []
    for part in parts:
        made += part if isinstance(part, tuple) else [part]
    return tuple(made)


def joined(parts: Sequence[str | Name | Words], between: str) -> Words:
    """Join parts of a sentence."""
    return words(*(piece for part in parts for piece in (between, part)))[1:]


def listing(parts: Sequence[str | Name | Words], most: int = MOST) -> Words:
    """Join parts as an enumeration.

    Examples
    --------
    >>> listing(["a"]), "".join(listing(["a", "b", "c"])), "".join(listing(["a", "b"], most=1))
    (('a',), 'a, b and c', 'a and 1 more')
    """
    rest = len(parts) - most
    shown = [*parts[:most], *([f"{rest} more"] if rest > 0 else [])]
    first = joined(shown[:-1], ", ")
    return joined([first, *shown[-1:]] if first else shown, " and ")


def count(number: int | None) -> str:
    """Write a count with thousands separators."""
    return MISSING if number is None else f"{number:,}"
