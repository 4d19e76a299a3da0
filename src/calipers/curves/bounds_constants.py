"""How smooth a divergence is: the six constants that its error bounds are made of.

The bounds hold for generators f whose steepness near 0 grows no faster than log 1/t (Pillutla et
al., JMLR 2023, assumption 9). With f and its conjugate f*(t) = t·f(1/t):

- (A1) C₀ = f(0) and C₀* = f*(0) are finite;
- (A2) |f'(t)| ≤ C₁·max(1, log 1/t) and |f*'(t)| ≤ C₁*·max(1, log 1/t) for t in (0, 1);
- (A3) t·f''(t)/2 ≤ C₂ and t·f*''(t)/2 ≤ C₂* for all t > 0.

The values are those of table 1, except that its row for the interpolated χ² belongs to a generator
without the factor (1 − λ)² and is multiplied by it here. C₀, C₀*, C₂ and C₂* are the smallest that
hold, C₁ and C₁* in part are not: for the frontier integral 1 would do in place of 4, and for Le Cam
0.57 in place of 2.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from calipers.curves.divergence import Divergence
from calipers.curves.divergences import DIVERGENCES, WEIGHTED, find_divergence
from calipers.curves.halves import half_kl
from calipers.errors import InputError, unknown_name

FRONTIER_INTEGRAL = Divergence(
    "frontier_integral", lambda t: half_kl(t) + t * half_kl(1 / t), 0.5, 0.5
)
"""The frontier integral of KL as an f-divergence (JMLR 2023, property 7a): FI(P, Q) = D_f(P‖Q)."""

KNOWN = (FRONTIER_INTEGRAL.name, *DIVERGENCES, *WEIGHTED)
REFUSED = {
    "kl": "it is infinite where the reference has mass and the generated set none (A1)",
    "reverse_kl": "it is infinite where the generated set has mass and the reference none (A1)",
    "chi2": "it is infinite where the reference has mass and the generated set none (A1)",
    "squared_hellinger": "near 0 its generator is steeper than any multiple of log 1/t (A2)",
    "total_variation": "its generator has a corner at 1, so no second derivative there",
}
COVERED = (
    "frontier_integral, jensen_shannon, le_cam, interpolated_kl=λ, interpolated_chi2=λ and "
    "skew_jensen_shannon=λ"
)


@dataclass(frozen=True)
class SmoothnessConstants:
    """What an error of a probability can cost a divergence, at most.

    Attributes
    ----------
    at_zero, conjugate_at_zero
        C₀ = f(0) and C₀* = f*(0): the divergence is at most their sum.
    slope, conjugate_slope
        C₁ and C₁*: bounds of |f'(t)| / max(1, log 1/t) for t in (0, 1), and of f* likewise.
    curvature, conjugate_curvature
        C₂ and C₂*: bounds of t·f''(t)/2 for t > 0, and of f* likewise.
    """

    at_zero: float
    conjugate_at_zero: float
    slope: float
    conjugate_slope: float
    curvature: float
    conjugate_curvature: float

    @property
    def most(self) -> float:
        """The largest value that the divergence, and so an error of it, can take."""
        return self.at_zero + self.conjugate_at_zero


def smoothness_constants(divergence: str | Divergence) -> SmoothnessConstants:
    """Look up the constants of a divergence that has error bounds.

    Pillutla et al., JMLR 2023, assumption 9 and table 1.

    Parameters
    ----------
    divergence
        ``"frontier_integral"``, ``"jensen_shannon"``, ``"le_cam"``, ``"interpolated_kl=0.3"``,
        ``"interpolated_chi2=0.3"``, ``"skew_jensen_shannon=0.3"``, or one of these as a
        :class:`~calipers.Divergence`.

    Raises
    ------
    InputError
        If the divergence breaks the assumption, or its constants are not known.

    Examples
    --------
    >>> smoothness_constants("frontier_integral").slope
    4.0
    """
    found = bounded_divergence(divergence)
    kind, _, weight = found.name.partition("=")
    if kind not in {*TABLE, *REFUSED} or not _is_named(found):
        raise InputError(
            f"error bounds need the constants of a divergence, which are known for {COVERED}; "
            f"found {found.name!r}"
        )
    if kind in REFUSED:
        raise InputError(
            f"these error bounds do not cover {kind}: {REFUSED[kind]}; they cover {COVERED}"
        )
    return TABLE[kind](float(weight or 0.5))


def bounded_divergence(divergence: str | Divergence) -> Divergence:
    """Look up a divergence, with the frontier integral among them."""
    if isinstance(divergence, Divergence):
        return divergence
    kind, equals, _ = str(divergence).partition("=")
    if kind not in KNOWN:
        raise unknown_name("divergence", kind, KNOWN)
    if kind != FRONTIER_INTEGRAL.name:
        return find_divergence(divergence)
    if equals:
        raise InputError(f"divergence {kind!r} takes no weight; found {divergence!r}")
    return FRONTIER_INTEGRAL


def _is_named(divergence: Divergence) -> bool:
    """Whether a divergence is the one that its name says, and not a person's own."""
    try:
        named = bounded_divergence(divergence.name)
    except InputError:
        return False
    t = np.geomspace(1e-3, 1e3, 25)
    return bool(np.allclose(named(t), divergence(t), rtol=1e-6, atol=1e-9))


def _interpolated_kl(weight: float) -> SmoothnessConstants:
    rest = 1 - weight
    most, steep = -float(np.log(weight)) - rest, rest**2 / weight
    return SmoothnessConstants(rest, most, 1.0, steep, 0.5, rest / (8 * weight))


def _interpolated_chi2(weight: float) -> SmoothnessConstants:
    odds = (1 - weight) / weight
    bend = 4 / (27 * weight)
    return SmoothnessConstants(1 - weight, (1 - weight) * odds, 2.0, 2 * odds**2, bend, bend * odds)


def _skew_jensen_shannon(weight: float) -> SmoothnessConstants:
    rest = 1 - weight
    ends = -rest * float(np.log(rest)), -weight * float(np.log(weight))
    return SmoothnessConstants(*ends, weight, rest, weight / 2, rest / 2)


TABLE: dict[str, Callable[[float], SmoothnessConstants]] = {
    "interpolated_kl": _interpolated_kl,
    "interpolated_chi2": _interpolated_chi2,
    "skew_jensen_shannon": _skew_jensen_shannon,
    "jensen_shannon": _skew_jensen_shannon,
    "frontier_integral": lambda _: SmoothnessConstants(0.5, 0.5, 4.0, 4.0, 0.5, 0.5),
    "le_cam": lambda _: SmoothnessConstants(0.5, 0.5, 2.0, 2.0, 8 / 27, 8 / 27),
}
"""The rows of table 1 that satisfy the assumption; each takes λ."""
