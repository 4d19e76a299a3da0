"""Exact optimal transport between weighted points, by POT's network simplex."""

from __future__ import annotations

import warnings

import numpy as np
from numpy.typing import NDArray

from calipers.errors import CalipersError, require

Floats = NDArray[np.float64]
Places = NDArray[np.intp]
PIVOTS = 100_000_000
SCALE = 200  # the largest cost is brought to about 2 to this power
GAP = 1e-6  # of the cost, that it may differ from the dual one
NOTHING = 1e-12  # of the median cost: a gap that is none


class NoPlanError(CalipersError):
    """A transport problem without a trustworthy solution; its text is the reason of the NaN."""


def transport_plan(p: Floats, q: Floats, costs: Floats) -> Floats:
    """Return the plan that moves the masses `p` onto `q` at the least cost.

    Parameters
    ----------
    p, q
        Masses of the two sides, shapes ``(n,)`` and ``(m,)``, each summing to 1.
    costs
        Shape ``(n, m)``, finite.

    Returns
    -------
    ndarray
        Mass moved from every point to every other, shape ``(n, m)``; its sums along the axes are
        `p` and `q`.

    Raises
    ------
    NoPlanError
        If the solver stopped before it reached the optimum, or if the cost of the plan and the
        bound of the dual problem differ by more than 1e-6 of the cost (and 1e-12 of the median
        cost): costs that differ by ten digits and more leave too few for the small ones.
    MissingExtraError
        If POT is not installed.
    """
    from_, to, moved, _ = _solve(p, q, costs)
    plan = np.zeros(costs.shape)
    plan[np.ix_(from_, to)] = moved
    return plan


def transport_cost(p: Floats, q: Floats, costs: Floats) -> float:
    """Return the least cost of moving the masses `p` onto `q`; see :func:`transport_plan`."""
    return _solve(p, q, costs)[3]


def _solve(p: Floats, q: Floats, costs: Floats) -> tuple[Places, Places, Floats, float]:
    """The points that have mass, what is moved between them, and at what cost."""
    ot = require("ot", extra="transport", purpose="optimal transport between unequal masses")
    from_, to = np.flatnonzero(p), np.flatnonzero(q)
    p, q = p[from_], q[to]
    if (len(from_), len(to)) != costs.shape:
        costs = np.ascontiguousarray(costs[np.ix_(from_, to)])
    # The solver's tolerance is absolute: small costs would all be within it
    shift = SCALE - int(np.frexp(costs.max())[1])
    costs = np.ldexp(costs, shift)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # what POT warns of is in its log, and refused below
        moved, log = ot.emd(p, q, costs, numItermax=PIVOTS, log=True)
    if log["warning"] is not None:
        raise NoPlanError(f"the transport problem was not solved to the end: {log['warning']}")
    cost = float(log["cost"])
    _certify(p, q, costs, cost, log["u"])
    return from_, to, moved, float(np.ldexp(cost, -shift))


def _certify(p: Floats, q: Floats, costs: Floats, cost: float, u: Floats) -> None:
    """Refuse a cost that the dual problem, from the potentials `u`, does not bear out."""
    v = (costs - u[:, None]).min(axis=0)
    u = (costs - v).min(axis=1)
    gap = abs(cost - float(p @ u + q @ v))
    if cost <= 0 or gap <= GAP * cost:
        return
    # Equal sets: all that is moved, and paid, is the rounding of the masses
    if gap > NOTHING * np.median(costs[costs > 0]):
        raise NoPlanError(
            f"the transport cost may be off by {gap / cost:.2g} of itself, by rounding: "
            "some points lie too far from the others"
        )
