"""Mean word vectors of texts (GloVe, word2vec, fastText), read from a local file.

With V the words of the file, v their vectors and w_1 … w_T the words of a text,

    words(x) = Σ_i v(w_i)·1[w_i ∈ V] / Σ_i 1[w_i ∈ V],

the mean over the words that are known. Paper 004 (section 7.5.3) divides by T, all words, instead;
`compare` scales every row to length one before k-NN and k-means, so both give the same scores. The
share of unknown words is told for each text.

It does not see the order of words: a text and its words shuffled have the same vector, bit by bit
(figure 16 of that paper). Nor does it see meaning that depends on the neighbours of a word.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from calipers.embedders.embedder import Embedder, EncodedBatch, check_texts
from calipers.embedders.options import EmbedderOptions
from calipers.embedders.reading import ReadingCounts
from calipers.embedders.words.word_vector_files import read_word_vectors
from calipers.embedders.words.words import REMEMBERED, UNKNOWN, Chunks, parts, split_chunk
from calipers.files import at_home
from calipers.unicode.composition import composed
from calipers.unicode.written_words import is_unspaced

TAKES: frozenset[str] = frozenset()
RULE = (
    "punctuation apart, as written or in lower case, compounds by their parts, without spaces the "
    "longest known; nfc"
)
LONGEST = 8
"""Units of a script without spaces that are looked up together at most."""


def load(name: str, options: EmbedderOptions) -> WordVectors:
    """Read the vectors of a file; no option can change them."""
    return WordVectors(at_home(name))


class WordVectors(Embedder):
    """Word vectors from a file, averaged over the known words of a text.

    Parameters
    ----------
    path
        GloVe text, fastText ``.vec``, word2vec text or binary; also as ``.gz``, or as a zip with
        one member.

    Raises
    ------
    InputError
        If there is no such file, or it does not hold word vectors.
    """

    views = ("wording",)
    reads = frozenset({"texts"})
    leaves_out = True
    kept = False  # a look-up is about as fast as reading the vectors back

    def __init__(self, path: str | Path) -> None:
        table = read_word_vectors(path)
        self.name = Path(path).name
        self._vectors = table.vectors
        self._rows, self._chunks = table.rows, Chunks(self._look_up)
        self.signature = {"embedder": self.name, "revision": table.sha256[:12]}
        self.view_signature = {"wording": "mean_known_words"}
        self.identity = f"word_vectors|{table.sha256}|mean_known_words|{RULE}"

    def encode(self, texts: Sequence[str]) -> EncodedBatch:
        """Average the vectors of each text's known words.

        Returns
        -------
        EncodedBatch
            ``wording``, float32 of shape (n, d); a row of zeros where no word is known.

        Raises
        ------
        InputError
            If an item is not a text.
        """
        check_texts(texts, unicode=False)
        rows = np.zeros((len(texts), self._vectors.shape[1]), np.float32)
        counts = []
        for place, text in enumerate(texts):
            if len(self._chunks) > REMEMBERED:
                self._chunks.clear()
            chunks = text.split()
            words = self._chunks.of(chunks)
            known = words[words != UNKNOWN]
            counts.append(self._chunks.read(chunks))
            if len(known):
                rows[place] = self._mean(known)
        return EncodedBatch(
            {"wording": rows}, np.zeros(len(texts), np.bool_), ReadingCounts.of(counts)
        )

    def _mean(self, known: NDArray[np.int32]) -> NDArray[np.float64]:
        # In the order of the rows, so that the order of the words changes not even a rounding
        rows, counts = np.unique(known, return_counts=True)
        weights = counts / len(known)
        mean: NDArray[np.float64] = np.einsum("w,wd->d", weights, self._vectors[rows])
        return mean

    def _look_up(self, chunk: str) -> Iterator[tuple[str, int]]:
        """Look the words of a chunk up, and the parts of a compound that is unknown."""
        for word in split_chunk(composed(chunk)):
            row = self._row(word)
            known = row != UNKNOWN
            yield from [(word, row)] if known else self._parts(word)

    def _parts(self, word: str) -> Iterator[tuple[str, int]]:
        """Look up the parts of a word; of a script without spaces the longest that are known."""
        pieces = parts(word)
        longest = LONGEST if is_unspaced(word[0]) else 1
        start = 0
        while start < len(pieces):
            found = (
                (part, row, stop)
                for stop in range(min(len(pieces), start + longest), start, -1)
                if (row := self._row(part := "".join(pieces[start:stop]))) != UNKNOWN
            )
            part, row, start = next(found, (pieces[start], UNKNOWN, start + 1))
            yield part, row

    def _row(self, word: str) -> int:
        row = self._rows.get(word)
        return self._rows.get(word.lower(), UNKNOWN) if row is None else row
