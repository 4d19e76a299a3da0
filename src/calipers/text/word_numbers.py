"""Words as numbers, and texts as arrays of them."""

from __future__ import annotations

from array import array
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from calipers.numeric.arrays import Ints, Longs


class Vocabulary(dict[str, int]):
    """A map from words to numbers, in which a new word gets the next number."""

    def __missing__(self, word: str) -> int:
        number = self[word] = len(self)
        return number


@dataclass
class Numbers:
    """Tokenised texts, concatenated.

    Attributes
    ----------
    tokens
        The number of each token's word, int32 of shape (T,).
    starts
        Where each text starts in `tokens`, int64 of shape (n + 1,).
    """

    tokens: Ints
    starts: Longs


class Numbering:
    """Collects the token numbers of texts, in 4 bytes per token."""

    def __init__(self) -> None:
        self._tokens = array("i")
        self._starts = array("q", [0])

    def add(self, numbers: Iterable[int]) -> None:
        """Add the tokens of the next text."""
        self._tokens.extend(numbers)
        self._starts.append(len(self._tokens))

    def finish(self) -> Numbers:
        """Return everything that was added."""
        return Numbers(np.array(self._tokens, np.int32), np.array(self._starts, np.int64))


def number_splits(splits: Iterable[Sequence[str]], vocabulary: Vocabulary) -> Numbers:
    """Number texts given as lists of words."""
    numbering = Numbering()
    for split in splits:
        numbering.add(map(vocabulary.__getitem__, split))
    return numbering.finish()


def blocks(texts: Sequence[str], size: int) -> Iterator[tuple[int, int]]:
    """Divide texts into blocks of about `size` characters: the first row of each, and its end."""
    start = characters = 0
    for stop, text in enumerate(texts, start=1):
        characters += len(text)
        if characters >= size or stop == len(texts):
            yield start, stop
            start, characters = stop, 0
