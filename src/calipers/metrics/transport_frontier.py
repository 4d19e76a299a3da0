"""The transport frontier: how far both sets are from all that lies between them, in moved mass.

The curve of the pairs (OT(Q, R_λ), OT(P, R_λ)), λ in (0, 1), with R_λ either the mixture
λP + (1 − λ)Q (linear interpolation; Pillutla et al., JMLR 2023, equation 31) or the barycentre
argmin_R λ·OT(P, R) + (1 − λ)·OT(Q, R) (equation 32), over histograms on the same cells.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal, get_args

import numpy as np
from numpy.typing import NDArray

from calipers.curves.areas import area_under, transformed
from calipers.curves.frontier import EDGE, GRID
from calipers.estimate.entropic_barycentre import barycentre
from calipers.estimate.interpolation import exact_barycentre
from calipers.estimate.sinkhorn import entropic
from calipers.estimate.transport_plan import transport_cost
from calipers.estimate.validate import check_choice

Floats = NDArray[np.float64]
Interpolation = Literal["linear", "barycentric"]


@dataclass(frozen=True, eq=False)
class TransportFrontier:
    """The trade-off between moving the generated and moving the reference histogram.

    Attributes
    ----------
    weights
        λ of every point, from 0 to 1, shape ``(points,)``.
    generated_cost, reference_cost
        OT(Q, R_λ) and OT(P, R_λ), in squared distances, shape ``(points,)`` each.
    """

    weights: Floats
    generated_cost: Floats
    reference_cost: Floats

    def area(self, c: float = 5.0) -> float:
        """MAUVE_OT: the area under the frontier after x → exp(−c·x), in [0, 1], 1 at no cost.

        `c` is above 0 and multiplies squared distances; JMLR 2023, equation 5.
        """
        return area_under(self.points(c))

    def points(self, c: float = 5.0) -> Floats:
        """The curve (exp(−c·OT(Q, R)), exp(−c·OT(P, R))) with its ends, ``(points + 2, 2)``."""
        return transformed(self.generated_cost, self.reference_cost, c)


def transport_frontier(
    p: Floats,
    q: Floats,
    costs: Floats,
    *,
    interpolation: Interpolation = "linear",
    regularisation: float | None = None,
    grid: int = GRID,
    threads: int | None = None,
) -> TransportFrontier:
    """Trace what it costs to move both histograms onto mixtures, or barycentres, of the two.

    Parameters
    ----------
    p, q
        Masses of the reference and the generated set on the same cells, shape ``(k,)`` each.
    costs
        Between the cells, shape ``(k, k)``, symmetric.
    interpolation
        ``"linear"`` or ``"barycentric"``.
    regularisation
        None for exact costs; else ε of entropic plans π, whose costs are then ⟨π, C⟩.
    grid
        Number of weights λ, evenly spaced in [1e-6, 1 − 1e-6].
    threads
        Number of threads of the exact barycentres (default: all cores).

    Raises
    ------
    NoPlanError
        If a transport problem was not solved to the end.
    """
    check_choice("interpolation", interpolation, get_args(Interpolation))
    weights = np.linspace(EDGE, 1 - EDGE, grid)
    point = _point(p, q, costs, interpolation, regularisation, threads)
    reference_cost, generated_cost = np.array([point(float(weight)) for weight in weights]).T
    return TransportFrontier(weights, generated_cost, reference_cost)


def _point(
    p: Floats,
    q: Floats,
    costs: Floats,
    interpolation: Interpolation,
    regularisation: float | None,
    threads: int | None,
) -> Callable[[float], tuple[float, float]]:
    """How to find OT(P, R) and OT(Q, R) for a weight λ."""

    def to_mixture(weight: float) -> tuple[float, float]:
        middle = weight * p + (1 - weight) * q
        if regularisation is None:
            return transport_cost(p, middle, costs), transport_cost(q, middle, costs)
        plans = (entropic(side, middle, costs, regularisation=regularisation) for side in (p, q))
        one, other = (plan.transport for plan in plans)
        return one, other

    def to_barycentre(weight: float) -> tuple[float, float]:
        if regularisation is None:
            return exact_barycentre(p, q, costs, weight=weight, threads=threads)[1:]
        return barycentre(p, q, costs, weight=weight, regularisation=regularisation)

    return to_mixture if interpolation == "linear" else to_barycentre
