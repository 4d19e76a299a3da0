"""Words of a text, for embedders whose units are words.

Punctuation stands alone, as those who trained GloVe counted it. The rule uses the kinds of
characters that Unicode distinguishes and knows no language, except for the English endings that
`parts` cuts off. A stretch of a script that is written without spaces is one word here, and its
parts are the units of :mod:`calipers.unicode.words`: Chinese characters, runs of katakana, Thai
consonants with their vowels.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from functools import cache
from itertools import chain
from unicodedata import category

import numpy as np
from numpy.typing import NDArray

from calipers.lazy import pattern
from calipers.unicode.words import word_count
from calipers.unicode.written_words import UNIT, UNSPACED

_LETTER, _DIGIT, _MARK, _ALONE = "LDMH"
_JOINTS = {"’": "'", "ʼ": "'", "‐": "-", "‑": "-"}
_WORD = "[LD][LDM]*"
_WORDS = re.compile(
    r"(?:LM*\.)+LM*(?![LD])\.?"  # U.S. and a.m.
    rf"|{_WORD}(?:['-]{_WORD}|(?<=D)[.,](?=D){_WORD})*"  # don't, well-known, 10,000.5
    r"|H[HM]*"
    r"|([^M])(?:\1|M)*"  # a mark that stands alone, such as a byte order mark, is not a word
)
_UNSPACED = pattern(f"[{UNSPACED}]")
_UNIT = pattern(UNIT)
_ENDING = re.compile(r"(.+?)(n't|'(?:s|re|ve|ll|d|m))", re.IGNORECASE)
_JOINT = re.compile("['’ʼ‐‑-]")


def split_words(text: str) -> list[str]:
    """Split a text into words and punctuation, in order.

    A word is a run of letters, digits and their marks; a hyphen or an apostrophe between two of
    them, and a point or a comma between digits, belong to it, as do the points of ``U.S.``. Every
    other character is a word of its own, a run of equal ones is one.

    Examples
    --------
    >>> split_words("Well-known? Don't pay $10,000... in the U.S.")
    ['Well-known', '?', "Don't", 'pay', '$', '10,000', '...', 'in', 'the', 'U.S.']
    """
    return [word for chunk in text.split() for word in split_chunk(chunk)]


def split_chunk(chunk: str) -> list[str]:
    """Split a whitespace-separated chunk into words; no rule looks beyond it."""
    if chunk.isascii() and chunk.isalnum():
        return [chunk]
    kinds = "".join(map(_kind, chunk))
    return [chunk[match.start() : match.end()] for match in _WORDS.finditer(kinds)]


def parts(word: str) -> list[str]:
    """Split a compound into its parts; a simple word is one part.

    Examples
    --------
    >>> parts("mother-in-law's"), parts("Don’t"), parts("word")
    (['mother', 'in', 'law', "'s"], ['Do', "n't"], ['word'])
    >>> parts("データベースを管理"), parts("ภาษาไทย")
    (['データベース', 'を', '管', '理'], ['ภา', 'ษา', 'ไท', 'ย'])
    """
    if _UNSPACED.match(word):
        return _UNIT.findall(word)
    if word.isalnum() or not word[:1].isalnum():
        return [word]
    ending = _ENDING.fullmatch(_JOINT.sub(_plain, word))
    if ending:
        return [*parts(ending[1]), ending[2]]
    return [part for part in _JOINT.split(word) if part]


def _plain(joint: re.Match[str]) -> str:
    return _JOINTS.get(joint[0], joint[0])


@cache
def _kind(character: str) -> str:
    """Tell letters, digits, marks and scripts without spaces; others stand for themselves."""
    if _UNSPACED.match(character):
        return _ALONE
    kind = category(character)
    if kind[0] == "M" or kind == "Cf":
        return _MARK
    if kind[0] in "LN" or character == "_":
        return _LETTER if kind[0] != "N" else _DIGIT
    return _JOINTS.get(character, character)


REMEMBERED = 1 << 18
"""Most chunks whose words are remembered."""


UNKNOWN = -1
"""The number of a word that is not known."""


class Chunks(dict[str, tuple[int, ...]]):
    """A map from whitespace-separated chunks to the numbers of their words, filled as they occur.

    Parameters
    ----------
    cut
        Gives a chunk's words, each with its number.
    """

    def __init__(self, cut: Callable[[str], Iterable[tuple[str, int]]]) -> None:
        self._cut = cut
        self._counts: dict[str, tuple[int, int]] = {}

    def __missing__(self, chunk: str) -> tuple[int, ...]:
        words = list(self._cut(chunk))
        numbers = self[chunk] = tuple(number for _, number in words)
        lost = [word_count(word) for word, number in words if number == UNKNOWN]
        signs = lost.count(0)  # punctuation is not a word, unless it is unknown
        every = word_count(chunk)
        if not words and any(category(sign)[0] == "M" for sign in chunk):
            signs = 1  # marks that belong to no word
        self._counts[chunk] = every + signs, min(every, sum(lost)) + signs
        return numbers

    def of(self, chunks: Iterable[str]) -> NDArray[np.int32]:
        """Return the numbers of the words of some chunks, concatenated."""
        return np.fromiter(chain.from_iterable(map(self.__getitem__, chunks)), dtype=np.int32)

    def read(self, chunks: Iterable[str]) -> tuple[int, int]:
        """Count all words, and unknown words, of chunks whose numbers are given."""
        counts = [self._counts[chunk] for chunk in chunks]
        return sum(words for words, _ in counts), sum(unread for _, unread in counts)

    def clear(self) -> None:
        """Forget all chunks."""
        super().clear()
        self._counts.clear()
