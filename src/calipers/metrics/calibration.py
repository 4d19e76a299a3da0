"""What clipped coverage is worth when only some of the generated samples are good, and back.

Let m of the M generated samples come from the reference distribution and the others cover nothing.
The distances of a reference sample to the N − 1 other reference samples and to these m are
exchangeable, so the number J of generated samples within the k-th nearest other reference sample
has the negative hypergeometric (beta-binomial) law

    P(J = j) = C(m, j) B(k + j, N − k + m − j) / B(k, N − k),

and clipped coverage is expected to be f(m) = E[min(J, k)] / k (Salvy et al., arXiv 2507.01761,
section 4). f grows with m; the calibrated score is the share m/M whose expectation is what was
measured. Between two m it is interpolated linearly, and beyond f(M) it is 1. The authors' release
sets f(m) = 0 for m < k, takes the first m that is not below the measured value, and divides by
M + 1: both agree within 1/M from f(k) on, and below it the release says k/(M + 1) for any value
above 0 where this says less.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray


def expected_coverage(reference: int, good: int, k: int) -> NDArray[np.float64]:
    """Expected clipped coverage for every number of good samples from 0 to `good`.

    Parameters
    ----------
    reference
        Reference samples N, at least k + 1.
    good
        The largest number of good samples.
    k
        Neighbours that span a ball.

    Returns
    -------
    ndarray
        Shape ``(good + 1,)``, float64, from 0, never falling, at most 1.
    """
    m = np.arange(good + 1, dtype=np.float64)
    none = np.ones(good + 1)
    for step in range(1, k + 1):
        none *= (reference - step) / (reference - step + m)  # the k nearest are all reference ones
    missing, chance = k * none, none
    for j in range(k - 1):
        others = np.maximum(reference - 1 + m - k - j, 1.0)
        chance = chance * (k + j) / (j + 1) * np.maximum(m - j, 0.0) / others  # of j + 1 instead
        missing += (k - 1 - j) * chance
    return np.maximum.accumulate(np.clip(1 - missing / k, 0.0, 1.0))


def good_share(measured: float, reference: int, generated: int, k: int) -> float:
    """The share of good samples at which so much clipped coverage is expected, in [0, 1]."""
    shares = np.arange(generated + 1) / generated
    return float(np.interp(measured, expected_coverage(reference, generated, k), shares))
