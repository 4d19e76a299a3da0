"""What ``calipers compare`` found ──► scores to rank: the second of two steps."""

from __future__ import annotations

import math
import statistics
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from calipers.catalogue.shown import shown_keys
from calipers.errors import InputError
from calipers.evaluate.rank_rows import BETTER
from calipers.evaluate.rank_scores import Column, Scores, finished
from calipers.evaluate.rank_tables import as_number
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
        If it is no comparison of two systems or more, or a score holds what none can; names where.
    """
    _check_settings(data.get("settings", {}), source)
    columns: dict[str, Column] = {}
    held = [_system(system, source) for system in data["systems"]]
    if len(held) < 2:
        raise InputError(
            f"{source}: a comparison of one system has no order; compare at least two "
            f"(found {names(name for name, _ in held)})"
        )
    for name, scores in held:
        for key, score in scores.items():
            _add(columns.setdefault(key, Column()), key, name, score, source)
    own = _own_name(data)
    found = finished(source, columns, reference or own)
    shown = tuple(shown.key for shown in shown_keys(data) if shown.key in columns)
    named = (*found.named, *([own] if own else []))
    return replace(found, named=named, usual=shown or tuple(columns))


def _system(system: Any, source: str) -> tuple[str, Mapping[str, Any]]:
    scores = system.get("scores") if isinstance(system, Mapping) else None
    if not isinstance(scores, Mapping) or not isinstance(system.get("name"), str):
        named = isinstance(system, Mapping) and isinstance(system.get("name"), str)
        found = f"{system['name']!r} with scores {describe(scores)}" if named else describe(system)
        raise InputError(
            f"{source}: each of its systems must have a name and scores, as calipers compare "
            f"--json writes them; found {found}"
        )
    for key, score in scores.items():
        if not isinstance(score, Mapping):
            raise InputError(
                f"{source}: the score {key!r} of {system['name']!r} must be an object with a "
                f"value, as calipers compare --json writes it; found {describe(score)}"
            )
    return system["name"], scores


def _check_settings(settings: Any, source: str) -> None:
    """Refuse settings that do not say in lists of names which scores were shown."""
    if not isinstance(settings, Mapping):
        raise InputError(f"{source}: settings must be an object; found {describe(settings)}")
    for key in ("views", "metrics_shown"):
        found = settings.get(key)
        listed = isinstance(found, list) and all(isinstance(name, str) for name in found)
        if found is not None and not listed:
            raise InputError(
                f"{source}: {key} of its settings must be a list of names; found {describe(found)}"
            )
    if not isinstance(settings.get("estimator", ""), str):
        raise InputError(
            f"{source}: estimator of its settings must be a name; "
            f"found {describe(settings['estimator'])}"
        )


def _own_name(data: Mapping[str, Any]) -> str | None:
    reference = data.get("reference")
    name = reference.get("name") if isinstance(reference, Mapping) else None
    return name if isinstance(name, str) else None


def _add(column: Column, key: str, name: str, score: Mapping[str, Any], source: str) -> None:
    place = f"{source}: the score {key!r} of {name!r}"
    better = score.get("better")
    if better is not None and better not in BETTER:
        raise InputError(
            f"{place}: better must be {', '.join(BETTER[:-1])} or {BETTER[-1]}; "
            f"found {describe(better)}"
        )
    column.better = column.better or better or "higher"
    own = _number(score, "reference", place)
    if own is not None:
        column.own[name] = own
    value = _number(score, "value", place)
    if value is None:
        column.reasons[name] = str(score.get("reason") or "no reason was kept")
    else:
        column.add(name, value, *_deviation(score, place))


def _deviation(score: Mapping[str, Any], place: str) -> tuple[float, str]:
    """The spread over seed files, else the standard error, else 0; and which it is."""
    given = score.get("seeds") or []
    if not isinstance(given, list):
        raise InputError(f"{place}: seeds must be a list of numbers; found {describe(given)}")
    seeds = [_finite(seed, "a seed's value", place) for seed in given if seed is not None]
    if len(seeds) > 1:
        return statistics.stdev(seeds), "seeds"
    error = _number(score, "standard_error", place)
    if error is not None and error < 0:
        raise InputError(f"{place}: standard_error must not be below 0; found {error:g}")
    return (0.0, "") if error is None else (error, "errors")


def _number(score: Mapping[str, Any], field: str, place: str) -> float | None:
    value = score.get(field)
    return None if value is None else _finite(value, field, place)


def _finite(value: Any, what: str, place: str) -> float:
    number = None if isinstance(value, str) else as_number(value)
    if number is None or not math.isfinite(number):
        raise InputError(
            f"{place}: {what} must be a finite number or null; found {describe(value)}"
        )
    return number
