"""A person's own f, checked and brought to the form in which it is nowhere negative."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from calipers.curves.divergence import Divergence, Vector
from calipers.errors import InputError

GRID = np.geomspace(1e-6, 1e6, 2401)
STEP = 1e-3


def custom_divergence(
    f: Callable[[Vector], Vector],
    *,
    at_zero: float,
    conjugate_at_zero: float,
    name: str = "custom",
) -> Divergence:
    """Make a divergence from a convex function of one's own.

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
        What it is called in signatures.

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
