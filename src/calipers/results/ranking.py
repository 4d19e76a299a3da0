"""Scores of all systems, and the best by value or by gap."""

from __future__ import annotations

from collections.abc import Sequence

from calipers.catalogue.shown import chance_of
from calipers.results.comparison import Comparison
from calipers.results.shown import ShownScore
from calipers.score import Score
from calipers.wording.numbers import gap_of, score_text, value_of


def scores_of(comparison: Comparison, shown: ShownScore) -> list[Score | None]:
    """Return the score of every system, in the order of the systems."""
    return [system.scores.get(shown.key) for system in comparison.systems]


def ranked_scores(comparison: Comparison, shown: ShownScore) -> list[Score | None]:
    """Return the scores; None for a system of reference samples only, which has no rank."""
    return [
        None if system.is_reference else system.scores.get(shown.key)
        for system in comparison.systems
    ]


def best_of(
    scores: Sequence[Score | None],
    direction: str,
    *,
    shown: Sequence[str] | None = None,
) -> int | None:
    """Return which score is best; None for a tie as shown, or without a second score.

    `direction` is ``"higher"``, ``"lower"`` or ``"closest"`` (to the reference's own value);
    anything else ranks nothing. `shown` is what the table shows, the values by default.
    """
    texts = [score_text(score) for score in scores] if shown is None else shown
    leaders = leaders_of(scores, direction)
    if not leaders:
        return None
    best = leaders[0]
    valued = [row for row, score in enumerate(scores) if _rank(score, direction) is not None]
    shown_alike = sum(texts[row] == texts[best] for row in valued)
    return best if shown_alike == 1 else None


def leaders_of(scores: Sequence[Score | None], direction: str) -> list[int]:
    """Return which scores are best, at full precision; none without a second score."""
    ranks = {row: _rank(score, direction) for row, score in enumerate(scores)}
    values = {row: value for row, value in ranks.items() if value is not None}
    if len(values) < 2:
        return []
    best = (max if direction == "higher" else min)(values.values())
    return [row for row, value in values.items() if value == best]


def _rank(score: Score | None, direction: str) -> float | None:
    """What ranks a score, where anything does."""
    if score is None or direction not in ("higher", "lower", "closest"):
        return None
    value = gap_of(score) if direction == "closest" else value_of(score)
    chance = chance_of(score.signature) if direction == "lower" else None
    return value if value is None or chance is None else max(value, chance)
