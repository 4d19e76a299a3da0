"""Wording of values, names and row numbers in messages about samples."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import islice

NAME_LENGTH = 40

KINDS = {
    "texts": "texts",
    "tokens": "token ids",
    "images": "images",
    "vectors": "embeddings",
}
"""Kind of samples to the words for them in messages."""


def counted(count: int, noun: str) -> str:
    """Write a count with its noun: ``1 row``, ``1,200 rows``."""
    return f"{count:,} {noun}" if count == 1 else f"{count:,} {noun}s"


def first_few(numbers: Sequence[int], limit: int = 5) -> str:
    """List the first numbers and count the others: ``2, 5, 9 and 40 more``."""
    shown = [str(number) for number in numbers[:limit]]
    return _listed(shown, len(numbers) - len(shown))


def first_names(names: Sequence[str], limit: int) -> str:
    """List the first names and count the others: ``a, b and 7 more``."""
    more = f" and {len(names) - limit} more" if len(names) > limit else ""
    return ", ".join(names[:limit]) + more


def numbered(noun: str, numbers: Sequence[int]) -> str:
    """Name rows by their numbers: ``line 3``, ``lines 3, 8 and 9``."""
    return f"{noun if len(numbers) == 1 else noun + 's'} {first_few(numbers)}"


def names(objects: Iterable[object], limit: int = 12) -> str:
    """List names in quotes, long ones shortened; ``none`` if there are none."""
    objects = iter(objects)
    shown = [repr(shortened(str(name))) for name in islice(objects, limit)]
    return _listed(shown, sum(1 for _ in objects)) if shown else "none"


def shortened(text: str, length: int = NAME_LENGTH) -> str:
    """Cut a text to `length` characters, the last one an ellipsis."""
    return text if len(text) <= length else text[: length - 1] + "…"


def describe(value: object) -> str:
    """Describe a value that should have been a string."""
    match value:
        case None:
            return "null"
        case bool() | int() | float():
            return f"the {type(value).__name__} {shortened(str(value))}"
        case list() | tuple():
            return f"a list of {counted(len(value), 'item')}"
        case dict():
            return f"an object with the fields {names(value)}"
        case str():
            return f"the string {shortened(value)!r}"
    return f"a value of type {type(value).__name__}"


def _listed(shown: Sequence[str], more: int) -> str:
    if more:
        return f"{', '.join(shown)} and {more:,} more"
    return " and ".join(filter(None, [", ".join(shown[:-1]), *shown[-1:]]))
