"""Vendi score and RKE: how many different samples does a set hold, in effect? No reference needed.

With rows of length 1, K = X·Xᵀ/n holds the cosine similarities of all pairs, and its eigenvalues
sum to 1. The Vendi score is the exponential of their Rényi entropy of order q (Friedman & Dieng,
TMLR 2023, for q = 1; Pasarkar & Dieng, AISTATS 2024, for any q): n where all rows are orthogonal, 1
where all are equal. X·Xᵀ and Xᵀ·X have the same eigenvalues but for zeros, so a d x d matrix is
enough. Equal to ``score_dual`` of the vendi-score package.

RKE is that of order 2, 1 / Σ λ² = n² / Σ_ij k(x_i, x_j)², which needs no eigenvalues; its authors
take it of a Gaussian kernel, k(x, y) = exp(−|x − y|²/(2σ²)), and call it the mode count, RKE-MC
(Jalali et al., NeurIPS 2023).

Both are properties T(Q) of one set, so hold them against T(P) of the reference at the same n: they
grow with n, for kernels of many dimensions without end; ``truncate`` bounds that (Ospanov & Farnia,
UAI 2025). What they do not detect: whether the samples are any good, noise being very diverse; and
with embeddings that all point one way, as those of many language models do, the cosine kernel gives
values near 1 to any set.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from calipers.errors import InputError
from calipers.estimate.distances import Points
from calipers.estimate.validate import check_points, is_positive
from calipers.metrics.vendi_entropy import check_order, vendi_of
from calipers.metrics.vendi_spectrum import cosine_energy, gaussian_energy, rounding, spectrum
from calipers.score import Score, signature


def vendi_score(
    embeddings: ArrayLike,
    *,
    q: float = 1.0,
    normalise: bool = True,
    truncate: int | None = None,
    threads: int | None = None,
) -> Score:
    """Tell how many different samples a set holds, in effect, by their cosine similarity.

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
        If the array is none, is not finite, has rows of zeros, or an option is out of its range.

    Examples
    --------
    >>> round(vendi_score([[1.0, 0.0], [1.0, 0.0], [0.0, 1.0], [0.0, 1.0]]).value, 9)
    2.0
    """
    check_order(q)
    points = _check_rows(embeddings)
    values = spectrum(points, normalise=normalise, threads=threads)
    value = vendi_of(values, q=q, truncate=truncate, zero=rounding(points))
    kept = {} if truncate is None else {"truncate": truncate}
    pins = {"q": float(q), **kept, "kernel": _cosine(normalise)}
    return _score("vendi", value, points, min(points.shape), **pins)


def rke(
    embeddings: ArrayLike,
    *,
    bandwidth: float | None = None,
    threads: int | None = None,
) -> Score:
    """Tell how many modes a set has, by Rényi kernel entropy of order 2.

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
        If the array is none, is not finite, has rows of zeros where the cosine is taken, or the
        bandwidth is none.

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
    return Score(
        value=float(np.clip(value, 1.0, most)),
        range=(1.0, float(most)),
        better="closest",
        signature=signature({"metric": metric, **pins, "n": n, "d": d}),
    )
