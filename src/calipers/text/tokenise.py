"""From texts to a corpus of integers."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Protocol

import numpy as np

from calipers.errors import InputError
from calipers.text.corpus import Corpus
from calipers.text.tokenizers import find_tokenizer

Texts = Sequence[str] | Corpus
"""What the functions of :mod:`calipers.text` take: strings, or a corpus, tokenised already."""


class Tokenizer(Protocol):
    """Anything that splits a text into tokens.

    `name` stands in signatures, so it must pin all that changes a token.
    """

    name: str

    def split(self, texts: Sequence[str]) -> Iterable[Sequence[str]]:
        """Split each text into its tokens; an empty text has none."""
        ...


def tokenise(*sets: Sequence[str], tokenizer: str | Tokenizer = "nltk") -> tuple[Corpus, ...]:
    """Tokenise sets of texts together, so that their words share numbers.

    Parameters
    ----------
    sets
        Lists of strings.
    tokenizer
        Name of a tokenizer, or one of your own.

    Returns
    -------
    tuple of Corpus
        One for each set.

    Raises
    ------
    InputError
        If a set is empty, an item is no string, or the tokenizer is unknown.
    """
    chosen = find_tokenizer(tokenizer) if isinstance(tokenizer, str) else tokenizer
    numbers: dict[str, int] = {}
    words: list[str] = []
    corpora = []
    for texts in sets:
        if len(texts) == 0:
            raise InputError("texts must hold at least one text; found none")
        tokens, lengths = [], []
        for split in chosen.split(texts):
            tokens.extend([numbers.setdefault(word, len(numbers)) for word in split])
            lengths.append(len(split))
        starts = np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64)
        corpora.append(
            Corpus(texts, np.array(tokens, dtype=np.int32), starts, words, chosen.name)
        )
    words.extend(numbers)
    return tuple(corpora)


def as_corpus(texts: Texts, tokenizer: str | Tokenizer = "nltk") -> Corpus:
    """Tokenise texts, unless they are a corpus already, which keeps its own tokens."""
    return texts if isinstance(texts, Corpus) else tokenise(texts, tokenizer=tokenizer)[0]


def as_corpora(
    texts: Texts, references: Texts, tokenizer: str | Tokenizer = "nltk"
) -> tuple[Corpus, Corpus]:
    """Tokenise texts and what they are held against together.

    Raises
    ------
    InputError
        If only one of them is a corpus, or both are but were not tokenised together.
    """
    if isinstance(texts, Corpus) and isinstance(references, Corpus):
        return texts, references
    if isinstance(texts, Corpus) or isinstance(references, Corpus):
        raise InputError(
            "texts and references must both be lists of strings, or both corpora that were "
            "tokenised together: tokenise(texts, references)"
        )
    first, second = tokenise(texts, references, tokenizer=tokenizer)
    return first, second
