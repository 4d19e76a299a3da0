"""Report data ──► how much each topic adds to the gap of a system, for a chart of bars."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from calipers.report.html.pictures_parts import Data, number, systems_of
from calipers.report.names import clean, shorten

WORDS = 8
LONGEST_WORD = 24


def topic_data(data: Data, views: Sequence[str]) -> list[dict[str, Any]]:
    """Give the topics of every view and system that was explained, largest share first.

    A bar has the telling ``words`` of the topic (none where samples are no texts), its ``share`` of
    the gap, negative where the system has less of the topic than the reference, and both shares of
    samples: ``expected`` (reference) and ``produced`` (generated).
    """
    told = data.get("explanations") or {}
    made = [
        {"view": place, "system": row, "bars": _bars(told.get(system["name"], {}).get(view))}
        for place, view in enumerate(views)
        for row, system in enumerate(systems_of(data))
    ]
    return [each for each in made if each["bars"]]


def _bars(explanation: Data | None) -> list[dict[str, Any]]:
    topics = (explanation or {}).get("topics") or []
    return [_bar(topic) for topic in topics if number(topic.get("share")) is not None]


def _bar(topic: Data) -> dict[str, Any]:
    sign = -1 if topic["direction"] == "under" else 1
    return {
        "words": [shorten(clean(word), LONGEST_WORD) for word in topic["words"][:WORDS]],
        "share": number(sign * topic["share"]),
        "expected": number(topic.get("expected")),
        "produced": number(topic.get("produced")),
    }
