"""How far a divergence that was estimated from samples can be from the true one, on average.

Bounds of E|D_f(P̂‖Q̂) − D_f(P‖Q)| for counts over k cells that were fixed before the samples were
seen: free of the distributions, in n and k alone, or those of an oracle that knows them (Pillutla
et al., JMLR 2023, theorems 10 and 12).

They are for rates: how many samples, how many cells, what smoothing changes. Their constants are
loose, often so much that a bound exceeds the largest value of the divergence and says nothing
(`informative`). They are no error bars: they hold for the average and not for one sample, leave out
what the embedder does not see, and do not cover cells that k-means made of the same samples.
"""

from __future__ import annotations

from dataclasses import dataclass

from numpy.typing import ArrayLike

from calipers.curves.bounds_constants import SmoothnessConstants, smoothness_constants
from calipers.curves.bounds_sides import Side, free_side, oracle_side, pseudo_count
from calipers.curves.bounds_terms import check_distributions
from calipers.curves.divergence import Divergence
from calipers.estimate.smoothing import Smoothing
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
    constants, b = smoothness_constants(divergence), pseudo_count(smoothing)
    cells = check_whole("k", k, 1)
    left, right = (free_side(size, cells, b) for size in _sizes(n, m))
    return _bound(constants, left, right)


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
    γ_{n,k}(P)), equation 15 (the generated side with C₁*, C₀ ∨ C₂*, Q and m).

    For distributions of few common cells this lies far below :func:`statistical_bound`. Where most
    cells are rare it can lie above it for some divergences, since equation 10 multiplies C₀* ∨ C₂
    by β_n where the missing mass would do.

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
    constants, b = smoothness_constants(divergence), pseudo_count(smoothing)
    pair = check_distributions(reference, generated)
    left, right = (oracle_side(p, size, b) for p, size in zip(pair, _sizes(n, m), strict=True))
    return _bound(constants, left, right)


def _bound(constants: SmoothnessConstants, left: Side, right: Side) -> ErrorBound:
    def side(terms: Side, slope: float, rest: float) -> float:
        return float((slope * terms.steepest + rest) * terms.moved + (slope + rest) * terms.missed)

    rest = max(constants.conjugate_at_zero, constants.curvature)
    conjugate_rest = max(constants.at_zero, constants.conjugate_curvature)
    return ErrorBound(
        side(left, constants.slope, rest),
        side(right, constants.conjugate_slope, conjugate_rest),
        0.0,
        constants.most,
    )


def _sizes(n: int, m: int | None) -> tuple[int, int]:
    left = check_whole("n", n, LEAST)
    return left, left if m is None else check_whole("m", m, LEAST)
