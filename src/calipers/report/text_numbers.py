"""Values of text metrics and their gaps, as the tables write them."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

from calipers.report.numbers import MISSING, number

Data = Mapping[str, Any]


def value_text(score: Data | None, *, whole: bool = True) -> str:
    """Write a value: three decimals for shares, four digits for the rest, counts in full.

    Parameters
    ----------
    score
        As data.
    whole
        Whether a whole number may go without decimals, as where its neighbours are whole too.

    Examples
    --------
    >>> value_text({"value": 0.91234, "range": [0.0, 1.0]})
    '0.912'
    >>> value_text({"value": 12345.0, "range": [0.0, None]})
    '12,345'
    """
    if score is None or score.get("value") is None:
        return MISSING
    return _number(score["value"], score, whole)


def gap_text(score: Data | None, *, whole: bool = True) -> str:
    """Write a gap with the decimals of its value, but four digits at most; empty without one.

    Examples
    --------
    >>> gap_text({"value": 0.0123456, "gap": 12.3456, "range": [0.0, None]})
    '12.35'
    """
    if score is None or "gap" not in score:
        return ""
    gap = score["gap"]
    if gap is None:
        return MISSING
    decimals = len(value_text(score, whole=whole).partition(".")[2])
    most = 3 - math.floor(math.log10(gap)) if gap > 0 else decimals
    return f"{gap:,.{max(0, min(decimals, most))}f}"


def _number(value: float, score: Data, whole: bool) -> str:
    low, high = score.get("range") or (None, None)
    if low is not None and low >= 0 and high == 1:
        return number(value, unit=True)
    if abs(value) >= 1000:
        return f"{value:,.0f}"
    if whole and value == int(value) and abs(value) >= 10:
        return str(int(value))
    return f"{value:.4f}" if 0.001 <= abs(value) < 1 else number(value, unit=False)
