"""Likelihood ratios p/q at the samples from the two sets' shares of their nearest neighbours.

Both sets are first taken to the leading principal axes of their union. At a generated sample, of
the k nearest other samples of both sets a belong to the reference and b to the generated set:

    p/q = (a / n) / ((b + 1) / m),    and at a reference sample  q/p = (b / m) / ((a + 1) / n)

(Pillutla et al., JMLR 2023, algorithm 2, after Noshad et al., 2017). Two departures from equation
22. There a sample counts itself, which is seen only by its own side; here it is left out. And 1 is
added to the count of the own side, which would otherwise be 0 now and then. This does more than to
keep the ratio finite: for a binomial count a of k with odds ρ the mean of a / (k - a) does not
exist, and that of a / (k - a + 1) is ρ (1 - (ρ / (1 + ρ))^k), so that the 1 takes nearly all of the
bias away. All samples at the distance of the k-th count, so that ties do not depend on the order of
the rows; two equal sets then have the ratio 1 at every sample. The other side's count may still be
0: the ratio is then 0 at a generated sample and infinite at a reference sample. A divergence with
f*(0) = ∞, such as KL, is infinite as soon as one reference sample has no generated one among its
neighbours.

What it does not detect: a difference on axes beyond the leading ones, however clear, so that
columns in very different units are to be scaled before. Nor ratios above (k m) / n or below
n / (k m) in size, or a difference on a scale finer than the k-th neighbour. In many dimensions all
distances come to be alike, and the ratios 1: differences are under-estimated.
"""

from __future__ import annotations

from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike

from calipers.errors import InputError
from calipers.estimate.axes import leading_axes
from calipers.estimate.balanced_neighbours import PAPER_K, balanced_count
from calipers.estimate.knn.nearest import Nearest, nearest_neighbours
from calipers.estimate.likelihood_ratios import LikelihoodRatios
from calipers.numeric import native
from calipers.numeric.arrays import Longs
from calipers.numeric.distances import Points, sieves
from calipers.numeric.threads import workers
from calipers.numeric.tiles import Span, spans
from calipers.numeric.validation import check_whole

count_within = native.kernel(
    "count_within",
    "all reals[n, d]",
    "first int",
    "rows i8[count]",
    "squared_radius f8[count]",
    "counts i8[count, 2] out",
)


def knn_ratios(
    reference: ArrayLike,
    generated: ArrayLike,
    *,
    k: int | Literal["auto"] = PAPER_K,
    dimensions: int | None = 10,
    threads: int | None = None,
) -> LikelihoodRatios:
    """Estimate p/q at every sample from the two sets' shares of its nearest neighbours.

    Parameters
    ----------
    reference, generated
        Rows, shapes ``(n, d)`` and ``(m, d)``.
    k
        How many neighbours in the union, from 1 to n + m - 1; 50 as in the paper's figure 9. With
        one k for all sizes the bias does not vanish: KL comes out too large by at least about
        (3 + E_Q[r²]) / (2 k), 0.04 at k = 50. ``"auto"`` is 50 at the paper's 5,000 samples in the
        smaller set and grows as n^(2 / (d + 2)), as theorem 17 has it for smooth densities.
    dimensions
        Leading principal axes of the union that are kept; None keeps the rows as they are.
    threads
        Number of threads (default: all cores); no effect on the result.

    Returns
    -------
    LikelihoodRatios
        At the samples, in their order; infinite where the other side has no neighbour.

    Raises
    ------
    InputError
        If the arrays do not fit together, or k is not a whole number that both sets together allow.

    Examples
    --------
    >>> reference = [[0.0], [1.0], [2.0], [3.0]]
    >>> generated = [[0.5], [1.5], [9.0], [10.0]]
    >>> knn_ratios(reference, generated, k=2).at_generated.round(3).tolist()
    [2.0, 2.0, 0.5, 0.5]
    """
    left, right = leading_axes(reference, generated, dimensions=dimensions)
    n, m = len(left), len(right)
    count = _neighbours(k, n, m, left.shape[1])
    near, far = neighbour_counts(np.concatenate([left, right]), n, count, threads=threads)
    return ratios_of_counts(near, far, n, k=count, dimensions=left.shape[1])


def ratios_of_counts(
    near: Longs, far: Longs, n: int, *, k: int, **pins: object
) -> LikelihoodRatios:
    """Divide the reference by the generated neighbours of every row, the first n the reference's.

    Parameters
    ----------
    near, far
        As :func:`count_itself` gives them, shape ``(n + m,)``.
    k
        How many neighbours were asked for.
    pins
        What else made them.
    """
    estimator_pins = {"estimator": "knn", "k": k, "own_count": "+1", "ties": "closed"}
    with np.errstate(divide="ignore"):
        logs = np.log(near * (len(near) - n)) - np.log(far * n)
    return LikelihoodRatios(logs[:n], logs[n:], pins=estimator_pins | pins)


def count_itself(reference: Longs, generated: Longs, n: int) -> tuple[Longs, Longs]:
    """Add 1 to the count of every row's own side, in place; the first n rows are the reference."""
    reference[:n] += 1
    generated[n:] += 1
    return reference, generated


def _neighbours(k: Any, n: int, m: int, d: int) -> int:
    """Settle k, or refuse one that the other samples of both sets are too few for."""
    others = n + m - 1
    if k == "auto":
        return min(balanced_count(PAPER_K, n, m, d), others)
    if check_whole("k", k, 1) > others:
        raise InputError(
            f"k must be at most {others}, the number of other samples in both sets; found {k}"
        )
    return int(k)


def neighbour_counts(
    union: Points, n: int, k: int, *, threads: int | None = None
) -> tuple[Longs, Longs]:
    """Count reference and generated neighbours of every row, with 1 added for its own side.

    Parameters
    ----------
    union
        The n rows of the reference, then those of the generated set.
    """
    (points,) = sieves(union, threads=threads)
    more = min(k + 1, len(union) - 1)  # one further tells where the k-th is tied
    nearest = nearest_neighbours(points, k=more, threads=threads)
    reference = (nearest.index[:, :k] < n).sum(axis=1)
    generated = k - reference
    tied = np.flatnonzero(nearest.squared[:, k - 1] == nearest.squared[:, more - 1])
    if more > k and len(tied):
        within = _within(union, n, tied, nearest, k, threads)
        reference[tied], generated[tied] = within[:, 0], within[:, 1]
    return count_itself(reference, generated, n)


def _within(
    union: Points, n: int, tied: Longs, nearest: Nearest, k: int, threads: int | None
) -> Longs:
    """Reference and generated rows in the closed ball of the k-th distance, ``(tied, 2)``."""
    counts = np.zeros((len(tied), 2), np.int64)

    def work(span: Span) -> None:
        part = slice(*span)
        count_within(union, n, tied[part], nearest.squared[tied[part], k - 1], counts[part])

    with workers(threads) as pool:
        for _ in pool.map(work, spans(len(tied), 64)):
            pass
    return counts
