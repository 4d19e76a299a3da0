"""The divergence frontier of two distributions, and the numbers that sum it up.

For R_λ = λP + (1 − λ)Q the frontier is the curve of the pairs (D_f(Q‖R_λ), D_f(P‖R_λ)), λ in
(0, 1): how much of Q has no place in the mixture against how much of P has none (Pillutla et al.,
JMLR 2023, definition 4). Each coordinate is itself an f-divergence of P and Q (property 5), so any
estimate of the two gives it. Its area after x → exp(−c·x) is MAUVE, its average linearised cost is
the frontier integral, and the cost at λ = ½ the mid-point summary. For KL equal to mauve-text 0.4.0
on the same counts, unless both histograms are equal: MAUVE is then 1 here, and 0.75 or 1 there
(:func:`~calipers.curves.areas.area_under`).

It does not tell a lack of quality from a lack of diversity: both bend the curve alike.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, get_args

import numpy as np
from numpy.typing import ArrayLike

from calipers.curves.areas import area_under, best_f_beta, transformed
from calipers.curves.divergence import Divergence, Vector, check_weight
from calipers.curves.divergences import find_divergence
from calipers.curves.expectation import half_of, mean_cost
from calipers.errors import InputError, unknown_name
from calipers.estimate.likelihood_ratios import Estimate, LikelihoodRatios, ratios_of
from calipers.estimate.validate import as_array, is_whole

GRID = 25
EDGE = 1e-6
AT_ONCE = 2**18  # values of f that are held at a time

Points = Literal["other", "own"]


@dataclass(frozen=True, eq=False)
class DivergenceFrontier:
    """The trade-off between what the generated set adds and what it leaves out.

    Attributes
    ----------
    weights
        λ of every point, from 0 to 1, shape ``(points,)``.
    generated_cost
        D_f(Q‖R_λ), in nats for KL: grows where the generated set goes beyond the reference.
    reference_cost
        D_f(P‖R_λ), in nats for KL: grows where the reference is not covered.
    divergence
        Whose frontier it is.
    ratios
        The estimate that it was read from.
    averaged_over
        At which samples the ratios were averaged; see :func:`divergence_frontier`.
    """

    weights: Vector
    generated_cost: Vector
    reference_cost: Vector
    divergence: Divergence
    ratios: LikelihoodRatios
    averaged_over: Points = "other"

    def area(self, c: float = 5.0) -> float:
        """MAUVE: the area under the frontier after x → exp(−c·x), in [0, 1], 1 for equal sets.

        The mean of the two trapezoid sums, one along each axis, with the end points (1, 0) and
        (0, 1) added; Pillutla et al., JMLR 2023, equation 5.

        Parameters
        ----------
        c
            Scaling constant, above 0; changes the numbers, not their order.
        """
        return area_under(self.points(c))

    def points(self, c: float = 5.0) -> Vector:
        """The curve (exp(−c·D_f(Q‖R)), exp(−c·D_f(P‖R))) with its ends, ``(points + 2, 2)``."""
        return transformed(self.generated_cost, self.reference_cost, c)

    def integral(self) -> float:
        """The frontier integral FI_f, 0 for equal sets; JMLR 2023, equation 7.

        2∫ λ·D_f(P‖R_λ) + (1 − λ)·D_f(Q‖R_λ) dλ: in closed form for KL (in [0, 1]) and χ² (in
        [0, 2]), by quadrature for the others (to about 1e-11 where f is smooth).
        """
        half = half_of(self.divergence)
        return self._both(half)

    def midpoint(self) -> float:
        """The mid-point summary Mid_f, 0 for equal sets; JMLR 2023, equation 8.

        ½·D_f(P‖R) + ½·D_f(Q‖R) with R = ½P + ½Q: the Jensen–Shannon divergence for KL, Le Cam's
        for χ². In [0, (f(0) + f(2)) / 2]. As an f-divergence its generator is ½(f_½ + f_½*), where
        property 8(a) of the paper prints f_½ alone.
        """
        return 0.5 * self._both(self.divergence.interpolated(0.5))

    def f_beta(self, beta: float, c: float = 5.0) -> float:
        """The largest F_β over the transformed curve, in [0, 1], as if it were a PR-curve.

        exp(−c·D_f(Q‖R)) stands for precision, exp(−c·D_f(P‖R)) for recall; Le Bronnec et al., ACL
        2024, figure A.4, who show that it tells quality from diversity worse than the F_β of
        :func:`~calipers.precision_recall_curve` does. It is here to compare.
        """
        precision, recall = self.points(c)[1:-1].T
        return best_f_beta(precision, recall, beta)

    def _both(self, divergence: Divergence) -> float:
        """D(P‖Q) + D(Q‖P)."""
        sides = self.ratios, self.ratios.swapped
        return float(sum(_cost(side, divergence, self.averaged_over)[0] for side in sides))


def divergence_frontier(
    estimate: Estimate,
    *,
    divergence: str | Divergence = "kl",
    grid: int | ArrayLike = GRID,
    points: Points = "other",
) -> DivergenceFrontier:
    """Trace how far both sets are from every mixture of the two.

    Parameters
    ----------
    estimate
        :class:`~calipers.Histograms`, with its smoothing, or :class:`~calipers.LikelihoodRatios`.
    divergence
        A name such as ``"kl"`` or ``"chi2"``, or a :class:`~calipers.Divergence`; f(0) must be
        finite, unless both sides have mass everywhere.
    grid
        Number of mixture weights λ, evenly spaced in [1e-6, 1 − 1e-6] as in mauve-text; or the
        weights themselves, in (0, 1).
    points
        Whose samples estimated ratios are averaged over. ``"other"``: D_f(P‖R_λ) over the
        generated, D_f(Q‖R_λ) over the reference samples (JMLR 2023, equation 25). ``"own"``: the
        other way round, with the generator as the literature writes it (section 7.3.3, the mean of
        log p/r_λ over the reference samples). On histograms both are the same.

    Raises
    ------
    InputError
        If a weight lies outside (0, 1), a name is unknown, or f(0) is infinite and one side has no
        mass where the other has some.
    """
    found, ratios = find_divergence(divergence), ratios_of(estimate)
    if points not in get_args(Points):
        raise unknown_name("value for points", str(points), get_args(Points))
    _check_finite(found, ratios)
    weights = _weights(grid)
    reference = _costs(ratios, found, weights, 1 - weights, points)
    generated = _costs(ratios.swapped, found, 1 - weights, weights, points)
    return DivergenceFrontier(weights, generated, reference, found, ratios, points)


def _costs(
    ratios: LikelihoodRatios, divergence: Divergence, weights: Vector, rests: Vector, points: Points
) -> Vector:
    """D_f(P‖R_λ) for every weight λ, as many at a time as memory allows."""
    size = max(len(ratios.log_reference), len(ratios.log_generated))
    groups = np.array_split(np.arange(len(weights)), -(-len(weights) * size // AT_ONCE))
    return np.concatenate(
        [
            _cost(ratios, divergence.interpolated(weights[g, None], rests[g, None]), points)
            for g in groups
            if len(g)
        ]
    )


def _cost(ratios: LikelihoodRatios, divergence: Divergence, points: Points) -> Vector:
    """D(P‖Q) over the generated samples, or, as D*(Q‖P), over the reference samples."""
    if points == "other":
        return mean_cost(ratios, divergence)
    return mean_cost(ratios.swapped, divergence.written().conjugate())


def _weights(grid: int | ArrayLike) -> Vector:
    if np.ndim(grid) == 0:
        if not is_whole(grid, 1):
            raise InputError(
                f"grid must be a whole number of at least 1, or weights; found {grid!r}"
            )
        return np.linspace(EDGE, 1 - EDGE, int(grid))  # type: ignore[arg-type]
    weights = np.sort(as_array(grid, "grid").ravel())
    if weights.size == 0 or weights.dtype.kind not in "iuf":
        raise InputError(f"grid must hold mixture weights; found {grid!r:.100}")
    for weight in weights:
        check_weight(float(weight))
    return weights


def _check_finite(divergence: Divergence, ratios: LikelihoodRatios) -> None:
    """Refuse a frontier that is infinite all along: f(0) = ∞ where p = 0 < q, or q = 0 < p."""
    if np.isfinite(divergence.at_zero):
        return
    for share, present, absent in (
        (ratios.outside_reference, "generated", "reference"),
        (ratios.outside_generated, "reference", "generated"),
    ):
        if share > 0:
            raise InputError(
                f"the frontier of {divergence.name} is infinite: {share:.2%} of the {present} "
                f"distribution lies where the {absent} has nothing, which needs f(0) < ∞; "
                "smooth the counts, or take another divergence"
            )
