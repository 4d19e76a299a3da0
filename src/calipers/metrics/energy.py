"""Energy distance: are the sets as far from each other as from themselves? Nothing to tune.

2E|x − y| − E|x − x'| − E|y − y'| with Euclidean distances (Székely and Rizzo, 2004 and 2013), here
as a V-statistic: means over all pairs, each row with itself too. So it is never negative and 0 for
equal sets; two samples of one distribution score about (1/n + 1/m)·E|x − x'|. It is a squared MMD,
with the kernel −|x − y|.

What it does not detect: in many dimensions, where distances of all pairs are alike, it sees mostly
the means of the sets and their overall spread. Its unit is that of a distance.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from calipers.estimate.pairwise import PairSums, Rows, centred, pair_sums, squared_distances
from calipers.numeric.validation import check_pair
from calipers.score import Score, signature


def energy_distance(
    reference: ArrayLike, generated: ArrayLike, *, threads: int | None = None
) -> Score:
    """Tell how much farther apart rows of both sets are than rows of one.

    Takes memory for n + m rows, not for their pairs; distances and sums are in float64.

    Parameters
    ----------
    reference, generated
        Embeddings, shapes ``(n, d)`` and ``(m, d)``; taken as given.
    threads
        Number of threads (default: all cores); no effect on the value.

    Returns
    -------
    Score
        At least 0, lower is better, 0 for equal sets.

    Raises
    ------
    InputError
        If the arrays do not fit together or are not finite.

    Examples
    --------
    >>> energy_distance([[0.0], [2.0]], [[1.0], [3.0]]).value
    1.0
    """
    left, right = check_pair(reference, generated)
    sums = pair_sums(*centred(left, right), distances, threads=threads)
    n, m, d = sums.n, sums.m, left.shape[1]
    pins = {"metric": "energy_distance", "statistic": "v", "n": n, "m": m, "d": d}
    return Score(
        value=energy_of(sums),
        range=(0.0, np.inf),
        better="lower",
        signature=signature(pins),
    )


def energy_of(sums: PairSums) -> float:
    """The energy distance, from sums of distances."""
    n, m = sums.n, sums.m
    within = sums.reference / n**2 + sums.generated / m**2
    return max(0.0, 2 * sums.across / (n * m) - within)


def distances(left: Rows, right: Rows) -> NDArray[np.float64]:
    """Distances of all pairs, shape ``(n, m)``."""
    squares = squared_distances(left, right)
    return np.sqrt(squares, out=squares)
