"""Energy distance: compare distances across the sets with distances within them, parameter-free.

2E|x − y| − E|x − x'| − E|y − y'| with Euclidean distances (Székely and Rizzo, 2004 and 2013), here
as a V-statistic: means over all pairs, each row with itself too. So it is never negative and 0 for
equal sets; two samples of one distribution score about (1/n + 1/m)·E|x − x'|. It is a squared MMD,
with the kernel −|x − y|.

What it does not detect: in many dimensions, where distances of all pairs are alike, it sees mostly
the means of the sets and their overall spread. Its unit is that of a distance.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike, NDArray

from calipers.errors import checks_keywords
from calipers.estimate.measures import Euclidean, centred
from calipers.estimate.pairwise import PairSums, PairwiseReplicates, pair_sums, replicates
from calipers.metrics.reading import scored
from calipers.numeric.blocks import Blocks
from calipers.numeric.validation import check_pair
from calipers.score import Score

if TYPE_CHECKING:
    from calipers.catalogue.estimation import EstimationOptions
    from calipers.metrics.pair import Pair


@checks_keywords
def energy_distance(
    reference: ArrayLike, generated: ArrayLike, *, threads: int | None = None
) -> Score:
    """Tell how much farther apart rows of different sets are than rows of the same set.

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
    sums = pair_sums(*centred(left, right), Euclidean(), threads=threads)
    n, m, d = sums.n, sums.m, left.shape[1]
    return scored("energy_distance", energy_of(sums), {"statistic": "v", "n": n, "m": m, "d": d})


def energy_of(sums: PairSums) -> float:
    """Compute the energy distance from sums of distances."""
    n, m = sums.n, sums.m
    within = sums.reference / n**2 + sums.generated / m**2
    return max(0.0, 2 * sums.across / (n * m) - within)


def read_energy_distance(pair: Pair, _: EstimationOptions) -> Score:
    return energy_distance(*pair.projected, threads=pair.settings.threads)


def energy_distance_without(pair: Pair) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Compute the distance without each block of the reference and of the generated rows."""
    left_out = energy_replicates(*pair.projected, pair.labels, threads=pair.settings.threads)
    return left_out.without_reference, left_out.without_generated


def energy_replicates(
    reference: ArrayLike,
    generated: ArrayLike,
    blocks: tuple[Blocks, Blocks],
    *,
    threads: int | None = None,
) -> PairwiseReplicates:
    """Compute the energy distance without each block of rows, at little extra cost.

    Parameters
    ----------
    reference, generated, threads
        As for ``energy_distance``.
    blocks
        The blocks of the reference and of the generated rows.
    """
    rows = centred(*check_pair(reference, generated))
    return replicates(rows, Euclidean(), blocks, energy_of, threads=threads)
