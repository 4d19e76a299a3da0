"""What is said of the topics of an explanation: which differ, by how much, and which do not.

Page, screen and plots say it in these words. Nothing is tested here: an explanation says itself
which of its topics are significant.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from calipers.report.inference import USUAL_LEVEL, percent
from calipers.report.table import Data

UNDER, OVER = "under-represented", "over-represented"


class Topics(NamedTuple):
    """The topics of an explanation, each part with the largest contribution first."""

    under: Sequence[Data]
    over: Sequence[Data]
    rest: Sequence[Data]


def split(explanation: Data) -> Topics:
    """Set the topics apart that are significantly under- and over-represented."""
    found = list(explanation.get("topics") or ())
    sure = [topic for topic in found if topic.get("significant")]
    return Topics(
        [topic for topic in sure if topic["direction"] == "under"],
        [topic for topic in sure if topic["direction"] == "over"],
        [topic for topic in found if not topic.get("significant")],
    )


def level_of(explanation: Data) -> float:
    """Give the level at which its topics were tested."""
    return float(explanation.get("level") or USUAL_LEVEL)


def outcome(explanation: Data) -> str:
    """Say in a sentence how many topics differ; nothing where there are none.

    Examples
    --------
    >>> topic = {"significant": True, "direction": "under"}
    >>> outcome({"topics": [topic, {"significant": False}], "level": 0.95})
    '1 of 2 topics is significantly under-represented (at 95 %, corrected for their number)'
    >>> outcome({"topics": [{"significant": False}], "level": 0.95})
    'no topic is significantly under- or over-represented (1 tested at 95 %)'
    """
    topics = split(explanation)
    total = sum(map(len, topics))
    if not total:
        return ""
    at = f"at {percent(level_of(explanation))}"
    at += ", corrected for their number" if total > 1 else ""
    parts = [(len(topics.under), UNDER), (len(topics.over), OVER)]
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


def ratio_words(topic: Data, level: float) -> str:
    """Write the ratio of the generated share to the reference's, with its interval; or nothing.

    Examples
    --------
    >>> ratio_words({"ratio": 0.374, "interval": [0.281, 0.4849]}, 0.95)
    '0.37×, 95 % interval 0.28–0.48'
    >>> ratio_words({"ratio": None, "interval": [12.34, None]}, 0.95)
    'none in the reference; 95 % interval of the ratio from 12.3 up'
    """
    bounds, ratio = topic.get("interval"), topic.get("ratio")
    if not bounds:
        return ""
    low, high = bounds
    if ratio is None or high is None:
        start = times(low or 0.0)
        return f"none in the reference; {percent(level)} interval of the ratio from {start} up"
    return f"{times(ratio)}×, {percent(level)} interval {times(low or 0.0)}–{times(high)}"


def name_of(topic: Data, most: int) -> str:
    """Name a topic by its keywords, or by its cells where it has none."""
    words: Sequence[str] = topic.get("keywords") or ()
    if words:
        return ", ".join(map(str, words[:most]))
    cells: Sequence[int] = topic.get("cells") or ()
    return f"cell {cells[0]}" if len(cells) == 1 else f"{len(cells)} cells"
