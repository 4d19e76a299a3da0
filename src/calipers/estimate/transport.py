"""Optimal transport between weighted points: exact, entropic, and barycentres of histograms.

:func:`transport_plan` moves unequal masses by POT's network simplex, and checks its cost against
the dual problem. :func:`assign` pairs the rows of one set with those of another. An auction comes
first: rows bid for columns with a falling minimal raise ε (Bertsekas, 1988), which soon leads to
nearly optimal prices. Subtracted from the costs, they leave almost nothing to do for the exact
method of shortest augmenting paths (Jonker and Volgenant, 1987, as in SciPy), which finds the
optimum whatever the prices are: the auction decides the time, never the result.

:func:`entropic` gives the entropic cost OT_ε(P, Q) = min over plans π of ⟨π, C⟩ + ε·KL(π‖P ⊗ Q)
(Cuturi, NeurIPS 2013), by Sinkhorn's iteration on the logarithms of its scalings, so that no small
ε under- or overflows. ε first falls to its value in steps, which saves most of the iterations.

A barycentre R minimises λ·OT(P, R) + (1 − λ)·OT(Q, R) over histograms on the cells. The entropic
one is found by Bregman projections on logarithms, the exact one as a single transport problem:
gluing the two plans at R sends mass from cell i over a cell l to cell j at λ·C(i, l) + (1 − λ)·
C(l, j), and l is free, so the least total is the transport cost between P and Q at the price of the
best stop-over, and R is where its plan stops. No linear programme over R is needed.
"""

from __future__ import annotations

import warnings
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from calipers.errors import CalipersError, require
from calipers.numeric import native
from calipers.numeric.arrays import Floats, Indices
from calipers.numeric.threads import workers
from calipers.numeric.tiles import spans

PIVOTS = 100_000_000
SCALE = 200  # the largest cost is brought to about 2 to this power
GAP = 1e-6  # of the cost, that it may differ from the dual one
NOTHING = 1e-12  # of the median cost: a gap that is none


class NoPlanError(CalipersError):
    """A transport problem without a reliable solution; its text is the reason of the NaN."""


def transport_plan(p: Floats, q: Floats, costs: Floats) -> Floats:
    """Return the plan of least cost that moves the masses `p` onto `q`.

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


def _solve(p: Floats, q: Floats, costs: Floats) -> tuple[Indices, Indices, Floats, float]:
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


Columns = NDArray[np.int32]

KEPT = 24  # columns that a row bids among before it looks at all of them again
AUCTION_ROUNDS = 4
RAISE_DIVISOR = 20.0
BIDS = 60  # for each row: with far outliers prices climb slowly, and the exact method is faster


def assign(costs: NDArray[np.float64]) -> NDArray[np.intp]:
    """Match every row with a column of its own at the least total cost.

    Parameters
    ----------
    costs
        Shape ``(n, n)``, float64, at least 0 and finite. Overwritten, to save memory.

    Returns
    -------
    ndarray
        The column of every row, shape ``(n,)``.
    """
    from scipy.optimize import linear_sum_assignment  # brings half of SciPy

    prices = _prices(np.ascontiguousarray(costs))
    costs += prices
    costs -= costs.min(axis=1, keepdims=True)
    columns: NDArray[np.intp] = linear_sum_assignment(costs)[1]
    return columns


def _prices(costs: Floats) -> Floats:
    """Nearly optimal prices of the columns, shape ``(n,)``."""
    n = len(costs)
    prices, listed = np.zeros(n), min(KEPT, n - 1)
    if listed < 2:
        return prices
    near, beyond = np.zeros((n, listed), np.int32), np.full(n, -np.inf)
    raise_by, bids = _spread(costs[:: max(1, n // 64)]), BIDS * n
    for _ in range(AUCTION_ROUNDS):
        if raise_by > 0 and bids > 0:
            bids -= _auction(costs, prices, raise_by, near, beyond, bids)
        raise_by /= RAISE_DIVISOR
    return prices


def _spread(costs: NDArray[np.float64]) -> float:
    """Standard deviation, also where a square would overflow; only the time depends on it."""
    largest = float(costs.max())
    return largest * float(np.std(costs / largest)) if largest > 0 else 0.0


def _auction(
    costs: Floats, prices: Floats, raise_by: float, near: Columns, beyond: Floats, most_bids: int
) -> int:
    """Let every row buy a column; return how many bids that took.

    Prices only rise, so a row's `near` columns decide as long as its second best among them is
    no dearer than `beyond`, the cheapest of all others when it last looked at them.
    """
    n, listed = near.shape
    sales = np.empty(n, np.int64), np.empty(n, np.int64)
    room = np.empty(n), np.empty(listed + 1), np.empty(listed + 1, np.int32)
    return int(_let_bid(costs, prices, raise_by, near, beyond, most_bids, *sales, *room))


_let_bid = native.kernel(
    "auction",
    "costs f8[n, n]",
    "prices f8[n] out",
    "raise_by float",
    "near i4[n, listed] out",
    "beyond f8[n] out",
    "most_bids int",
    "owner i8[n] out",
    "waiting i8[n] out",
    "room f8[n] out",
    "values f8[listed_and_one] out",
    "columns i4[listed_and_one] out",
    returns="int",
)


TOLERANCE = 1e-9  # mass that may be out of place
ROUGHLY = 1e-4  # the same while ε still falls
FALL = 4.0
ROUNDS = 50
NEWTON_STEPS = 50
HALVINGS = 12
REACH = 5.0
RIDGE = 1e-13


@dataclass(frozen=True)
class Entropic:
    """Costs of an entropic plan.

    Attributes
    ----------
    transport
        ⟨π, C⟩, the cost of the plan itself.
    value
        OT_ε, that cost and ε·KL(π‖P ⊗ Q).
    """

    transport: float
    value: float


def entropic(p: Floats, q: Floats, costs: Floats, *, regularisation: float) -> Entropic:
    """Compute the optimal plan from `p` to `q` with entropic regularisation.

    Parameters
    ----------
    p, q
        Masses of the two sides, shapes ``(n,)`` and ``(m,)``, each summing to 1.
    costs
        Shape ``(n, m)``, finite.
    regularisation
        ε, above 0, in the unit of the costs.

    Raises
    ------
    NoPlanError
        If the iteration has not converged.
    """
    from_, to = p > 0, q > 0
    p, q, costs = p[from_], q[to], costs[np.ix_(from_, to)]
    f, g = _potentials(p, q, costs, regularisation)
    plan = p[:, None] * q * np.exp((f[:, None] + g - costs) / regularisation)
    return Entropic(float(np.sum(plan * costs)), float(f @ p + g @ q))


def _potentials(p: Floats, q: Floats, costs: Floats, target: float) -> tuple[Floats, Floats]:
    """Potentials f and g of the plan p·q·exp((f + g − C)/ε), each ε started from a larger one's."""
    problem = _Dual(p, q, costs)
    f, epsilon = np.zeros(len(p)), max(float(costs.max()), target)
    while epsilon > target:
        f, _ = _settled(problem, f, epsilon, ROUGHLY)
        epsilon = max(target, epsilon / FALL)
    f, astray = _settled(problem, f, target, TOLERANCE)
    if astray > TOLERANCE:
        raise NoPlanError(
            f"Sinkhorn's iteration left {astray:.1g} of the mass out of place at regularisation "
            f"{target:g}; take a larger one"
        )
    return f, problem.answer(f, target)


def _settled(problem: _Dual, f: Floats, epsilon: float, tolerance: float) -> tuple[Floats, float]:
    """The potential f for one ε, and how much mass it leaves out of place.

    Sinkhorn's rounds first; where they crawl, because masses sit still at a small ε, Newton's
    method on the same concave problem ends it in a few steps.
    """
    for _ in range(ROUNDS):
        swept = problem.swept(f, epsilon)
        astray = float(problem.p @ np.abs(np.expm1(np.minimum((f - swept) / epsilon, 700))))
        f = swept
        if astray <= tolerance:
            return f, astray
    for _ in range(NEWTON_STEPS):
        f, astray = problem.step(problem.swept(f, epsilon), epsilon)
        if astray <= tolerance:
            break
    return f, astray


@dataclass(frozen=True)
class _Dual:
    """Entropic transport as a concave problem in the potential f alone."""

    p: Floats
    q: Floats
    costs: Floats

    def answer(self, f: Floats, epsilon: float) -> Floats:
        """The best g for an f: with it, all of q is reached."""
        return soft_least(self.costs.T - f, np.log(self.p), epsilon)

    def swept(self, f: Floats, epsilon: float) -> Floats:
        """One round of Sinkhorn's iteration."""
        return soft_least(self.costs - self.answer(f, epsilon), np.log(self.q), epsilon)

    def step(self, f: Floats, epsilon: float) -> tuple[Floats, float]:
        """One step of Newton's method, shortened until it gains or less mass is out of place."""
        plan, gained, before = self._state(f, epsilon)
        rows = plan.sum(axis=1)
        direction = epsilon * _newton(plan, rows, self.q, self.p - rows)
        # Beyond some ε the exponentials leave the ground on which the step was computed
        direction *= min(1.0, REACH * epsilon / max(float(np.abs(direction).max()), 1e-300))
        for share in 0.5 ** np.arange(HALVINGS):
            moved = f + share * direction
            _, gain, after = self._state(moved, epsilon)
            if gain > gained or after < before:
                return moved, after
        return f, before

    def _state(self, f: Floats, epsilon: float) -> tuple[Floats, float, float]:
        """The plan of f and its answer g, the value f·p + g·q, and how much mass is astray."""
        g = self.answer(f, epsilon)
        plan = self.p[:, None] * self.q * np.exp((f[:, None] + g - self.costs) / epsilon)
        astray = float(np.abs(self.p - plan.sum(axis=1)).sum())
        return plan, float(f @ self.p + g @ self.q), astray


def _newton(plan: Floats, rows: Floats, q: Floats, missing: Floats) -> Floats:
    """Solve (diag(rows) − π·diag(1/q)·πᵀ)·x = missing, which leaves x free up to a constant.

    Scaled by the masses, whose range would spoil the digits; the free direction, the root of the
    rows, is fixed by adding its outer product.
    """
    root = np.sqrt(np.maximum(rows, np.finfo(np.float64).tiny))
    scaled = plan / root[:, None] / np.sqrt(q)
    matrix = np.outer(root, root) - scaled @ scaled.T
    matrix[np.diag_indices_from(matrix)] += 1 + RIDGE
    solution: Floats = np.linalg.solve(matrix, missing / root) / root
    return solution


def soft_least(values: Floats, log_weights: Floats | None, epsilon: float) -> Floats:
    """Return −ε·log Σ exp(log w − v/ε) along the rows, a soft minimum."""
    exponent = values / -epsilon
    if log_weights is not None:
        exponent += log_weights
    largest = exponent.max(axis=1, keepdims=True)
    exponent -= largest
    np.exp(exponent, out=exponent)
    soft: Floats = -epsilon * (np.log(exponent.sum(axis=1)) + largest[:, 0])
    return soft


PROJECTIONS = 2_000


def barycentre(
    p: Floats, q: Floats, costs: Floats, *, weight: float, regularisation: float
) -> tuple[float, float]:
    """Compute the entropic barycentre R of two histograms on the same cells, and its costs.

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
    potentials, at_middle, astray = _projected(sides, shares, at_middle, regularisation, TOLERANCE)
    if astray > TOLERANCE:
        raise NoPlanError(
            f"the entropic barycentre left {astray:.1g} of the mass out of place at regularisation "
            f"{regularisation:g}; take a larger one"
        )
    one, other = (
        float(np.sum(np.exp((f[:, None] + g - cost) / regularisation) * cost))
        for (_, cost), f, g in zip(sides, potentials, at_middle, strict=True)
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
        potentials = [
            epsilon * np.log(mass) + soft_least(cost - g, None, epsilon)
            for (mass, cost), g in zip(sides, at_middle, strict=True)
        ]
        reach = np.array(
            [
                soft_least(cost.T - f, None, epsilon)
                for (_, cost), f in zip(sides, potentials, strict=True)
            ]
        )
        ends = np.exp((at_middle - reach) / epsilon)
        astray = float(np.abs(ends[0] - ends[1]).sum())
        if astray <= tolerance:
            break
        # Both are to end in R = exp(−Σ λ·reach / ε)
        at_middle = reach - shares @ reach
    return potentials, at_middle, astray


ROWS = 32


def exact_barycentre(
    p: Floats, q: Floats, costs: Floats, *, weight: float, threads: int | None = None
) -> tuple[Floats, float, float]:
    """Compute a barycentre of two histograms on the same cells, and its costs.

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
    from_, to = (np.ascontiguousarray(share * costs) for share in (weight, 1 - weight))

    def work(span: tuple[int, int]) -> None:
        rows = slice(*span)
        _lower(from_[rows], to, prices[rows], stops[rows])

    with workers(threads) as pool:
        for _ in pool.map(work, spans(len(costs), ROWS)):
            pass
    return prices, stops


_lower = native.kernel(
    "lower_prices",
    "from_ f8[count, cells]",
    "to f8[cells, cells]",
    "prices f8[count, cells] out",
    "stops i4[count, cells] out",
)
