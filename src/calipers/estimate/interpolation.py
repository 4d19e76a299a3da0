"""Exact barycentres of two histograms on fixed cells, as one transport problem.

R minimises λ·OT(P, R) + (1 − λ)·OT(Q, R) over histograms on the cells. Gluing the two plans at R
sends mass from cell i over a cell l to cell j at λ·C(i, l) + (1 − λ)·C(l, j), and l is free: so the
least total is the transport cost between P and Q at the price of the best stop-over, and R is
where its plan stops. No linear programme over R is needed.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from calipers.estimate.jit import kernel
from calipers.estimate.tiles import spans, workers
from calipers.estimate.transport_plan import transport_plan

Floats = NDArray[np.float64]
ROWS = 16


def exact_barycentre(
    p: Floats, q: Floats, costs: Floats, *, weight: float, threads: int | None = None
) -> tuple[Floats, float, float]:
    """Find a barycentre of two histograms on the same cells, and what reaching it costs.

    Parameters
    ----------
    p, q
        Masses of the two sides, shape ``(k,)`` each.
    costs
        Between the cells, shape ``(k, k)``, symmetric.
    weight
        λ of `p`, in (0, 1).
    threads
        Number of threads (default: all cores); no effect on the result.

    Returns
    -------
    tuple
        The masses of R, shape ``(k,)``, OT(p, R) and OT(q, R). R need not be the only one.

    Raises
    ------
    NoPlanError
        If the transport problem was not solved to the end.
    """
    prices, stops = stop_overs(costs, weight, threads=threads)
    plan = transport_plan(p, q, prices)
    i, j = np.nonzero(plan)
    mass, stop = plan[i, j], stops[i, j]
    middle = np.bincount(stop, weights=mass, minlength=len(p)).astype(np.float64)
    return middle, float(mass @ costs[i, stop]), float(mass @ costs[j, stop])


def stop_overs(
    costs: Floats, weight: float, *, threads: int | None = None
) -> tuple[Floats, NDArray[np.int32]]:
    """Return the least λ·C(i, l) + (1 − λ)·C(l, j) for every pair of cells, and its first l.

    Both of shape ``(k, k)``.
    """
    prices, stops = np.full(costs.shape, np.inf), np.zeros(costs.shape, np.int32)
    from_, to = weight * costs, (1 - weight) * costs

    def work(span: tuple[int, int]) -> None:
        rows = slice(*span)
        _lower(from_[rows], to, prices[rows], stops[rows])

    with workers(threads) as pool:
        for _ in pool.map(work, spans(len(costs), ROWS)):
            pass
    return prices, stops


@kernel
def _lower(from_: Any, to: Any, prices: Any, stops: Any) -> None:
    for i in range(from_.shape[0]):
        for stop in range(to.shape[0]):
            for j in range(to.shape[1]):
                price = from_[i, stop] + to[stop, j]
                if price < prices[i, j]:
                    prices[i, j] = price
                    stops[i, j] = stop
