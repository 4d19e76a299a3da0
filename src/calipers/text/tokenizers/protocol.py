"""What a tokenizer is: one of the library's, an object of a person's own, or a plain function."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, Protocol, runtime_checkable

from calipers.errors import InputError
from calipers.text.tokenizers.vocabulary import Numbers, Vocabulary, number_splits


@runtime_checkable
class Tokenizer(Protocol):
    """Anything that splits a text into tokens.

    `name` stands in signatures, so it must pin all that changes a token: versions, files, options.
    """

    name: str

    def split(self, texts: Sequence[str], /) -> Iterable[Sequence[str]]:
        """Split each text into its tokens; an empty text has none."""
        ...


@runtime_checkable
class NumberingTokenizer(Tokenizer, Protocol):
    """A tokenizer that knows a faster way to numbers than by way of its words."""

    def number(self, texts: Sequence[str], vocabulary: Vocabulary, /) -> Numbers:
        """Number the tokens of each text: the same as by way of `split`."""
        ...


class FunctionTokenizer:
    """A function of one text as a tokenizer, signed with the function's name alone."""

    def __init__(self, function: Callable[[str], Sequence[str]]) -> None:
        self._function = function
        self.name = f"function:{getattr(function, '__qualname__', type(function).__name__)}"

    def split(self, texts: Sequence[str]) -> Iterable[Sequence[str]]:
        """Call the function on each text."""
        return map(self._function, texts)


def number(tokenizer: Tokenizer, texts: Sequence[str], vocabulary: Vocabulary) -> Numbers:
    """Number the tokens of each text, in the tokenizer's own way where it has one.

    Raises
    ------
    InputError
        If a text cannot be tokenised; the message starts with its row.
    """
    if isinstance(tokenizer, NumberingTokenizer):
        return tokenizer.number(texts, vocabulary)
    return number_splits(_checked(tokenizer, texts), vocabulary)


def _checked(tokenizer: Tokenizer, texts: Sequence[str]) -> Iterator[Sequence[str]]:
    """Go through the tokens of each text, and refuse what is no list of strings."""
    row = 0
    for row, split in enumerate(tokenizer.split(texts), start=1):
        if row > len(texts):
            break
        yield _words(split, tokenizer.name, row)
    if row != len(texts):
        raise InputError(
            f"{len(texts):,} text(s): the tokenizer {tokenizer.name!r} must return one list of "
            f"tokens for each; it returned {'more' if row > len(texts) else row}"
        )


def _words(split: Any, name: str, row: int) -> Sequence[str]:
    if not isinstance(split, str | bytes) and isinstance(split, Iterable):
        words = list(split)
        if all(isinstance(word, str) for word in words):
            return words
    raise InputError(
        f"row {row:,}: the tokenizer {name!r} must return a list of strings; "
        f"it returned {repr(split)[:60]}"
    )
