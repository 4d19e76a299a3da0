"""Rényi frontiers: precision and recall by divergences from the best common distribution.

For a common distribution R, precision is exp(−D(R, Q)) and recall exp(−D(R, P)), with the Rényi
divergence D_α(A‖B) = log ∫ a^α b^(1−α) / (α − 1), which is KL for α = 1 and log max a/b for α = ∞.
The frontier is made of the R for which neither can grow without the other falling (Djolonga et al.,
AISTATS 2020, definitions 1 and 2, propositions 1 and 2):

- ``exclusive``, D_α(R‖Q) and D_α(R‖P): what R has must be in both. R ∝ (λ·p^e + (1 − λ)·q^e)^(1/e)
  with e = 1 − α. For α = ∞ it is the precision-recall curve of Sajjadi et al., and for every α > 1
  its ends are the shares of either set where the other has anything: what precision and recall by
  k-NN balls estimate;
- ``inclusive``, D_α(Q‖R) and D_α(P‖R): what both have must be in R. The same with e = α; for α = 1
  the divergence frontier of KL, whose area after scaling is MAUVE.

For e = 0, R ∝ p^λ·q^(1−λ). Integrals over p and q are means over the samples of both sides, exact
on histograms; estimated densities are divided by their totals first.

What it does not detect: differences within a cell. A large order follows the worst place alone.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, Literal, get_args

import numpy as np
from scipy.special import expit, log_expit, logsumexp

from calipers.brief import Brief
from calipers.curves.frontier import best_f_beta
from calipers.errors import InputError
from calipers.estimate.likelihood_ratios import Estimate, LikelihoodRatios, ratios_of
from calipers.numeric.arrays import Floats, Vector
from calipers.numeric.validation import check_choice, check_whole

Kind = Literal["exclusive", "inclusive"]
ANGLES = 201
EDGE = 1e-3
VALUES_PER_CHUNK = 2**19


@dataclass(frozen=True, eq=False)
class RenyiFrontier(Brief):
    """The trade-off between precision and recall by Rényi divergences.

    Attributes
    ----------
    precision
        exp(−D) of the generated side, shape ``(points,)``, in [0, 1], rising.
    recall
        exp(−D) of the reference side, shape ``(points,)``, in [0, 1], falling.
    order
        α, above 0; may be infinite.
    kind
        ``"exclusive"`` or ``"inclusive"``.
    """

    precision: Vector
    recall: Vector
    order: float
    kind: Kind

    def f_beta(self, beta: float = 8.0) -> float:
        """Return the largest F_β on the frontier, in [0, 1]; β = 8 weighs recall, 1/8 precision."""
        return best_f_beta(self.precision, self.recall, beta)

    def area(self) -> float:
        """Return the area below and to the left of the frontier, in [0, 1]; 1 for equal sets."""
        steps = -np.diff(np.append(self.recall, 0.0))  # beyond the end, precision stays
        middle = np.append((self.precision[1:] + self.precision[:-1]) / 2, self.precision[-1])
        return float(np.clip(steps @ middle, 0.0, 1.0))


def renyi_frontier(
    estimate: Estimate,
    *,
    order: float = 1.0,
    kind: Kind = "exclusive",
    angles: int = ANGLES,
) -> RenyiFrontier:
    """Trace precision against recall by Rényi divergences of a given order.

    Parameters
    ----------
    estimate
        :class:`~calipers.Histograms`, without smoothing, or :class:`~calipers.LikelihoodRatios`.
    order
        α, above 0; ``math.inf`` for the precision-recall curve.
    kind
        ``"exclusive"``: what the common distribution has must be in both sets; ``"inclusive"``:
        it must have what is in either.
    angles
        Number of points.

    Raises
    ------
    InputError
        If the order is not above 0, a name is unknown, or `angles` is not a whole number from 1.

    Examples
    --------
    >>> from calipers import Histograms
    >>> half = Histograms([1, 1], [2, 0])  # half of the reference is missing
    >>> frontier = renyi_frontier(half, order=2)
    >>> float(frontier.recall.max().round(3)), float(frontier.precision.max().round(3))
    (0.5, 1.0)
    """
    order = _check_order(order)
    check_choice("kind", kind, get_args(Kind))
    check_whole("angles", angles, 1)
    points = _Points.of(ratios_of(estimate, raw=True))
    slopes = np.tan(np.linspace(EDGE, np.pi / 2 - EDGE, angles))
    exponent = 1 - order if kind == "exclusive" else order
    groups = np.array_split(slopes, -(-len(slopes) * len(points.log_p) // VALUES_PER_CHUNK))
    costs = []
    for group in groups:
        common = points.common(group[:, None], exponent)
        costs.append([points.cost(common, side, order, kind) for side in ("q", "p")])
    generated, reference = (np.concatenate(side) for side in zip(*costs, strict=True))
    with np.errstate(over="ignore"):
        precision, recall = np.exp(-generated), np.exp(-reference)
    return RenyiFrontier(np.minimum(precision, 1.0), np.minimum(recall, 1.0), order, kind)


@dataclass(frozen=True)
class _Points:
    """Logarithms of both densities, over a measure that gives every sample of both sides mass.

    `log_mass` is the logarithm of the mass of every sample, over which integrals are sums.
    """

    log_p: Vector
    log_q: Vector
    log_mass: Vector

    @classmethod
    def of(cls, ratios: LikelihoodRatios) -> _Points:
        sides = (
            (ratios.log_reference, ratios.reference_weights),
            (ratios.log_generated, ratios.generated_weights),
        )
        masses = [
            np.full(len(logs), 1 / len(logs)) if weights is None else weights
            for logs, weights in sides
        ]
        mass, logs = np.concatenate(masses), np.concatenate([logs for logs, _ in sides])
        present = mass > 0
        log_mass, logs = np.log(mass[present]), logs[present]
        log_p, log_q = log_expit(logs), log_expit(-logs)
        return cls(
            log_p - logsumexp(log_p + log_mass), log_q - logsumexp(log_q + log_mass), log_mass
        )

    def integral(self, logs: Floats) -> Vector:
        """Logarithm of the integral of every row."""
        total: Vector = logsumexp(logs + self.log_mass, axis=-1)
        return total

    def common(self, slopes: Floats, exponent: float) -> Floats:
        """log r at every point, a row for each slope: near p for slopes near 0, near q for large.

        Where p and q share nothing, all may be −∞.
        """
        if math.isinf(exponent):
            if exponent < 0:
                common = np.minimum(np.log(slopes) + self.log_p, self.log_q)
            else:
                common = np.maximum(self.log_p - np.log(slopes), self.log_q)
        else:
            weight = -max(1.0, abs(exponent)) * np.log(slopes)
            if exponent == 0:
                common = _plus(expit(weight) * self.log_p, expit(-weight) * self.log_q)
            else:
                common = (
                    np.logaddexp(
                        log_expit(weight) + exponent * self.log_p,
                        log_expit(-weight) + exponent * self.log_q,
                    )
                    / exponent
                )
        with np.errstate(invalid="ignore"):
            made: Floats = common - self.integral(common)[:, None]
        return np.where(np.isnan(made), -np.inf, made)

    def cost(self, common: Floats, side: str, order: float, kind: Kind) -> Vector:
        """D of the common distribution and a side, for every row; ∞ where nothing is common."""
        given = np.broadcast_to(self.log_q if side == "q" else self.log_p, common.shape)
        one, other = (common, given) if kind == "exclusive" else (given, common)
        with np.errstate(invalid="ignore"):
            gap = np.where(one == -np.inf, -np.inf, one - other)  # log of one over the other
        if math.isinf(order):
            cost = gap.max(axis=1)
        elif order == 1:
            with np.errstate(invalid="ignore"):
                terms = np.where(one == -np.inf, 0.0, np.exp(one) * gap)
            cost = terms @ np.exp(self.log_mass)
        else:
            cost = self.integral(_plus(one, (order - 1) * gap)) / (order - 1)
        nowhere = (common == -np.inf).all(axis=1)
        settled: Vector = np.where(nowhere, np.inf, np.maximum(cost, 0.0))
        return settled


def _plus(one: Floats, other: Floats) -> Floats:
    """Logarithm of a product; −∞ where either factor that comes first is 0."""
    with np.errstate(invalid="ignore"):
        return np.where(one == -np.inf, -np.inf, one + other)


def _check_order(order: Any) -> float:
    if isinstance(order, bool) or not isinstance(order, int | float | np.number) or not order > 0:
        raise InputError(f"the order α must be a number above 0, or infinite; found {order!r}")
    return float(order)
