"""Vendi score and RKE: the effective number of different samples, without a reference.

With rows of length 1, K = X·Xᵀ/n holds the cosine similarities of all pairs, and its eigenvalues
λ ≥ 0 sum to 1. The Vendi score is the exponential of their Rényi entropy of order q (Friedman &
Dieng, TMLR 2023, for q = 1; Pasarkar & Dieng, AISTATS 2024, for any q):

    VS_q = exp(log(Σ λ^q) / (1 − q)),   VS_1 = exp(−Σ λ log λ),   VS_∞ = 1 / max λ

and VS_0 is the number of eigenvalues that are not 0: n where all rows are orthogonal, 1 where all
are equal. It falls as q grows: small q count rare kinds as much as common ones, large q see the
commonest only. X·Xᵀ and Xᵀ·X have the same eigenvalues but for zeros, so a d x d matrix is enough.
Equal to ``score_dual`` of the vendi-score package.

RKE is that of order 2, 1 / Σ λ² = n² / Σ_ij k(x_i, x_j)², which needs no eigenvalues; its authors
take it of a Gaussian kernel, k(x, y) = exp(−|x − y|²/(2σ²)), and call it the mode count, RKE-MC
(Jalali et al., NeurIPS 2023).

Both are properties T(Q) of one set, so compare them with T(P) of the reference at the same n: they
grow with n, for kernels of many dimensions without end; ``truncate`` bounds that (Ospanov & Farnia,
UAI 2025).

What they do not detect: whether the samples are any good, noise being very diverse; and with
embeddings that all point one way, as those of many language models do, the cosine kernel gives
values near 1 to any set.
"""

from __future__ import annotations

from collections.abc import Iterable
from numbers import Real
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

from calipers.errors import InputError, checks_keywords
from calipers.estimate.axes import unit_rows
from calipers.estimate.measures import CentredRows, squared_distances
from calipers.metrics.reading import scored
from calipers.numeric.arrays import Floats
from calipers.numeric.distances import Points
from calipers.numeric.subsample import subsample_rows
from calipers.numeric.threads import available_threads, limit_threads, workers
from calipers.numeric.tiles import Span, spans, triangle
from calipers.numeric.validation import as_array, check_points, check_whole, is_positive
from calipers.score import Score

if TYPE_CHECKING:
    from calipers.catalogue.estimation import EstimationOptions
    from calipers.metrics.pair import Pair


def vendi_of(
    eigenvalues: ArrayLike, *, q: float = 1.0, truncate: int | None = None, zero: float = 0.0
) -> float:
    """Compute the effective number of different samples from a spectrum.

    Parameters
    ----------
    eigenvalues
        Of a kernel matrix or of the second moments of rows, in any order and on any scale; negative
        ones are taken as 0.
    q
        Order of the entropy, from 0 to infinity.
    truncate
        Keep so many of the largest eigenvalues and give each an equal part of what the others
        hold (Ospanov & Farnia, UAI 2025); None keeps all.
    zero
        Up to which share of the largest one an eigenvalue is rounding; these count as 0 where
        q < 1, which would count each of them almost fully.

    Returns
    -------
    float
        From 1 to the number of eigenvalues; NaN where all are 0.

    Raises
    ------
    InputError
        If q or truncate is out of its range.

    Examples
    --------
    >>> vendi_of([0.5, 0.5, 0.0], q=2)
    2.0
    """
    check_order(q)
    values = np.maximum(as_array(eigenvalues, "eigenvalues").astype(np.float64).ravel(), 0.0)
    if q < 1:
        values = np.where(values > zero * values.max(initial=0.0), values, 0.0)
    total = values.sum()
    if not total > 0:
        return float("nan")
    shares = truncated(np.sort(values / total)[::-1], truncate)
    return float(np.exp(_entropy(shares[shares > 0], q)))


def truncated(shares: Floats, truncate: int | None) -> Floats:
    """Return the largest shares, each with an equal part of the remainder.

    Parameters
    ----------
    shares
        Largest first; their sum may be below 1 where the smaller ones are not known.
    truncate
        How many to keep; None, or more than there are, keeps all.
    """
    if truncate is None or check_whole("truncate", truncate, 1) >= len(shares):
        return shares
    shortened: Floats = shares[:truncate] + (1 - shares[:truncate].sum()) / truncate
    return shortened


def check_order(q: Any) -> float:
    """Return the order of an entropy; refuse an invalid one."""
    if isinstance(q, bool) or not isinstance(q, Real) or not float(q) >= 0:
        raise InputError(f"q must be a number from 0 to infinity; found {q!r}")
    return float(q)


def _entropy(shares: Floats, q: float) -> float:
    logs = np.log(shares)
    if q == 1:
        return float(-(shares @ logs))
    if np.isinf(q):
        return float(-logs.max())
    if abs(q - 1) < 0.5:  # near 1 the sum of powers is 1 less little: take that little itself
        return float(np.log1p(shares @ np.expm1((q - 1) * logs)) / (1 - q))
    largest = logs.max()  # so that no power of a large order is rounded to 0
    return float((q * largest + np.log(np.exp(q * (logs - largest)).sum())) / (1 - q))


STEP = 2048  # rows of a product
SMALL = 1024  # columns of matrices that one thread works on


def spectrum(points: Points, *, normalise: bool = True, threads: int | None = None) -> Floats:
    """Compute the eigenvalues of the cosine similarities over n, without those that must be 0.

    Parameters
    ----------
    points
        Rows, shape ``(n, d)``, none of them zero.
    normalise
        Scale them to length 1 first.
    threads
        Number of threads (default: all cores).

    Returns
    -------
    array
        Shape ``(min(n, d),)``, float64, ascending.
    """
    return eigenvalues(_gram(points, normalise=normalise, threads=threads), threads)


def eigenvalues(matrix: Floats, threads: int | None = None) -> Floats:
    """Compute the eigenvalues of a symmetric matrix, ascending."""
    # BLAS meets at barriers all along this, so that one busy core holds up all: leave half idle
    half = max(1, available_threads(threads) // 2)
    with limit_threads(1 if len(matrix) <= SMALL else half):
        return np.asarray(np.linalg.eigvalsh(matrix), np.float64)


def _gram(points: Points, *, normalise: bool, threads: int | None) -> Floats:
    """Xᵀ·X/n or X·Xᵀ/n, whichever is smaller."""
    check_whole("threads", 1 if threads is None else threads, 1)
    n, d = points.shape
    scale = 1.0 if normalise else float(np.abs(points).max())  # so that no square overflows
    if n <= d:
        rows = _wide(points, scale, normalise=normalise)
        with limit_threads(threads):
            return np.asarray(rows @ rows.T / n, np.float64)

    def work(span: Span) -> Floats:
        rows = _wide(points[slice(*span)], scale, normalise=normalise)
        return np.asarray(rows.T @ rows, np.float64)

    if d > SMALL:  # one product at a time, on all threads: each takes memory for d x d numbers
        with limit_threads(threads):
            return _mean(map(work, spans(n, STEP)), d, n)
    with workers(threads) as pool:
        return _mean(pool.map(work, spans(n, STEP)), d, n)


def _mean(parts: Iterable[Floats], d: int, n: int) -> Floats:
    total = np.zeros((d, d))
    for part in parts:
        total += part
    total /= n
    return total


def _wide(points: Points, scale: float, *, normalise: bool) -> Floats:
    rows = points.astype(np.float64)
    return np.asarray(unit_rows(rows) if normalise else rows / scale, np.float64)


def cosine_energy(points: Points, threads: int | None) -> float:
    """Compute the mean squared cosine over all pairs of rows."""
    return float(np.sum(_gram(points, normalise=True, threads=threads) ** 2))


def gaussian_energy(points: Points, bandwidth: float, threads: int | None) -> float:
    """Compute the mean squared Gaussian kernel over all pairs of rows, in tiles."""
    check_whole("threads", 1 if threads is None else threads, 1)
    rows = CentredRows.of(points, points.mean(axis=0, dtype=np.float64))

    def work(tile: tuple[Span, Span]) -> float:
        squared = squared_distances(rows.span(tile[0]), rows.span(tile[1]))
        # Divided twice: the square of a small bandwidth may be 0; exp(−∞) is the 0 that is meant
        with np.errstate(over="ignore"):
            total = float(np.exp(-squared / bandwidth / bandwidth).sum())
        return total if tile[0] == tile[1] else 2 * total

    with workers(threads) as pool:
        totals = list(pool.map(work, triangle(spans(len(points)))))
    return sum(totals) / len(points) ** 2


def rounding(points: Points) -> float:
    """Bound the rounding error of products and rows, as a share of the largest eigenvalue."""
    precision: Any = np.finfo(points.dtype).eps
    return float(max(points.shape) * max(np.finfo(np.float64).eps, precision**2))


@checks_keywords
def vendi_score(
    embeddings: ArrayLike,
    *,
    q: float = 1.0,
    normalise: bool = True,
    truncate: int | None = None,
    threads: int | None = None,
) -> Score:
    """Measure the effective number of different samples in a set, by cosine similarity.

    Parameters
    ----------
    embeddings
        Rows, shape ``(n, d)``; products are added in float64.
    q
        Order of the entropy, from 0 to infinity: 1 for Shannon's, 2 for RKE, 0 for the rank (of
        eigenvalues above max(n, d) times the rounding of the largest), infinity for 1 / max λ.
    normalise
        Scale rows to length 1 first, as the definition asks. Otherwise rows are taken as given, and
        count by their squared length.
    truncate
        Keep so many of the largest eigenvalues and give each an equal part of what the others hold;
        None keeps all.
    threads
        Number of threads (default: all cores).

    Returns
    -------
    Score
        From 1 to min(n, d), closest to the reference's value is better. It grows with n: compare
        sets of one size.

    Raises
    ------
    InputError
        If it is not an array, is not finite, has rows of zeros, or an option is out of its range.

    Examples
    --------
    >>> round(vendi_score([[1.0, 0.0], [1.0, 0.0], [0.0, 1.0], [0.0, 1.0]]).value, 9)
    2.0
    """
    check_order(q)
    points = _check_rows(embeddings)
    values = spectrum(points, normalise=normalise, threads=threads)
    value = vendi_of(values, q=q, truncate=truncate, zero=rounding(points))
    truncation = {} if truncate is None else {"truncate": truncate}
    pins = {"q": float(q), **truncation, "kernel": _cosine(normalise)}
    return _score("vendi", value, points, min(points.shape), **pins)


@checks_keywords
def rke(
    embeddings: ArrayLike,
    *,
    bandwidth: float | None = None,
    threads: int | None = None,
) -> Score:
    """Measure the number of modes of a set, by Rényi kernel entropy of order 2.

    Takes memory for the rows and some tiles of their pairs.

    Parameters
    ----------
    embeddings
        Rows, shape ``(n, d)``.
    bandwidth
        σ of a Gaussian kernel on the rows as given, above 0; None for the cosine similarity, where
        it is the Vendi score of order 2.
    threads
        Number of threads (default: all cores).

    Returns
    -------
    Score
        From 1 to n (min(n, d) for the cosine), closest to the reference's value is better.

    Raises
    ------
    InputError
        If it is not an array, is not finite, has rows of zeros where the cosine is taken, or the
        bandwidth is invalid.

    Examples
    --------
    >>> round(rke([[0.0], [0.0], [9.0]], bandwidth=1.0).value, 9)
    1.8
    """
    if bandwidth is None:
        points = _check_rows(embeddings)
        value = 1 / cosine_energy(points, threads)
        return _score("rke", value, points, min(points.shape), kernel=_cosine(True))
    if not is_positive(bandwidth):
        raise InputError(f"bandwidth must be a number above 0, or None; found {bandwidth!r}")
    points = check_points(embeddings, "embeddings")
    value = 1 / gaussian_energy(points, float(bandwidth), threads)
    width = float(bandwidth)
    return _score("rke", value, points, len(points), kernel="gaussian", bandwidth=width)


def _check_rows(embeddings: ArrayLike) -> Points:
    points = check_points(embeddings, "embeddings")
    zero = np.flatnonzero(~points.any(axis=1))
    if len(zero):
        raise InputError(
            f"embeddings must have no rows that are all zero, which have no direction; "
            f"{len(zero)} row(s) are, the first is row {zero[0] + 1} (counted from 1)"
        )
    return points


def _cosine(normalise: bool) -> str:
    return "cosine" if normalise else "inner_product"


def _score(metric: str, value: float, points: Points, most: int, **pins: object) -> Score:
    n, d = points.shape
    bounded = float(np.clip(value, 1.0, most))
    return scored(metric, bounded, {**pins, "n": n, "d": d}, range=(1.0, float(most)))


def read_vendi(pair: Pair, _: EstimationOptions) -> Score:
    return _beside(pair, "vendi", 1.0)


def read_rke(pair: Pair, _: EstimationOptions) -> Score:
    return _beside(pair, "rke", 2.0)


def _beside(pair: Pair, metric: str, q: float) -> Score:
    """Measure both sets, the larger cut to the size of the smaller."""
    settings = pair.settings
    n, m = (len(rows) for rows in pair.embedded)
    sides = (
        rows
        if len(rows) == min(n, m)
        else rows[subsample_rows(len(rows), min(n, m), seed=settings.seed)]
        for rows in pair.embedded
    )
    known, generated = (vendi_score(side, q=q, threads=settings.threads).value for side in sides)
    d = pair.embedded[0].shape[1]
    pins = {"q": q, "kernel": "cosine", "d": d, "each": min(n, m), "n": n, "m": m}
    return scored(metric, generated, pins, reference=known)
