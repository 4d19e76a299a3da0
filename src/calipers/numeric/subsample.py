"""The choice of the rows that remain when a set is cut to a size."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray


def subsample_rows(size: int, most: int, *, seed: int) -> NDArray[np.intp]:
    """Return the rows of a set that remain, ascending; all if there are at most `most`.

    They are those that :meth:`calipers.samples.SampleSet.subsample` keeps by the same seed.

    Examples
    --------
    >>> subsample_rows(3, 2, seed=0)
    array([0, 2])
    """
    if most >= size:
        return np.arange(size)
    return np.sort(np.random.default_rng(seed).permutation(size)[:most])
