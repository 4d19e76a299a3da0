"""Numbers as a person reads them: three decimals for shares, four digits for the rest."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

MISSING = "–"
_RANKED_BY = {"higher": "value", "lower": "value", "closest": "gap"}


def score_text(score: Mapping[str, Any] | None) -> str:
    """Write the value of a score, or a dash where it has none.

    Examples
    --------
    >>> score_text({"value": 0.91234, "range": [0.0, 1.0]})
    '0.912'
    >>> score_text({"value": 12.34567, "range": [0.0, None]})
    '12.35'
    """
    if score is None or score.get("value") is None:
        return MISSING
    return number(score["value"], unit=_in_unit_interval(score))


def interval_text(score: Mapping[str, Any] | None) -> str:
    """Write the interval of a score as ``[low,high]``; empty where it has none."""
    bounds = (score or {}).get("interval")
    if not bounds or any(bound is None for bound in bounds):
        return ""
    unit = score is not None and _in_unit_interval(score)
    low, high = (number(bound, unit=unit) for bound in bounds)
    return f"[{low},{high}]"


def number(value: float, *, unit: bool) -> str:
    """Write one number: `unit` tells that its range is [0, 1]."""
    if unit:
        return f"{value + 0.0:.3f}".replace("-0.000", "0.000")
    return f"{value:#.4g}".rstrip(".")


def size_text(samples: Mapping[str, Any]) -> str:
    """Write how many samples were used, and of how many where the set was cut."""
    n = samples.get("n")
    given = samples.get("n_given")
    if n is None:
        return MISSING
    return str(n) if given is None or given == n else f"{n}/{given}"


def words_text(samples: Mapping[str, Any]) -> str:
    """Write the median length in words; a dash for sets without texts."""
    median = (samples.get("words") or {}).get("median")
    if median is None:
        return MISSING
    return f"{median:.0f}" if median >= 10 else f"{median:.1f}"


def best_of(
    scores: Sequence[Mapping[str, Any] | None],
    direction: str,
    *,
    shown: Sequence[str] | None = None,
) -> int | None:
    """Tell which score is best; None for a tie as shown, or without a second one to compare.

    `direction` is ``"higher"``, ``"lower"`` or ``"closest"`` (to the reference's own value);
    anything else ranks nothing. `shown` is what stands in the table, the values by default.
    """
    texts = [score_text(score) for score in scores] if shown is None else shown
    leaders = leaders_of(scores, direction)
    if not leaders:
        return None
    best = leaders[0]
    valued = [row for row, score in enumerate(scores) if _rank(score, direction) is not None]
    shown_alike = sum(texts[row] == texts[best] for row in valued)
    return best if shown_alike == 1 else None


def leaders_of(scores: Sequence[Mapping[str, Any] | None], direction: str) -> list[int]:
    """Tell which scores are best, to the last digit; none without a second one to compare."""
    ranks = {row: _rank(score, direction) for row, score in enumerate(scores)}
    values = {row: value for row, value in ranks.items() if value is not None}
    if len(values) < 2:
        return []
    best = (max if direction == "higher" else min)(values.values())
    return [row for row, value in values.items() if value == best]


def _rank(score: Mapping[str, Any] | None, direction: str) -> float | None:
    """What ranks a score, where anything does."""
    field = _RANKED_BY.get(direction)
    return score.get(field) if score and field else None


def _in_unit_interval(score: Mapping[str, Any]) -> bool:
    return list(score.get("range") or ()) == [0, 1]
