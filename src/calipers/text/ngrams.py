"""N-grams of a whole corpus as integers, in time linear in the number of tokens.

An n-gram is the (n - 1)-gram that starts where it starts and its last token, so a hash table over
these pairs numbers all n-grams of one order from those of the order before.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from calipers.catalogue.texts import LONGEST
from calipers.errors import InputError
from calipers.numeric import native
from calipers.numeric.arrays import Flags, Ints, Longs
from calipers.numeric.validation import is_whole


def check_order(order: int, *, name: str = "order", least: int = 1) -> int:
    """Return the order of n-grams; refuse an invalid one."""
    if not is_whole(order, least) or order > LONGEST:
        raise InputError(
            f"{name} must be a whole number from {least} to {LONGEST}; found {order!r}"
        )
    return int(order)


def renumber(tokens: Ints, vocabulary: int) -> tuple[Ints, int]:
    """Renumber tokens 0, 1, … by first appearance."""
    ids = np.empty(len(tokens), np.int32)
    return ids, _renumber(tokens, np.empty(vocabulary, np.int32), ids)


_renumber = native.kernel(
    "renumber_tokens",
    "tokens i4[count]",
    "seen i4[vocabulary] out",
    "ids i4[count] out",
    returns="int",
)


def number_pairs(
    heads: Ints, head_starts: Longs, order: int, tokens: Ints, starts: Longs, ends: Longs
) -> tuple[Ints, int]:
    """Number the pairs of an n-gram and the token after it, by first appearance."""
    total = int(ends[-1])
    table = np.empty(max(16, 1 << (2 * total - 1).bit_length()), np.int32)
    pairs, ids = np.empty(total, np.uint64), np.empty(total, np.int32)
    size = _number(heads, head_starts, order, tokens, starts, ends, table, pairs, ids)
    return ids, size


_number = native.kernel(
    "number_ngrams",
    "heads i4[grams]",
    "head_starts i8[bounds]",
    "order int",
    "tokens i4[count]",
    "starts i8[bounds]",
    "ends i8[bounds]",
    "table i4[room] out",
    "pairs u8[total] out",
    "ids i4[total] out",
    returns="int",
)


def count_within(ids: Ints, starts: Longs) -> tuple[Ints, Ints, Longs]:
    """Sort each text's numbers and count repeats."""
    different, counts = np.empty(len(ids), np.int32), np.empty(len(ids), np.int32)
    keys = np.empty((2, int(np.diff(starts).max(initial=0))), np.uint64)
    ends = np.empty(len(starts), np.int64)
    size = _count_within(ids, starts, keys, different, counts, ends)
    return different[:size].copy(), counts[:size].copy(), ends


_count_within = native.kernel(
    "count_within_texts",
    "ids i4[total]",
    "starts i8[bounds]",
    "keys u8[2, longest] out",
    "different i4[total] out",
    "counts i4[total] out",
    "ends i8[bounds] out",
    returns="int",
)


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
    ids: Ints
    starts: Longs
    size: int

    @property
    def totals(self) -> Longs:
        """Number of n-grams of each text, with repeats, shape (n,)."""
        return np.diff(self.starts)

    @cached_property
    def counts(self) -> Longs:
        """How often each n-gram occurs in the corpus, shape (size,)."""
        return np.bincount(self.ids, minlength=self.size)

    @cached_property
    def within(self) -> TextCounts:
        """The distinct n-grams of each text, with their counts in that text."""
        ids, counts, starts = count_within(self.ids, self.starts)
        return TextCounts(ids, counts, starts)


@dataclass(frozen=True, eq=False)
class TextCounts:
    """The n-grams of each text, with their counts.

    Attributes
    ----------
    ids
        Numbers of the different n-grams of each text, ascending within a text, int32 of shape (U,).
    counts
        How often the text holds each of them, int32 of shape (U,).
    starts
        Where each text starts in both, int64 of shape (n + 1,).
    """

    ids: Ints
    counts: Ints
    starts: Longs

    @property
    def different(self) -> Longs:
        """Number of distinct n-grams of each text, shape (n,)."""
        return np.diff(self.starts)


def numbered(keep: Flags) -> tuple[Ints, int]:
    """Number the n-grams that are kept, densely, and count them; -1 for the others."""
    numbers = np.where(keep, np.cumsum(keep) - 1, -1).astype(np.int32)
    return numbers, int(keep.sum())


def single(tokens: Ints, starts: Longs, *, vocabulary: int) -> NGrams:
    """Number the tokens themselves, densely."""
    ids, size = renumber(tokens, vocabulary)
    return NGrams(1, ids, starts, int(size))


def extend(shorter: NGrams, tokens: Ints, starts: Longs) -> NGrams:
    """Number the n-grams that are one token longer."""
    windows = np.maximum(shorter.totals - 1, 0)
    ends = np.concatenate([[0], np.cumsum(windows)])
    ids, size = number_pairs(shorter.ids, shorter.starts, shorter.order, tokens, starts, ends)
    return NGrams(shorter.order + 1, ids, ends, int(size))
