"""The texts of a corpus, made ready for the subsequence kernel."""

from __future__ import annotations

import itertools
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from calipers.errors import InputError
from calipers.estimate.tiles import Span, spans, workers
from calipers.text.corpus import Corpus
from calipers.text.subsequence_kernels import fill_own, fill_tile, order_positions
from calipers.text.text_distances import Doubles, Numbers, equal_ones, equal_texts

MOST_MATCHES = 10**9

Tokens = NDArray[np.int32]


@dataclass(frozen=True, eq=False)
class Subsequences:
    """What the kernel of every pair needs, and that of every text with itself.

    Attributes
    ----------
    order, decay
        Of the kernel.
    arrays
        Tokens, where each text starts, and each text's tokens in order with their places.
    powers
        The powers of the decay, up to one more than the longest text.
    rank
        An order of the texts that depends on their tokens alone.
    same
        The first equal text, for every text.
    own
        The kernel of every text with itself.
    """

    order: int
    decay: float
    arrays: tuple[Tokens, Numbers, Tokens, Tokens]
    powers: Doubles
    rank: Numbers
    same: Numbers
    own: Doubles

    @classmethod
    def of(cls, corpus: Corpus, order: int, decay: float, threads: int | None) -> Subsequences:
        """Make ready, and go through every text with itself once."""
        _check_matches(corpus)
        tokens, starts = corpus.tokens, corpus.starts
        arrays = tokens, starts, *order_positions(tokens, starts)
        powers = decay ** np.arange(int(corpus.lengths.max()) + 2.0)
        own = np.zeros(len(corpus))

        def work(span: Span) -> None:
            fill_own(arrays, order, powers, span, own[slice(*span)])

        with workers(threads) as pool:
            for _ in pool.map(work, spans(len(corpus), 16)):
                pass
        return cls(order, decay, arrays, powers, _rank(corpus), equal_texts(corpus), own)

    def similarity(self, rows: Span, columns: Span) -> Doubles:
        """The normalised kernel of some texts with others."""
        tile = np.zeros((rows[1] - rows[0], columns[1] - columns[0]))
        fill_tile(self.arrays, self.order, self.powers, rows, columns, self.rank, self.same, tile)
        left, right = self._lengths[slice(*rows)], self._lengths[slice(*columns)]
        lengths = left[:, None] * right
        alike = np.divide(tile, lengths, out=np.zeros(tile.shape), where=lengths > 0)
        return equal_ones(np.minimum(alike, 1.0), self.same, rows, columns)

    @cached_property
    def _lengths(self) -> Doubles:
        """‖φ(x)‖ of every text."""
        lengths: Doubles = np.sqrt(self.own)
        return lengths


def _rank(corpus: Corpus) -> Numbers:
    """Number the texts by their lengths and words, so that the order of the rows plays no part."""
    words, tokens = corpus.words, corpus.tokens.tolist()
    split = [
        [words[token] for token in tokens[first:last]]
        for first, last in itertools.pairwise(corpus.starts.tolist())
    ]
    ranked = sorted(range(len(split)), key=lambda text: (len(split[text]), split[text]))
    rank = np.empty(len(split), np.int64)
    rank[ranked] = np.arange(len(split))
    return rank


def _check_matches(corpus: Corpus) -> None:
    """Refuse a text whose pairs of equal tokens are too many to go through."""
    counted = corpus.ngrams(1).within
    squares = np.concatenate([[0.0], np.cumsum(counted.counts.astype(np.float64) ** 2)])
    matches = np.diff(squares[counted.starts])
    text = int(np.argmax(matches))
    if matches[text] > MOST_MATCHES:
        raise InputError(
            f"the subsequence kernel goes through all pairs of equal tokens, of which a text may "
            f"have {MOST_MATCHES:,} with itself; one of {corpus.lengths[text]:,} tokens has "
            f"{matches[text]:,.0f}. Cut long texts, or take the n-gram kernel"
        )
