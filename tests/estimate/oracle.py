"""Twenty lines of float64 brute force: what every fast count must equal."""

from __future__ import annotations

import numpy as np


def squared_distances(x, y):
    left, right = np.asarray(x, np.float64), np.asarray(y, np.float64)
    return np.array([((row - right) ** 2).sum(axis=1) for row in left])


def squared_radii(x, k):
    within = squared_distances(x, x)
    np.fill_diagonal(within, np.inf)
    return np.sort(within, axis=1)[:, k - 1]


def counts(reference, generated, k, *, closed=True):
    """(held by reference balls, inside reference balls, held by generated, inside generated)."""
    across = squared_distances(reference, generated)
    compare = np.less_equal if closed else np.less
    of_reference = compare(across, squared_radii(reference, k)[:, None])
    of_generated = compare(across, squared_radii(generated, k)[None, :])
    return (
        of_reference.sum(axis=1),
        of_reference.sum(axis=0),
        of_generated.sum(axis=0),
        of_generated.sum(axis=1),
    )
