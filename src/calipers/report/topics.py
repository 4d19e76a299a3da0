"""Sentences on the topics of an explanation: which differ, and by how much.

Page, screen and plots say it in these words. Nothing is tested here: an explanation says itself
which of its topics are significant.
"""

from __future__ import annotations

from calipers.explain.model import Explanation, Region, Topic
from calipers.wording.numbers import defined, percent

UNDER, OVER = "under-represented", "over-represented"


def outcome(explanation: Explanation) -> str:
    """State in a sentence how many topics differ; nothing where there are none."""
    total = len(explanation.topics)
    if not total:
        return ""
    at = f"at {percent(explanation.level)}"
    at += ", corrected for their number" if total > 1 else ""
    parts = [
        (len(explanation.under_represented), UNDER),
        (len(explanation.over_represented), OVER),
    ]
    shown = [(number, word) for number, word in parts if number]
    if not shown:
        return f"no topic is significantly under- or over-represented ({total} tested {at})"
    first, word = shown[0]
    verb = "is" if first == 1 else "are"
    more = "".join(f", {number} {other}" for number, other in shown[1:])
    return f"{first} of {total} topics {verb} significantly {word}{more} ({at})"


def times(ratio: float) -> str:
    """Write a ratio of shares with two digits or more.

    Examples
    --------
    >>> times(0.0), times(0.0123), times(0.374), times(1.0), times(12.34)
    ('0', '0.012', '0.37', '1.00', '12.3')
    """
    if ratio == 0:
        return "0"
    if ratio < 0.1:
        return f"{ratio:.2g}"
    return f"{ratio:.2f}" if ratio < 10 else f"{ratio:.1f}" if ratio < 100 else f"{ratio:,.0f}"


def ratio_words(topic: Topic, level: float) -> str:
    """Write the ratio of the generated share to the reference's, with its interval."""
    low, high = map(defined, topic.interval)
    if topic.ratio is None or high is None:
        start = times(low or 0.0)
        return f"none in the reference; {percent(level)} interval of the ratio from {start} up"
    return f"{times(topic.ratio)}×, {percent(level)} interval {times(low or 0.0)}–{times(high)}"


def name_of(topic: Region, most: int) -> str:
    """Name a topic by its keywords, or by its cells where it has none."""
    if topic.keywords:
        return ", ".join(topic.keywords[:most])
    return f"cell {topic.cells[0]}" if len(topic.cells) == 1 else f"{len(topic.cells)} cells"
