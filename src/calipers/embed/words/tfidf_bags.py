"""Texts as bags of numbered words, and the number that says which half of a reference one is in."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from hashlib import blake2b
from itertools import chain
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from calipers.embed.words.words import parts, split_chunk
from calipers.errors import InputError

UNKNOWN = -1
_REMEMBERED = 1 << 18
_ROUND = 1 << 64


class Bag(NamedTuple):
    """The words of a text without their order.

    Attributes
    ----------
    words
        Numbers of the different words in rising order, int32; those unknown are left out.
    counts
        How often each occurs, int32.
    length
        Words of the text, unknown ones too.
    draw
        A number below 2^64 that is as good as random, and the same for equal bags.
    """

    words: NDArray[np.int32]
    counts: NDArray[np.int32]
    length: int
    draw: int


class Bags:
    """Makes bags; what stands between white space is cut into words once and remembered.

    Parameters
    ----------
    number
        Gives a word its number, or `UNKNOWN`.
    """

    def __init__(self, number: Callable[[str], int]) -> None:
        self._chunks = _Chunks(number)

    def of(self, samples: Sequence[Any], *, first: int = 1) -> Iterator[Bag]:
        """Make the bag of each text or list of token ids; messages count them from `first`.

        Raises
        ------
        InputError
            If a sample is neither.
        """
        for row, sample in enumerate(samples, start=first):
            if len(self._chunks) > _REMEMBERED:
                self._chunks.clear()
            chunks = _cut(sample, row)
            found = chain.from_iterable(map(self._chunks.__getitem__, chunks))
            words = np.fromiter(found, np.int32)
            known, counts = np.unique(words[words != UNKNOWN], return_counts=True)
            draw = sum(map(self._chunks.draws.__getitem__, chunks)) % _ROUND
            yield Bag(known, counts.astype(np.int32), len(words), draw)


def _cut(sample: Any, row: int) -> list[str]:
    if isinstance(sample, str):
        return sample.split()
    ids = np.asarray(sample)
    if ids.ndim != 1 or (ids.size and ids.dtype.kind not in "iu"):
        raise InputError(
            f"sample {row} must be a text or a list of token ids; found {type(sample).__name__}"
        )
    return list(map(str, ids.tolist()))  # a token id is a word like any other


class _Chunks(dict[str, tuple[int, ...]]):
    """A chunk to the numbers of its words; beside it, what it adds to the draw of a text."""

    def __init__(self, number: Callable[[str], int]) -> None:
        self._number = number
        self.draws: dict[str, int] = {}

    def __missing__(self, chunk: str) -> tuple[int, ...]:
        words = [part for word in split_chunk(chunk.lower()) for part in parts(word)]
        self.draws[chunk] = sum(map(_draw, words)) % _ROUND
        found = self[chunk] = tuple(map(self._number, words))
        return found

    def clear(self) -> None:
        super().clear()
        self.draws.clear()


def _draw(word: str) -> int:
    digest = blake2b(word.encode("utf-8", "surrogatepass"), digest_size=8).digest()
    return int.from_bytes(digest, "little")
