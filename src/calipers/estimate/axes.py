"""Principal axes from a scatter matrix, no more of them than are asked for."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import lapack

from calipers.estimate.tiles import available_threads, limit_threads

Matrix = NDArray[np.float64]

# Where variance lies on fewer effective axes than this share, few axes will do
CONCENTRATED = 1 / 16
# Above this share of all axes, finding them together is cheaper than one by one
MANY = 1 / 4
# Whatever was asked for, so that the result is the same; more wait for each other, for seconds
# where the cores are shared
THREADS = 2


def principal_axes(scatter: Matrix, share: float) -> tuple[Matrix, float]:
    """The fewest principal axes that keep a share of the variance.

    Parameters
    ----------
    scatter
        Symmetric, positive semidefinite, shape ``(d, d)``; left as it is.
    share
        Of the variance, in (0, 1].

    Returns
    -------
    axes
        Shape ``(d, q)``, largest variance first.
    kept
        The share that they keep.
    """
    total = float(np.trace(scatter))
    if total == 0:
        return np.eye(len(scatter), 1), 1.0
    if (total / np.linalg.norm(scatter)) ** 2 < CONCENTRATED * len(scatter):
        with limit_threads(1):  # more gain little, and go on waiting for work when it is done
            found = _leading(scatter, share)
        if found is not None:
            return found
    with limit_threads(min(THREADS, available_threads())):
        return _all(scatter, share)


def _all(scatter: Matrix, share: float) -> tuple[Matrix, float]:
    variances, axes = np.linalg.eigh(scatter)
    count, kept = _fewest(variances, share)
    return axes[:, ::-1][:, :count], kept


def _fewest(variances: Matrix, share: float) -> tuple[int, float]:
    """How many of the largest variances make up a share of all; they come in rising order."""
    falling = np.clip(variances[::-1], 0.0, None)
    kept = np.cumsum(falling) / falling.sum()
    count = min(int(np.searchsorted(kept, share - 1e-12)) + 1, len(kept))
    return count, float(min(kept[count - 1], 1.0))


def _leading(scatter: Matrix, share: float) -> tuple[Matrix, float] | None:
    """By way of a tridiagonal matrix: all variances, then axes for the largest alone.

    None where that takes too many axes, or the method of relatively robust representations fails.
    """
    d = len(scatter)
    room = int(lapack.dsytrd_lwork(d, lower=1)[0])
    reflectors, diagonal, beside, factors, _ = lapack.dsytrd(scatter.T, lower=1, lwork=room)
    variances, failed = lapack.dsterf(diagonal, beside)
    if failed:
        return None
    count, kept = _fewest(variances, share)
    if count > MANY * d:
        return None
    found, _, axes, failed = lapack.dstemr(
        diagonal, np.append(beside, 0.0), 2, 0.0, 0.0, d - count + 1, d
    )
    if failed or found != count:
        return None
    axes = np.asfortranarray(axes[:, count - 1 :: -1])
    # The first row is what no reflector touches
    turned, _, _ = lapack.dormqr("L", "N", reflectors[1:, :-1], factors, axes[1:], 64 * count)
    axes[1:] = turned
    return axes, kept
