"""Ranks of scores, with room for rounding."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Column = NDArray[np.float64]

SLACK = 1e-9
"""Relative distance within which two values are the same but for rounding."""


def dense_ranks(values: Column, sizes: Column | None = None) -> NDArray[np.int64]:
    """Number the values from 0 in rising order; those that only rounding sets apart share a number.

    Parameters
    ----------
    values
        Shape ``(n,)``, without NaN.
    sizes
        How large the numbers were that each value was computed from: 1 - 0.9 is as uncertain as 1
        is. Default: the values' own sizes.
    """
    order = np.argsort(values, kind="stable")
    sizes = np.abs(values if sizes is None else sizes)[order]
    apart = _apart(values[order], sizes)
    ranks = np.empty(len(values), dtype=np.int64)
    ranks[order] = np.concatenate([[0], np.cumsum(apart)])[: len(values)]
    return ranks


def mid_ranks(values: Column) -> Column:
    """Give the ranks of values from 1, along the last axis; equal ones share the mean of theirs.

    Examples
    --------
    >>> mid_ranks(np.array([0.2, 0.9, 0.1 + 0.1, 0.5])).tolist()
    [1.5, 4.0, 1.5, 3.0]
    """
    order = np.argsort(values, axis=-1, kind="stable")
    rising = np.take_along_axis(values, order, axis=-1)
    apart = _apart(rising, np.abs(rising))
    ends = np.ones((*values.shape[:-1], 1), dtype=np.bool_)
    places = np.arange(values.shape[-1])
    first = np.where(np.concatenate([ends, apart], axis=-1), places, 0)
    last = np.where(np.concatenate([apart, ends], axis=-1), places, len(places) - 1)
    first = np.maximum.accumulate(first, axis=-1)
    last = np.minimum.accumulate(last[..., ::-1], axis=-1)[..., ::-1]
    ranks = np.empty(values.shape)
    np.put_along_axis(ranks, order, (first + last) / 2 + 1, axis=-1)
    return ranks


def _apart(rising: Column, sizes: Column) -> NDArray[np.bool_]:
    """Whether each value lies above the one before it by more than rounding."""
    slack = SLACK * np.where(np.isfinite(sizes), sizes, 0)
    low, high = rising[..., :-1], rising[..., 1:]
    return np.asarray(high > low + np.maximum(slack[..., :-1], slack[..., 1:]))


def pairwise_complete(a: Column, b: Column) -> tuple[Column, Column]:
    """Leave out the systems that have NaN on either side."""
    kept = ~(np.isnan(a) | np.isnan(b))
    return a[kept], b[kept]


def centred(values: Column) -> Column:
    """Move and scale values to mean 0 and length 1."""
    scale = np.abs(values).max()  # so that squares neither overflow nor vanish
    moved = values / scale - (values / scale).mean()
    unit: Column = moved / np.linalg.norm(moved)
    return unit
