"""A comparison as data ──► its groups, and the metrics that were measured by group."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from calipers.errors import InputError, unknown_name
from calipers.report.documents.compare_sets import shown_groups
from calipers.report.plots.choosing import chosen_view, compared, metric_names, prefix

Data = Mapping[str, Any]

METRICS = ("recall", "coverage", "precision")


def grouped_metrics(data: Data, view: str | None, asked: Sequence[str] | str | None) -> list[str]:
    """Give the metrics that were measured by group, of those asked for."""
    start = prefix(data, chosen_view(data, view))
    keys = [key for each in compared(data)["systems"] for key in each["scores"]]
    known = [m for m in METRICS if any(key.startswith(f"{start}{m}:group=") for key in keys)]
    if not known:
        raise InputError(
            "nothing was measured by group; name the field of the groups: calipers compare --group"
        )
    for name in metric_names(asked) or ():
        if name not in known:
            raise unknown_name("metric by group", name, known)
    return known if asked is None else list(dict.fromkeys(metric_names(asked) or ()))


def shown_by_view(data: Data, view: str | None) -> list[str]:
    """Give the groups of the reference, those with scores; the worst of very many."""
    before = prefix(data, chosen_view(data, view))
    return shown_groups(compared(data), all_groups(data), before=before)


def all_groups(data: Data) -> list[str]:
    """Give every group of the reference, then those that only generated sets have."""
    parts = [
        key.partition(":group=")[2]
        for system in compared(data)["systems"]
        for key in system["scores"]
        if ":group=" in key
    ]
    return list(dict.fromkeys([*(compared(data)["reference"].get("groups") or {}), *parts]))


def group_key(data: Data, view: str | None, metric: str, group: str) -> str:
    """Give the key of a group's score."""
    return f"{prefix(data, chosen_view(data, view))}{metric}:group={group}"
