"""Where texts and references agree, token by token.

Kept apart from :mod:`calipers.text.copied`, which says what is made of it.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from calipers.errors import InputError
from calipers.text.copied_kernels import common_lengths, nearest_suffixes, tokens_left
from calipers.text.corpus import Corpus, join
from calipers.text.suffix_order import sort_suffixes
from calipers.text.tokens import MOST_TOKENS


@dataclass(frozen=True, eq=False)
class Matches:
    """The longest span from each token of the texts on that the references hold too.

    Attributes
    ----------
    own, known
        The texts and the references.
    lengths
        Tokens of the span from each token on, int32 of shape (T,); 0 for none.
    places
        Where it starts in the tokens of the references, int64 of shape (T,).
    """

    own: Corpus
    known: Corpus
    lengths: NDArray[np.int32]
    places: NDArray[np.int64]

    @property
    def longest(self) -> NDArray[np.float64]:
        """The largest length in each text; NaN for texts without tokens."""
        longest = np.full(len(self.own), np.nan)
        filled = self.own.lengths > 0
        if filled.any():
            longest[filled] = np.maximum.reduceat(self.lengths, self.own.starts[:-1][filled])
        return longest

    def spans(self, least: int) -> NDArray[np.int64]:
        """Row, start, length, reference row and start there of the spans within no other."""
        within = np.zeros(len(self.lengths), bool)
        within[1:] = self.lengths[1:] == self.lengths[:-1] - 1
        first = np.flatnonzero((self.lengths >= least) & ~within)
        row, start = _locate(self.own, first)
        reference, beginning = _locate(self.known, self.places[first])
        return np.stack([row, start, self.lengths[first], reference, beginning], axis=1)


def matches(own: Corpus, known: Corpus) -> Matches:
    """Find the spans, by the order of the suffixes of both sets together.

    Raises
    ------
    InputError
        If there are too many tokens, or the sets were not tokenised together.
    """
    both, size = join(own, known), len(own.tokens)
    if len(both.tokens) > MOST_TOKENS:
        raise InputError(
            f"texts and references must have at most {MOST_TOKENS:,} tokens together; "
            f"found {len(both.tokens):,}"
        )
    left = tokens_left(both.starts)
    order = sort_suffixes(both.tokens, left, size, len(both.words))
    beside = nearest_suffixes(order, size)
    before, behind = (common_lengths(both.tokens, left, side) for side in beside)
    places = np.where(behind > before, beside[1], beside[0]).astype(np.int64) - size
    return Matches(own, known, np.maximum(before, behind), places)


def _locate(
    corpus: Corpus, places: NDArray[np.int64]
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Row of each token, and its place in the text."""
    rows = np.searchsorted(corpus.starts, places, side="right") - 1
    return rows, places - corpus.starts[rows]
