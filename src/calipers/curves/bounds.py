"""How far a divergence that was estimated from samples can be from the true one, on average.

Bounds of E|D_f(P̂‖Q̂) − D_f(P‖Q)| for counts over k cells that were fixed before the samples were
seen: free of the distributions, in n and k alone, or those of an oracle that knows them (Pillutla
et al., JMLR 2023, theorems 10 and 12).

They are for rates: how many samples, how many cells, what smoothing changes. Their constants are
loose, often so much that a bound exceeds the largest value of the divergence and says nothing
(`informative`). They are no error bars, they hold for the average and not for one sample, they leave
out the error of the embedder, and they do not cover cells that k-means made of the same samples.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import get_args

import numpy as np
from numpy.typing import ArrayLike

from calipers.curves.bounds_constants import SmoothnessConstants, smoothness_constants
from calipers.curves.bounds_terms import (
    check_distributions,
    missing_information,
    smoothing_bias,
    spread,
)
from calipers.curves.divergence import Divergence, Vector
from calipers.errors import InputError, unknown_name
from calipers.estimate.smoothing import PSEUDO_COUNTS, Smoothing
from calipers.estimate.validate import check_whole

LEAST = 3


@dataclass(frozen=True)
class ErrorBound:
    """What the mean absolute error of an estimated divergence stays below.

    Attributes
    ----------
    reference, generated
        What estimating either distribution from its samples contributes.
    quantisation
        What cutting the space into cells contributes.
    most
        f(0) + f*(0), the largest value of the divergence: no error can exceed it.
    """

    reference: float
    generated: float
    quantisation: float
    most: float

    @property
    def value(self) -> float:
        """The bound itself: the sum of all contributions."""
        return self.reference + self.generated + self.quantisation

    @property
    def informative(self) -> bool:
        """Whether the bound says more than that no error exceeds the largest value."""
        return self.value < self.most

    def __float__(self) -> float:
        return self.value


def statistical_bound(
    divergence: str | Divergence,
    *,
    n: int,
    k: int,
    m: int | None = None,
    smoothing: Smoothing | float = "none",
) -> ErrorBound:
    """Bound the error of an estimated divergence, whatever the two distributions are.

    Without smoothing each side adds (C₁·log n + C₀* ∨ C₂)·(√(k/n) + k/n), equation 11; with the
    pseudo-count b it adds (C₁·log(n/b + k) + C₀* ∨ C₂)·(√(kn) + 2b(k − 1))/(n + kb), equation 16
    (the generated side with C₁*, C₀ ∨ C₂* and m). See the module for what it does not say.

    Parameters
    ----------
    divergence
        One that :func:`smoothness_constants` knows, such as ``"frontier_integral"``.
    n, m
        Samples of the reference and of the generated set, at least 3; m as n by default. The
        paper states the bounds for equal sizes and proves them for any.
    k
        Without smoothing, the most cells that one of the distributions reaches; with smoothing,
        all cells.
    smoothing
        ``"none"``, ``"laplace"``, ``"krichevsky-trofimov"``, or the pseudo-count b itself.

    Raises
    ------
    InputError
        If the divergence has no bound, a size is too small, or the smoothing adds no constant.

    Examples
    --------
    >>> bound = statistical_bound("jensen_shannon", n=10_000_000, k=100)
    >>> round(bound.value, 3), bound.informative
    (0.053, True)
    """
    constants, sizes, b = smoothness_constants(divergence), _sizes(n, m), pseudo_count(smoothing)
    cells = check_whole("k", k, 1)

    def side(size: int, steep: float, rest: float) -> float:
        if b == 0:
            return float((steep * np.log(size) + rest) * (np.sqrt(cells / size) + cells / size))
        moved = (np.sqrt(cells * size) + 2 * b * (cells - 1)) / (size + cells * b)
        return float((steep * _steepest(size, cells, b) + rest) * moved)

    return _both(constants, sizes, (side, side))


def oracle_bound(
    divergence: str | Divergence,
    reference: ArrayLike,
    generated: ArrayLike,
    *,
    n: int,
    m: int | None = None,
    smoothing: Smoothing | float = "none",
) -> ErrorBound:
    """Bound the error of an estimated divergence between two distributions that are known.

    Without smoothing the reference side adds (C₁·log n + C₀* ∨ C₂)·α_n(P) + (C₁ + C₀* ∨ C₂)·β_n(P),
    equation 10; with the pseudo-count b it adds (C₁·log(n/b + k) + C₀* ∨ C₂)·(nα_n(P)/(n + kb) +
    γ_{n,k}(P)), equation 15 (the generated side with C₁*, C₀ ∨ C₂*, Q and m). For distributions
    with short tails this lies far below :func:`statistical_bound`; where many cells are rare it can
    lie a little above, since equation 10 counts the missing mass with its logarithm throughout.

    Parameters
    ----------
    divergence
        One that :func:`smoothness_constants` knows, such as ``"frontier_integral"``.
    reference, generated
        P and Q over the same k cells, each shape ``(k,)`` and summing to 1. With smoothing, all
        cells count, also those that neither reaches.
    n, m
        Samples of the reference and of the generated set, at least 3; m as n by default.
    smoothing
        ``"none"``, ``"laplace"``, ``"krichevsky-trofimov"``, or the pseudo-count b itself.

    Raises
    ------
    InputError
        As :func:`statistical_bound`, or if a distribution does not sum to 1.
    """
    constants, sizes, b = smoothness_constants(divergence), _sizes(n, m), pseudo_count(smoothing)

    def of(p: Vector) -> Side:
        def side(size: int, steep: float, rest: float) -> float:
            if b == 0:
                wide, missed = spread(p, size), missing_information(p, size)
                return float((steep * np.log(size) + rest) * wide + (steep + rest) * missed)
            kept = size / (size + len(p) * b)
            moved = kept * spread(p, size) + smoothing_bias(p, size, b)
            return float((steep * _steepest(size, len(p), b) + rest) * moved)

        return side

    p, q = check_distributions(reference, generated)
    return _both(constants, sizes, (of(p), of(q)))


def statistical_rate(*, n: int, k: int) -> float:
    """How the error falls with n and grows with k, constants left out: (√(k/n) + k/n)·log n.

    Pillutla et al., JMLR 2023, equation 12 and section 7.8, "Bound".
    """
    size, cells = check_whole("n", n, LEAST), check_whole("k", k, 1)
    return float((np.sqrt(cells / size) + cells / size) * np.log(size))


def oracle_rate(reference: ArrayLike, generated: ArrayLike, *, n: int) -> float:
    """The same for known distributions: (α_n(P) + α_n(Q))·log n + β_n(P) + β_n(Q).

    Pillutla et al., JMLR 2023, section 7.8, "Oracle Bound".
    """
    p, q = check_distributions(reference, generated)
    size = check_whole("n", n, LEAST)
    missed = missing_information(p, size) + missing_information(q, size)
    return (spread(p, size) + spread(q, size)) * float(np.log(size)) + missed


def pseudo_count(smoothing: Smoothing | float) -> float:
    """What a smoothing adds to every count, 0 for none; theorem 12 covers constants only."""
    if isinstance(smoothing, str):
        if smoothing in PSEUDO_COUNTS:
            return PSEUDO_COUNTS[smoothing]
        if smoothing in get_args(Smoothing):
            raise InputError(
                f"error bounds cover smoothing that adds one constant to every count: "
                f"{', '.join(PSEUDO_COUNTS)}, or a number; found {smoothing!r}"
            )
        raise unknown_name("smoothing", smoothing, PSEUDO_COUNTS)
    if isinstance(smoothing, bool) or not 0 <= smoothing < np.inf:
        raise InputError(f"a pseudo-count must be a number of at least 0; found {smoothing!r}")
    return float(smoothing)


Side = Callable[[int, float, float], float]


def _both(
    constants: SmoothnessConstants, sizes: tuple[int, int], sides: tuple[Side, Side]
) -> ErrorBound:
    rest = max(constants.conjugate_at_zero, constants.curvature)
    conjugate_rest = max(constants.at_zero, constants.conjugate_curvature)
    return ErrorBound(
        sides[0](sizes[0], constants.slope, rest),
        sides[1](sizes[1], constants.conjugate_slope, conjugate_rest),
        0.0,
        constants.most,
    )


def _steepest(n: int, k: int, b: float) -> float:
    """log 1/P̂ for the smallest P̂ that b leaves, (n/b + k), and at least 1, as (A2) asks for."""
    return max(1.0, float(np.log(n / b + k)))


def _sizes(n: int, m: int | None) -> tuple[int, int]:
    left = check_whole("n", n, LEAST)
    return left, left if m is None else check_whole("m", m, LEAST)
