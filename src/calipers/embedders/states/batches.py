"""Divide texts into batches for a model, and compute the states of their tokens.

Texts of one length stand side by side, so that nothing is padded and a text's states do not depend
on its company. A batch that does not fit in memory is halved, and so are those after it. What
computes the states is a `Model`: :class:`~calipers.embedders.states.bert.PackedBert` for plain
BERT, :class:`~calipers.embedders.states.transformer_states.TransformerStates` for any other kind.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from calipers.errors import InputError

if TYPE_CHECKING:
    from torch import Tensor


def cut(ids: list[int], most: int, closing: int) -> list[int]:
    """Truncate a long text, keeping the closing tokens."""
    return ids if len(ids) <= most else ids[: most - closing] + ids[len(ids) - closing :]


class LengthRun(NamedTuple):
    """Texts of one length, adjacent in a batch: `texts` times `length` tokens from `start`."""

    start: int
    texts: int
    length: int

    @property
    def tokens(self) -> slice:
        """Positions of the tokens in the batch."""
        return slice(self.start, self.start + self.texts * self.length)


@dataclass(frozen=True, eq=False)
class TokenBatch:
    """The rows of one forward pass, in the order of their tokens, and their runs."""

    rows: NDArray[np.intp]
    runs: tuple[LengthRun, ...]


def plan_batches(
    lengths: NDArray[np.intp], *, max_tokens: int, max_texts: int | None = None
) -> Iterator[TokenBatch]:
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
        yield TokenBatch(rows, tuple(_runs(lengths[rows])))
        start += len(rows)


def _runs(lengths: NDArray[np.intp]) -> Iterator[LengthRun]:
    start = 0
    different, counts = np.unique(lengths, return_counts=True)
    for length, count in zip(different[::-1].tolist(), counts[::-1].tolist(), strict=True):
        yield LengthRun(start, count, length)
        start += count * length


States = dict[int, "Tensor"]
"""Layer to the states of all tokens of a batch, shape (T, d)."""

Model = Callable[["Tensor", Sequence[LengthRun]], States]
"""Tokens of some texts end to end, int64 of shape (T,), and how they divide, to their states."""

Take = Callable[[NDArray[np.intp], Sequence[LengthRun], States], None]
"""Takes the states of a batch: which texts they are of, in the order of the tokens, and runs."""

_SIGNS = (
    "out of memory",
    "can't allocate memory",
    "cannot allocate memory",
    "not enough memory",
    "bad_alloc",
)
"""What the errors of CUDA, MPS and the CPU say."""


class Batches:
    """Divides rows into batches, and learns how many tokens fit in memory.

    Parameters
    ----------
    max_tokens
        Most tokens in a batch to begin with.
    max_texts
        Most texts in a batch; None for no bound.
    name
        What to call the embedder in errors.
    """

    def __init__(self, *, max_tokens: int, max_texts: int | None, name: str) -> None:
        self.max_tokens = max_tokens
        self._max_texts, self._name = max_texts, name

    def run(self, model: Model, ids: Sequence[NDArray[np.integer[Any]]], take: Take) -> None:
        """Compute the states of all texts, the longest first.

        Parameters
        ----------
        model
            What computes them.
        ids
            The tokens of each text, at least one.
        take
            Called once for each batch.

        Raises
        ------
        InputError
            If not even one text fits in memory.
        """
        lengths = np.array(list(map(len, ids)), dtype=np.intp)
        left = np.arange(len(ids))
        while len(left):
            batch = next(
                plan_batches(lengths[left], max_tokens=self.max_tokens, max_texts=self._max_texts)
            )
            rows = left[batch.rows]
            if fits(partial(_pass, model, ids, take, rows, batch.runs)):
                left = np.delete(left, batch.rows)
            else:
                self._halve(lengths[rows])

    def _halve(self, lengths: NDArray[np.intp]) -> None:
        import torch

        if len(lengths) == 1:
            raise InputError(
                f"the embedder {self._name!r} does not have enough memory for a single text of "
                f"{lengths[0]:,} tokens; lower max_length, choose dtype 'auto' or a smaller "
                "model, or device 'cpu' if this was a graphics card"
            )
        self.max_tokens = max(int(lengths.sum()) // 2, 1)
        if torch.cuda.is_available():
            torch.cuda.empty_cache()
        elif torch.backends.mps.is_available():
            torch.mps.empty_cache()


def is_out_of_memory(error: BaseException) -> bool:
    """Whether an error reports a lack of memory."""
    if isinstance(error, MemoryError) or type(error).__name__ == "OutOfMemoryError":
        return True
    return isinstance(error, RuntimeError) and any(sign in str(error).lower() for sign in _SIGNS)


def _pass(
    model: Model,
    ids: Sequence[NDArray[np.integer[Any]]],
    take: Take,
    rows: NDArray[np.intp],
    runs: Sequence[LengthRun],
) -> None:
    import torch

    packed = np.concatenate([ids[row] for row in rows]).astype(np.int64)
    take(rows, runs, model(torch.from_numpy(packed), runs))


def fits(work: Callable[[], object]) -> bool:
    """Call a function, and tell whether there was enough memory for it."""
    try:
        work()
    except (MemoryError, RuntimeError) as error:
        if not is_out_of_memory(error):
            raise
        # Outside of this block the error, and with it all that was computed so far, is gone
        return False
    return True
