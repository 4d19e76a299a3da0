"""Random relabellings: which of the places belong to the reference, drawn anew each time.

The sets as they are come first, so that they go through the very same arithmetic. Relabellings are
drawn in chunks of a seed each, and so do not depend on the number of threads.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from calipers.estimate.jit import kernel
from calipers.estimate.tiles import Workers

PLACES = 2**19  # of a chunk, at most: some megabytes
AT_ONCE = 64  # chunks that are kept, 32 MiB at most

Chosen = NDArray[np.bool_]


def permuted(
    statistic: Callable[[Chosen], NDArray[np.float64]],
    strata: list[tuple[int, int]],
    permutations: int,
    pool: Workers,
    *,
    seed: int,
) -> tuple[float, NDArray[np.float64]]:
    """Give a statistic for the labels as they are, and for each of many random relabellings.

    Parameters
    ----------
    statistic
        From relabellings, shape ``(c, places)``, true for the reference, to ``(c,)`` values.
    strata
        For every stratum, how many of its places belong to the reference, and how many to the
        generated set. Places stand stratum by stratum, those of the reference first; labels are
        permuted within a stratum.
    permutations
        Number of relabellings.
    pool
        Threads that share them; their number has no effect on the values.
    seed
        Of the relabellings.
    """
    ours = np.concatenate([np.repeat([True, False], sizes) for sizes in strata])
    chunk = int(np.clip(PLACES // len(ours), 1, 64))
    layout = tuple(strata)
    starts = range(0, permutations, chunk)

    def work(start: int) -> NDArray[np.float64]:
        chosen = _drawn(seed, start, min(chunk, permutations - start), layout)
        return statistic(np.vstack([ours, chosen]) if start == 0 else chosen)

    values = np.concatenate(list(pool.map(work, starts)))
    return float(values[0]), values[1:]


@lru_cache(maxsize=AT_ONCE)
def _drawn(seed: int, start: int, count: int, strata: tuple[tuple[int, int], ...]) -> Chosen:
    """One chunk of relabellings, kept for the next system of the same size."""
    rng = np.random.default_rng([seed, start, 0, 1])  # no stream that a test draws rows from
    chosen = np.hstack([subsets(rng, count, a, a + b) for a, b in strata])
    chosen.flags.writeable = False
    return chosen


def subsets(rng: np.random.Generator, count: int, size: int, places: int) -> Chosen:
    """Random subsets of `size` out of `places`, all equally likely, shape ``(count, places)``."""
    chosen = np.empty((count, places), np.bool_)
    _select(rng.random((count, places)), size, chosen)
    return chosen


@kernel
def _select(draws: Any, size: int, chosen: Any) -> None:
    """Walk the places once: each is taken with the chance that as many as are missing need."""
    count, places = draws.shape
    for i in range(count):
        missing = size
        for j in range(places):
            chosen[i, j] = draws[i, j] * (places - j) < missing
            missing -= chosen[i, j]
