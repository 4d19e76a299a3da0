"""One side of an error bound: how far the estimate of one distribution is off, and how steeply."""

from __future__ import annotations

import math
from dataclasses import dataclass
from numbers import Real
from typing import Any, get_args

from calipers.curves.bounds_terms import missing_information, smoothing_bias, spread
from calipers.curves.divergence import Vector
from calipers.errors import InputError, unknown_name
from calipers.estimate.smoothing import PSEUDO_COUNTS, Smoothing


@dataclass(frozen=True)
class Side:
    """One side of a bound: (C₁·steepest + C₀* ∨ C₂)·moved + (C₁ + C₀* ∨ C₂)·missed."""

    steepest: float
    moved: float
    missed: float = 0.0


def free_side(n: int, k: int, b: float) -> Side:
    """What n samples over k cells are off by, whatever the distribution; equations 11 and 16."""
    if b == 0:
        return Side(math.log(n), math.sqrt(k / n) + k / n)
    return Side(_steepest(n, k, b), (math.sqrt(k * n) + 2 * b * (k - 1)) / (n + k * b))


def oracle_side(p: Vector, n: int, b: float) -> Side:
    """What n samples of a known distribution are off by; equations 10 and 15."""
    if b == 0:
        return Side(math.log(n), spread(p, n), missing_information(p, n))
    k = len(p)
    moved = n / (n + k * b) * spread(p, n) + smoothing_bias(p, n, b)
    return Side(_steepest(n, k, b), moved)


def _steepest(n: int, k: int, b: float) -> float:
    """log 1/P̂ at the smallest P̂ that b leaves, and at least 1, as (A2) asks for."""
    return max(1.0, math.log(n / b + k))


def pseudo_count(smoothing: Smoothing | float) -> float:
    """What a smoothing adds to every count, 0 for none; theorem 12 covers constants only."""
    if isinstance(smoothing, str):
        if smoothing in PSEUDO_COUNTS:
            return PSEUDO_COUNTS[smoothing]
        if smoothing in get_args(Smoothing):
            raise InputError(
                "error bounds cover smoothing that adds one constant to every count: "
                f"{', '.join(PSEUDO_COUNTS)}, or a number; found {smoothing!r}"
            )
        raise unknown_name("smoothing", smoothing, PSEUDO_COUNTS)
    if not _is_count(smoothing):
        raise InputError(f"a pseudo-count must be a number of at least 0; found {smoothing!r}")
    return float(smoothing)


def _is_count(found: Any) -> bool:
    return type(found) is not bool and isinstance(found, Real) and 0 <= float(found) < math.inf
