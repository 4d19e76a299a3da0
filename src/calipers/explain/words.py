"""The words of a set of texts, counted once for everything that names regions by them."""

from __future__ import annotations

import re
import unicodedata
from array import array
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from calipers.errors import InputError

APOSTROPHES = str.maketrans("’ʼ", "''")
# An apostrophe that counts as a letter keeps "don't" together, so that it can be left out whole
ENGLISH_NOT = "nʼt"
# What English and French hang on with one: 's, 're, d'
HUNG_ON = re.compile(r"(?<=\w)'\w{1,2}\b")
ZERO_WIDTH_SPACE = "\u200b"
LONGEST = 40


@dataclass(frozen=True, eq=False, repr=False)
class Words:
    """Which words a set of texts uses, how often, and in which texts.

    Count a reference once with :meth:`of`, and give it to all evidence that holds it.

    Attributes
    ----------
    vocabulary
        The different words, casefolded, in the order of their first use.
    counts
        How often each text uses each word: a sparse matrix, shape ``(texts, words)``.
    """

    vocabulary: tuple[str, ...]
    counts: Any

    def __len__(self) -> int:
        return int(self.counts.shape[0])

    def __repr__(self) -> str:
        return f"Words({len(self):,} texts, {len(self.vocabulary):,} different words)"

    @classmethod
    def of(cls, texts: Sequence[str]) -> Words:
        """Count the words of texts.

        A word is a run of letters and their marks in any script, casefolded. Left out are what
        hangs on by an apostrophe (``'s``, ``don't``), single letters of scripts that have
        capitals, and runs of more than 40 letters. Scripts that put no spaces between words give
        whole phrases, which hardly name a region.

        Raises
        ------
        InputError
            If an item is no string.
        """
        chunks = _Chunks()
        flat, starts = array("i"), array("q", [0])
        for row, text in enumerate(texts, start=1):
            if not isinstance(text, str):
                raise InputError(f"texts must be strings; row {row} is {type(text).__name__}")
            flat.extend(map(chunks.__getitem__, text.split()))
            starts.append(len(flat))
        used = _matrix(flat, starts, len(chunks))
        return cls(tuple(chunks.vocabulary), (used @ chunks.words()).tocsr())

    def aligned(self, other: Words) -> tuple[tuple[str, ...], Any, Any]:
        """Both sets' counts over one vocabulary: first the words here, then what the other adds."""
        from scipy import sparse

        place = {word: number for number, word in enumerate(self.vocabulary)}
        numbers = [place.setdefault(word, len(place)) for word in other.vocabulary]
        theirs = other.counts.tocoo()
        columns = np.array(numbers, np.int32)[theirs.col]
        joined = (theirs.data, (theirs.row, columns))
        mine = self.counts.copy()
        mine.resize(len(self), len(place))
        return tuple(place), mine, sparse.csr_matrix(joined, shape=(len(other), len(place)))


class _Chunks(dict[str, int]):
    """Numbers what stands between white space, and cuts it into words when it is new."""

    def __init__(self) -> None:
        super().__init__()
        self.vocabulary: dict[str, int] = {}
        self._flat, self._starts = array("i"), array("q", [0])
        self._letters = _Letters()

    def __missing__(self, chunk: str) -> int:
        number = self[chunk] = len(self)
        for word in self._cut(chunk):
            self._flat.append(self.vocabulary.setdefault(word, len(self.vocabulary)))
        self._starts.append(len(self._flat))
        return number

    def words(self) -> Any:
        """How often each chunk holds each word: a sparse matrix, shape ``(chunks, words)``."""
        return _matrix(self._flat, self._starts, len(self.vocabulary))

    def _cut(self, chunk: str) -> list[str]:
        folded = chunk.casefold()
        if not folded.isalpha():
            folded = folded.translate(APOSTROPHES).replace("n't", ENGLISH_NOT)
            folded = HUNG_ON.sub(" ", folded).translate(self._letters)
        return list(filter(_names, folded.split()))


class _Letters(dict[int, str | None]):
    """What each character becomes: itself, nothing, or the space that ends a word."""

    def __missing__(self, code: int) -> str | None:
        letter = chr(code)
        kind = unicodedata.category(letter)
        becomes: str | None = letter if kind[0] in "LM" else " "
        if kind == "Cf" and letter != ZERO_WIDTH_SPACE:  # marks of direction, soft hyphens
            becomes = None
        self[code] = becomes
        return becomes


def _names(word: str) -> bool:
    """Whether a word can name something."""
    single = len(word) == 1 and word != word.upper()
    return not single and len(word) <= LONGEST and not word.endswith(ENGLISH_NOT)


def _matrix(flat: array[int], starts: array[int], columns: int) -> Any:
    """How often each row holds each number: the numbers of all rows end to end."""
    from scipy import sparse

    numbers: NDArray[np.int32] = np.array(flat, np.int32)
    parts = np.ones(len(numbers), np.int32), numbers, np.array(starts, np.int64)
    counts = sparse.csr_matrix(parts, shape=(len(starts) - 1, columns))
    counts.sum_duplicates()
    return counts
