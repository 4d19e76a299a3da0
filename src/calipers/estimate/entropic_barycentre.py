"""Entropic barycentres of two histograms on fixed cells, by Bregman projections on logarithms."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from calipers.estimate.sinkhorn import FALL, ROUGHLY, TOLERANCE, soft_least
from calipers.estimate.transport_plan import NoPlanError

Floats = NDArray[np.float64]
PROJECTIONS = 2_000


def barycentre(
    p: Floats, q: Floats, costs: Floats, *, weight: float, regularisation: float
) -> tuple[float, float]:
    """Find the entropic barycentre R of two histograms on the same cells, and what it costs.

    R minimises λ·W(p, R) + (1 − λ)·W(q, R) with W(a, R) = min ⟨π, C⟩ + ε·Σ π·(log π − 1): iterative
    Bregman projections (Benamou et al., SIAM J. Sci. Comput. 2015, section 3.2) on logarithms, as
    POT's ``barycenter(..., method="sinkhorn_log")``. POT's default method starts elsewhere and, in
    0.9.7, misses the minimum for weights other than ½.

    Parameters
    ----------
    p, q
        Masses of the two sides, shape ``(k,)`` each.
    costs
        Between the cells, shape ``(k, k)``, symmetric.
    weight
        λ of `p`, in (0, 1).
    regularisation
        ε, above 0, in the unit of the costs.

    Returns
    -------
    tuple
        ⟨π, C⟩ of the plans from `p` and from `q` to R.

    Raises
    ------
    NoPlanError
        If the iteration has not converged.
    """
    sides = [(side[side > 0], costs[side > 0]) for side in (p, q)]
    shares = np.array([weight, 1 - weight])
    at_middle = np.zeros((2, len(costs)))  # potentials on the side of R
    epsilon = max(float(costs.max()), regularisation)
    while epsilon > regularisation:
        _, at_middle, _ = _projected(sides, shares, at_middle, epsilon, ROUGHLY)
        epsilon = max(regularisation, epsilon / FALL)
    own, at_middle, astray = _projected(sides, shares, at_middle, regularisation, TOLERANCE)
    if astray > TOLERANCE:
        raise NoPlanError(
            f"the entropic barycentre left {astray:.1g} of the mass out of place at regularisation "
            f"{regularisation:g}; take a larger one"
        )
    one, other = (
        float(np.sum(np.exp((f[:, None] + g - cost) / regularisation) * cost))
        for (_, cost), f, g in zip(sides, own, at_middle, strict=True)
    )
    return one, other


def _projected(
    sides: list[tuple[Floats, Floats]],
    shares: Floats,
    at_middle: Floats,
    epsilon: float,
    tolerance: float,
) -> tuple[list[Floats], Floats, float]:
    """Project until the plans of both sides end in one histogram.

    Returns the potentials on both sides of the two plans, and by how much mass their ends differ.
    """
    astray = np.inf
    for _ in range(PROJECTIONS):
        own = [
            epsilon * np.log(mass) + soft_least(cost - g, None, epsilon)
            for (mass, cost), g in zip(sides, at_middle, strict=True)
        ]
        reach = np.array(
            [soft_least(cost.T - f, None, epsilon) for (_, cost), f in zip(sides, own, strict=True)]
        )
        ends = np.exp((at_middle - reach) / epsilon)
        astray = float(np.abs(ends[0] - ends[1]).sum())
        if astray <= tolerance:
            break
        # Both are to end in R = exp(−Σ λ·reach / ε)
        at_middle = reach - shares @ reach
    return own, at_middle, astray
