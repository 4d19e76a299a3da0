"""Intervals, p-values and sizes as a person reads them."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

from calipers.report.numbers import MISSING, interval_text, score_text

PLUS_MINUS = "±"
APPROXIMATE = "~"
LOPSIDED = 1.5
"""How much longer the one side of an interval may be than the other and still be shown as ±."""

_SMALLEST_P = 0.001
_MANY = 10_000_000


def half_text(half: float, value: str) -> str:
    """Write half the length of an interval, no finer than the value beside it is written.

    Examples
    --------
    >>> half_text(0.01149, "0.912"), half_text(0.5634, "12.35"), half_text(0.0015, "0.0001235")
    ('±0.011', '±0.56', '±0.0015')
    """
    if "e" in value or half >= 1e6:
        return f"{PLUS_MINUS}{half:.2g}"
    decimals = len(value.replace(",", "").partition(".")[2])
    if decimals > 3:
        decimals = min(decimals, _decimals(half))
    return f"{PLUS_MINUS}{half:,.{decimals}f}"


def beside_value(score: Mapping[str, Any] | None, value: str) -> str:
    """Write what stands behind a value as ±; empty without an interval, or a lopsided one."""
    bounds = _bounds(score)
    if score is None or bounds is None or is_lopsided(score):
        return ""
    mark = APPROXIMATE if score.get("approximate") else ""
    return half_text((bounds[1] - bounds[0]) / 2, value) + mark


def below_value(score: Mapping[str, Any] | None) -> str:
    """Write the bounds of a lopsided interval; empty without one."""
    if score is None or not is_lopsided(score):
        return ""
    return interval_text(score) + (APPROXIMATE if score.get("approximate") else "")


def sure_text(score: Mapping[str, Any] | None) -> str:
    """Write a value and its interval in one word, whichever form that takes."""
    value = score_text(score)
    return value + (beside_value(score, value) or below_value(score))


def is_lopsided(score: Mapping[str, Any]) -> bool:
    """Tell whether one side of an interval is so much longer that ± would mislead."""
    bounds, value = _bounds(score), score.get("value")
    if bounds is None or value is None:
        return bounds is not None
    short, long = sorted((value - bounds[0], bounds[1] - value))
    seen = 0.002 if list(score.get("range") or ()) == [0, 1] else 0.0
    return bool(long - short > seen and long > LOPSIDED * max(short, 0.0))


def p_text(p: float | None, alpha: float) -> str:
    """Write a p-value, never as 0, and on the same side of `alpha` as it is.

    Examples
    --------
    >>> p_text(0.0000123, 0.05), p_text(0.0312, 0.05), p_text(0.4123, 0.05)
    ('p < 0.001', 'p = 0.031', 'p = 0.41')
    >>> p_text(0.04996, 0.05), p_text(1.0, 0.05)
    ('p = 0.04996', 'p = 1')
    """
    if p is None:
        return f"p = {MISSING}"
    if p < _SMALLEST_P:
        return f"p < {_SMALLEST_P}"
    texts = (f"{p:.{decimals}f}" for decimals in range(2 if p >= 0.0995 else 3, 17))
    text = next((text for text in texts if (float(text) < alpha) == (p < alpha)), repr(p))
    return f"p = {'1' if float(text) == 1 else text}"


def about(n: float) -> str:
    """Write a large number by its first two digits.

    Examples
    --------
    >>> about(11_843), about(640), about(3e9)
    ('about 12,000', 'about 640', 'more than 10 million')
    """
    if n > _MANY:
        return f"more than {_MANY // 10**6} million"
    unit = 10 ** max(0, math.floor(math.log10(max(n, 1))) - 1)
    return f"about {round(n / unit) * unit:,}"


def signed(text: str) -> str:
    """Put a plus before a number that has no sign of its own."""
    return text if text.startswith(("-", "+", MISSING)) else f"+{text}"


def _bounds(score: Mapping[str, Any] | None) -> tuple[float, float] | None:
    bounds = (score or {}).get("interval")
    return None if not bounds or None in bounds else (bounds[0], bounds[1])


def _decimals(number: float) -> int:
    """Decimals that show two digits of a number."""
    return max(0, 1 - math.floor(math.log10(number))) if number > 0 else 0
