"""What ``calipers compare`` found ──► scores to rank: the second of two steps."""

from __future__ import annotations

import statistics
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from calipers.errors import InputError
from calipers.report.content import shown_metrics
from calipers.road.rank_scores import Column, Scores, finished
from calipers.samples.wording import describe, names


def is_comparison(value: Any) -> bool:
    """Whether a value is the data of a comparison, as ``compare --json`` writes it."""
    return isinstance(value, Mapping) and isinstance(value.get("systems"), list)


def scores_of_comparison(data: Mapping[str, Any], source: str, reference: str | None) -> Scores:
    """Take every score of every system; deviations come from seed files or standard errors.

    A metric that is better closest to the reference is compared by its distance from the value
    that the comparison holds of the reference.

    Raises
    ------
    InputError
        If it is no comparison of two systems or more.
    """
    columns: dict[str, Column] = {}
    held = [_system(system, source) for system in data["systems"]]
    if len(held) < 2:
        raise InputError(
            f"{source}: a comparison of one system has no order; compare at least two "
            f"(found {names(name for name, _ in held)})"
        )
    for name, scores in held:
        for key, score in scores.items():
            _add(columns.setdefault(key, Column()), name, score)
    own = _own_name(data)
    found = finished(source, columns, reference or own)
    shown = tuple(metric.key for metric in shown_metrics(data) if metric.key in columns)
    named = (*found.named, *([own] if own else []))
    return replace(found, named=named, usual=shown or tuple(columns))


def _system(system: Any, source: str) -> tuple[str, Mapping[str, Any]]:
    scores = system.get("scores") if isinstance(system, Mapping) else None
    if not isinstance(scores, Mapping) or not isinstance(system.get("name"), str):
        raise InputError(
            f"{source}: each of its systems must have a name and scores, as calipers compare "
            f"--json writes them; found {describe(system)}"
        )
    return system["name"], scores


def _own_name(data: Mapping[str, Any]) -> str | None:
    reference = data.get("reference")
    name = reference.get("name") if isinstance(reference, Mapping) else None
    return name if isinstance(name, str) else None


def _add(column: Column, name: str, score: Mapping[str, Any]) -> None:
    column.better = column.better or str(score.get("better") or "higher")
    if score.get("reference") is not None:
        column.own[name] = float(score["reference"])
    if score.get("value") is None:
        column.reasons[name] = str(score.get("reason") or "no reason was kept")
    else:
        column.add(name, float(score["value"]), *_deviation(score))


def _deviation(score: Mapping[str, Any]) -> tuple[float, str]:
    """The spread over seed files, else the standard error, else 0; and which it is."""
    seeds = [float(seed) for seed in score.get("seeds") or () if seed is not None]
    if len(seeds) > 1:
        return statistics.stdev(seeds), "seeds"
    error = score.get("standard_error")
    return (0.0, "") if error is None else (float(error), "errors")
