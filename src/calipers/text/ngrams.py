"""N-grams of a whole corpus as integers, in time linear in the number of tokens.

An n-gram is the (n - 1)-gram that starts where it starts and its last token, so a hash table over
these pairs numbers all n-grams of one order from those of the order before.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from calipers.catalogue.texts import LONGEST
from calipers.errors import InputError
from calipers.numeric.arrays import Flags, Ints, Longs
from calipers.numeric.compile import inlined, kernel
from calipers.numeric.validation import is_whole


def check_order(order: int, *, name: str = "order", least: int = 1) -> int:
    """Return the tokens of an n-gram, or refuse what is no sensible number for it."""
    if not is_whole(order, least) or order > LONGEST:
        raise InputError(
            f"{name} must be a whole number from {least} to {LONGEST}; found {order!r}"
        )
    return int(order)


@kernel
def renumber(tokens: Ints, vocabulary: int) -> tuple[Ints, int]:
    """Give tokens the numbers 0, 1, … by first appearance."""
    seen = np.full(vocabulary, -1, np.int32)
    ids = np.empty(len(tokens), np.int32)
    size = 0
    for place in range(len(tokens)):
        token = tokens[place]
        if seen[token] < 0:
            seen[token] = size
            size += 1
        ids[place] = seen[token]
    return ids, size


@kernel
def number_pairs(
    heads: Ints, head_starts: Longs, order: int, tokens: Ints, starts: Longs, ends: Longs
) -> tuple[Ints, int]:
    """Number the pairs of an n-gram and the token behind it, by first appearance."""
    room = 16
    while room < 2 * ends[-1]:
        room *= 2
    table = np.full(room, -1, np.int32)
    pairs = np.empty(ends[-1], np.uint64)
    ids = np.empty(ends[-1], np.int32)
    size = 0
    for text in range(len(ends) - 1):
        for step in range(ends[text + 1] - ends[text]):
            head = np.uint64(heads[head_starts[text] + step])
            token = np.uint64(tokens[starts[text] + step + order])
            pair = (head << np.uint64(32)) | token
            slot = _slot(pair, table, pairs)
            if table[slot] < 0:
                table[slot] = size
                pairs[size] = pair
                size += 1
            ids[ends[text] + step] = table[slot]
    return ids, size


@kernel
def count_within(ids: Ints, starts: Longs) -> tuple[Ints, Ints, Longs]:
    """Sort each text's numbers and count the runs."""
    found = np.empty(len(ids), np.int32)
    counts = np.empty(len(ids), np.int32)
    ends = np.zeros(len(starts), np.int64)
    size = 0
    for text in range(len(starts) - 1):
        mine = np.sort(ids[starts[text] : starts[text + 1]])
        for place in range(len(mine)):
            if place == 0 or mine[place] != mine[place - 1]:
                found[size] = mine[place]
                counts[size] = 0
                size += 1
            counts[size - 1] += 1
        ends[text + 1] = size
    return found[:size].copy(), counts[:size].copy(), ends


@inlined
def _slot(pair: np.uint64, table: Ints, pairs: NDArray[np.uint64]) -> int:
    """Where a pair stands in the table, or the free place where it belongs (splitmix64)."""
    mixed = (pair ^ (pair >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    mixed = (mixed ^ (mixed >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    mask = np.uint64(len(table) - 1)
    slot = (mixed ^ (mixed >> np.uint64(31))) & mask
    while table[slot] >= 0 and pairs[table[slot]] != pair:
        slot = (slot + np.uint64(1)) & mask
    return int(slot)


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
        """N-grams of each text, repeats included, shape (n,)."""
        return np.diff(self.starts)

    @cached_property
    def counts(self) -> Longs:
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

    ids: Ints
    counts: Ints
    starts: Longs

    @property
    def different(self) -> Longs:
        """Different n-grams of each text, shape (n,)."""
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
