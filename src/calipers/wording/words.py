"""Sentences with names, which renderers can shorten or mark up."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import overload

from calipers.serialise import Plain
from calipers.wording.front import worded
from calipers.wording.names import clean
from calipers.wording.short_names import short


@dataclass(frozen=True)
class Name(Plain):
    """A name that may be shortened on a narrow line.

    Attributes
    ----------
    name
        The whole name.
    share
        How many such names a line has room for; 0 for what is left beside the lead columns.
    most
        Characters that it may have on a wide line; None for any number.
    """

    name: str
    share: int = 3
    most: int | None = 40

    _written = ("name",)
    _optional = ("share", "most")

    def __str__(self) -> str:
        return self.name if self.most is None else short(self.name, self.most)


@dataclass(frozen=True)
class Passage(Name):
    """A quoted text that may be shortened on a narrow line, without its full form elsewhere."""


class Quoted(str):
    """A quotation of user input, shown unchanged even if it looks like an option."""


Words = tuple[str | Name, ...]
"""A sentence with names in it."""


def said(text: str | Name | Words) -> str:
    """Write a sentence in full."""
    return "".join(map(str, text)) if isinstance(text, tuple) else str(text)


@overload
def in_front(text: Words) -> Words: ...
@overload
def in_front(text: str | Name | Words) -> str | Name | Words: ...
def in_front(text: str | Name | Words) -> str | Name | Words:
    """Name options in the form of the present front, leaving names and quotations unchanged."""
    if isinstance(text, tuple):
        return tuple(map(_in_front, text))
    return _in_front(text)


def _in_front(part: str | Name) -> str | Name:
    return part if isinstance(part, Name | Quoted) else worded(part)


def named(name: object, share: int = 3) -> Name:
    """Return the name of a set, which a narrow line may shorten."""
    return Name(clean(name), share)


def listed(names: Sequence[Words | Name], between: str = ", ") -> Words:
    """Join names, or sentences with names in them."""
    parts: list[str | Name] = []
    for place, name in enumerate(names):
        parts += [between] if place else []
        parts += [name] if isinstance(name, Name) else name
    return tuple(parts)


def names_in(text: str | Name | Words) -> Iterator[str]:
    """Return the names in a sentence, in full."""
    for part in text if isinstance(text, tuple) else (text,):
        if isinstance(part, Name) and not isinstance(part, Passage):
            yield part.name


def joined(*parts: Words) -> Words:
    """Join the parts of a sentence."""
    return tuple(word for part in parts for word in part)


def in_speech(names: Sequence[str], most: int = 4) -> Words:
    """List systems in a sentence, and count the others."""
    parts = [(named(name),) for name in names[:most]]
    rest = len(names) - most
    return spoken_list([*parts, *([(f"{rest} more",)] if rest > 0 else [])])


def spoken_list(parts: Sequence[Words | tuple[Name]]) -> Words:
    """Join parts as an enumeration."""
    made: list[str | Name] = []
    for place, part in enumerate(parts):
        if place:
            made.append(" and " if place == len(parts) - 1 else ", ")
        made += part
    return tuple(made)
