"""The effective number that a spectrum stands for: exponentials of Rényi entropies.

For eigenvalues λ ≥ 0 that sum to 1 (Friedman & Dieng, TMLR 2023; Pasarkar & Dieng, AISTATS 2024):

    VS_q = exp(log(Σ λ^q) / (1 − q)),   VS_1 = exp(−Σ λ log λ),   VS_∞ = 1 / max λ

and VS_0 is the number of eigenvalues that are not 0. It falls as q grows: small q count rare kinds
as much as common ones, large q see the commonest only.
"""

from __future__ import annotations

from numbers import Real
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from calipers.errors import InputError
from calipers.estimate.validate import as_array, check_whole

Vector = NDArray[np.float64]


def vendi_of(
    eigenvalues: ArrayLike, *, q: float = 1.0, truncate: int | None = None, zero: float = 0.0
) -> float:
    """Tell how many different things a spectrum stands for.

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


def truncated(shares: Vector, truncate: int | None) -> Vector:
    """The largest shares, each with an equal part of what the others hold.

    Parameters
    ----------
    shares
        Largest first; their sum may be below 1 where the smaller ones are not known.
    truncate
        How many to keep; None, or more than there are, keeps all.
    """
    if truncate is None or check_whole("truncate", truncate, 1) >= len(shares):
        return shares
    kept: Vector = shares[:truncate] + (1 - shares[:truncate].sum()) / truncate
    return kept


def check_order(q: Any) -> float:
    """Return the order of an entropy, or refuse what is none."""
    if isinstance(q, bool) or not isinstance(q, Real) or not float(q) >= 0:
        raise InputError(f"q must be a number from 0 to infinity; found {q!r}")
    return float(q)


def _entropy(shares: Vector, q: float) -> float:
    logs = np.log(shares)
    if q == 1:
        return float(-(shares @ logs))
    if np.isinf(q):
        return float(-logs.max())
    if abs(q - 1) < 0.5:  # near 1 the sum of powers is 1 less little: take that little itself
        return float(np.log1p(shares @ np.expm1((q - 1) * logs)) / (1 - q))
    largest = logs.max()  # so that no power of a large order is rounded to 0
    return float((q * largest + np.log(np.exp(q * (logs - largest)).sum())) / (1 - q))
