"""Half of the frontier integral's generator: A(t) = 2∫ λ·f_λ(t) dλ over (0, 1).

The frontier integral is FI_f(P, Q) = 2∫ λ·D_f(P‖R_λ) + (1 − λ)·D_f(Q‖R_λ) dλ = D_A(P‖Q) + D_A(Q‖P),
so its own generator is A + A* (Pillutla et al., JMLR 2023, equation 7 and property 7a). For KL and
χ² the integral has a closed form, else it is a sum over nodes.

With s = t − 1, A is t·log t/s² − t/s + t/2 − s/3 for KL and −2·t²·log t/s² + 3 + 2/s + 2s/3 for χ².
So for KL the generator is (t + 1)/2 − t·log t/(t − 1), as the paper prints it; for χ² it is exactly
twice that. The closed form printed for χ² is another one, which is infinite at 0 although the paper
bounds the summary by 2. Twice as large holds for two distributions; estimated ratios, whose sides
need not agree, may come out otherwise.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.polynomial import Polynomial
from numpy.typing import NDArray

from calipers.curves.divergence import Vector

NEAR = 0.05
TERMS = np.arange(2, 16)
SIGNS = (-1.0) ** TERMS
SERIES_KL = Polynomial([0, 0, *(SIGNS / ((TERMS + 1) * (TERMS + 2)))])
SERIES_CHI2 = Polynomial([0, 0, *(4 * SIGNS / (TERMS * (TERMS + 1) * (TERMS + 2)))])

REACH, STEPS = 3.4, 40


def half_kl(t: Vector) -> Vector:
    """A(t) for KL, in [0, max(1/3, t/6)], to 1e-14 (1 + t)."""
    return _near_one(t, SERIES_KL, _kl_away)


def half_chi2(t: Vector) -> Vector:
    """A(t) for χ², in [0, max(1/3, 2t/3)], to 1e-14 (1 + t)."""
    return _near_one(t, SERIES_CHI2, _chi2_away)


def nodes() -> tuple[Vector, Vector, Vector]:
    """λ, 1 − λ and weights of a double-exponential rule over (0, 1), ends left out.

    Nodes crowd at both ends down to 1e-20, so that the steep ends of a frontier with extreme
    ratios are resolved: for ratios from 1e-12 to 1e12 the named divergences come out to 4e-12 or
    better, most to 1e-15.
    """
    step = REACH / STEPS
    x = step * np.arange(-STEPS, STEPS + 1)
    reach = np.pi * np.sinh(x)
    weight, rest = 1 / (1 + np.exp(-reach)), 1 / (1 + np.exp(reach))
    return weight, rest, step * np.pi * np.cosh(x) * weight * rest


def _near_one(t: Vector, series: Polynomial, away: Callable[[Vector, Vector], Vector]) -> Vector:
    s = t - 1
    near = np.abs(s) < NEAR
    found = away(np.where(near, 2.0, t), np.where(near, 1.0, s))
    values: Vector = np.where(near, series(np.where(near, s, 0.0)), found)
    return values


def _kl_away(t: Vector, s: Vector) -> Vector:
    return t / s * (np.log(t) / s - 1) + t / 2 - s / 3


def _chi2_away(t: Vector, s: Vector) -> Vector:
    return -2 * (t / s) ** 2 * np.log(t) + 3 + 2 / s + 2 * s / 3
