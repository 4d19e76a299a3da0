"""Sliding windows over texts longer than a model's context.

A window of C tokens moves by s tokens. Each token is scored once, in the first window that holds it
with at least C − s tokens before it (or with all that stand before it in the text): the first
window scores all of its tokens, every later one its last s. So a small stride gives every token
much context and costs much time; these are the windows of transformers' guide to perplexity.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from calipers.errors import InputError


class Window(NamedTuple):
    """The tokens of one pass over a text, and those of them that are scored.

    Attributes
    ----------
    row
        Which text.
    start, stop
        The tokens that are read, ``start:stop`` of the text.
    first
        The tokens that are scored are ``first:stop``; it is above `start`.
    """

    row: int
    start: int
    stop: int
    first: int


def check_stride(stride: int | None, context: int | None) -> int:
    """Return how far a window moves; half of the context by default.

    Raises
    ------
    InputError
        If a window would not move, or leave a token with none before it.
    """
    most = None if context is None else max(context - 1, 1)
    if stride is None:
        return max((context or 2) // 2, 1)
    if stride < 1 or (most is not None and stride > most):
        upper = "" if most is None else f" and at most {most}, one less than the context"
        raise InputError(f"stride must be a whole number of at least 1{upper}; found {stride}")
    return stride


def plan_windows(
    lengths: Sequence[int], firsts: Sequence[int], *, context: int | None, stride: int
) -> list[Window]:
    """Divide texts into windows so that each token is scored once.

    Parameters
    ----------
    lengths
        Tokens of each text, with what stands before it.
    firsts
        Where the tokens begin that are scored, at least 1 and, in a text longer than the context,
        below the context.
    context
        Most tokens in a window; None for no limit.
    stride
        How far a window moves, below `context`.

    Examples
    --------
    >>> for window in plan_windows([3, 10], [1, 1], context=6, stride=2):
    ...     print(*window)
    0 0 3 1
    1 0 6 1
    1 2 8 6
    1 4 10 8
    """
    windows = []
    for row, (length, first) in enumerate(zip(lengths, firsts, strict=True)):
        start, stop = 0, length if context is None else min(length, context)
        while first < length:
            windows.append(Window(row, start, stop, first))
            first, start = stop, start + stride
            stop = min(stop + stride, length)
    return windows
