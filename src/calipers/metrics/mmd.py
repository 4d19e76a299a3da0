"""Maximum mean discrepancy of the sets by a Gaussian kernel, or KID's cubic one.

MMD² = E k(x, x') + E k(y, y') − 2E k(x, y) as its U-statistic, in which no row meets itself
(Gretton et al., JMLR 2012, lemma 6): unbiased, so below 0 as often as not where the
distributions are equal.

- ``mmd``: k(x, y) = exp(−|x − y|²/(2h²)), h the median distance of different rows of both sets
  together.
- ``kid``: k(x, y) = (x·y/d + 1)³ (Bińkowski et al., ICLR 2018). Here from all samples; the authors
  average over subsets, which estimates the same number with more noise.

What they do not detect: with the median bandwidth, gaps much finer than the typical distance (a
few modes lost among many, or copies); KID sees moments up to the third only, and, unlike the
Gaussian kernel, changes when all rows are moved or the space is scaled.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, get_args

import numpy as np
from numpy.typing import ArrayLike, NDArray

from calipers.errors import InputError, checks_keywords
from calipers.estimate.measures import CentredRows, Cubic, Gaussian, Measure, centred
from calipers.estimate.pairwise import (
    PairSums,
    PairwiseReplicates,
    median_distance,
    pair_sums,
    replicates,
)
from calipers.metrics.reading import scored
from calipers.numeric.blocks import Blocks
from calipers.numeric.distances import Points
from calipers.numeric.threads import workers
from calipers.numeric.validation import check_choice, check_pair, check_whole, is_positive
from calipers.score import Score

if TYPE_CHECKING:
    from calipers.catalogue.estimation import EstimationOptions
    from calipers.metrics.pair import Pair

Kernel = Literal["gaussian", "polynomial"]
MEDIAN_ROWS = 2_000
TOO_FEW = "an unbiased estimate needs at least two rows in each set"
ALIKE = (
    "the median distance is 0: at least half of the pairs are equal as compared, as copies are, "
    "and rows beside one that lies so far out that it leaves them no digits"
)


@checks_keywords
def mmd(
    reference: ArrayLike,
    generated: ArrayLike,
    *,
    kernel: Kernel = "gaussian",
    bandwidth: float | Literal["median"] = "median",
    seed: int = 0,
    threads: int | None = None,
) -> Score:
    """Measure the maximum mean discrepancy of the sets; 0 on average for equal distributions.

    Takes memory for n + m rows, not for their pairs; sums are in float64 throughout.

    Parameters
    ----------
    reference, generated
        Embeddings, shapes ``(n, d)`` and ``(m, d)``; taken as given.
    kernel
        ``"gaussian"``, or ``"polynomial"`` for KID's, which has no bandwidth.
    bandwidth
        h of the Gaussian kernel, above 0, or ``"median"``: the median distance of different rows
        of the union, for more than 2,000 rows of a seeded sample of 2,000 of them.
    seed
        Seed of that sample.
    threads
        Number of threads (default: all cores); no effect on the value.

    Returns
    -------
    Score
        The unbiased MMD², lower is better; negative values mean that no gap was found. NaN with a
        reason where a set has a single row, where the median distance is 0, or where the kernel
        overflows.

    Raises
    ------
    InputError
        If the arrays do not fit together, are not finite, or an option is out of its range.

    Examples
    --------
    >>> round(mmd([[0.0], [2.0]], [[0.0], [2.0]], bandwidth=1.0).value, 4)
    -0.8647
    """
    check_choice("kernel", kernel, get_args(Kernel))
    check_whole("seed", seed, 0)
    left, right = check_pair(reference, generated)
    if kernel == "polynomial":
        return _polynomial(left, right, "mmd", threads)
    check_bandwidth(bandwidth)
    return _gaussian(left, right, bandwidth, seed, threads)


@checks_keywords
def kid(reference: ArrayLike, generated: ArrayLike, *, threads: int | None = None) -> Score:
    """Measure the kernel inception distance of the sets, unbiased.

    Parameters
    ----------
    reference, generated
        Embeddings, shapes ``(n, d)`` and ``(m, d)``; taken as given.
    threads
        Number of threads (default: all cores); no effect on the value.

    Returns
    -------
    Score
        MMD² with the kernel (x·y/d + 1)³, lower is better; may be negative. NaN with a reason
        where a set has a single row, or where the kernel overflows.

    Raises
    ------
    InputError
        If the arrays do not fit together or are not finite.

    Examples
    --------
    >>> round(kid([[0.0], [1.0]], [[0.0], [1.0]]).value, 6)
    -3.5
    """
    return _polynomial(*check_pair(reference, generated), "kid", threads)


def _gaussian(
    left: Points, right: Points, bandwidth: float | str, seed: int, threads: int | None
) -> Score:
    rows = centred(left, right)
    width = kernel_width(rows, bandwidth, seed, threads)
    pins = {"kernel": "gaussian", "bandwidth": bandwidth} | _sampling(rows, bandwidth, seed)
    if width == 0 and _enough(rows):
        return _score("mmd", pins, rows, np.nan, ALIKE)
    return _unbiased("mmd", pins, rows, Gaussian(width), threads)


def kernel_width(
    rows: tuple[CentredRows, CentredRows], bandwidth: float | str, seed: int, threads: int | None
) -> float:
    """Return the width as given, or the median distance in the union; 0 for mostly equal rows."""
    if isinstance(bandwidth, str):
        with workers(threads) as pool:
            return median_distance(rows, pool, seed=seed, most=MEDIAN_ROWS)
    return float(bandwidth)


def _polynomial(left: Points, right: Points, metric: str, threads: int | None) -> Score:
    rows = CentredRows.of(left), CentredRows.of(right)
    return _unbiased(metric, {"kernel": "cubic"}, rows, Cubic(left.shape[1]), threads)


def _unbiased(
    metric: str,
    pins: dict[str, object],
    rows: tuple[CentredRows, CentredRows],
    measure: Measure,
    threads: int | None,
) -> Score:
    if not _enough(rows):
        return _score(metric, pins, rows, np.nan, TOO_FEW)
    value = pair_sums(*rows, measure, threads=threads).unbiased()
    if not np.isfinite(value):
        return _score(metric, pins, rows, np.nan, "the kernel overflows: the rows are too long")
    return _score(metric, pins, rows, value, None)


def _enough(rows: tuple[CentredRows, CentredRows]) -> bool:
    return min(len(side.squares) for side in rows) > 1


def _score(
    metric: str,
    pins: dict[str, object],
    rows: tuple[CentredRows, CentredRows],
    value: float,
    reason: str | None,
) -> Score:
    (n, d), (m, _) = (side.given.shape for side in rows)
    sizes = {"statistic": "unbiased", "n": n, "m": m, "d": d}
    return scored(metric, value, pins | sizes, reason=reason)


def _sampling(
    rows: tuple[CentredRows, CentredRows], bandwidth: float | str, seed: int
) -> dict[str, object]:
    """The seed counts only where rows are drawn."""
    drawn = sum(len(side.squares) for side in rows) > MEDIAN_ROWS
    if not (drawn and bandwidth == "median"):
        return {}
    return {"median_rows": MEDIAN_ROWS, "seed": seed}


def check_bandwidth(bandwidth: object) -> None:
    """Refuse an invalid width of a kernel."""
    if bandwidth != "median" and not is_positive(bandwidth):
        raise InputError(f"bandwidth must be 'median' or a number above 0; found {bandwidth!r}")


def read_mmd(pair: Pair, _: EstimationOptions) -> Score:
    settings = pair.settings
    return mmd(*pair.projected, seed=settings.seed, threads=settings.threads)


def read_kid(pair: Pair, _: EstimationOptions) -> Score:
    return kid(*pair.projected, threads=pair.settings.threads)


def mmd_without(pair: Pair) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Compute MMD² without each block of the reference and of the generated rows."""
    settings, rows = pair.settings, pair.projected
    left_out = mmd_replicates(*rows, pair.labels, seed=settings.seed, threads=settings.threads)
    return left_out.without_reference, left_out.without_generated


def kid_without(pair: Pair) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Compute KID without each block of the reference and of the generated rows."""
    left_out = kid_replicates(*pair.projected, pair.labels, threads=pair.settings.threads)
    return left_out.without_reference, left_out.without_generated


def mmd_replicates(
    reference: ArrayLike,
    generated: ArrayLike,
    blocks: tuple[Blocks, Blocks],
    *,
    kernel: Kernel = "gaussian",
    bandwidth: float | Literal["median"] = "median",
    seed: int = 0,
    threads: int | None = None,
) -> PairwiseReplicates:
    """Compute MMD² without each block of rows, at little extra cost.

    Parameters
    ----------
    reference, generated, kernel, bandwidth, seed, threads
        As for ``mmd``; the median bandwidth is that of all rows throughout.
    blocks
        The blocks of the reference and of the generated rows.

    Returns
    -------
    PairwiseReplicates
        The value, and what it would be without every block of either set; NaN where ``mmd`` is.
    """
    check_choice("kernel", kernel, get_args(Kernel))
    check_whole("seed", seed, 0)
    left, right = check_pair(reference, generated)
    if kernel == "polynomial":
        return kid_replicates(left, right, blocks, threads=threads)
    check_bandwidth(bandwidth)
    rows = centred(left, right)
    width = kernel_width(rows, bandwidth, seed, threads)
    if width == 0:
        return PairwiseReplicates.undefined(blocks)
    return replicates(rows, Gaussian(width), blocks, PairSums.unbiased, threads=threads)


def kid_replicates(
    reference: ArrayLike,
    generated: ArrayLike,
    blocks: tuple[Blocks, Blocks],
    *,
    threads: int | None = None,
) -> PairwiseReplicates:
    """Compute KID without each block of rows; see :func:`mmd_replicates`."""
    left, right = check_pair(reference, generated)
    rows = CentredRows.of(left), CentredRows.of(right)
    return replicates(rows, Cubic(left.shape[1]), blocks, PairSums.unbiased, threads=threads)
