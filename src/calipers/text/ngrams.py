"""N-grams of a whole corpus as integers, in time linear in the number of tokens.

An n-gram is the (n - 1)-gram that starts where it starts and its last token, so a hash table over
these pairs numbers all n-grams of one order from those of the order before.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from calipers.text.ngram_kernels import count_within, number_pairs, renumber


@dataclass(frozen=True, eq=False)
class NGrams:
    """All n-grams of one order in a corpus, text by text.

    Attributes
    ----------
    order
        Tokens of an n-gram.
    ids
        The number of each n-gram in the order of the texts, int32 of shape (W,); equal n-grams
        share one. Numbers are 0 to ``size - 1`` by first appearance.
    starts
        Where each text starts in `ids`, int64 of shape (n + 1,). A text of L tokens has
        max(0, L - order + 1) n-grams.
    size
        How many different n-grams there are.
    """

    order: int
    ids: NDArray[np.int32]
    starts: NDArray[np.int64]
    size: int

    @property
    def totals(self) -> NDArray[np.int64]:
        """N-grams of each text, repeats included, shape (n,)."""
        return np.diff(self.starts)

    @cached_property
    def counts(self) -> NDArray[np.int64]:
        """How often each n-gram occurs in the corpus, shape (size,)."""
        return np.bincount(self.ids, minlength=self.size)

    @cached_property
    def within(self) -> TextCounts:
        """The different n-grams of each text, with their counts in that text."""
        ids, counts, starts = count_within(self.ids, self.starts)
        return TextCounts(ids, counts, starts)


@dataclass(frozen=True, eq=False)
class TextCounts:
    """Which n-grams each text holds, and how often.

    Attributes
    ----------
    ids
        Numbers of the different n-grams of each text, ascending within a text, int32 of shape (U,).
    counts
        How often the text holds each of them, int32 of shape (U,).
    starts
        Where each text starts in both, int64 of shape (n + 1,).
    """

    ids: NDArray[np.int32]
    counts: NDArray[np.int32]
    starts: NDArray[np.int64]

    @property
    def different(self) -> NDArray[np.int64]:
        """Different n-grams of each text, shape (n,)."""
        return np.diff(self.starts)


def single(tokens: NDArray[np.int32], starts: NDArray[np.int64], *, vocabulary: int) -> NGrams:
    """Number the tokens themselves, densely."""
    ids, size = renumber(tokens, vocabulary)
    return NGrams(1, ids, starts, int(size))


def extend(shorter: NGrams, tokens: NDArray[np.int32], starts: NDArray[np.int64]) -> NGrams:
    """Number the n-grams that are one token longer."""
    windows = np.maximum(shorter.totals - 1, 0)
    ends = np.concatenate([[0], np.cumsum(windows)])
    ids, size = number_pairs(shorter.ids, shorter.starts, shorter.order, tokens, starts, ends)
    return NGrams(shorter.order + 1, ids, ends, int(size))
