"""Exact optimal transport between weighted points, by POT's network simplex."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
from numpy.typing import NDArray

from calipers.errors import CalipersError, require

Floats = NDArray[np.float64]
Places = NDArray[np.intp]
PIVOTS = 100_000_000


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
        If the solver stopped before it reached the optimum.
    MissingExtraError
        If POT is not installed.
    """
    from_, to, moved = _solve("emd", p, q, costs)
    plan = np.zeros(costs.shape)
    plan[np.ix_(from_, to)] = moved
    return plan


def transport_cost(p: Floats, q: Floats, costs: Floats) -> float:
    """Return the least cost of moving the masses `p` onto `q`; see :func:`transport_plan`."""
    return float(_solve("emd2", p, q, costs)[2])


def _solve(solver: str, p: Floats, q: Floats, costs: Floats) -> tuple[Places, Places, Any]:
    """What a solver of POT finds between the points that have mass, and which these are."""
    ot = require("ot", extra="transport", purpose="optimal transport between unequal masses")
    from_, to = np.flatnonzero(p), np.flatnonzero(q)
    if (len(from_), len(to)) != costs.shape:
        costs = np.ascontiguousarray(costs[np.ix_(from_, to)])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # what POT warns of is in its log, and refused below
        found, log = getattr(ot, solver)(p[from_], q[to], costs, numItermax=PIVOTS, log=True)
    if log["warning"] is not None:
        raise NoPlanError(f"the transport problem was not solved to the end: {log['warning']}")
    return from_, to, found
