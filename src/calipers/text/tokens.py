"""Tokenisation of texts into corpora of integers."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from calipers.errors import InputError, checks_keywords
from calipers.text.corpus import Corpus, as_strings
from calipers.text.ngrams import renumber
from calipers.text.tokenizers import Tokenizer as Tokenizer
from calipers.text.tokenizers import find_tokenizer, number
from calipers.text.unicode_forms import as_seen
from calipers.text.unicode_tokenizer import AutoTokenizer
from calipers.text.word_numbers import Numbers, Vocabulary

Texts = Sequence[str] | Corpus
"""What the functions of :mod:`calipers.text` take: strings, or a corpus, tokenised already."""

AnyTokenizer = str | Tokenizer | Callable[[str], Sequence[str]]
"""How a tokenizer may be given: by name, as an object of your own, or as a plain function."""

MOST_TOKENS = 2**31 - 1
"""Tokens of all texts that are tokenised together: n-grams are numbered in 32 bits."""


@checks_keywords
def tokenise(*sets: Sequence[str], tokenizer: AnyTokenizer = "auto") -> tuple[Corpus, ...]:
    """Tokenise sets of texts together, so that their words share numbers.

    Tokens are those of the texts as they are seen (:mod:`calipers.text.unicode_forms`): composed
    letters, no invisible characters. The corpus keeps the texts themselves.

    Parameters
    ----------
    sets
        Lists of strings, or any other iterables of them (arrays, columns, generators).
    tokenizer
        Name of a tokenizer (see :func:`calipers.text.tokenizers.find_tokenizer`), or one of your
        own: an object with a `name` and a method ``split(texts)``, or a function that takes one
        text and returns its tokens. ``"auto"`` chooses one for all sets, by their letters.

    Returns
    -------
    tuple of Corpus
        One for each set. Words are numbered by first appearance.

    Raises
    ------
    InputError
        If there is no set, a set is empty, an item is not a string, the tokenizer is unknown or
        returns no tokens, or the texts have more than 2³¹ - 1 tokens.
    MissingExtraError
        If the tokenizer needs a package that is not installed.

    Examples
    --------
    >>> corpus, other = tokenise(["a b", ""], ["b c"], tokenizer="whitespace")
    >>> corpus.tokens, other.tokens, corpus.words
    (array([0, 1], dtype=int32), array([1, 2], dtype=int32), ['a', 'b', 'c'])
    """
    if not sets:
        raise InputError("tokenise needs at least one list of texts; found none")
    names = ["texts"] if len(sets) == 1 else [f"set {n} of texts" for n in range(1, len(sets) + 1)]
    return _tokenise(dict(zip(names, sets, strict=True)), tokenizer)


def as_corpus(texts: Texts, tokenizer: AnyTokenizer = "auto") -> Corpus:
    """Tokenise texts; a corpus is returned with its own tokens."""
    return texts if isinstance(texts, Corpus) else tokenise(texts, tokenizer=tokenizer)[0]


def as_corpora(
    texts: Texts, references: Texts, tokenizer: AnyTokenizer = "auto"
) -> tuple[Corpus, Corpus]:
    """Tokenise texts together with their references.

    Raises
    ------
    InputError
        If only one of them is a corpus, or both are but were not tokenised together.
    """
    if isinstance(texts, Corpus) and isinstance(references, Corpus):
        texts.check_shares_words(references)
        return texts, references
    if isinstance(texts, Corpus) or isinstance(references, Corpus):
        raise InputError(
            "texts and references must both be lists of strings, or both corpora that were "
            "tokenised together: tokenise(texts, references)"
        )
    first, second = _tokenise({"texts": texts, "references": references}, tokenizer)
    return first, second


def _tokenise(sets: Mapping[str, Any], tokenizer: AnyTokenizer) -> tuple[Corpus, ...]:
    chosen = find_tokenizer(tokenizer)
    listed = {name: _strings(texts, name) for name, texts in sets.items()}
    if isinstance(chosen, AutoTokenizer):
        chosen = chosen.choose(listed.values())
    vocabulary = Vocabulary()
    numbered = [_number(chosen, texts, name, vocabulary) for name, texts in listed.items()]
    tokens = sum(len(numbers.tokens) for numbers in numbered)
    if tokens > MOST_TOKENS:
        raise InputError(
            f"the texts must have at most {MOST_TOKENS:,} tokens together; found {tokens:,}"
        )
    words = _by_first_appearance(numbered, list(vocabulary))
    return tuple(
        Corpus(texts, numbers.tokens, numbers.starts, words, chosen.name)
        for texts, numbers in zip(listed.values(), numbered, strict=True)
    )


def _strings(texts: Any, name: str) -> list[str]:
    if isinstance(texts, Corpus):
        raise InputError(f"{name} are tokenised already; tokenise takes the texts: corpus.texts")
    return as_strings(texts, name)


def _number(chosen: Tokenizer, texts: list[str], name: str, vocabulary: Vocabulary) -> Numbers:
    try:
        return number(chosen, list(map(as_seen, texts)), vocabulary)
    except InputError as error:
        raise InputError(f"{name}, {error}") from error


def _by_first_appearance(numbered: list[Numbers], words: list[str]) -> list[str]:
    """Number the words anew in the order of the texts, whatever order a tokenizer met them in."""
    tokens = np.concatenate([numbers.tokens for numbers in numbered])
    renumbered, size = renumber(tokens, len(words))
    ends = np.cumsum([len(numbers.tokens) for numbers in numbered])
    for numbers, part in zip(numbered, np.split(renumbered, ends[:-1]), strict=True):
        numbers.tokens = part
    old = np.empty(size, np.int32)
    old[renumbered] = tokens
    return [words[word] for word in old.tolist()]
