"""Bounds on the mean absolute error of a divergence estimated from samples.

Bounds of E|D_f(P̂‖Q̂) − D_f(P‖Q)| for counts over k cells that were fixed before the samples were
seen: free of the distributions, in n and k alone (:func:`statistical_bound`), or those of an oracle
that knows them (:func:`oracle_bound`; Pillutla et al., JMLR 2023, theorems 10 and 12). A bound is
made of how far the estimate of each distribution is off (spread, missing mass, smoothing bias) and
of how steeply the divergence answers.

**Smoothness.** The bounds hold for generators f whose steepness near 0 grows no faster than log 1/t
(assumption 9). With f and its conjugate f*(t) = t·f(1/t):

- (A1) C₀ = f(0) and C₀* = f*(0) are finite;
- (A2) |f'(t)| ≤ C₁·max(1, log 1/t) and |f*'(t)| ≤ C₁*·max(1, log 1/t) for t in (0, 1);
- (A3) t·f''(t)/2 ≤ C₂ and t·f*''(t)/2 ≤ C₂* for all t > 0.

The values are those of table 1, except that its row for the interpolated χ² belongs to a generator
without the factor (1 − λ)² and is multiplied by it here. C₀, C₀*, C₂ and C₂* are the smallest that
hold, C₁ and C₁* in part are not: for the frontier integral 1 would do in place of 4, and for Le Cam
0.57 in place of 2.

**Terms of an oracle** are exact sums over the k cells of a known distribution, not estimates from a
sample; for a sample, see :func:`missing_mass`.

**Rates** are the bounds without their constants, as figure 21 of the paper draws them. They are no
bounds: on a logarithmic scale their slopes against n and k are to be compared with those of a
measured error; their level means nothing.

**Quantisation.** Few cells hide differences within them, many leave too few samples in each. The
first error can be kept below (f(0) + f*(0))·2/k by the right k cells, the second is about √(k/n);
they balance at k ~ n^(1/3) (proposition 13 and theorem 14). The right cells are level sets of p/q,
which nobody knows. k-means does not find them: its error may be larger, and quantising never raises
a divergence, so what it hides is always on one side.

What they are for: rates, that is how many samples, how many cells, what smoothing changes. Their
constants are loose, often so much that a bound exceeds the largest value of the divergence and says
nothing (`informative`). They are not error bars: they hold for the average and not for one sample,
leave out what the embedder does not see, and do not cover cells that k-means made of the same
samples.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from numbers import Real
from typing import Any, get_args

import numpy as np
from numpy.typing import ArrayLike

from calipers.catalogue.estimation import Smoothing
from calipers.curves.divergence import Divergence
from calipers.curves.divergences import DIVERGENCES, WEIGHTED, find_divergence, half_kl
from calipers.errors import InputError, unknown_name
from calipers.estimate.histograms import PSEUDO_COUNTS, Histograms
from calipers.numeric.arrays import Vector
from calipers.numeric.validation import check_whole

FRONTIER_INTEGRAL = Divergence(
    "frontier_integral", lambda t: half_kl(t) + t * half_kl(1 / t), 0.5, 0.5
)
"""The frontier integral of KL as an f-divergence (JMLR 2023, property 7a): FI(P, Q) = D_f(P‖Q)."""

KNOWN = (FRONTIER_INTEGRAL.name, *DIVERGENCES, *WEIGHTED)
REFUSED = {
    "kl": "it is infinite where the reference has mass and the generated set none (A1)",
    "reverse_kl": "it is infinite where the generated set has mass and the reference none (A1)",
    "chi2": "it is infinite where the reference has mass and the generated set none (A1)",
    "squared_hellinger": "near 0 its generator is steeper than any multiple of log 1/t (A2)",
    "total_variation": "its generator has a corner at 1, so no second derivative there",
}
COVERED = (
    "frontier_integral, jensen_shannon, le_cam, interpolated_kl=λ, interpolated_chi2=λ and "
    "skew_jensen_shannon=λ"
)


@dataclass(frozen=True)
class SmoothnessConstants:
    """Constants that bound the change of a divergence by errors of probabilities.

    Attributes
    ----------
    at_zero, conjugate_at_zero
        C₀ = f(0) and C₀* = f*(0): the divergence is at most their sum.
    slope, conjugate_slope
        C₁ and C₁*: bounds of |f'(t)| / max(1, log 1/t) for t in (0, 1), and of f* likewise.
    curvature, conjugate_curvature
        C₂ and C₂*: bounds of t·f''(t)/2 for t > 0, and of f* likewise.
    """

    at_zero: float
    conjugate_at_zero: float
    slope: float
    conjugate_slope: float
    curvature: float
    conjugate_curvature: float

    @property
    def most(self) -> float:
        """The largest value of the divergence, and hence of its error."""
        return self.at_zero + self.conjugate_at_zero


def smoothness_constants(divergence: str | Divergence) -> SmoothnessConstants:
    """Look up the constants of a divergence that has error bounds.

    Pillutla et al., JMLR 2023, assumption 9 and table 1.

    Parameters
    ----------
    divergence
        ``"frontier_integral"``, ``"jensen_shannon"``, ``"le_cam"``, ``"interpolated_kl=0.3"``,
        ``"interpolated_chi2=0.3"``, ``"skew_jensen_shannon=0.3"``, or one of these as a
        :class:`~calipers.Divergence`.

    Raises
    ------
    InputError
        If the divergence breaks the assumption, or its constants are not known.

    Examples
    --------
    >>> smoothness_constants("frontier_integral").slope
    4.0
    """
    bounded = bounded_divergence(divergence)
    kind, _, weight = bounded.name.partition("=")
    if kind not in {*TABLE, *REFUSED} or not _is_named(bounded):
        raise InputError(
            f"error bounds need the constants of a divergence, which are known for {COVERED}; "
            f"found {bounded.name!r}"
        )
    if kind in REFUSED:
        raise InputError(
            f"these error bounds do not cover {kind}: {REFUSED[kind]}; they cover {COVERED}"
        )
    return TABLE[kind](float(weight or 0.5))


def bounded_divergence(divergence: str | Divergence) -> Divergence:
    """Look up a divergence that has error bounds, including the frontier integral."""
    if isinstance(divergence, Divergence):
        return divergence
    kind, equals, _ = str(divergence).partition("=")
    if kind not in KNOWN:
        raise unknown_name("divergence", kind, KNOWN)
    if kind != FRONTIER_INTEGRAL.name:
        return find_divergence(divergence)
    if equals:
        raise InputError(f"divergence {kind!r} takes no weight; found {divergence!r}")
    return FRONTIER_INTEGRAL


def _is_named(divergence: Divergence) -> bool:
    """Whether a divergence is the one that its name says, and not a person's own."""
    try:
        named = bounded_divergence(divergence.name)
    except InputError:
        return False
    t = np.geomspace(1e-3, 1e3, 25)
    return bool(np.allclose(named(t), divergence(t), rtol=1e-6, atol=1e-9))


def _interpolated_kl(weight: float) -> SmoothnessConstants:
    rest = 1 - weight
    most, steep = -float(np.log(weight)) - rest, rest**2 / weight
    return SmoothnessConstants(rest, most, 1.0, steep, 0.5, rest / (8 * weight))


def _interpolated_chi2(weight: float) -> SmoothnessConstants:
    odds = (1 - weight) / weight
    bend = 4 / (27 * weight)
    return SmoothnessConstants(1 - weight, (1 - weight) * odds, 2.0, 2 * odds**2, bend, bend * odds)


def _skew_jensen_shannon(weight: float) -> SmoothnessConstants:
    rest = 1 - weight
    ends = -rest * float(np.log(rest)), -weight * float(np.log(weight))
    return SmoothnessConstants(*ends, weight, rest, weight / 2, rest / 2)


TABLE: dict[str, Callable[[float], SmoothnessConstants]] = {
    "interpolated_kl": _interpolated_kl,
    "interpolated_chi2": _interpolated_chi2,
    "skew_jensen_shannon": _skew_jensen_shannon,
    "jensen_shannon": _skew_jensen_shannon,
    "frontier_integral": lambda _: SmoothnessConstants(0.5, 0.5, 4.0, 4.0, 0.5, 0.5),
    "le_cam": lambda _: SmoothnessConstants(0.5, 0.5, 2.0, 2.0, 8 / 27, 8 / 27),
}
"""The rows of table 1 that satisfy the assumption; each takes λ."""


@dataclass(frozen=True)
class MissingMass:
    """The mass of each distribution that a pair of histograms has not seen.

    Attributes
    ----------
    reference, generated
        Good's estimate of the mass in cells where that side counts nothing: the share of its
        samples that are alone in their cell; in [0, 1].
    empty_cells
        Number of cells in which one of the sides, or both, count nothing; table 8.
    cells
        Number of cells.
    """

    reference: float
    generated: float
    empty_cells: int
    cells: int

    @property
    def empty_share(self) -> float:
        """Share of the cells in which at least one side has no count, in [0, 1]."""
        return self.empty_cells / self.cells


def missing_mass(histograms: Histograms) -> MissingMass:
    """Estimate the mass of either distribution that a pair of histograms has not seen.

    Good (1953): the expected mass of unseen cells is close to the expected share of samples in
    cells seen once. Smoothing is left aside: the counts are those of the samples. The cells must
    not come from the samples themselves: k-means on the same rows leaves no cell empty on both
    sides, so the estimate is then only a sign of too many cells. Pillutla et al., JMLR 2023,
    section 4.1 and table 8.

    Examples
    --------
    >>> missing_mass(Histograms([3, 1, 0, 1], [0, 2, 2, 1]))
    MissingMass(reference=0.4, generated=0.2, empty_cells=2, cells=4)
    """
    p, q = histograms.reference, histograms.generated
    return MissingMass(
        float((p == 1).sum() / p.sum(dtype=np.float64)),
        float((q == 1).sum() / q.sum(dtype=np.float64)),
        int(((p == 0) | (q == 0)).sum()),
        len(p),
    )


def expected_missing_mass(distribution: ArrayLike, *, n: int) -> float:
    """Compute the expected mass of a known distribution unseen in n samples, in [0, 1].

    Σ (1 − P_l)ⁿ·P_l; Pillutla et al., JMLR 2023, equation 36, where it is bounded by k/n.

    Examples
    --------
    >>> expected_missing_mass([0.5, 0.5], n=2)
    0.25
    """
    p = check_distribution(distribution, "distribution")
    return float(np.sum(_unseen(p, check_whole("n", n, 1)) * p))


def spread(p: Vector, n: int) -> float:
    """α_n(P) = Σ √(P_l/n), at most √(k/n): bounds the mean of Σ |P̂_l − P_l|; theorem 10."""
    return float(np.sum(np.sqrt(p / n)))


def missing_information(p: Vector, n: int) -> float:
    """β_n(P): the mean of Σ P_l·max(1, log 1/P_l) over cells that n samples miss; theorem 10."""
    seen = p[p > 0]
    return float(np.sum(_unseen(seen, n) * seen * np.maximum(1.0, -np.log(seen))))


def smoothing_bias(p: Vector, n: int, pseudo_count: float) -> float:
    """γ_{n,k}(P) = bk/(n + bk)·Σ |P_l − 1/k|: the pull towards equal shares; theorem 12."""
    k = len(p)
    return float(pseudo_count * k / (n + pseudo_count * k) * np.sum(np.abs(p - 1 / k)))


def check_distribution(distribution: ArrayLike, name: str) -> Vector:
    """Return probabilities as float64; raise an error for invalid ones.

    Raises
    ------
    InputError
        If they are not a list of numbers, one is negative or not finite, or their sum is not 1.
    """
    try:
        p = np.asarray(distribution, np.float64)
    except (TypeError, ValueError) as error:
        raise InputError(f"{name} must be a list of probabilities: {error}") from error
    if p.ndim != 1 or p.size == 0:
        raise InputError(
            f"{name} must be a list of probabilities, one for each cell; found shape {p.shape}"
        )
    bad = np.flatnonzero(~(np.isfinite(p) & (p >= 0)))
    if len(bad):
        raise InputError(
            f"{name} must hold probabilities of at least 0; cell {bad[0] + 1} has {p[bad[0]]:g}"
        )
    if abs(p.sum() - 1) > 1e-9:
        raise InputError(f"{name} must sum to 1; found {p.sum():.12g}")
    return p


def check_distributions(reference: ArrayLike, generated: ArrayLike) -> tuple[Vector, Vector]:
    """Check both distributions, and that they have the same cells."""
    p, q = check_distribution(reference, "reference"), check_distribution(generated, "generated")
    if len(p) != len(q):
        raise InputError(
            f"reference and generated must be over the same cells; found {len(p)} and {len(q)}"
        )
    return p, q


def _unseen(p: Vector, n: int) -> Vector:
    """(1 − P_l)ⁿ: how likely it is that none of n samples falls in a cell."""
    with np.errstate(divide="ignore"):
        chance: Vector = np.exp(n * np.log1p(-np.minimum(p, 1.0)))
    return chance


@dataclass(frozen=True)
class BoundSide:
    """One side of a bound: (C₁·steepest + C₀* ∨ C₂)·moved + (C₁ + C₀* ∨ C₂)·missed."""

    steepest: float
    moved: float
    missed: float = 0.0


def free_side(n: int, k: int, b: float) -> BoundSide:
    """Bound the error of n samples over k cells for any distribution; equations 11 and 16."""
    if b == 0:
        return BoundSide(math.log(n), math.sqrt(k / n) + k / n)
    return BoundSide(_steepest(n, k, b), (math.sqrt(k * n) + 2 * b * (k - 1)) / (n + k * b))


def oracle_side(p: Vector, n: int, b: float) -> BoundSide:
    """Bound the error of n samples of a known distribution; equations 10 and 15."""
    if b == 0:
        return BoundSide(math.log(n), spread(p, n), missing_information(p, n))
    k = len(p)
    moved = n / (n + k * b) * spread(p, n) + smoothing_bias(p, n, b)
    return BoundSide(_steepest(n, k, b), moved)


def _steepest(n: int, k: int, b: float) -> float:
    """log 1/P̂ at the smallest P̂ that b leaves, and at least 1, as (A2) asks for."""
    return max(1.0, math.log(n / b + k))


def pseudo_count(smoothing: Smoothing | float) -> float:
    """Return what a smoothing adds to every count, 0 for none; theorem 12 needs a constant."""
    if isinstance(smoothing, str):
        if smoothing in PSEUDO_COUNTS:
            return PSEUDO_COUNTS[smoothing]
        if smoothing in get_args(Smoothing):
            raise InputError(
                "error bounds cover smoothing that adds one constant to every count: "
                f"{', '.join(PSEUDO_COUNTS)}, or a number; found {smoothing!r}"
            )
        raise unknown_name("smoothing", smoothing, PSEUDO_COUNTS)
    if not _is_count(smoothing):
        raise InputError(f"a pseudo-count must be a number of at least 0; found {smoothing!r}")
    return float(smoothing)


def _is_count(value: Any) -> bool:
    return type(value) is not bool and isinstance(value, Real) and 0 <= float(value) < math.inf


LEAST = 3


@dataclass(frozen=True)
class ErrorBound:
    """An upper bound on the mean absolute error of an estimated divergence.

    Attributes
    ----------
    reference, generated
        Contribution of estimating either distribution from its samples.
    quantisation
        Contribution of dividing the space into cells.
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
        """Whether the bound is below the trivial one, the largest value of the divergence."""
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
    """Bound the error of an estimated divergence for any two distributions.

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
    """Bound the error of an estimated divergence between two known distributions.

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

    Examples
    --------
    >>> bound = oracle_bound("frontier_integral", [0.5, 0.5], [0.25, 0.75], n=1_000_000)
    >>> round(bound.value, 3)
    0.155
    """
    constants, b = smoothness_constants(divergence), pseudo_count(smoothing)
    pair = check_distributions(reference, generated)
    left, right = (oracle_side(p, size, b) for p, size in zip(pair, _sizes(n, m), strict=True))
    return _bound(constants, left, right)


def _bound(constants: SmoothnessConstants, left: BoundSide, right: BoundSide) -> ErrorBound:
    def side(terms: BoundSide, slope: float, rest: float) -> float:
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


def statistical_rate(*, n: int, k: int) -> float:
    """Rate of the error in n and k, up to constants: (√(k/n) + k/n)·log n.

    Pillutla et al., JMLR 2023, equation 12 and section 7.8, "Bound".
    """
    size, cells = check_whole("n", n, LEAST), check_whole("k", k, 1)
    return (math.sqrt(cells / size) + cells / size) * math.log(size)


def oracle_rate(reference: ArrayLike, generated: ArrayLike, *, n: int) -> float:
    """Rate of the error for known distributions: (α_n(P) + α_n(Q))·log n + β_n(P) + β_n(Q).

    Pillutla et al., JMLR 2023, section 7.8, "Oracle Bound".
    """
    p, q = check_distributions(reference, generated)
    size = check_whole("n", n, LEAST)
    missed = missing_information(p, size) + missing_information(q, size)
    return (spread(p, size) + spread(q, size)) * math.log(size) + missed


def quantisation_bound(divergence: str | Divergence, *, k: int) -> float:
    """Bound the error in a divergence caused by the best partition into k cells.

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
    bounded, cells = bounded_divergence(divergence), check_whole("k", k, 2)
    most = bounded.at_zero + bounded.conjugate_at_zero
    if not np.isfinite(most):
        raise InputError(
            f"what cells lose of {bounded.name} has no bound: "
            f"{'f(0)' if np.isinf(bounded.at_zero) else 'f*(0)'} is infinite"
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
    """Bound the error of a divergence of two continuous distributions, estimated by k cells.

    The sum of :func:`statistical_bound` and :func:`quantisation_bound`, that is equation 20 of
    Pillutla et al., JMLR 2023, with its constants. It holds for the best partition into k cells,
    fixed before the samples are seen, not for k-means.

    Examples
    --------
    >>> bound = total_bound("frontier_integral", n=10**9, k=100)
    >>> round(bound.value, 3), bound.quantisation
    (0.073, 0.02)
    """
    bound = statistical_bound(divergence, n=n, k=k, m=m, smoothing=smoothing)
    return replace(bound, quantisation=quantisation_bound(divergence, k=k))


def recommended_cells(n: int, m: int | None = None) -> int:
    """Recommend a number of cells: the cube root of the smaller of n and m, at least 2.

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
