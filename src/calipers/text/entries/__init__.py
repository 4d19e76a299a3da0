"""Every text metric by name, in the order in which tables and lists show them."""

from __future__ import annotations

from calipers.text.entries import aligned, copies, diversity, repetition, strings, words
from calipers.text.entries.metric import Family, Held, Side, TextMetric

__all__ = ["TEXT_FAMILIES", "TEXT_METRICS", "Family", "Held", "Side", "TextMetric"]

TEXT_FAMILIES: dict[Family, str] = {
    "words": "how long are the texts, and which words do they use?",
    "diversity": "how varied are the texts of one set?",
    "repetition": "do texts repeat themselves, or fail to end?",
    "copies": "are texts repeated, or taken from elsewhere?",
    "strings": "how close are the two sets by their n-grams?",
    "aligned": "how close is each text to the reference of its own row?",
}
"""Families by name, each with the question that it answers."""

TEXT_METRICS: dict[str, TextMetric] = {
    metric.name: metric
    for entries in (words, diversity, repetition, copies, strings, aligned)
    for metric in entries.ENTRIES
}
