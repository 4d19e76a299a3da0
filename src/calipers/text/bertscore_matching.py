"""From pairs of texts to precision and recall, with the token states of few texts at a time.

Pairs are matched block by block. The states of a block's texts are computed together, and those
that a later block needs too are kept, as long as they fit: memory is bounded, and each distinct
text goes through the model once.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from calipers.embed.states.token_states import TokenEncoder, TokenIds
from calipers.metrics.bert_score import Floats, idf, match
from calipers.progress import Advance
from calipers.text.bertscore_pairs import Integers, blocks

KEPT_BYTES = 1 << 28
"""States of a block, and states kept from earlier blocks, may take this much each."""


def match_all(
    encoder: TokenEncoder,
    tokens: TokenIds,
    weights: Floats,
    meetings: Integers,
    advance: Advance,
) -> Floats:
    """Compute precision and recall of each pair.

    Parameters
    ----------
    encoder, tokens
        The model, and the distinct texts as its tokens.
    weights
        One for each token in `tokens`.
    meetings
        Which texts meet: number of a text and of its reference, shape (m, 2).
    advance
        Told how many texts have gone through the model.

    Returns
    -------
    array
        Shape (m, 2), NaN where a side has no weight, and for both where a text holds marks alone.
    """
    found = np.full((len(meetings), 2), np.nan)
    full = _has_words(encoder, tokens)
    todo = np.flatnonzero(full[meetings].all(axis=1))
    shelf = _Shelf(encoder, tokens, meetings[todo], advance)
    for start, stop in blocks(tokens.lengths[meetings[todo]].sum(axis=1), shelf.room):
        shelf.fill(start, stop)
        for pair in todo[start:stop]:
            text, reference = meetings[pair].tolist()
            found[pair] = match(
                shelf.states[text],
                weights[tokens.of(text)],
                shelf.states[reference],
                weights[tokens.of(reference)],
            )
    return found


class _Shelf:
    """The states of the texts that the present pairs need."""

    def __init__(
        self, encoder: TokenEncoder, tokens: TokenIds, meetings: Integers, advance: Advance
    ) -> None:
        self.states: dict[int, NDArray[np.float32]] = {}
        self.room = max(1, KEPT_BYTES // (4 * encoder.width))
        self._encoder, self._tokens, self._advance = encoder, tokens, advance
        self._meetings = meetings
        self._last = np.full(len(tokens.lengths), -1)
        for side in meetings.T:
            np.maximum.at(self._last, side, np.arange(len(meetings)))

    def fill(self, start: int, stop: int) -> None:
        """Have the states of all texts in some pairs, and of few others."""
        wanted = np.unique(self._meetings[start:stop]).tolist()
        self.states = self._kept(start, set(wanted))
        missing = [text for text in wanted if text not in self.states]
        made = self._encoder.states(self._tokens, missing, self._advance)
        self.states.update(zip(missing, made, strict=True))

    def _kept(self, start: int, wanted: set[int]) -> dict[int, NDArray[np.float32]]:
        """What pairs from `start` on still need: what is wanted now, and the rest while it fits."""
        needed = [text for text in self.states if self._last[text] >= start]
        needed.sort(key=lambda text: (text not in wanted, self._last[text]))
        ends = np.cumsum([len(self.states[text]) for text in needed])
        # A copy, since a part of an array keeps all of it alive
        return {
            text: self.states[text].copy()
            for text, end in zip(needed, ends, strict=True)
            if end <= self.room
        }


def _has_words(encoder: TokenEncoder, tokens: TokenIds) -> NDArray[np.bool_]:
    """Which texts hold more than the marks that open and close them."""
    words = ~np.isin(tokens.ids, list(encoder.marks))
    before = np.concatenate([[0], np.cumsum(words)])
    return np.diff(before[tokens.starts]) > 0


def token_weights(encoder: TokenEncoder, tokens: TokenIds, references: Integers | None) -> Floats:
    """Weigh each token: 1, or its idf among the references; marks weigh 0.

    Parameters
    ----------
    encoder, tokens
        The model, and the distinct texts as its tokens.
    references
        The number of every reference, repeats included, for idf; None for 1 each.
    """
    size = int(tokens.ids.max(initial=0)) + 1
    table = np.ones(size)
    if references is not None:
        table = idf((tokens.ids[tokens.of(text)] for text in references), size)
    table[[mark for mark in encoder.marks if mark < size]] = 0.0
    return table[tokens.ids]
