"""Entropic optimal transport: the cost of a plan that is spread out on purpose.

OT_ε(P, Q) = min over plans π of ⟨π, C⟩ + ε·KL(π‖P ⊗ Q) (Cuturi, NeurIPS 2013), solved by Sinkhorn's
iteration on the logarithms of its scalings, so that no small ε under- or overflows. ε first falls
to its value in steps, which saves most of the iterations.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from calipers.estimate.transport_plan import NoPlanError

Floats = NDArray[np.float64]
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
    """What an entropic plan costs.

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
    """Move the masses `p` onto `q` by the plan that is best with entropic regularisation.

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
    """−ε·log Σ exp(log w − v/ε) along the rows: the least value, softened by ε."""
    exponent = values / -epsilon
    if log_weights is not None:
        exponent += log_weights
    largest = exponent.max(axis=1, keepdims=True)
    exponent -= largest
    np.exp(exponent, out=exponent)
    soft: Floats = -epsilon * (np.log(exponent.sum(axis=1)) + largest[:, 0])
    return soft
