"""The divergence frontier of two distributions, and the numbers that sum it up.

For R_λ = λP + (1 − λ)Q the frontier is the curve of the pairs (KL(Q‖R_λ), KL(P‖R_λ)), λ in (0, 1):
how much of Q has no place in the mixture against how much of P has none (Pillutla et al., JMLR
2023, definition 4). Its area after x → exp(−c·x) is MAUVE, its average linearised cost is the
frontier integral. Equal to mauve-text 0.4.0 on the same counts.

It does not tell a lack of quality from a lack of diversity: both bend the curve alike.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from calipers.errors import InputError
from calipers.estimate.histograms import Histograms, Probabilities

GRID = 25
EDGE = 1e-6


@dataclass(frozen=True)
class DivergenceFrontier:
    """The trade-off between what the generated set adds and what it leaves out.

    Attributes
    ----------
    weights
        λ of every point, from 0 to 1, shape ``(points,)``.
    generated_cost
        KL(Q‖R_λ) in nats: grows where the generated set goes beyond the reference.
    reference_cost
        KL(P‖R_λ) in nats: grows where the reference is not covered.
    frontier_integral
        2∫ λ·KL(P‖R_λ) + (1 − λ)·KL(Q‖R_λ) dλ, in [0, 1], in closed form.
    """

    weights: NDArray[np.float64]
    generated_cost: NDArray[np.float64]
    reference_cost: NDArray[np.float64]
    frontier_integral: float

    def area(self, c: float = 5.0) -> float:
        """MAUVE: the area under the frontier after x → exp(−c·x), in [0, 1], 1 for equal sets.

        The mean of the two trapezoid sums, one along each axis, with the end points (1, 0) and
        (0, 1) added; Pillutla et al., JMLR 2023, equation 5.

        Parameters
        ----------
        c
            Scaling constant, above 0; changes the numbers, not their order.
        """
        if not 0 < c < np.inf:
            raise InputError(f"the scaling constant c must be above 0 and finite; found {c}")
        x, y = self.points(c).T
        return min(1.0, 0.5 * float(abs(np.trapezoid(y, x)) + abs(np.trapezoid(x, y))))

    def points(self, c: float = 5.0) -> NDArray[np.float64]:
        """The curve (exp(−c·KL(Q‖R)), exp(−c·KL(P‖R))) with its ends, shape ``(points + 2, 2)``."""
        curve = np.exp(-c * np.stack([self.generated_cost, self.reference_cost], axis=1))
        return np.concatenate([[[1.0, 0.0]], curve, [[0.0, 1.0]]])

    def integral(self) -> float:
        """The frontier integral, in [0, 1], 0 for equal sets; JMLR 2023, equation 7."""
        return self.frontier_integral


def divergence_frontier(pair: Histograms, *, grid: int = GRID) -> DivergenceFrontier:
    """Trace how far both sets are from every mixture of the two.

    Parameters
    ----------
    pair
        Counts of both sets over the same cells; its smoothing is applied.
    grid
        Number of mixture weights λ, evenly spaced in [1e-6, 1 − 1e-6] as in mauve-text.
    """
    p, q = pair.probabilities
    weights = np.linspace(EDGE, 1 - EDGE, grid)
    mixtures = weights[:, None] * p + (1 - weights[:, None]) * q  # (grid, cells)
    return DivergenceFrontier(weights, _kl(q, mixtures), _kl(p, mixtures), frontier_integral(p, q))


def frontier_integral(p: Probabilities, q: Probabilities) -> float:
    """Average linearised cost of the KL frontier, in closed form, in [0, 1].

    The sum over the cells of ½(p + q) − p·q·log(p/q)/(p − q); Pillutla et al., JMLR 2023,
    property 7. With x = (p − q)/(p + q) a cell adds ½(p + q)·(1 − (1 − x²)·artanh(x)/x), which
    does not cancel where p and q are nearly equal.
    """
    total = p + q
    p, q, total = p[total > 0], q[total > 0], total[total > 0]
    x = (p - q) / total
    with np.errstate(divide="ignore", invalid="ignore"):
        cost = 1 - 4 * (p / total) * (q / total) * np.arctanh(x) / x
    cost = np.where(np.abs(x) == 1, 1.0, np.where(np.abs(x) < 1e-2, _near_equal(x * x), cost))
    return float(np.clip(np.sum(0.5 * total * cost), 0.0, 1.0))


def _near_equal(s: NDArray[np.float64]) -> NDArray[np.float64]:
    """1 − (1 − s)·artanh(√s)/√s as its series, for s below 1e-4."""
    return s * (2 / 3 + s * (2 / 15 + s * (2 / 35 + s * 2 / 63)))


def _kl(p: Probabilities, mixtures: NDArray[np.float64]) -> NDArray[np.float64]:
    """KL(p‖r) in nats for every row r of the mixtures; cells with p = 0 add nothing."""
    inside = p > 0
    p, mixtures = p[inside], mixtures[:, inside]
    costs: NDArray[np.float64] = np.sum(p * (np.log(p) - np.log(mixtures)), axis=1)
    return np.maximum(costs, 0.0)
