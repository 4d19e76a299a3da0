"""The f-divergences by name, and the generators of their frontier integrals.

(Pillutla et al., JMLR 2023, example 2 and table 1.)

| name | f(t), nowhere negative | f(0) | f*(0) |
| --- | --- | --- | --- |
| ``kl`` | t·log t − t + 1 | 1 | ∞ |
| ``reverse_kl`` | −log t + t − 1 | ∞ | 1 |
| ``jensen_shannon`` | λ-skew with λ = ½ | ½·log 2 | ½·log 2 |
| ``chi2`` | (t − 1)² | 1 | ∞ |
| ``le_cam`` | (t − 1)² / (2(t + 1)) | ½ | ½ |
| ``squared_hellinger`` | (√t − 1)² | 1 | 1 |
| ``total_variation`` | ½·|t − 1| | ½ | ½ |
| ``interpolated_kl=λ`` | KL(P‖λP + (1 − λ)Q) | 1 − λ | −log λ − 1 + λ |
| ``interpolated_chi2=λ`` | (1 − λ)²(t − 1)² / (λt + 1 − λ) | 1 − λ | (1 − λ)² / λ |
| ``skew_jensen_shannon=λ`` | λ·KL(P‖R_λ) + (1 − λ)·KL(Q‖R_λ) | −(1 − λ)·log(1 − λ) | −λ·log λ |

Example 2(d) of the paper leaves out the factor (1 − λ)² of the interpolated χ²; with it, the
divergence is the one of P from the mixture, and λ = ½ gives Le Cam's.

The frontier integral is FI_f(P, Q) = 2∫ λ·D_f(P‖R_λ) + (1 − λ)·D_f(Q‖R_λ) dλ = D_A(P‖Q) + D_A(Q‖P)
with A(t) = 2∫ λ·f_λ(t) dλ over (0, 1), so its own generator is A + A* (equation 7 and property 7a).
For KL and χ² the integral has a closed form, else it is a sum over nodes. With s = t − 1, A is
t·log t/s² − t/s + t/2 − s/3 for KL and −2·t²·log t/s² + 3 + 2/s + 2s/3 for χ². So for KL the
generator is (t + 1)/2 − t·log t/(t − 1), as the paper prints it; for χ² it is exactly twice that.
The closed form printed for χ² is another one, which is infinite at 0 although the paper bounds the
summary by 2. Twice as large holds for two distributions; estimated ratios, whose sides need not
agree, may come out otherwise.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.polynomial import Polynomial

from calipers.curves.divergence import Divergence, check_weight
from calipers.errors import InputError, unknown_name
from calipers.numeric.arrays import Vector

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
    """λ, 1 − λ and weights of a double-exponential rule over (0, 1), without the ends.

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
    direct = away(np.where(near, 2.0, t), np.where(near, 1.0, s))
    values: Vector = np.where(near, series(np.where(near, s, 0.0)), direct)
    return values


def _kl_away(t: Vector, s: Vector) -> Vector:
    return t / s * (np.log(t) / s - 1) + t / 2 - s / 3


def _chi2_away(t: Vector, s: Vector) -> Vector:
    return -2 * (t / s) ** 2 * np.log(t) + 3 + 2 / s + 2 * s / 3


def _kl(t: Vector) -> Vector:
    return t * np.log(t) - (t - 1)


def _reverse_kl(t: Vector) -> Vector:
    return (t - 1) - np.log(t)


KL = Divergence("kl", _kl, 1.0, np.inf, 1.0, half_kl)
REVERSE_KL = Divergence(
    "reverse_kl", _reverse_kl, np.inf, 1.0, -1.0, far=lambda log_t: np.expm1(log_t) - log_t
)
CHI2 = Divergence("chi2", lambda t: (t - 1) ** 2, 1.0, np.inf, 0.0, half_chi2)
LE_CAM = Divergence("le_cam", lambda t: (t - 1) * ((t - 1) / (2 * (t + 1))), 0.5, 0.5)
HELLINGER = Divergence("squared_hellinger", lambda t: (np.sqrt(t) - 1) ** 2, 1.0, 1.0)
TOTAL_VARIATION = Divergence(
    "total_variation", lambda t: np.abs(t - 1) / 2, 0.5, 0.5, half=lambda t: np.abs(t - 1) / 6
)


def interpolated_kl(weight: float) -> Divergence:
    """KL(P‖λP + (1 − λ)Q); JMLR 2023, example 2(b).

    Examples
    --------
    >>> interpolated_kl(0.3).name
    'interpolated_kl=0.3'
    """
    return _renamed(KL.interpolated(weight), f"interpolated_kl={float(weight)!r}")


def interpolated_chi2(weight: float) -> Divergence:
    """χ²(P‖λP + (1 − λ)Q); JMLR 2023, example 2(d), with the factor that is missing there.

    Examples
    --------
    >>> interpolated_chi2(0.3).name
    'interpolated_chi2=0.3'
    """
    return _renamed(CHI2.interpolated(weight), f"interpolated_chi2={float(weight)!r}")


def skew_jensen_shannon(weight: float) -> Divergence:
    """λ·KL(P‖R_λ) + (1 − λ)·KL(Q‖R_λ), R_λ = λP + (1 − λ)Q; JMLR 2023, example 2(c).

    Examples
    --------
    >>> skew_jensen_shannon(0.3).name
    'skew_jensen_shannon=0.3'
    """
    check_weight(weight)
    rest = 1 - weight

    def generator(t: Vector) -> Vector:
        mixture = weight * t + rest
        return np.maximum(weight * t * np.log(t / mixture) - rest * np.log(mixture), 0.0)

    at_zero, beyond = -rest * np.log(rest), -weight * np.log(weight)
    return Divergence(
        f"skew_jensen_shannon={float(weight)!r}", generator, float(at_zero), float(beyond)
    )


JENSEN_SHANNON = Divergence(
    "jensen_shannon", skew_jensen_shannon(0.5).generator, float(np.log(2)) / 2, float(np.log(2)) / 2
)

DIVERGENCES: dict[str, Divergence] = {
    divergence.name: divergence
    for divergence in (KL, REVERSE_KL, JENSEN_SHANNON, CHI2, LE_CAM, HELLINGER, TOTAL_VARIATION)
}
"""The divergences that take no weight, by name."""

WEIGHTED: dict[str, Callable[[float], Divergence]] = {
    "interpolated_kl": interpolated_kl,
    "interpolated_chi2": interpolated_chi2,
    "skew_jensen_shannon": skew_jensen_shannon,
}
"""The divergences that take a weight λ, by name."""


def find_divergence(divergence: str | Divergence) -> Divergence:
    """Look up a divergence by name, such as ``chi2`` or ``interpolated_kl=0.3``.

    Raises
    ------
    InputError
        If the name is unknown, or a weight is missing, not wanted or outside (0, 1).

    Examples
    --------
    >>> import numpy as np
    >>> chi2 = find_divergence("chi2")
    >>> chi2.name, chi2(np.array([1.0, 3.0])).tolist()
    ('chi2', [0.0, 4.0])
    """
    if isinstance(divergence, Divergence):
        return divergence
    name, equals, weight = str(divergence).partition("=")
    if name in DIVERGENCES and not equals:
        return DIVERGENCES[name]
    if name not in WEIGHTED:
        if name in DIVERGENCES:
            raise InputError(f"divergence {name!r} takes no weight; found {divergence!r}")
        raise unknown_name("divergence", name, [*DIVERGENCES, *WEIGHTED])
    try:
        return WEIGHTED[name](float(weight))
    except ValueError as error:
        if isinstance(error, InputError):
            raise
        raise InputError(
            f"divergence {name!r} takes a weight in (0, 1), as {name}=0.3; found {divergence!r}"
        ) from error


def _renamed(made: Divergence, name: str) -> Divergence:
    return Divergence(name, made.generator, made.at_zero, made.conjugate_at_zero, made.slope)
