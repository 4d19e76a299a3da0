"""Tokenizers by name, path or function, and the numbering of their tokens.

========================  ==========================================================================
``auto``                  ``nltk`` where all sets are English, else ``unicode``; the default
``nltk``                  NLTK's ``NLTKWordTokenizer``, without NLTK, on the whole text, so that
                          only the last full stop is split from its word (``13a`` splits all)
``unicode``               words and marks of any script by Unicode's boundaries (UAX #29); where a
                          script has no spaces, its characters or clusters of them
``whitespace``            what stands between white space
``characters``            every character that a reader sees (grapheme cluster), white space too
``13a``, ``intl``, …      sacrebleu's tokenizers
``minilm``                the word pieces of the packaged all-MiniLM-L6-v2
``hf:NAME_OR_PATH``       any Hugging Face tokenizer on this machine: by its name in the cache, a
                          folder, or a ``tokenizer.json``; a path may also stand by itself
========================  ==========================================================================
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, Protocol, runtime_checkable

from calipers.errors import InputError, unknown_name
from calipers.files import at_home
from calipers.text import sacrebleu_tokenizers
from calipers.text.nltk_tokenizer import NltkTokenizer
from calipers.text.plain_tokenizers import CharacterTokenizer, WhitespaceTokenizer
from calipers.text.sacrebleu_tokenizers import Sacrebleu13a, SacrebleuTokenizer
from calipers.text.subword_tokenizers import HUB_NAME, PREFIX, load_minilm, load_named, load_path
from calipers.text.unicode_tokenizer import AutoTokenizer, UnicodeTokenizer
from calipers.text.word_numbers import Numbers, Vocabulary, number_splits


@runtime_checkable
class Tokenizer(Protocol):
    """Protocol of tokenizers, which split texts into tokens.

    `name` stands in signatures, so it must pin all that changes a token: versions, files, options.
    """

    name: str

    def split(self, texts: Sequence[str], /) -> Iterable[Sequence[str]]:
        """Split each text into its tokens; an empty text has none."""
        ...


@runtime_checkable
class NumberingTokenizer(Tokenizer, Protocol):
    """A tokenizer with a faster way to number tokens than through words."""

    def number(self, texts: Sequence[str], vocabulary: Vocabulary, /) -> Numbers:
        """Number the tokens of each text, with the same result as from `split`."""
        ...


class FunctionTokenizer:
    """A function of one text as a tokenizer; the signature states only its name."""

    def __init__(self, function: Callable[[str], Sequence[str]]) -> None:
        self._function = function
        self.name = f"function:{getattr(function, '__qualname__', type(function).__name__)}"

    def split(self, texts: Sequence[str]) -> Iterable[Sequence[str]]:
        """Call the function on each text."""
        return map(self._function, texts)


def number(tokenizer: Tokenizer, texts: Sequence[str], vocabulary: Vocabulary) -> Numbers:
    """Number the tokens of each text, by the tokenizer's own method if it has one.

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


_OWN: dict[str, Callable[[], Tokenizer]] = {
    "auto": AutoTokenizer,
    "nltk": NltkTokenizer,
    "unicode": UnicodeTokenizer,
    "whitespace": WhitespaceTokenizer,
    "characters": CharacterTokenizer,
    "13a": Sacrebleu13a,
    "minilm": load_minilm,
}
NAMES = (*_OWN, *(name for name in sacrebleu_tokenizers.NAMES if name not in _OWN))
"""The tokenizers that have a name of their own."""


def find_tokenizer(tokenizer: Any) -> Tokenizer:
    """Find a tokenizer by its name or path; a tokenizer object is returned as it is.

    Parameters
    ----------
    tokenizer
        One of `NAMES`, ``"hf:"`` and the name or path of a Hugging Face tokenizer, a path, an
        object with a `name` and a method ``split(texts)``, or a function from a text to tokens.

    Raises
    ------
    InputError
        If there is no such tokenizer, or it is not on this machine.
    MissingExtraError
        If it needs a package that is not installed.
    """
    if isinstance(tokenizer, str):
        return _by_name(tokenizer) if tokenizer in NAMES else _by_path(tokenizer)
    if isinstance(tokenizer, os.PathLike):
        return _by_path(os.fspath(tokenizer))
    if isinstance(tokenizer, Tokenizer) and not isinstance(tokenizer, type):
        return tokenizer
    if callable(tokenizer):
        return FunctionTokenizer(tokenizer)
    raise InputError(
        "tokenizer must be a name, an object with a name and a method split(texts), or a function "
        f"from a text to its tokens; found {tokenizer!r}"
    )


def _by_name(name: str) -> Tokenizer:
    return _OWN[name]() if name in _OWN else SacrebleuTokenizer(name)


def _by_path(given: str) -> Tokenizer:
    place = given.removeprefix(PREFIX)
    path = at_home(place)
    if place and os.path.exists(path):
        return load_path(path)
    if place and given.startswith(PREFIX):
        return load_named(place)
    if given.startswith(PREFIX):
        raise InputError(f"tokenizer {given!r}: give a name or folder after {PREFIX}")
    if given.lower() in NAMES:
        raise InputError(f"unknown tokenizer {given!r}; did you mean {given.lower()!r}?")
    if _looks_like_path(given):
        cached = f"; one in the Hugging Face cache is written {PREFIX}{given}"
        raise InputError(
            f"no tokenizer {given!r}: there is no folder or file {path.absolute()}"
            f"{cached if HUB_NAME.fullmatch(given) else ''}"
        )
    raise unknown_name("tokenizer", given, [*NAMES, f"{PREFIX}NAME_OR_FOLDER"])


def _looks_like_path(given: str) -> bool:
    return "/" in given or os.sep in given or given.startswith((".", "~"))
