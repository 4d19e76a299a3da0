"""Sliced Wasserstein distance: optimal transport along random directions, for large sets.

SW₂² = E_θ W₂²(θ·P̂, θ·Q̂) over directions θ uniform on the sphere (Rabin et al., 2011; Bonneel et
al., 2015), estimated with a fixed number of them. In one dimension the best plan pairs quantile
with quantile, so a direction costs a sort. The square of POT's
``sliced_wasserstein_distance(..., p=2)`` for the same directions.

In the mean over all directions it is 0 only for equal sets and at most W₂²/d; with a finite number
of them it wanders about that, and may exceed W₂²/d. A gap along few of many dimensions is thinned
out accordingly, and may be missed with few directions.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import ArrayLike, NDArray

from calipers.estimate.pair_tiles import centred
from calipers.estimate.tiles import spans, workers
from calipers.estimate.validate import check_pair, check_whole
from calipers.score import Score, signature

PROJECTIONS = 500
AT_ONCE = 16

Floats = NDArray[np.float64]
Places = tuple[NDArray[np.int64], NDArray[np.int64], Floats]


def sliced_wasserstein(
    reference: ArrayLike,
    generated: ArrayLike,
    *,
    projections: int = PROJECTIONS,
    seed: int = 0,
    threads: int | None = None,
) -> Score:
    """Tell how far apart the sets are along random directions, in time n·log n.

    Parameters
    ----------
    reference, generated
        Embeddings, shapes ``(n, d)`` and ``(m, d)``; taken as given.
    projections
        Number of random directions; the value wanders with them, by about √(2/projections) of
        itself where the gap lies along one direction.
    seed
        Of the directions.
    threads
        Number of threads (default: all cores); no effect on the value.

    Returns
    -------
    Score
        The mean squared distance, at least 0, lower is better, 0 for equal sets.

    Raises
    ------
    InputError
        If the arrays do not fit together, are not finite, or an option is out of its range.

    Examples
    --------
    >>> round(sliced_wasserstein([[0.0], [2.0]], [[3.0], [5.0]]).value, 9)
    9.0
    """
    check_whole("projections", projections, 1)
    check_whole("seed", seed, 0)
    left, right = (side.points for side in centred(*check_pair(reference, generated)))
    d = left.shape[1]
    pins = {"metric": "sliced_wasserstein", "projections": projections, "seed": seed}
    return Score(
        value=_mean_cost(left, right, _directions(projections, d, seed), threads),
        range=(0.0, np.inf),
        better="lower",
        signature=signature(pins | {"n": len(left), "m": len(right), "d": d}),
    )


def _directions(count: int, d: int, seed: int) -> Floats:
    """Directions uniform on the sphere, shape ``(count, d)``."""
    drawn = np.random.default_rng(seed).standard_normal((count, d))
    drawn /= np.linalg.norm(drawn, axis=1, keepdims=True)
    return drawn


def _mean_cost(left: Floats, right: Floats, directions: Floats, threads: int | None) -> float:
    places = _merged(len(left), len(right))

    def work(span: tuple[int, int]) -> float:
        chosen = directions[slice(*span)]
        return _cost(chosen @ left.T, chosen @ right.T, places)

    with workers(threads) as pool:
        total = math.fsum(pool.map(work, spans(len(directions), AT_ONCE)))
    return total / len(directions)


def _cost(x: Floats, y: Floats, places: Places | None) -> float:
    """Summed squared W₂ of rows of projections, shapes ``(rows, n)`` and ``(rows, m)``."""
    x.sort(axis=1)
    y.sort(axis=1)
    if places is None:
        x -= y
        return float(np.einsum("ij,ij->", x, x)) / len(x[0])
    of_x, of_y, mass = places
    gaps = x[:, of_x] - y[:, of_y]
    return float(np.einsum("ij,ij,j->", gaps, gaps, mass))


def _merged(n: int, m: int) -> Places | None:
    """Which order statistics share each stretch of quantiles, and its mass; None where n = m.

    The stretches end at the multiples of 1/n and of 1/m; in units of 1/(n·m) they are whole.
    """
    if n == m:
        return None
    ends = np.union1d(np.arange(1, n + 1) * m, np.arange(1, m + 1) * n)
    starts = np.concatenate([[0], ends[:-1]])
    return starts // m, starts // n, (ends - starts) / (n * m)
