"""Which texts Self-BLEU scores, and which it holds them against."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from calipers.errors import InputError
from calipers.estimate.validate import check_whole


@dataclass(frozen=True, eq=False)
class Draw:
    """A pool of texts, and those of them that are scored against the rest of the pool.

    Attributes
    ----------
    rows
        The texts that are scored, ascending, int64.
    pool
        The texts that they are held against, ascending, int64.
    pins
        The choices behind it, for a signature.
    """

    rows: NDArray[np.int64]
    pool: NDArray[np.int64]
    pins: dict[str, int]


def draw(n: int, *, sample: int | None, others: int | None, seed: int) -> Draw:
    """Draw the pool, others + 1 of n texts, and of it the sample, both without replacement.

    Raises
    ------
    InputError
        If a number is none that can be drawn.
    """
    seed = check_whole("seed", seed, least=0)
    rng = np.random.default_rng(seed)
    pins = {}
    rows = pool = np.arange(n)
    if others is not None:
        pins["others"] = _at_most("others", others, n - 1, "the texts less one")
        rows = pool = np.sort(rng.choice(n, pins["others"] + 1, replace=False))
    if sample is not None:
        pins["sample"] = _at_most("sample", sample, len(pool), "the texts to draw from")
        rows = np.sort(rng.choice(pool, pins["sample"], replace=False))
    return Draw(rows, pool, {**pins, "seed": seed} if pins else pins)


def _at_most(parameter: str, found: int, most: int, what: str) -> int:
    found = check_whole(parameter, found, least=1)
    if found > most:
        raise InputError(f"{parameter} must be at most {most:,}, {what}; found {found:,}")
    return found
