"""The tables behind preferences: are they counts, and what becomes of their ties."""

from __future__ import annotations

from typing import Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from calipers.errors import InputError

Counts = NDArray[np.float64]
TieRule = Literal["half", "random", "drop"]


def check_names(names: tuple[str, ...]) -> tuple[str, ...]:
    """Give the names as a tuple, or say which is no name or stands there twice."""
    names = tuple(names)
    for place, name in enumerate(names, start=1):
        if not isinstance(name, str) or not name.strip():
            raise InputError(f"names: every system needs a name, found {name!r} as number {place}")
        if name in names[: place - 1]:
            raise InputError(f"names: {name!r} stands there twice")
    return names


def check_counts(name: str, counts: ArrayLike, n: int, *, symmetric: bool = False) -> Counts:
    """Give the table in float64, or say why it counts nothing."""
    try:
        table = np.asarray(counts, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise InputError(f"{name} must be a table of numbers: {error}") from error
    if table.shape != (n, n):
        raise InputError(
            f"{name} must have a row and a column for each of the {n} names, "
            f"found the shape {table.shape}"
        )
    if not (np.isfinite(table).all() and (table >= 0).all()):
        raise InputError(f"{name} must be finite and not negative")
    if table.diagonal().any():
        raise InputError(f"{name} must be 0 on the diagonal: no system meets itself")
    if symmetric and not np.array_equal(table, table.T):
        raise InputError(f"{name} must be symmetric: a tie of i with j is one of j with i")
    return table


def halve(ties: Counts) -> Counts:
    """Give each side half of every tie."""
    return ties / 2


def toss(ties: Counts, seed: int) -> Counts:
    """Give every tie to a side drawn at random."""
    if (ties % 1).any():
        raise InputError("ties can be drawn only where they are whole numbers")
    upper = np.triu(ties).astype(np.int64)
    won = np.random.default_rng(seed).binomial(upper, 0.5)
    drawn: Counts = (won + (upper - won).T).astype(np.float64)
    return drawn
