"""Sentences that hold names: a narrow line may shorten a name, and a page may set it apart."""

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
    """A name that a narrow line may shorten.

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
    """A piece of a text that a narrow line may shorten; no name that is to stand in full too."""


class Quoted(str):
    """A piece of what a person gave: it is shown as it is, also where it looks like an option."""


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
    """Name options as the present front does; names of systems and what is quoted stay."""
    if isinstance(text, tuple):
        return tuple(map(_in_front, text))
    return _in_front(text)


def _in_front(part: str | Name) -> str | Name:
    return part if isinstance(part, Name | Quoted) else worded(part)


def named(name: object, share: int = 3) -> Name:
    """Return the name of a set, which a narrow line may shorten further."""
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
    """Put a sentence together of its parts."""
    return tuple(word for part in parts for word in part)


def in_speech(names: Sequence[str], most: int = 4) -> Words:
    """Name systems as in speech, and say how many more there are."""
    parts = [(named(name),) for name in names[:most]]
    rest = len(names) - most
    return spoken_list([*parts, *([(f"{rest} more",)] if rest > 0 else [])])


def spoken_list(parts: Sequence[Words | tuple[Name]]) -> Words:
    """Join parts as in speech."""
    made: list[str | Name] = []
    for place, part in enumerate(parts):
        if place:
            made.append(" and " if place == len(parts) - 1 else ", ")
        made += part
    return tuple(made)
