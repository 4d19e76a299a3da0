"""The precision–recall curve of two distributions (PRD).

For a slope λ from 0 to infinity, precision is α(λ) = E_Q[min(1, λ·p/q)] and recall is
β(λ) = E_P[min(1, q/(λ·p))]: how much of Q, and how much of P, a common part can make up (Sajjadi et
al., NeurIPS 2018, theorem 2; Le Bronnec et al., ACL 2024, theorem 1). On histograms these are
Σ min(λ·p, q) and Σ min(p, q/λ), equal to the authors' 2019 release on the same counts.

Estimated ratios r = p/q do not agree at the samples of both sides. By default both means are over
the samples of both, with the weights that make them samples of Q, 1/(1 + r), or of P, r/(1 + r),
each divided by their sum; ``points="own_side"`` takes α over the generated samples alone, and β
over those of the reference, as the definition is written.

The odds of classifiers (:class:`~calipers.estimate.SampleOdds`) give a curve by its other
definition, α(λ) = min over sets A of λ·P(not A) + Q(A), the least cost of errors (Simon, Webster
and Rabin, ICML 2019): here over the thresholds on the odds.

What it does not detect: on few cells it sees only their mass, so two sets that differ within the
cells look alike.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Literal, get_args

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit

from calipers.brief import Brief
from calipers.curves.frontier import BOTH_SIDES, OWN_SIDE, best_f_beta
from calipers.errors import checks_keywords
from calipers.estimate.histograms import Histograms
from calipers.estimate.likelihood_ratios import (
    Estimate,
    LikelihoodRatios,
    ratios_from,
    ratios_of,
)
from calipers.estimate.sample_odds import SampleOdds
from calipers.numeric.arrays import Vector
from calipers.numeric.validation import check_choice, check_whole

CurvePoints = Literal["both_sides", "own_side"]
ANGLES = 1001
EDGE = 1e-10
EVERYWHERE = (
    "this estimator gives both distributions mass everywhere, so it cannot tell what one of "
    "them lacks"
)


@dataclass(frozen=True, eq=False)
class PrecisionRecallCurve(Brief):
    """The trade-off between precision and recall of the generated distribution (PRD).

    Attributes
    ----------
    precision, recall
        Points of the curve, shape ``(angles,)``, in [0, 1], from high recall to high precision.
    max_precision
        α_∞, the share of the generated set where the reference has some mass, in [0, 1]; NaN where
        the estimator gives mass everywhere.
    max_recall
        β_0, the share of the reference where the generated set has some mass; NaN likewise.
    total_variation
        1 − α(1), the total variation distance of the two, in [0, 1]; over both sides 1 less the
        mass that they share, the same from either side.
    reason
        Why the end points are NaN; None where they are not.

    Examples
    --------
    >>> from calipers import Histograms, precision_recall_curve
    >>> curve = precision_recall_curve(Histograms([2, 2, 0], [3, 0, 1]))
    >>> round(curve.f_beta(1 / 8), 3), curve.total_variation
    (0.744, 0.5)
    """

    precision: Vector
    recall: Vector
    max_precision: float
    max_recall: float
    total_variation: float
    reason: str | None = None

    def f_beta(self, beta: float = 8.0) -> float:
        """Return the largest F_β on the curve, (1 + β²)·α·β / (β²·α + β), in [0, 1].

        β = 8 weighs recall (diversity), β = 1/8 precision (quality); Sajjadi et al., section 4.1.

        Parameters
        ----------
        beta
            Weight of recall against precision, above 0.
        """
        return best_f_beta(self.precision, self.recall, beta)

    def area(self) -> float:
        """Return the area under the curve, in [0, 1]; 1 for equal distributions.

        Between neighbouring slopes the curve is a straight line.
        """
        # The slope grows along the curve, so the area is that of triangles with a corner at (0, 0)
        precision, recall = self.precision, self.recall
        triangles = recall[:-1] * precision[1:] - recall[1:] * precision[:-1]
        return float(np.clip(triangles.sum() / 2, 0.0, 1.0))


@checks_keywords
def precision_recall_curve(
    estimate: Estimate, *, angles: int = ANGLES, points: CurvePoints = BOTH_SIDES
) -> PrecisionRecallCurve:
    """Trace the trade-off between precision and recall.

    Parameters
    ----------
    estimate
        :class:`~calipers.Histograms`, :class:`~calipers.LikelihoodRatios` or
        :class:`~calipers.estimate.SampleOdds`, whose ends are what their classifiers reach at all.
        Smoothing is removed, since it makes every cell positive and so hides what one of the sets
        lacks.
    angles
        Number of points, at slopes λ = tan(angle) with angles evenly spaced in (0, π/2).
    points
        Whose samples estimated ratios are averaged over: ``"both_sides"``, or ``"own_side"`` for
        the generated samples alone in precision and the reference samples alone in recall. On
        histograms both are the same, and odds of classifiers are always taken at their own side.

    Examples
    --------
    >>> from calipers import Histograms
    >>> curve = precision_recall_curve(Histograms([2, 2, 0], [3, 0, 1]))
    >>> curve.max_precision, curve.max_recall
    (0.75, 0.5)
    """
    check_whole("angles", angles, 1)
    check_choice("points", points, get_args(CurvePoints))
    ratios = ratios_of(estimate, raw=True)
    own_side = points == OWN_SIDE or isinstance(estimate, Histograms | SampleOdds)
    overlap, most = (_overlap, _most) if own_side else (_overlap_of_both, _most_of_both)
    slopes = _slopes(angles)
    ends = (
        estimate.ends if isinstance(estimate, SampleOdds) else (most(ratios), most(ratios.swapped))
    )
    hidden = ratios.positive or np.isnan(ends[0])
    return PrecisionRecallCurve(
        precision=overlap(ratios, slopes),
        recall=overlap(ratios.swapped, 1 / slopes),
        max_precision=np.nan if hidden else ends[0],
        max_recall=np.nan if hidden else ends[1],
        total_variation=1 - (float(overlap(ratios, np.ones(1))[0]) if own_side else ratios.shared),
        reason=EVERYWHERE if hidden else None,
    )


def mean_curve(curves: Sequence[PrecisionRecallCurve]) -> PrecisionRecallCurve:
    """Average the curves of several quantisations at each angle."""
    return PrecisionRecallCurve(
        np.mean([curve.precision for curve in curves], axis=0),
        np.mean([curve.recall for curve in curves], axis=0),
        float(np.mean([curve.max_precision for curve in curves])),
        float(np.mean([curve.max_recall for curve in curves])),
        float(np.mean([curve.total_variation for curve in curves])),
        curves[0].reason,
    )


def curve_points(histograms: Sequence[Histograms], *, angles: int = ANGLES) -> Vector:
    """Return precision and recall for many histograms over the same cells.

    Returns
    -------
    ndarray
        The points of :func:`precision_recall_curve` for each, to the last bit, shape
        ``(histograms, angles, 2)``.
    """
    shares = [histogram.raw.probabilities for histogram in histograms]
    p, q = (np.stack(side) for side in zip(*shares, strict=True))
    with np.errstate(divide="ignore", invalid="ignore"):
        logs = np.log(p) - np.log(q)
    slopes = _slopes(angles)
    return np.stack([_overlaps(logs, q, slopes), _overlaps(-logs, p, 1 / slopes)], axis=2)


@lru_cache(maxsize=8)
def _slopes(angles: int) -> Vector:
    """λ = tan(angle) for angles evenly spaced in (0, π/2)."""
    slopes: Vector = np.tan(np.linspace(EDGE, np.pi / 2 - EDGE, angles))
    slopes.flags.writeable = False
    return slopes


def _overlap(ratios: LikelihoodRatios, slopes: Vector) -> Vector:
    """E_Q[min(1, λ·r)] for every slope λ, by sums over the sorted ratios r."""
    r, weights = ratios.at_generated, ratios.generated_weights
    weights = np.full(len(r), 1 / len(r)) if weights is None else weights
    return _shared(r, weights * r, weights, slopes)


def _overlap_of_both(ratios: LikelihoodRatios, slopes: Vector) -> Vector:
    """The same over the samples of both sides, which 1/(1 + r) weighs as samples of Q."""
    logs = np.concatenate([ratios.log_reference, ratios.log_generated])
    sides = (
        (ratios.log_reference, ratios.reference_weights),
        (ratios.log_generated, ratios.generated_weights),
    )
    weights = np.concatenate(
        [np.full(len(at), 1 / len(at)) if given is None else given for at, given in sides]
    )
    as_generated, as_reference = weights * expit(-logs), weights * expit(logs)
    total = as_generated.sum()
    if not total > 0:  # every sample is impossible under Q: nothing is shared
        return np.zeros(len(slopes))
    return _shared(ratios_from(logs), as_reference / total, as_generated / total, slopes)


def _most(ratios: LikelihoodRatios) -> float:
    """Q(p > 0), where the curve ends."""
    return max(0.0, 1 - ratios.outside_reference)


def _most_of_both(ratios: LikelihoodRatios) -> float:
    """The same where samples of both sides are weighed: a generated one with p = 0 weighs most."""
    weights = (expit(-logs) for logs in (ratios.log_reference, ratios.log_generated))
    total = ratios.mean_reference(next(weights)) + ratios.mean_generated(next(weights))
    return float(max(0.0, 1 - ratios.outside_reference / total)) if total > 0 else 0.0


def _shared(r: Vector, less: Vector, more: Vector, slopes: Vector) -> Vector:
    """λ times the mass of P where r < 1/λ, and the mass of Q elsewhere, for every slope λ."""
    order = np.argsort(r, kind="stable")
    split = np.searchsorted(r[order], 1 / slopes)
    below = np.concatenate([[0.0], np.cumsum(less[order])])
    above = np.concatenate([np.cumsum(more[order][::-1])[::-1], [0.0]])
    shared: Vector = np.clip(slopes * below[split] + above[split], 0.0, 1.0)
    return shared


def _overlaps(logs: Vector, weights: Vector, slopes: Vector) -> Vector:
    """Do the same for every row of log ratios; what has no weight is sorted behind all others."""
    present = weights > 0
    r = np.where(present, ratios_from(logs), np.inf)
    order = np.argsort(r, axis=1, kind="stable")
    mass = np.where(present, weights * np.where(present, r, 0.0), 0.0)
    mass, weights = (np.take_along_axis(values, order, axis=1) for values in (mass, weights))
    zeros = np.zeros((len(r), 1))
    below = np.concatenate([zeros, np.cumsum(mass, axis=1)], axis=1)
    above = np.concatenate([np.cumsum(weights[:, ::-1], axis=1)[:, ::-1], zeros], axis=1)
    split = _fewer(r, 1 / slopes)
    overlaps = slopes * np.take_along_axis(below, split, axis=1)
    overlaps += np.take_along_axis(above, split, axis=1)
    shared: Vector = np.clip(overlaps, 0.0, 1.0, out=overlaps)
    return shared


def _fewer(r: Vector, limits: Vector) -> NDArray[np.intp]:
    """How many numbers of every row lie below each limit; limits rise or fall throughout."""
    rising = limits[0] <= limits[-1]
    limits = limits if rising else limits[::-1]
    places, width = np.searchsorted(limits, r, side="right"), len(limits) + 1
    flat = (places + width * np.arange(len(r))[:, None]).ravel()
    counts = np.bincount(flat, minlength=width * len(r)).reshape(len(r), width)
    below = np.cumsum(counts[:, :-1], axis=1)
    return below if rising else below[:, ::-1]
