"""Vectors of one set in several files, joined into one array block by block.

Kernels take one array with all rows side by side, and files have headers between them; so the rows
are copied once, into memory or, where they take much of it, into a file for temporary data
(:func:`calipers.numeric.scratch.scratch`). A shard is opened when its turn comes and let go after
it, so besides the joined array no more than a block of it is held.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from calipers.errors import InputError
from calipers.numeric.scratch import scratch
from calipers.samples.kinds import BLOCK, not_finite, read_only, rows_not_finite, take_room
from calipers.samples.source import Source
from calipers.samples.wording import counted


@dataclass(frozen=True)
class Shard:
    """Vectors of one file, not yet read.

    Attributes
    ----------
    path
        The file, as messages call it.
    rows, columns
        How many vectors there are, and of how many numbers.
    dtype
        What they become: float32 or float64.
    blocks
        Gives them from the first on, as arrays of shape (some, columns) of any real type.
    """

    path: str
    rows: int
    columns: int
    dtype: np.dtype[Any]
    blocks: Callable[[], Iterator[NDArray[Any]]]


def joined(shards: Sequence[Shard], source: Source) -> NDArray[Any]:
    """Read shards into one array, in order.

    Parameters
    ----------
    shards
        At least one; of those without rows nothing else is looked at.
    source
        The whole set, for messages about it.

    Returns
    -------
    numpy.ndarray
        Read-only, of shape (sum of rows, columns), float32 or float64 as all shards are.

    Raises
    ------
    InputError
        If shards differ in columns or type, one holds fewer or more rows than it promises, or NaN
        or infinite values, or there is no room for all of them.
    """
    shards = [shard for shard in shards if shard.rows] or shards[:1]
    _check_alike(shards)
    columns, dtype = shards[0].columns, shards[0].dtype
    total = sum(shard.rows for shard in shards)
    if not total or not columns:
        raise source.error(f"embeddings of shape {(total, columns)} hold no values")
    take_room(total * columns * dtype.itemsize, source.path)
    array = scratch((total, columns), dtype)
    start = 0
    for shard in shards:
        _fill(array[start : start + shard.rows], shard)
        start += shard.rows
    return read_only(array)


def _check_alike(shards: Sequence[Shard]) -> None:
    first = shards[0]
    for shard in shards[1:]:
        if shard.columns != first.columns:
            raise InputError(
                f"{shard.path}: its vectors have {counted(shard.columns, 'number')}, but those of "
                f"{first.path} have {first.columns:,}; all shards of a set must have as many"
            )
        if shard.dtype != first.dtype:
            raise InputError(
                f"{shard.path}: its vectors are {shard.dtype}, but those of {first.path} are "
                f"{first.dtype}; all shards of a set must have one precision (half precision and "
                "integers count as float32)"
            )


def _fill(part: NDArray[Any], shard: Shard) -> None:
    """Read one shard into its part of the array."""
    filled, bad = 0, list[NDArray[np.intp]]()
    step = max(1, BLOCK // shard.columns)
    for block in shard.blocks():
        if filled + len(block) > shard.rows:
            raise _miscounted(shard, "more")
        for start in range(0, len(block), step):
            rows = part[filled : filled + step][: len(block) - start]
            rows[...] = block[start : start + step]
            bad.append(not_finite(rows) + filled)
            filled += len(rows)
    if filled < shard.rows:
        raise _miscounted(shard, f"only {filled:,}")
    wrong = np.concatenate([*bad, np.empty(0, np.intp)])
    if wrong.size:
        raise rows_not_finite(wrong, shard.rows, shard.path)


def _miscounted(shard: Shard, content: str) -> InputError:
    return InputError(
        f"{shard.path}: promises {counted(shard.rows, 'row')}, but holds {content}; is it damaged?"
    )
