"""The printed form of one system: its set, a few scores, and warnings."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from calipers.brief import cut
from calipers.catalogue.shown import HEADLINE
from calipers.results.caution import Caution
from calipers.results.sets import SetSummary
from calipers.samples.wording import counted
from calipers.score import Score
from calipers.wording.front import worded
from calipers.wording.names import clean, shorten
from calipers.wording.numbers import interval_text, score_text, size_text

SCORES = 5
"""Scores that are written; the others are counted."""

CAUTIONS = 2
WIDTH = 100
NAME = 40


def card(
    summary: SetSummary,
    scores: Mapping[str, Score],
    *,
    cautions: Sequence[Caution] = (),
    warnings: Sequence[str] = (),
    withheld: str | None = None,
) -> str:
    """Write the main facts on one system, on at most ten lines.

    Parameters
    ----------
    summary
        Its set.
    scores
        By key; those of the headline are written, or the first where it has none of them.
    cautions
        The worst first.
    warnings
        All of its warnings, which are counted.
    withheld
        Why it has no scores.
    """
    shown = [key for key in HEADLINE if key in scores] or list(scores)[:SCORES]
    lines = [f"{shorten(clean(summary.name), NAME)}: n = {size_text(summary)}"]
    if withheld is not None:
        lines.append(cut(f"no scores: {withheld}", WIDTH))
    else:
        width = max(map(len, shown), default=0)
        lines += [cut(f"  {key:{width}}  {_score(scores[key])}", WIDTH) for key in shown]
    lines += [cut(f"  ! {_brief(caution)}", WIDTH) for caution in cautions[:CAUTIONS]]
    left = len(scores) - len(shown)
    more = [f"{counted(left, 'more score')} (.scores)"] if left else []
    more += [f"{counted(len(warnings), 'warning')} (.warnings)"] if warnings else []
    return "\n".join([*lines, *([f"  {', '.join(more)}"] if more else [])])


def _brief(caution: Caution) -> str:
    """Write a caution and the option that removes its cause."""
    remedy = f" ({caution.remedy})" if caution.remedy else ""
    return worded(f"{clean(caution.brief)}{remedy}")


def _score(score: Score) -> str:
    """Write a value and its interval, or why it has none."""
    why = f" ({score.reason})" if score.reason else ""
    return f"{score_text(score)} {interval_text(score)}".rstrip() + why
