"""Hashed character n-grams of texts: which occur in a text, and how often.

A **character** is a code point of the text in Unicode's composed form (NFC): what is the same to
the eye is the same here, and what is other to the eye stays so. The compatibility form (NFKC) would
write full-width letters, ligatures and superscripts as plain letters, which are differences of
form. A letter with its marks, or an emoji of several signs, is not one character but an n-gram;
that takes no tables of a Unicode version, knows the parts of a cluster that no text held before,
and in texts of languages whose letters are composed it is the same.

Any run of white space is one space, and one space stands before the first word and behind the last,
so that a word at an end of a text has the n-grams that it has elsewhere. N-grams of 1 to `LONGEST`
characters are counted, within words and across their borders.

The **hash** of an n-gram of characters c₁ … c_k is h_k, with h₀ = 0 and h_i = s(h_{i-1} + c_i),
where s is a step of the generator splitmix64: x + 0x9E3779B97F4A7C15, then its finaliser, modulo
2^64. The **column** is its first 28 bits, then one that says whether the n-gram goes **across**
words (it holds a space between other characters), then two for k - 1. Of a million different
n-grams of one kind about 1,860 pairs share a column, and are counted as one n-gram each.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from calipers.numeric import native
from calipers.unicode.composition import composed

LONGEST = 4
"""Characters of the longest n-grams."""
ORDER = 3
"""The bits of a column that are an n-gram's length less one."""
ACROSS = 4
"""The bit that says that it goes across words."""

_COUNT = native.kernel(
    "count_character_ngrams",
    "characters u4[total]",
    "starts i8[bounds]",
    "longest int",
    "keys u8[room] out",
    "columns i4[most] out",
    "counts i4[most] out",
    "ends i8[bounds] out",
    "sums u8[texts] out",
    returns="int",
)
_UTF_32 = "utf-32-le" if sys.byteorder == "little" else "utf-32-be"


def as_read(text: str) -> str:
    r"""Normalise a text for n-grams: composed characters, white space as single spaces.

    Examples
    --------
    >>> as_read("  Cafe\u0301\n au  lait ") == " Caf\xe9 au lait "
    True
    >>> as_read(" \n")
    ''
    """
    words = composed(text).split()
    return f" {' '.join(words)} " if words else ""


@dataclass(frozen=True, eq=False)
class CharacterNgrams:
    """The character n-grams of some texts.

    Attributes
    ----------
    columns
        Columns of each text's different n-grams in rising order, text after text, int32.
    counts
        How often each occurs, int32.
    ends
        Where each text's columns begin, and last where they end, int64 of shape (texts + 1,).
    sums
        Sum of the hashes of all n-grams of a text, modulo 2^64: as good as random, and the same
        for texts of the same n-grams. uint64 of shape (texts,).
    characters
        The characters of all texts, uint32.
    starts
        Where those of each text begin, and last where they end, int64 of shape (texts + 1,).
    """

    columns: NDArray[np.int32]
    counts: NDArray[np.int32]
    ends: NDArray[np.int64]
    sums: NDArray[np.uint64]
    characters: NDArray[np.uint32]
    starts: NDArray[np.int64]


def count_ngrams(texts: Sequence[str], *, longest: int = LONGEST) -> CharacterNgrams:
    """Count the n-grams of texts normalised by :func:`as_read`.

    Parameters
    ----------
    texts
        The texts, valid Unicode.
    longest
        Characters of the longest n-grams.
    """
    lengths = np.array([len(text) for text in texts], np.int64)
    starts = np.concatenate([np.zeros(1, np.int64), np.cumsum(lengths)])
    characters = np.frombuffer("".join(texts).encode(_UTF_32), np.uint32)
    most = longest * len(characters)  # a few more than there are
    columns, counts = np.empty(most, np.int32), np.empty(most, np.int32)
    keys = np.empty(2 * longest * int(lengths.max(initial=0)), np.uint64)
    ends, sums = np.empty(len(starts), np.int64), np.empty(len(texts), np.uint64)
    size = _COUNT(characters, starts, longest, keys, columns, counts, ends, sums)
    return CharacterNgrams(columns[:size], counts[:size], ends, sums, characters, starts)


def columns_of(characters: NDArray[np.uint32]) -> NDArray[np.int32]:
    """Return the columns of single characters, as n-grams of length one."""
    mixed = characters.astype(np.uint64) + np.uint64(0x9E3779B97F4A7C15)
    mixed = (mixed ^ (mixed >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    mixed = (mixed ^ (mixed >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    mixed ^= mixed >> np.uint64(31)
    return (mixed >> np.uint64(36) << np.uint64(3)).astype(np.int32)
