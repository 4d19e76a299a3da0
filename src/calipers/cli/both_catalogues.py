"""Metrics on embeddings and metrics of texts as one catalogue, for ``calipers metrics``."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

Data = Mapping[str, Any]

TEXT = "text"
"""What stands for all metrics of texts."""


def described(name: str) -> Sequence[Data]:
    """Describe what a name stands for, of either catalogue."""
    from calipers.metrics.described import describe_all
    from calipers.text.described import describe_text

    return (
        [_apart(each) for each in describe_text([name])] if is_text(name) else describe_all([name])
    )


def _apart(each: Data) -> Data:
    """Write ``text.`` before a key whose metric has a namesake that measures embeddings."""
    from calipers.metrics.catalogue import METRICS

    shared = each["key"].partition(":")[0] in METRICS
    return {**each, "key": f"{TEXT}.{each['key']}"} if shared else each


def is_text(name: str) -> bool:
    """Whether a name means metrics of texts, which need no embeddings."""
    from calipers.metrics.catalogue import FAMILIES, METRICS
    from calipers.text.described import is_text_name

    return is_text_name(name, {*METRICS, *FAMILIES, "all"})


def questions() -> dict[str, str]:
    """Families by name, each with the question that it answers."""
    from calipers.metrics.described import questions as of_embeddings
    from calipers.text.described import text_questions

    return of_embeddings() | text_questions()
