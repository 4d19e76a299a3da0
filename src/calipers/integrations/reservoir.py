"""Reservoir sampling: a random sample of bounded size from a stream, on several processes.

Each row of a stream draws a priority, a number of 63 bits, and the rows of the smallest priorities
are held: a uniform sample without replacement of all rows seen, however they came in batches. What
two processes hold can be joined and cut again, and is a uniform sample of both streams together,
as long as their priorities are independent (bottom-k sampling; Cohen and Kaplan, PODC 2007).

The priority of row i of a stream is the i-th number of a Philox generator whose key is the seed and
the number of the stream, so that a run can be repeated, and a stream be taken up where it stopped.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Priorities = NDArray[np.int64]

AT_ONCE = 4
"""Numbers that Philox makes in a step."""


def priorities(seed: int, stream: int, start: int, count: int) -> Priorities:
    """Draw random priorities for rows of a stream.

    Parameters
    ----------
    seed, stream
        Which stream; those of other numbers are independent.
    start, count
        Rows from `start` on.

    Returns
    -------
    array
        Shape ``(count,)``, int64, from 0.

    Examples
    --------
    >>> whole = priorities(0, 1, 0, 10)
    >>> whole[3:7].tolist() == priorities(0, 1, 3, 4).tolist()
    True
    """
    bits = np.random.Philox(key=np.array([seed, stream], np.uint64))
    bits.advance(start // AT_ONCE)
    skipped = start % AT_ONCE
    numbers = np.asarray(bits.random_raw(skipped + count), np.uint64)[skipped:]
    return (numbers >> np.uint64(1)).astype(np.int64)


def smallest(keys: Priorities, most: int) -> NDArray[np.intp]:
    """Return the indices of the smallest priorities, up to a number, ascending."""
    return np.argsort(keys, kind="stable")[:most]
