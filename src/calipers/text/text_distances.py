"""Texts as the neighbour estimates ask for them: a kernel's distances, equal texts at 0."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from calipers.estimate.tiles import Span
from calipers.text.corpus import Corpus

Doubles = NDArray[np.float64]
Numbers = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class TextDistances:
    """Distances of texts under a kernel with κ(x, x) = 1.

    Attributes
    ----------
    name
        The kernel and its options.
    sizes
        Reference and generated texts.
    similarity
        κ of some texts of the union with others, in [0, 1], exactly 1 for equal texts.
    """

    name: str
    sizes: tuple[int, int]
    similarity: Callable[[Span, Span], Doubles]

    def tile(self, rows: Span, columns: Span) -> Doubles:
        """Distances in the kernel's feature space, sqrt(2 − 2κ), in [0, √2]."""
        distances: Doubles = np.sqrt(2 - 2 * self.similarity(rows, columns))
        return distances


def equal_texts(corpus: Corpus) -> Numbers:
    """The first text that has the same tokens, for every text, shape (n,)."""
    tokens, starts, firsts = corpus.tokens, corpus.starts.tolist(), dict[bytes, int]()
    return np.array(
        [
            firsts.setdefault(tokens[starts[text] : starts[text + 1]].tobytes(), text)
            for text in range(len(corpus))
        ],
        dtype=np.int64,
    )


def equal_ones(alike: Doubles, same: Numbers, rows: Span, columns: Span) -> Doubles:
    """Set the similarity of equal texts to 1, in place."""
    alike[same[slice(*rows)][:, None] == same[slice(*columns)]] = 1.0
    return alike
