"""Which texts share a forward pass: texts of one length side by side, so that nothing is padded."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray


class Run(NamedTuple):
    """Texts of one length, side by side in a batch: `texts` times `length` tokens from `start`."""

    start: int
    texts: int
    length: int

    @property
    def tokens(self) -> slice:
        """Where the run's tokens stand in the batch."""
        return slice(self.start, self.start + self.texts * self.length)


@dataclass(frozen=True, eq=False)
class Batch:
    """The rows that share a forward pass, in the order of their tokens, and their runs."""

    rows: NDArray[np.intp]
    runs: tuple[Run, ...]


def plan_batches(
    lengths: NDArray[np.intp], *, max_tokens: int, max_texts: int | None = None
) -> Iterator[Batch]:
    """Divide texts into batches, the longest texts first.

    Parameters
    ----------
    lengths
        Tokens of each text, shape (n,), each at least 1.
    max_tokens
        Most tokens in a batch; a longer text has a batch of its own.
    max_texts
        Most texts in a batch; None for no bound.
    """
    order = np.argsort(-lengths, kind="stable")
    ends = np.cumsum(lengths[order])
    start = 0
    while start < len(order):
        before = ends[start] - lengths[order[start]]
        stop = int(np.searchsorted(ends, before + max_tokens, side="right"))
        if max_texts is not None:
            stop = min(stop, start + max_texts)
        rows = order[start : max(stop, start + 1)]
        yield Batch(rows, tuple(_runs(lengths[rows])))
        start += len(rows)


def _runs(lengths: NDArray[np.intp]) -> Iterator[Run]:
    start = 0
    different, counts = np.unique(lengths, return_counts=True)
    for length, count in zip(different[::-1].tolist(), counts[::-1].tolist(), strict=True):
        yield Run(start, count, length)
        start += count * length
