"""Likelihood ratios p/q at the samples from Gaussian kernel densities.

Both sets are first taken to the leading principal axes of their union. The densities of both sets
at every sample, each without the sample that it is taken at:

    p(u) = mean over the reference samples x other than u of N(u; x, h(u)² I),   and q(u) alike

(Pillutla et al., JMLR 2023, section 4.2.3, equations 26 and 27). Both densities at a place have the
same kernel, whose constant cancels. The default bandwidth depends on the place: h(u) = r(u) / (2
Γ(d/2 + 1)^(1/d)), with r(u) the distance from u to its K-th nearest other sample of both sets. The
kernel's effective volume, (4π h²)^(d/2), is then that of the ball of radius r, and about K samples
make each estimate. K is 50 at 5,000 samples in the smaller set, as for the nearest neighbours, and
grows as n^(2 / (d + 2)). One bandwidth for all places does badly here: at a sample in the tail the
own side, without the sample itself, has nothing within reach, q(u) is next to nothing, p/q
astronomical, and this one sample decides the mean. For two Gaussians in 5 dimensions with KL =
0.125 and 4,000 samples, Scott's rule gives 4.1 ± 3.7; it stays as an option.

What it does not detect: a difference on axes beyond the leading ones, however clear, so that
columns in very different units are to be scaled before. Nor a difference on a scale finer than h.
Where densities bend within h, as they do in 5 dimensions and more, differences are under-estimated;
where there is no difference, noise reads as some. Equal sets do not score 0: the copy of a sample
in the other set counts, and the sample itself does not. More than K copies of a sample leave no
distance to take; h is then a tenth of Scott's.
"""

from __future__ import annotations

from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import gammaln

from calipers.errors import InputError
from calipers.estimate.axes import check_two_rows, leading_axes, scale_alike
from calipers.estimate.balanced_neighbours import PAPER_K, balanced_count
from calipers.estimate.knn.nearest import nearest_neighbours
from calipers.estimate.likelihood_ratios import LikelihoodRatios
from calipers.numeric import native
from calipers.numeric.arrays import Floats
from calipers.numeric.distances import sieves
from calipers.numeric.threads import workers
from calipers.numeric.tiles import Span, spans
from calipers.numeric.validation import is_positive

Bandwidth = float | Literal["balloon", "scott"]

LEAST = 0.1
NARROWEST, WIDEST = 1e-100, 1e100  # their squares, and gaps over them, are floats
ROWS = 64


def kde_ratios(
    reference: ArrayLike,
    generated: ArrayLike,
    *,
    bandwidth: Bandwidth = "balloon",
    dimensions: int | None = 10,
    threads: int | None = None,
) -> LikelihoodRatios:
    """Estimate p/q at every sample by Gaussian kernel densities from the other samples.

    Parameters
    ----------
    reference, generated
        Rows, shapes ``(n, d)`` and ``(m, d)``, at least two each.
    bandwidth
        ``"balloon"`` as above; or one for all places: ``"scott"``, the number of samples in the
        smaller set to the power −1 / (d + 4), or a number above 0, from 1e-100 to 1e100. Both are
        in standard deviations of the union, the root mean square over the axes.
    dimensions
        Leading principal axes of the union that are kept; None keeps the rows as they are.
    threads
        Number of threads (default: all cores); no effect on the result.

    Returns
    -------
    LikelihoodRatios
        At the samples, in their order; finite everywhere.

    Raises
    ------
    InputError
        If the arrays do not fit together, a set has a single row, all rows of both sets are equal,
        or the bandwidth is neither a number in that range nor a known rule.

    Examples
    --------
    >>> reference = [[0.0], [1.0], [2.0], [3.0]]
    >>> generated = [[0.5], [1.5], [9.0], [10.0]]
    >>> kde_ratios(reference, generated, bandwidth=1.0).at_generated.round(3).tolist()
    [2.514, 2.366, 0.429, 0.289]
    """
    _check_bandwidth(bandwidth)
    left, right = leading_axes(reference, generated, dimensions=dimensions)
    check_two_rows(len(left), len(right), "leaving one out of a kernel density")
    sets = scale_alike(left, right)
    widths = _widths(sets, bandwidth, threads)
    logs = [
        log_density(at, sets[0], width, own=at is sets[0], threads=threads)
        - log_density(at, sets[1], width, own=at is sets[1], threads=threads)
        for at, width in zip(sets, widths, strict=True)
    ]
    pins = {"estimator": "kde", "bandwidth": bandwidth, "dimensions": sets[0].shape[1]}
    return LikelihoodRatios(logs[0], logs[1], positive=True, pins=pins)


def log_density(
    places: Floats, points: Floats, width: Floats, *, own: bool, threads: int | None = None
) -> Floats:
    """Return the log of the mean over the points of exp(−½ |place − point|² / width²).

    Parameters
    ----------
    places, points
        Shapes ``(n, d)`` and ``(m, d)``.
    width
        Of the kernel at every place, shape ``(n,)``, above 0.
    own
        Whether both are one set; then a row does not count for itself.
    """
    places, columns = np.ascontiguousarray(places), np.ascontiguousarray(points.T)
    sharpness = 0.5 / width**2

    def work(span: Span) -> Floats:
        part = slice(*span)
        sums = np.empty(span[1] - span[0])
        _log_sums(places[part], columns, sharpness[part], span[0], own, sums)
        return sums

    with workers(threads) as pool:
        sums = np.concatenate(list(pool.map(work, spans(len(places), ROWS))))
    logs: Floats = sums - np.log(len(points) - own)
    return logs


_log_sums = native.kernel(
    "log_kernel_sums",
    "places f8[count, d]",
    "columns f8[d, n]",
    "sharpness f8[count]",
    "first int",
    "own bool",
    "sums f8[count] out",
)


def _widths(sets: tuple[Floats, Floats], bandwidth: Bandwidth, threads: int | None) -> list[Floats]:
    """The width of the kernel at every row of both sets."""
    (n, d), m = sets[0].shape, len(sets[1])
    scott = float(min(n, m)) ** (-1 / (d + 4))
    if bandwidth != "balloon":
        width = scott if bandwidth == "scott" else float(bandwidth)
        return [np.full(size, width) for size in (n, m)]
    neighbours = min(balanced_count(PAPER_K, n, m, d), n + m - 1)
    (union,) = sieves(np.concatenate(sets), threads=threads)
    squared = nearest_neighbours(union, k=neighbours, threads=threads).squared[:, -1]
    widths = widths_of(squared, min(n, m), d)
    return [widths[:n], widths[n:]]


def widths_of(squared: Floats, smallest: int, d: int) -> Floats:
    """Return bandwidths from the distance to the K-th nearest sample, at least a tenth of Scott's.

    Parameters
    ----------
    squared
        Squared distances to it, shape ``(n,)``, on axes whose root mean square is 1.
    smallest, d
        Samples of the smaller set, and dimensions.
    """
    share = 0.5 * np.exp(-gammaln(d / 2 + 1) / d)
    scott = float(smallest) ** (-1 / (d + 4))
    widths: Floats = np.maximum(share * np.sqrt(squared), LEAST * scott)
    return widths


def _check_bandwidth(bandwidth: Any) -> None:
    if bandwidth in ("balloon", "scott"):
        return
    if not is_positive(bandwidth) or not NARROWEST <= bandwidth <= WIDEST:
        raise InputError(
            f"bandwidth must be 'balloon', 'scott' or a number above 0, from {NARROWEST:g} to "
            f"{WIDEST:g} standard deviations of the union; found {bandwidth!r}"
        )
