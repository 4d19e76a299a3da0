"""Explanations of scores: which samples and topics cause the gap, as data.

They lead from a score to the samples behind it.
"""

from __future__ import annotations

from calipers.explain.evidence import Evidence
from calipers.explain.map import SampleMap, sample_map
from calipers.explain.model import (
    Copy,
    Explanation,
    Neighbour,
    Outlier,
    Region,
    Sample,
    Topic,
)
from calipers.explain.pair import explain_pair
from calipers.explain.words import WordCounts

__all__ = [
    "Copy",
    "Evidence",
    "Explanation",
    "Neighbour",
    "Outlier",
    "Region",
    "Sample",
    "SampleMap",
    "Topic",
    "WordCounts",
    "explain_pair",
    "sample_map",
]
