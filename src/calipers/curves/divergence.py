"""An f-divergence as a small object: its generator, the generator's limits, derived divergences.

D_f(P‖Q) = E_Q[f(p/q)], for f convex on (0, ∞) with f(1) = 0 (Pillutla et al., JMLR 2023,
definition 1). Adding c·(t − 1) to f changes nothing where E_Q[p/q] = 1, but an estimated ratio
does not average to 1; so f is always the one of these that is nowhere negative, with f'(1) = 0.
Then no estimate is negative, and every frontier falls from end to end. :func:`custom_divergence`
checks a person's own f and brings it to this form.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from calipers.errors import InputError, checks_keywords
from calipers.numeric.arrays import Vector

Generator = Callable[[Vector], Vector]
Weight = Any  # a float, or a column of them


@dataclass(frozen=True)
class Divergence:
    """An f-divergence: the cost of a likelihood ratio p/q that differs from 1.

    Attributes
    ----------
    name
        The name that keys and signatures use.
    generator
        f, over arrays of numbers above 0: convex, nowhere negative, f(1) = 0.
    at_zero
        f(0), the limit towards 0: the cost of generated mass where p = 0; may be infinite.
    conjugate_at_zero
        f*(0) = lim f(t)/t for t → ∞: the cost of reference mass where q = 0; may be infinite.
    slope
        c of the form in which the literature writes it, f(t) + c·(t − 1); 1 for KL, t·log t.
    half
        A(t) = 2∫ λ·f_λ(t) dλ over (0, 1), in closed form, where there is one.
    far
        f as a function of log t, for an infinite f(0) and a t too small for a float.
    """

    name: str
    generator: Generator
    at_zero: Weight
    conjugate_at_zero: Weight
    slope: Weight = 0.0
    half: Generator | None = None
    far: Generator | None = None

    def __call__(self, ratios: Vector) -> Vector:
        """Evaluate f, also at 0."""
        ratios = np.asarray(ratios, np.float64)
        inside = ratios > 0
        with np.errstate(over="ignore"):
            values = self.generator(np.where(inside, ratios, 1.0))
        f_values: Vector = np.where(inside, values, self.at_zero)
        return f_values

    def conjugate(self) -> Divergence:
        """Exchange the sides: f*(t) = t·f(1/t), so that D_f*(P‖Q) = D_f(Q‖P)."""
        return Divergence(
            f"conjugate({self.name})",
            lambda t: t * self.generator(1 / t),
            self.conjugate_at_zero,
            self.at_zero,
            -self.slope,
        )

    def interpolated(self, weight: Weight, rest: Weight | None = None) -> Divergence:
        """Return the divergence of P from a mixture, D_f(P‖λP + (1 − λ)Q), as an f-divergence.

        f_λ(t) = (λt + 1 − λ)·f(t / (λt + 1 − λ)); Pillutla et al., JMLR 2023, property 5.

        Parameters
        ----------
        weight
            λ, in (0, 1); or a column of them, shape ``(g, 1)``, for g divergences at once, whose
            values then have a row for each.
        rest
            1 − λ, where it is known to more digits than the difference would give.
        """
        check_weight(weight if rest is None else np.minimum(weight, rest))
        rest = 1 - weight if rest is None else rest

        def generator(t: Vector) -> Vector:
            mixture = weight * t + rest
            values: Vector = mixture * self.generator(t / mixture)
            return values

        beyond = weight * self.generator(1 / np.asarray(weight, np.float64))
        name = f"{self.name}|{_listed(weight)}"
        return Divergence(name, generator, rest * self.at_zero, beyond, rest * self.slope)

    def written(self) -> Divergence:
        """Return the same divergence with the generator of the literature, possibly negative."""
        if not np.any(self.slope):
            return self
        slope = self.slope
        return Divergence(
            self.name,
            lambda t: self.generator(t) + slope * (t - 1),
            self.at_zero - slope,
            self.conjugate_at_zero + slope,
        )


def check_weight(weight: Weight) -> None:
    """Refuse mixture weights outside (0, 1)."""
    weights = np.asarray(weight, np.float64)
    outside = weights[~((weights > 0) & (weights < 1))]
    if outside.size:
        raise InputError(
            f"a mixture weight λ must lie between 0 and 1, both left out; found {outside[0]:g}"
        )


def _listed(weight: Weight) -> str:
    return ",".join(repr(number) for number in np.ravel(weight).tolist())


GRID = np.geomspace(1e-6, 1e6, 2401)
STEP = 1e-3


@checks_keywords
def custom_divergence(
    f: Callable[[Vector], Vector],
    *,
    at_zero: float,
    conjugate_at_zero: float,
    name: str = "custom",
) -> Divergence:
    """Make a divergence from a convex function.

    c·(t − 1) is subtracted, with c = f'(1), so that f is nowhere negative (Pillutla et al., JMLR
    2023, footnote 1); this changes no divergence of two distributions, only its estimates.

    Parameters
    ----------
    f
        Convex on (0, ∞) with f(1) = 0; takes and returns float64 arrays.
    at_zero
        lim f(t) for t → 0, may be infinite.
    conjugate_at_zero
        lim f(t)/t for t → ∞, may be infinite.
    name
        The name in signatures.

    Raises
    ------
    InputError
        If f is not finite, not 0 at 1, or not convex; the point where it fails is named.

    Examples
    --------
    >>> from calipers import Histograms, f_divergence
    >>> own = custom_divergence(lambda t: t * np.log(t), at_zero=0, conjugate_at_zero=np.inf)
    >>> pair = Histograms([1, 3], [2, 2])
    >>> abs(f_divergence(pair, own) - f_divergence(pair, "kl")) < 1e-9
    True
    """
    values = _values(f, GRID)
    at_one = float(_values(f, np.ones(1))[0])
    if abs(at_one) > 1e-9:
        raise InputError(f"f must be 0 at t = 1; found f(1) = {at_one:g}")
    _check_convex(values)
    limits = float(at_zero), float(conjugate_at_zero)
    if np.isnan(limits).any() or -np.inf in limits:
        raise InputError(f"at_zero and conjugate_at_zero must be numbers or ∞; found {limits}")
    slope = _slope_at_one(f)

    def generator(t: Vector) -> Vector:
        return np.maximum(np.asarray(f(t), np.float64) - slope * (t - 1), 0.0)

    return Divergence(name, generator, limits[0] + slope, limits[1] - slope, slope)


def _values(f: Callable[[Vector], Vector], t: Vector) -> Vector:
    with np.errstate(all="ignore"):
        values = np.asarray(f(t), np.float64)
    if values.shape != t.shape:
        raise InputError(
            f"f must return one value for each t; found shape {values.shape} for {t.shape}"
        )
    if not np.isfinite(values).all():
        point = t[np.flatnonzero(~np.isfinite(values))[0]]
        raise InputError(f"f must be finite on (0, ∞); it is not at t = {point:g}")
    return values


def _check_convex(values: Vector) -> None:
    """No value may lie above the chord of its neighbours."""
    left, middle, right = GRID[:-2], GRID[1:-1], GRID[2:]
    share = (right - middle) / (right - left)
    ends = share * np.abs(values[:-2]) + (1 - share) * np.abs(values[2:])
    above = values[1:-1] - (share * values[:-2] + (1 - share) * values[2:])
    bad = np.flatnonzero(above > 1e-12 * (1 + ends))
    if len(bad):
        worst = bad[np.argmax(above[bad] / (1 + ends[bad]))]
        raise InputError(
            f"f must be convex; at t = {middle[worst]:g} it lies {above[worst]:.3g} above the "
            "chord of its neighbours"
        )


def _slope_at_one(f: Callable[[Vector], Vector]) -> float:
    """f'(1) by central differences at four distances, exact for polynomials up to degree 8."""
    steps = STEP * np.arange(1.0, 5.0)
    away = (_values(f, 1.0 + steps) - _values(f, 1.0 - steps)) / 2
    weights = np.array([8 / 5, -2 / 5, 8 / 105, -1 / 140])
    return float(weights @ away) / STEP
