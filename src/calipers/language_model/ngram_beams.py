"""Beam search over an n-gram model without listing its vocabulary.

The best ``2 b`` extensions of all beginnings are among the best ``2 b`` of each, and those of a
context stand first in its entries, in those of its shorter contexts and among the kinds. So a step
looks at a few tokens where :func:`calipers.language_model.search.beam_search` asks for all of them,
and finds the same texts: the same products give the same probabilities, equal ones the lower number
first. Tokens that were written before, where they count less, are looked up one by one.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from calipers.language_model.ngram_tables import Tables, TemperatureWeights
from calipers.language_model.ngram_walks import after, likeliest, probabilities_of
from calipers.language_model.search import Extensions
from calipers.language_model.truncation import repeating
from calipers.numeric.arrays import Longs

SPARE = 4
"""More tokens of each beginning than count, for those that rounding makes equal."""


class BeamExtensions:
    """Finds the best extensions of beginnings, and remembers the contexts of recent ones.

    Parameters
    ----------
    tables
        The model.
    weights
        Its sums for the temperature 1.
    known
        Number of tokens that can be written, the end not counted.
    begin
        The context before a first token.
    beams
        How many beginnings are followed.
    no_repeat_ngram, repetition_penalty
        As for :func:`calipers.language_model.search.beam_search`.
    """

    def __init__(
        self,
        tables: Tables,
        weights: TemperatureWeights,
        *,
        known: int,
        begin: int,
        beams: int,
        no_repeat_ngram: int | None,
        repetition_penalty: float | None,
    ) -> None:
        self._tables, self._weights = tables, weights
        self._size, self._begin = known + 1, begin
        self._most = min(2 * beams + SPARE, self._size)
        self._no_repeat, self._penalty = no_repeat_ngram, repetition_penalty
        self._contexts: dict[tuple[int, ...], int] = {}

    def __call__(self, histories: Sequence[Sequence[int]]) -> Extensions:
        """Return the best extensions of each history, by history and token."""
        contexts = self._advance(histories)
        banned = [self._banned(history) for history in histories]
        seen = [self._seen(history) for history in histories]
        left_out = [sorted({*ban, *known}) for ban, known in zip(banned, seen, strict=True)]
        tokens, probability = likeliest(
            self._tables, self._weights, contexts, *_listed(left_out), self._most
        )
        rows = np.repeat(np.arange(len(histories)), self._most)
        kept = np.flatnonzero(tokens.ravel() >= 0)
        rows, tokens, probability = rows[kept], tokens.ravel()[kept], probability.ravel()[kept]
        penalties = np.ones(len(rows))
        if self._penalty is not None:
            again = [sorted(set(known) - set(ban)) for ban, known in zip(banned, seen, strict=True)]
            more, starts = _listed(again)
            of = np.repeat(np.arange(len(histories)), np.diff(starts))
            rows, tokens = np.concatenate([rows, of]), np.concatenate([tokens, more])
            chances = probabilities_of(self._tables, contexts[of], more)
            probability = np.concatenate([probability, chances])
            penalties = np.concatenate([penalties, np.full(len(more), self._penalty)])
        order = np.lexsort((tokens, rows))
        with np.errstate(divide="ignore"):
            logarithms = np.log(probability[order]) * penalties[order]
        return Extensions(rows[order], tokens[order], logarithms)

    def _advance(self, histories: Sequence[Sequence[int]]) -> Longs:
        """The context after each history: one token on from that of its beginning."""
        keys = [tuple(history) for history in histories]
        before = np.array([self._contexts.get(key[:-1], -1) for key in keys], np.int64)
        if (before < 0).any():
            tokens, starts = _listed(keys)
            contexts = after(self._tables, tokens, starts, self._begin)
        else:
            steps = np.array([key[-1] for key in keys], np.int64)
            contexts = after(self._tables, steps, np.arange(len(keys) + 1), before)
        self._contexts = dict(zip(keys, contexts.tolist(), strict=True))
        return contexts

    def _banned(self, history: Sequence[int]) -> list[int]:
        if self._no_repeat is None:
            return []
        return repeating(history, self._no_repeat, size=self._size)

    def _seen(self, history: Sequence[int]) -> list[int]:
        if self._penalty is None:
            return []
        return [token for token in set(history) if token < self._size]


def _listed(lists: Sequence[Sequence[int]]) -> tuple[Longs, Longs]:
    """All numbers end to end, and where each list begins."""
    starts = np.zeros(len(lists) + 1, np.int64)
    np.cumsum([len(numbers) for numbers in lists], out=starts[1:])
    return np.array([number for numbers in lists for number in numbers], np.int64), starts
