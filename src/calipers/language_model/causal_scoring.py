"""Log-probabilities of given tokens under a causal model, many texts at a time.

Texts of about the same length stand side by side, the shorter ones filled up behind their end: no
token of a causal model sees what stands behind it, so this changes nothing. Where it could
(positions that depend on the longest text; recurrent models; one for which it was seen to change
something), only texts of equal length share a pass. A batch is bounded by its tokens and by its
logits, tokens times vocabulary.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

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


@dataclass
class ScoringBudget:
    """How much a pass takes; it is lowered where memory runs out.

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
    model: Any,
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
    """Compute the log-probabilities of the tokens that windows score.

    Parameters
    ----------
    model
        As transformers gives it.
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
        model, sequences, starts - np.array([*firsts, 0]), device, decoding, starts[-1]
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
        model: Any,
        sequences: Sequence[Ids],
        shifts: NDArray[np.int64],
        device: str,
        decoding: Decoding | None,
        total: int,
    ) -> None:
        self._model, self._sequences, self._device = model, sequences, device
        self._shifts = shifts
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
            logits = self._model(input_ids=tensor, use_cache=False).logits
            self._take(windows, logits)

    def _take(self, windows: Sequence[Window], logits: Tensor) -> None:
        length, flat = logits.shape[1], logits.flatten(0, 1)
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
        step = max(_AT_ONCE // flat.shape[1], 1)
        if self._device != "cpu":
            step *= 64
        if self._processors is not None and self._processors.look_back:
            step = 1
        for start in range(0, len(places), step):
            part = slice(start, start + step)
            part_logits = flat[at[part]].float()
            before = None
            if self._processors is not None and self._processors.look_back:
                text = self._sequences[which[start]][: targets[start]].astype(np.int64)
                before = torch.from_numpy(text)[None].to(self._device)
            parts.append(self._probabilities(part_logits, tokens[part], before))
        into = self._shifts[which] + targets
        columns = [torch.cat(column).cpu().numpy() for column in zip(*parts, strict=True)]
        if np.isnan(columns[0]).any():
            raise not_finite()
        self.log_probability[into] = columns[0]
        if self.decoded is not None and self.squares is not None:
            self.decoded[into], self.squares[into] = columns[1:]

    def _probabilities(
        self, logits: Tensor, tokens: Tensor, before: Tensor | None
    ) -> tuple[Tensor, ...]:
        highest = logits.amax(1, keepdim=True)
        sums = (logits - highest).exp_().sum(1, dtype=torch.float64)
        token_logits = (logits.gather(1, tokens[:, None]) - highest)[:, 0].double()
        log_probability = (token_logits - sums.log()).clamp_(max=0)
        if self._processors is None:
            return (log_probability,)
        processed = self._processors(before, logits)
        if self._greedy:
            decoded = (processed.argmax(1) == tokens).double()
            return log_probability, decoded, torch.ones_like(decoded)
        weights = (processed - processed.amax(1, keepdim=True)).exp_().double()
        sums = weights.sum(1)
        decoded = weights.gather(1, tokens[:, None])[:, 0] / sums
        return log_probability, decoded, (weights**2).sum(1) / sums**2
