"""What cutting a space into cells costs a divergence, and how many cells balance it.

Few cells hide differences within them, many leave too few samples in each. The first error can be
kept below (f(0) + f*(0))·2/k by the right k cells, the second is about √(k/n); they balance at
k ~ n^(1/3) (Pillutla et al., JMLR 2023, proposition 13 and theorem 14).

The right cells are level sets of p/q, which nobody knows. k-means does not find them: its error may
be larger, and quantising never raises a divergence, so what it hides is always on one side.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from calipers.curves.bounds import ErrorBound, statistical_bound
from calipers.curves.bounds_constants import bounded_divergence
from calipers.curves.divergence import Divergence
from calipers.errors import InputError
from calipers.estimate.smoothing import Smoothing
from calipers.estimate.validate import check_whole


def quantisation_bound(divergence: str | Divergence, *, k: int) -> float:
    """Bound what the best partition into k cells loses of a divergence.

    (f(0) + f*(0)) / ⌊k/2⌋ for any two distributions over any space; Pillutla et al., JMLR 2023,
    proposition 13, where the partition has 2k cells.

    Parameters
    ----------
    divergence
        ``"frontier_integral"``, or any divergence with finite f(0) and f*(0); it need not be
        smooth, so ``"total_variation"`` and ``"squared_hellinger"`` will do.
    k
        Number of cells, at least 2.

    Raises
    ------
    InputError
        If f(0) or f*(0) is infinite, or k is below 2.

    Examples
    --------
    >>> quantisation_bound("frontier_integral", k=100)
    0.02
    """
    found, cells = bounded_divergence(divergence), check_whole("k", k, 2)
    most = found.at_zero + found.conjugate_at_zero
    if not np.isfinite(most):
        raise InputError(
            f"what cells lose of {found.name} has no bound: "
            f"{'f(0)' if np.isinf(found.at_zero) else 'f*(0)'} is infinite"
        )
    return float(most / (cells // 2))


def total_bound(
    divergence: str | Divergence,
    *,
    n: int,
    k: int,
    m: int | None = None,
    smoothing: Smoothing | float = "none",
) -> ErrorBound:
    """Bound the error of a divergence of two continuous distributions, through k cells.

    The sum of :func:`statistical_bound` and :func:`quantisation_bound`, that is equation 20 of
    Pillutla et al., JMLR 2023, with its constants. It holds for the best partition into k cells,
    fixed before the samples are seen, not for k-means.
    """
    bound = statistical_bound(divergence, n=n, k=k, m=m, smoothing=smoothing)
    return replace(bound, quantisation=quantisation_bound(divergence, k=k))


def recommended_cells(n: int, m: int | None = None) -> int:
    """Advise how many cells to use for n and m samples: the cube root of the fewer, at least 2.

    Balances √(k/n) against 1/k (Pillutla et al., JMLR 2023, theorem 14), constants and logarithms
    left out: it tells how k should grow, and its level is a convention. It is far below the n/10
    of mauve-text.

    Examples
    --------
    >>> recommended_cells(5000), recommended_cells(1_000_000)
    (17, 100)
    """
    left = check_whole("n", n, 1)
    right = left if m is None else check_whole("m", m, 1)
    root: float = min(left, right) ** (1 / 3)
    return max(2, round(root))
