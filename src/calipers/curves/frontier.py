"""The divergence frontier of two distributions, and its summaries.

For R_λ = λP + (1 − λ)Q the frontier is the curve of the pairs (D_f(Q‖R_λ), D_f(P‖R_λ)), λ in
(0, 1): how much of Q has no place in the mixture against how much of P has none (Pillutla et al.,
JMLR 2023, definition 4). Each coordinate is itself an f-divergence of P and Q (property 5), so
:func:`f_divergence` gives it from any estimate of the two.

Estimated ratios r = p/q do not agree at the samples of both sides, so it matters which of them are
averaged over. The paper takes the other side's (equation 25). Where hardly any sample of Q is
likely under P, all these have r near 0, and the mean says f(0), however far the rest of P is; where
r is too large at one of them, this one decides, and the frontier integral comes to 4 where 1 is the
most. Here the average is over both sides, as if their even mixture had been sampled: see
:func:`mean_cost_of_both`.

Its area after x → exp(−c·x) is MAUVE, its average linearised cost is the frontier integral, and the
cost at λ = ½ the mid-point summary. For KL equal to mauve-text 0.4.0 on the same counts, unless
both histograms are equal: MAUVE is then 1 here, and 0.75 or 1 there (:func:`area_under`).

What it does not detect: whether quality or diversity is lacking; both bend the curve alike.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import Any, Final, get_args

import numpy as np
from numpy.typing import ArrayLike

from calipers.brief import Brief
from calipers.catalogue.estimation import AveragedOver
from calipers.curves.divergence import Divergence, check_weight
from calipers.curves.divergences import find_divergence, nodes
from calipers.errors import InputError, checks_keywords, unknown_name
from calipers.estimate.histograms import Histograms
from calipers.estimate.likelihood_ratios import (
    LARGEST,
    Estimate,
    LikelihoodRatios,
    ratios_from,
    ratios_of,
)
from calipers.numeric.arrays import Vector
from calipers.numeric.validation import as_array, is_positive, is_whole


def transformed(generated_cost: Vector, reference_cost: Vector, c: float) -> Vector:
    """Map costs into the unit square by x → exp(−c·x), and add the ends (1, 0) and (0, 1).

    Pillutla et al., JMLR 2023, equation 5.

    Returns
    -------
    ndarray
        Shape ``(points + 2, 2)``: a column for the generated and one for the reference cost.
    """
    c = positive("the scaling constant c", c)
    curve = np.exp(-c * np.stack([generated_cost, reference_cost], axis=1))
    return np.concatenate([[[1.0, 0.0]], curve, [[0.0, 1.0]]])


def area_under(points: Vector) -> float:
    """Return the area under a curve in the unit square: the mean of both trapezoid sums.

    Points are taken in the order of each axis, as in mauve-text, so that an estimate whose curve
    turns back does not count an area twice; of points with one abscissa the highest comes first,
    as on a falling curve.

    mauve-text leaves the order of such points to the sort, which matters for two equal histograms
    alone: all points are then (1, 1), where the end (1, 0) that comes first cuts the corner off, so
    that it gives 0.75, or 1 where rounding happens to part them. Here the area is 1.
    """
    x, y = points.T
    by_x, by_y = np.lexsort((-y, x)), np.lexsort((-x, y))
    along_x = abs(float(np.trapezoid(y[by_x], x[by_x])))
    along_y = abs(float(np.trapezoid(x[by_y], y[by_y])))
    return min(1.0, 0.5 * (along_x + along_y))


def best_f_beta(precision: Vector, recall: Vector, beta: float) -> float:
    """Return the largest F_β = (1 + β²)·α·β / (β²·α + β) over the points of a curve, in [0, 1].

    β above 1 weighs recall, below 1 precision; Sajjadi et al., NeurIPS 2018, section 4.1.
    """
    beta = positive("beta", beta)
    # Weights of the harmonic mean: β²/(1 + β²) and 1/(1 + β²), without squaring a large β
    on_recall = 1 / (1 + beta**-2) if beta > 1 else beta**2 / (1 + beta**2)
    below = on_recall * precision + (1 - on_recall) * recall
    above = precision * recall
    return float(np.max(np.divide(above, below, out=np.zeros_like(above), where=below > 0)))


def positive(name: str, given: Any) -> float:
    """Return a positive number; raise an error for any other value."""
    if not is_positive(given):
        raise InputError(f"{name} must be above 0 and finite; found {given}")
    return float(given)


BOTH_SIDES: Final = "both_sides"
OTHER_SIDE: Final = "other_side"
OWN_SIDE: Final = "own_side"


def check_points(points: Any) -> None:
    """Refuse a value that names no samples to average over."""
    if points not in get_args(AveragedOver):
        raise unknown_name("value for points", str(points), get_args(AveragedOver))


def _points_of(estimate: Estimate, points: AveragedOver) -> AveragedOver:
    """Whose points to use: over the cells of histograms all are one, and one side is the least."""
    return OTHER_SIDE if isinstance(estimate, Histograms) else points


RATIOS_PER_CHUNK = 2048  # ratios whose values at all nodes are held at a time


@checks_keywords
def f_divergence(
    estimate: Estimate, divergence: str | Divergence = "kl", *, points: AveragedOver = BOTH_SIDES
) -> float:
    """Estimate an f-divergence of the reference from the generated distribution.

    D_f(P‖Q) = E_Q[f(p/q)] + f*(0)·P(q = 0); Pillutla et al., JMLR 2023, definition 1.

    Parameters
    ----------
    estimate
        :class:`~calipers.Histograms` or :class:`~calipers.LikelihoodRatios`.
    divergence
        A name, such as ``"kl"``, ``"chi2"``, ``"interpolated_kl=0.3"``, or a
        :class:`~calipers.Divergence`.
    points
        Whose samples estimated ratios are averaged over; see :func:`divergence_frontier`. The
        paper's equation 24 is ``"other_side"``.

    Returns
    -------
    float
        In [0, f(0) + f*(0)]; infinite where one side has mass that the other lacks and the
        divergence does not forgive it. It does not tell missing quality from missing diversity,
        and on few cells sees only their mass.

    Examples
    --------
    >>> from calipers import Histograms
    >>> round(f_divergence(Histograms([1, 3], [3, 1]), "total_variation"), 9)
    0.5
    """
    check_points(points)
    sides = _points_of(estimate, points)
    return float(mean_at(ratios_of(estimate), find_divergence(divergence), sides)[0])


def mean_at(ratios: LikelihoodRatios, divergence: Divergence, points: AveragedOver) -> Vector:
    """D_f(P‖Q) over the points of both sides, of the other or of its own; one per divergence."""
    if points == BOTH_SIDES:
        return mean_cost_of_both(ratios, divergence)
    return np.maximum(unclipped_mean(ratios, divergence, points), 0.0)


def unclipped_mean(
    ratios: LikelihoodRatios, divergence: Divergence, points: AveragedOver
) -> Vector:
    """Return the same without clipping at 0: over its own points an estimate may be negative."""
    if points == BOTH_SIDES:
        return mean_cost_of_both(ratios, divergence)
    if points == OTHER_SIDE:
        return mean_cost(ratios, divergence)
    return mean_cost(ratios.swapped, divergence.written().conjugate())


def mean_cost_of_both(ratios: LikelihoodRatios, divergence: Divergence) -> Vector:
    """E_P[f(r)/(1 + r)] + E_Q[f(r)/(1 + r)], r = p/q; one for each divergence.

    As Σ (p + q)·f(p/q)·q/(p + q) is Σ q·f(p/q). Nowhere negative, and finite at every sample where
    f(0) and f*(0) are: where r is large it is f*(0), where r is small f(0).
    """
    costs: Any = 0.0
    sides = (
        (ratios.log_reference, ratios.mean_reference),
        (ratios.log_generated, ratios.mean_generated),
    )
    for logs, mean in sides:
        r = ratios_from(logs)
        values = divergence(r)
        if divergence.far is not None:
            tiny = (logs < -LARGEST) & (logs > -np.inf)
            values[tiny] = divergence.far(logs[tiny])
        values = values / (1 + r)
        endless = logs == np.inf
        if endless.any():
            values[..., endless] = divergence.conjugate_at_zero
        costs = costs + np.atleast_1d(mean(values))
    _check_numbers(costs, divergence)
    mean_costs: Vector = costs
    return mean_costs


def _check_numbers(costs: Vector, divergence: Divergence) -> None:
    if np.isnan(costs).any():
        raise InputError(f"f of the divergence {divergence.name!r} is not a number at some ratio")


def mean_cost(ratios: LikelihoodRatios, divergence: Divergence) -> Vector:
    """E_Q[f(p/q)] + f*(0)·P(q = 0) as in equation 22; one for each divergence."""
    values = divergence(ratios.at_generated)
    if divergence.far is not None:
        tiny = (ratios.log_generated < -LARGEST) & (ratios.log_generated > -np.inf)
        values[tiny] = divergence.far(ratios.log_generated[tiny])
    costs: Vector = np.atleast_1d(ratios.mean_generated(values))
    _check_numbers(costs, divergence)
    if ratios.outside_generated > 0:
        costs = costs + np.ravel(divergence.conjugate_at_zero) * ratios.outside_generated
    return costs


def half_of(divergence: Divergence) -> Divergence:
    """Return the divergence of A(t) = 2∫ λ·f_λ(t) dλ; see :mod:`calipers.curves.divergences`."""
    weights, rests, steps = nodes()
    # f_λ*(0) = λ·f(1/λ), so A*(0) is an integral over λ as A is
    beyond = float(np.sum(2 * steps * weights * weights * divergence.generator(1 / weights)))
    at_zero = divergence.at_zero / 3

    def by_nodes(t: Vector) -> Vector:
        generator = divergence.interpolated(weights[:, None], rests[:, None]).generator
        parts = np.array_split(t, -(-len(t) // RATIOS_PER_CHUNK))
        return np.concatenate([(2 * steps * weights) @ generator(part) for part in parts])

    return Divergence(
        f"half({divergence.name})",
        divergence.half or by_nodes,
        at_zero,
        beyond,
        divergence.slope / 3,
    )


GRID = 25
EDGE = 1e-6
VALUES_PER_CHUNK = 2**18  # values of f that are held at a time


@dataclass(frozen=True, eq=False)
class DivergenceFrontier(Brief):
    """The trade-off between what the generated set adds and what it misses.

    Attributes
    ----------
    weights
        λ of every point, from 0 to 1, shape ``(points,)``.
    generated_cost
        D_f(Q‖R_λ), in nats for KL: grows where the generated set goes beyond the reference.
    reference_cost
        D_f(P‖R_λ), in nats for KL: grows where the reference is not covered.
    divergence
        The divergence of the frontier.
    ratios
        The estimate from which it was computed.
    averaged_over
        The samples over which the ratios were averaged; see :func:`divergence_frontier`.

    Examples
    --------
    >>> from calipers import Histograms, divergence_frontier
    >>> frontier = divergence_frontier(Histograms([3, 1], [1, 3]), grid=[0.5])
    >>> frontier.generated_cost.round(4).tolist(), round(frontier.integral(), 4)
    ([0.1308], 0.176)
    """

    weights: Vector
    generated_cost: Vector
    reference_cost: Vector
    divergence: Divergence
    ratios: LikelihoodRatios
    averaged_over: AveragedOver = BOTH_SIDES

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
        """Return the curve (exp(−c·D_f(Q‖R)), exp(−c·D_f(P‖R))), ``(points + 2, 2)``, with ends."""
        return transformed(self.generated_cost, self.reference_cost, c)

    def integral(self) -> float:
        """Return the frontier integral FI_f, 0 for equal sets; JMLR 2023, equation 7.

        2∫ λ·D_f(P‖R_λ) + (1 − λ)·D_f(Q‖R_λ) dλ: in closed form for KL (in [0, 1]) and χ² (in
        [0, 2]), by quadrature for the others (to about 1e-11 where f is smooth).
        """
        half = half_of(self.divergence)
        return self._both(half)

    def midpoint(self) -> float:
        """Return the mid-point summary Mid_f, 0 for equal sets; JMLR 2023, equation 8.

        ½·D_f(P‖R) + ½·D_f(Q‖R) with R = ½P + ½Q: the Jensen–Shannon divergence for KL, Le Cam's
        for χ². In [0, (f(0) + f(2)) / 2]. As an f-divergence its generator is ½(f_½ + f_½*), where
        property 8(a) of the paper prints f_½ alone.
        """
        return 0.5 * self._both(self.divergence.interpolated(0.5))

    def unclipped(self, weight: float = 0.5) -> tuple[float, float]:
        """D_f(Q‖R_λ) and D_f(P‖R_λ) at one λ, before negative estimates are set to 0.

        Only averages over the set's own side can be negative.
        """
        mixed = self.divergence.interpolated(weight), self.divergence.interpolated(1 - weight)
        sides = (self.ratios.swapped, mixed[1]), (self.ratios, mixed[0])
        generated, reference = (
            float(unclipped_mean(ratios, interpolated, self.averaged_over)[0])
            for ratios, interpolated in sides
        )
        return generated, reference

    def f_beta(self, beta: float, c: float = 5.0) -> float:
        """Return the largest F_β over the transformed curve, in [0, 1].

        exp(−c·D_f(Q‖R)) stands for precision, exp(−c·D_f(P‖R)) for recall; Le Bronnec et al., ACL
        2024, figure A.4, who show that it separates quality from diversity less well than that of
        :func:`~calipers.precision_recall_curve`. It is given for comparison.
        """
        precision, recall = self.points(c)[1:-1].T
        return best_f_beta(precision, recall, beta)

    def _both(self, divergence: Divergence) -> float:
        """D(P‖Q) + D(Q‖P)."""
        sides = self.ratios, self.ratios.swapped
        return float(sum(mean_at(side, divergence, self.averaged_over)[0] for side in sides))


@checks_keywords
def divergence_frontier(
    estimate: Estimate,
    *,
    divergence: str | Divergence = "kl",
    grid: int | ArrayLike = GRID,
    points: AveragedOver = BOTH_SIDES,
) -> DivergenceFrontier:
    """Trace how far both distributions are from every mixture of the two.

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
        Whose samples estimated ratios are averaged over. ``"both_sides"``: all of them, each sample
        weighed by how likely it is from the side that f is averaged over, E[f(r) q/(p + q)] over P
        and over Q; nothing is negative, and no summary leaves its range.
        ``"other_side"``: D_f(P‖R_λ) over the generated, D_f(Q‖R_λ) over the reference samples (JMLR
        2023, equation 25); of sets that are far apart this says next to nothing. ``"own_side"``:
        the other way round, with the generator as the literature writes it (section 7.3.3, the mean
        of log p/r_λ over the reference samples); what comes out negative counts 0. On histograms
        all are the same.

    Raises
    ------
    InputError
        If a weight lies outside (0, 1), a name is unknown, or f(0) is infinite and one side has no
        mass where the other has some.

    Examples
    --------
    >>> from calipers import Histograms
    >>> frontier = divergence_frontier(Histograms([3, 1], [1, 3]))
    >>> round(frontier.area(c=5), 3), round(frontier.midpoint(), 4)
    (0.56, 0.1308)
    """
    chosen, ratios = find_divergence(divergence), ratios_of(estimate)
    check_points(points)
    points = _points_of(estimate, points)
    _check_finite(chosen, ratios)
    weights = _weights(grid)
    reference = _costs(ratios, chosen, weights, 1 - weights, points)
    generated = _costs(ratios.swapped, chosen, 1 - weights, weights, points)
    return DivergenceFrontier(weights, generated, reference, chosen, ratios, points)


def _costs(
    ratios: LikelihoodRatios,
    divergence: Divergence,
    weights: Vector,
    rests: Vector,
    points: AveragedOver,
) -> Vector:
    """D_f(P‖R_λ) for every weight λ, as many at a time as memory allows."""
    size = max(len(ratios.log_reference), len(ratios.log_generated))
    groups = np.array_split(np.arange(len(weights)), -(-len(weights) * size // VALUES_PER_CHUNK))
    return np.concatenate(
        [
            mean_at(ratios, _mixed(divergence, tuple(weights[g]), tuple(rests[g])), points)
            for g in groups
            if len(g)
        ]
    )


@lru_cache(maxsize=64)
def _mixed(
    divergence: Divergence, weights: tuple[float, ...], rests: tuple[float, ...]
) -> Divergence:
    """The divergences from some mixtures: replicates ask for the same ones thousands of times."""
    return divergence.interpolated(np.array(weights)[:, None], np.array(rests)[:, None])


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
