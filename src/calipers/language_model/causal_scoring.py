"""Log-probabilities of given tokens under a causal model, many texts at a time.

Texts of about the same length stand side by side, the shorter ones filled up behind their end: no
token of a causal model sees what stands behind it, so this changes nothing. Where it could
(positions that depend on the longest text; recurrent models; one for which it was seen to change
something), only texts of equal length share a pass. A batch is bounded by its tokens, and where a
model gives all logits at once by these, tokens times vocabulary. Most models are a body and a head:
of them the head is applied to the tokens that are scored, some at a time, since the logits of a
token are 1 MB at a vocabulary of 262,144.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, Protocol

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from calipers.embedders.states.batches import fits
from calipers.errors import InputError
from calipers.language_model.causal_decoding import not_finite
from calipers.language_model.decoding import Decoding
from calipers.language_model.model import Ids, TokenScores
from calipers.language_model.processors import Processors
from calipers.language_model.windows import Window
from calipers.numeric.arrays import Floats
from calipers.progress import Advance

LOGITS = {"cpu": 1 << 26, "other": 1 << 29}
"""Most logits of a batch: 256 MB on a CPU, 2 GB on a card."""
_FILL = 0.8
"""A text shares a batch with longer ones if it has at least this part of their tokens."""
_AT_ONCE = 1 << 19
"""How many logits become probabilities at a time: as many as a core's cache holds."""
_ROWS = {"cpu": 1 << 24, "other": 1 << 28}
"""How many logits one product of states and the head gives, where these are two steps."""
_BLOCK = 1 << 13
"""Tokens of the vocabulary whose exponentials are summed up at a time."""


@dataclass
class ScoringBudget:
    """The amount of work in one pass, lowered when memory runs out.

    Attributes
    ----------
    tokens
        Most tokens, filled up ones included.
    texts
        Most texts; None for no bound.
    """

    tokens: int
    texts: int | None = None


def score_windows(
    model: Reader,
    sequences: Sequence[Ids],
    firsts: Sequence[int],
    unscored: NDArray[np.int64],
    windows: Sequence[Window],
    *,
    budget: ScoringBudget,
    padded: bool,
    vocabulary: int,
    device: str,
    decoding: Decoding | None,
    advance: Advance | None,
) -> TokenScores:
    """Compute the log-probabilities of the scored tokens of windows.

    Parameters
    ----------
    model
        What reads tokens.
    sequences
        The tokens of each text, with what stands before it.
    firsts, unscored
        Where in it scoring begins, and how many characters of the text stand before that.
    windows
        They score each token from there on once.
    budget
        How much a pass takes.
    padded
        Whether texts of different lengths may share a pass.
    vocabulary
        Number of logits of a token.
    device
        Where the model is.
    decoding
        How the model's distribution is truncated for the decoder's own probabilities.
    advance
        Called with the number of texts that are done.

    Raises
    ------
    InputError
        If not even one window fits in memory.
    CalipersError
        If the model's numbers are not finite.
    """
    counts = [max(len(ids) - first, 0) for ids, first in zip(sequences, firsts, strict=True)]
    starts = np.concatenate([[0], np.cumsum(counts)]).astype(np.int64)
    scorer = _Scorer(
        model,
        sequences,
        starts - np.array([*firsts, 0]),
        device,
        decoding,
        starts[-1],
        vocabulary=vocabulary,
    )
    left = np.bincount([window.row for window in windows], minlength=len(sequences))
    _tell(advance, int((left == 0).sum()))
    order = sorted(windows, key=lambda window: window.start - window.stop)
    done = 0
    while done < len(order):
        batch = _next_batch(order, done, budget, padded=padded)
        if fits(partial(scorer.score, batch)):
            rows = np.array([window.row for window in batch])
            np.subtract.at(left, rows, 1)
            _tell(advance, int((left[np.unique(rows)] == 0).sum()))
            done += len(batch)
        else:
            _halve(batch, budget)
    return TokenScores(
        scorer.log_probability, starts, vocabulary, scorer.decoded, scorer.squares, unscored
    )


class Reader(Protocol):
    """Protocol of models that map tokens to logits in one step or two."""

    def states(self, ids: Tensor) -> Tensor:
        """Return the input of the logits, shape (b, t, …), for tokens of shape (b, t)."""
        ...

    def logits(self, states: Tensor) -> Tensor:
        """Return the logits of states of shape (n, …), float32 of shape (n, v)."""
        ...


class WholeModel:
    """A model that returns all logits at once."""

    def __init__(self, model: Any) -> None:
        self._model = model

    def states(self, ids: Tensor) -> Tensor:
        """Return all logits."""
        logits: Tensor = self._model(input_ids=ids, use_cache=False).logits
        return logits

    def logits(self, states: Tensor) -> Tensor:
        """Return the same logits in float32."""
        return states.float()


class BodyAndHead:
    """A model whose head is applied to the scored tokens alone, in parts.

    So padding and prompts have no logits, a pass is bounded by its tokens alone, and the logits of
    a large vocabulary are never all there at once. Not every model is a body and one product;
    whether this one is must be tried.
    """

    def __init__(self, model: Any) -> None:
        self._body, self._head = model.base_model, model.get_output_embeddings()

    def states(self, ids: Tensor) -> Tensor:
        """Return the last hidden states, after the last norm."""
        states: Tensor = self._body(input_ids=ids, use_cache=False).last_hidden_state
        return states

    def logits(self, states: Tensor) -> Tensor:
        """Multiply states with the head."""
        logits: Tensor = self._head(states).float()
        return logits


def _tell(advance: Advance | None, texts: int) -> None:
    if advance is not None and texts:
        advance(texts)


def _read(window: Window) -> int:
    """Tokens that the model reads of a window: the last is only predicted."""
    return window.stop - window.start - 1


def _next_batch(
    windows: Sequence[Window], start: int, budget: ScoringBudget, *, padded: bool
) -> Sequence[Window]:
    """Take those that share a pass from windows in order, the longest first."""
    longest = _read(windows[start])
    most = max(budget.tokens // longest, 1)
    most = most if budget.texts is None else min(most, budget.texts)
    least = _FILL * longest if padded else longest
    stop = start + 1
    while stop < len(windows) and stop - start < most and _read(windows[stop]) >= least:
        stop += 1
    return windows[start:stop]


def _halve(batch: Sequence[Window], budget: ScoringBudget) -> None:
    longest = _read(batch[0])
    if len(batch) == 1:
        raise InputError(
            f"there is not enough memory to score a single text of {longest:,} tokens; choose a "
            "smaller model, dtype 'auto', or device 'cpu' if this was a graphics card"
        )
    budget.tokens = max(longest * (len(batch) // 2), 1)
    if torch.cuda.is_available():
        torch.cuda.empty_cache()


class _Scorer:
    """Scores batches of windows into arrays for all tokens."""

    def __init__(
        self,
        model: Reader,
        sequences: Sequence[Ids],
        shifts: NDArray[np.int64],
        device: str,
        decoding: Decoding | None,
        total: int,
        *,
        vocabulary: int,
    ) -> None:
        self._model, self._sequences, self._device = model, sequences, device
        self._shifts, self._vocabulary = shifts, vocabulary
        self.log_probability: Floats = np.empty(total)
        self.decoded: Floats | None = None if decoding is None else np.empty(total)
        self.squares: Floats | None = None if decoding is None else np.empty(total)
        self._greedy = decoding is not None and decoding.method == "greedy"
        self._processors = None if decoding is None else Processors(decoding, device)

    def score(self, windows: Sequence[Window]) -> None:
        """Score a batch; nothing is kept unless it is whole."""
        ids = np.zeros((len(windows), _read(windows[0])), dtype=np.int64)
        for row, window in zip(ids, windows, strict=True):
            row[: _read(window)] = self._sequences[window.row][window.start : window.stop - 1]
        with torch.inference_mode():
            tensor = torch.from_numpy(ids).to(self._device)
            self._take(windows, self._model.states(tensor))

    def _take(self, windows: Sequence[Window], states: Tensor) -> None:
        length, flat = states.shape[1], states.flatten(0, 1)
        read: list[NDArray[np.int64]] = []
        for row, window in enumerate(windows):
            target = np.arange(window.first, window.stop)
            positions = np.stack([target + row * length - window.start - 1, target])
            read.append(np.vstack([positions, np.full_like(target, row)]))
        places, targets, rows = np.concatenate(read, axis=1)
        which = np.array([window.row for window in windows])[rows]
        tokens = torch.from_numpy(
            np.concatenate(
                [self._sequences[window.row][window.first : window.stop] for window in windows]
            ).astype(np.int64)
        ).to(self._device)
        at = torch.from_numpy(places).to(self._device)
        parts = []
        step = max(_ROWS["cpu" if self._device == "cpu" else "other"] // self._vocabulary, 1)
        for start in range(0, len(places), step):
            part = slice(start, start + step)
            logits = self._model.logits(flat[at[part]])
            if self._processors is None:
                parts.append((log_probabilities(logits, tokens[part]),))
            else:
                parts += self._decoded(logits, tokens[part], which[part], targets[part])
        into = self._shifts[which] + targets
        columns = [torch.cat(column).cpu().numpy() for column in zip(*parts, strict=True)]
        if np.isnan(columns[0]).any():
            raise not_finite()
        self.log_probability[into] = columns[0]
        if self.decoded is not None and self.squares is not None:
            self.decoded[into], self.squares[into] = columns[1:]

    def _decoded(
        self, logits: Tensor, tokens: Tensor, which: NDArray[np.int64], targets: NDArray[np.int64]
    ) -> list[tuple[Tensor, ...]]:
        """What the model and the decoding say of tokens, some at a time."""
        assert self._processors is not None
        step = max(_AT_ONCE // self._vocabulary, 1)
        if self._device != "cpu":
            step *= 64
        if self._processors.look_back:
            step = 1
        parts = []
        for start in range(0, len(tokens), step):
            part = slice(start, start + step)
            before = None
            if self._processors.look_back:
                text = self._sequences[which[start]][: targets[start]].astype(np.int64)
                before = torch.from_numpy(text)[None].to(self._device)
            log_probability = log_probabilities(logits[part], tokens[part])
            processed = self._processors(before, logits[part].clone())
            parts.append((log_probability, *self._chances(processed, tokens[part])))
        return parts

    def _chances(self, processed: Tensor, tokens: Tensor) -> tuple[Tensor, Tensor]:
        """The probabilities of tokens as they are decoded, and the sums of squares."""
        if self._greedy:
            decoded = (processed.argmax(1) == tokens).double()
            return decoded, torch.ones_like(decoded)
        weights = (processed - processed.amax(1, keepdim=True)).exp_().double()
        sums = weights.sum(1)
        decoded = weights.gather(1, tokens[:, None])[:, 0] / sums
        return decoded, (weights**2).sum(1) / sums**2


def log_probabilities(logits: Tensor, tokens: Tensor) -> Tensor:
    """Return the log-probability of one token per row, float64 of shape (n,).

    On a CPU some rows and a block of the vocabulary are taken at a time, as many as a core's cache
    holds: logits are brought below the highest one of their row, and their exponentials are summed
    up in float32, the sums of the blocks in float64. Dozens of rows share each step, so that
    threads have something to divide.
    """
    size, rows = logits.shape[1], len(logits)
    if logits.device.type == "cpu":
        size = min(size, _BLOCK)
        rows = max(_AT_ONCE // size, 1)
    parts = []
    for part, chosen in zip(logits.split(rows), tokens.split(rows), strict=True):
        highest = part.amax(1, keepdim=True)
        sums = torch.zeros(len(part), dtype=torch.float64, device=part.device)
        for block in part.split(size, dim=1):
            sums += (block - highest).exp_().sum(1)
        of_token = (part.gather(1, chosen[:, None]) - highest)[:, 0].double()
        parts.append((of_token - sums.log()).clamp_(max=0))
    return torch.cat(parts)
