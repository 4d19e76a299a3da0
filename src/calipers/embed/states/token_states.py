"""One vector for each token of a text: what metrics that match tokens need.

A text goes through the model once, on its own or beside texts of the same length, so that no
padding ever stands in a batch and a text's states do not depend on its company.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain

import numpy as np
from numpy.typing import NDArray

from calipers.embed.batching import Batch, Run, plan_batches
from calipers.errors import CalipersError
from calipers.progress import Advance

Encode = Callable[[list[str]], list[list[int]]]
"""Texts to the ids of their tokens, the model's own marks included, nothing cut."""

Forward = Callable[[NDArray[np.int64], Sequence[Run]], NDArray[np.float32]]
"""The tokens of a batch to their states."""

TEXTS_AT_ONCE = 1024


@dataclass(frozen=True, eq=False)
class TokenIds:
    """Texts as the tokens of a model.

    Attributes
    ----------
    ids
        The tokens of all texts end to end, int32 of shape (T,).
    starts
        Where each text starts in `ids`, int64 of shape (n + 1,).
    truncated
        Which texts were longer than the model reads, bool of shape (n,).
    """

    ids: NDArray[np.int32]
    starts: NDArray[np.int64]
    truncated: NDArray[np.bool_]

    @property
    def lengths(self) -> NDArray[np.int64]:
        """Tokens of each text, shape (n,)."""
        return np.diff(self.starts)

    def of(self, text: int) -> slice:
        """Where a text's tokens stand in `ids`, or in anything that has a value for each."""
        return slice(int(self.starts[text]), int(self.starts[text + 1]))


@dataclass(frozen=True, eq=False)
class TokenEncoder:
    """A model that gives a vector for each token. Made by :func:`load_token_encoder`.

    Attributes
    ----------
    encode
        Texts to ids of tokens.
    forward
        Ids of a batch, int64 of shape (T,), and its runs, to states, float32 of shape (T, d).
    marks
        Ids of the tokens that open and close a text, which stand for no word.
    tail
        How many tokens close a text; they are kept where it is cut.
    max_length
        Most tokens of a text, marks included.
    layer, width
        The layer whose states are given, and their d.
    max_tokens, max_texts
        Most tokens and texts in a forward pass; they change no state.
    signature
        Everything that can change a state, for people.
    """

    encode: Encode
    forward: Forward
    marks: frozenset[int]
    tail: int
    max_length: int
    layer: int
    width: int
    max_tokens: int
    max_texts: int | None
    signature: Mapping[str, str]

    def tokenise(self, texts: Sequence[str]) -> TokenIds:
        """Split texts into tokens; a long one keeps its beginning and the marks that close it."""
        parts, lengths, truncated = [np.empty(0, np.int32)], [0], []
        for first in range(0, len(texts), TEXTS_AT_ONCE):
            ids = self.encode(list(texts[first : first + TEXTS_AT_ONCE]))
            truncated += [len(each) > self.max_length for each in ids]
            ids = [self._cut(each) for each in ids]
            parts.append(np.fromiter(chain.from_iterable(ids), dtype=np.int32))
            lengths += map(len, ids)
        starts = np.cumsum(lengths, dtype=np.int64)
        return TokenIds(np.concatenate(parts), starts, np.array(truncated, dtype=np.bool_))

    def states(
        self, tokens: TokenIds, texts: Sequence[int], advance: Advance
    ) -> list[NDArray[np.float32]]:
        """Compute the states of some texts, each of length 1.

        Parameters
        ----------
        tokens
            All texts.
        texts
            Which of them to compute.
        advance
            Told how many texts are done.

        Returns
        -------
        list of array
            For each text float32 of shape (tokens, d).

        Raises
        ------
        CalipersError
            If a state is not finite, as with damaged weights.
        """
        found = [np.empty((0, self.width), np.float32)] * len(texts)
        lengths = tokens.lengths[list(texts)].astype(np.intp)
        filled = np.flatnonzero(lengths)  # a model without marks has no token for an empty text
        plan = plan_batches(lengths[filled], max_tokens=self.max_tokens, max_texts=self.max_texts)
        for batch in plan:
            rows = filled[batch.rows]
            states = self._forward(batch, [tokens.ids[tokens.of(texts[row])] for row in rows])
            ends = np.cumsum(lengths[rows])
            for row, own in zip(rows, np.split(states, ends[:-1]), strict=True):
                found[row] = own
            advance(len(rows))
        return found

    def _cut(self, ids: list[int]) -> list[int]:
        if len(ids) <= self.max_length:
            return ids
        return ids[: self.max_length - self.tail] + ids[len(ids) - self.tail :]

    def _forward(self, batch: Batch, ids: Iterable[NDArray[np.int32]]) -> NDArray[np.float32]:
        packed = np.concatenate(list(ids)).astype(np.int64)
        return _unit(self.forward(packed, batch.runs))


def _unit(states: NDArray[np.float32]) -> NDArray[np.float32]:
    norms = np.linalg.norm(states, axis=1, keepdims=True)
    if not np.isfinite(norms).all():
        raise CalipersError("the model gives states that are not finite; its weights are damaged")
    states /= np.maximum(norms, np.finfo(np.float32).tiny)
    return states


def closing(encode: Encode) -> int:
    """How many tokens close a text: those at the end of an empty text and of any other."""
    empty, other = encode(["", "a"])
    tail = 0
    while tail < min(len(empty), len(other)) and empty[-1 - tail] == other[-1 - tail]:
        tail += 1
    return tail
