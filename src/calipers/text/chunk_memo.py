"""Tokenisation with a memory: each distinct chunk of text is tokenised once.

Where a tokenizer's rules never look past the space that ends a chunk, the tokens of a text are
those of its chunks, end to end. Natural texts repeat their chunks, so nearly all of them are found
in a table, and the loops over them run outside Python's interpreter. The result is exactly the
tokenizer's own; each class that uses this says why.
"""

from __future__ import annotations

from array import array
from collections.abc import Iterable, Iterator, Sequence
from itertools import chain, islice
from typing import TYPE_CHECKING, Protocol

import numpy as np

from calipers.text.word_numbers import Numbers, Vocabulary, blocks

if TYPE_CHECKING:
    from calipers.numeric.arrays import Ints, Longs

BLOCK = 1 << 20
"""Characters of the texts that are looked up together."""
BATCH = 1 << 18
"""Characters of the new chunks that are tokenised by one call."""
ROOM = 1 << 26
"""Characters that are remembered before all is forgotten, so that memory stays bounded."""
OVERHEAD = 32
"""What a remembered chunk counts for beside its characters."""
MARK = "\U0010fffd"
"""Stands between chunks that are tokenised together; no rule touches it."""


class LocalTokenizer(Protocol):
    """A tokenizer whose rules depend on nothing beyond a space."""

    def keys(self, text: str, /) -> list[str]:
        """Split a text into chunks, marking those that depend on being at its ends."""
        ...

    def split_chunks(self, chunks: list[str], /) -> Iterable[Sequence[str]]:
        """Tokenise chunks, each as if between two others."""
        ...

    def split_edge(self, key: str, /) -> Sequence[str]:
        """Tokenise a chunk at the start or end of a text, by its key."""
        ...


class ChunkMemo:
    """A map from chunks to the numbers of their tokens.

    Each chunk has a number of its own, by which its tokens are found in one array.
    """

    def __init__(self, tokenizer: LocalTokenizer, vocabulary: Vocabulary) -> None:
        self._tokenizer = tokenizer
        self._vocabulary = vocabulary
        self._forget()

    def number(self, texts: Sequence[str]) -> Numbers:
        """Number the tokens of each text."""
        parts = []
        for start, stop in blocks(texts, BLOCK):
            parts.append(self._number_block(texts[start:stop]))
            if self._held > ROOM:
                self._forget()
        tokens, lengths = (np.concatenate(columns) for columns in zip(*parts, strict=True))
        return Numbers(tokens, np.concatenate([[0], np.cumsum(lengths)]))

    def _number_block(self, texts: Sequence[str]) -> tuple[Ints, Longs]:
        keys = [self._tokenizer.keys(text) for text in texts]
        known = len(self._chunks)
        numbers = np.array(array("i", map(self._chunks.__getitem__, chain(*keys))), np.int32)
        self._learn(list(islice(reversed(self._chunks), len(self._chunks) - known))[::-1])
        tokens, ends = np.frombuffer(self._tokens, np.int32), np.frombuffer(self._ends, np.int64)
        return _gather(numbers, np.cumsum([0, *map(len, keys)]), tokens, ends)

    def _learn(self, new: list[str]) -> None:
        """Tokenise new chunks and put their tokens behind those that are known."""
        words = [self._tokenizer.split_edge(key) if key[:1] == " " else () for key in new]
        inner = [place for place, key in enumerate(new) if key[:1] != " "]
        for batch in _batches(inner, new):
            splits = self._tokenizer.split_chunks([new[place] for place in batch])
            for place, split in zip(batch, splits, strict=True):
                words[place] = split
        for split in words:
            self._tokens.extend(map(self._vocabulary.__getitem__, split))
            self._ends.append(len(self._tokens))
        self._held += sum(map(len, new)) + OVERHEAD * len(new)

    def _forget(self) -> None:
        self._chunks = Vocabulary()
        self._tokens = array("i")
        self._ends = array("q", [0])
        self._held = 0


def _gather(chunks: Ints, starts: Longs, tokens: Ints, ends: Longs) -> tuple[Ints, Longs]:
    """The tokens of chunks end to end, and how many each text has; its chunks begin at `starts`."""
    sizes = ends[chunks + 1] - ends[chunks]
    reached = np.concatenate([[0], np.cumsum(sizes)])
    places = np.repeat(ends[chunks] - reached[:-1], sizes) + np.arange(reached[-1])
    return tokens[places], np.diff(reached[starts])


def split_between(tokens: list[str], mark: str) -> Iterator[list[str]]:
    """Split tokens at a mark: ``m a b m c m`` gives ``a b`` and ``c``."""
    start = 1
    for _ in range(tokens.count(mark) - 1):
        stop = tokens.index(mark, start)
        yield tokens[start:stop]
        start = stop + 1


def _batches(places: Sequence[int], chunks: Sequence[str]) -> Iterator[list[int]]:
    batch: list[int] = []
    size = 0
    for place in places:
        batch.append(place)
        size += len(chunks[place]) + 1
        if size >= BATCH:
            yield batch
            batch, size = [], 0
    if batch:
        yield batch
