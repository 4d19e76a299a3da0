"""Scores as plain data, fit for strict JSON."""

from __future__ import annotations

import math
import statistics
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import Any

import numpy as np
from numpy.typing import NDArray

from calipers.score import NoiseFloor, Score


def score_data(score: Score, per_sample: bool) -> dict[str, Any]:
    """Return a score as plain data; numbers that JSON lacks become None."""
    interval = None if score.interval is None else [_number(bound) for bound in score.interval]
    data: dict[str, Any] = {
        "value": _number(score.value),
        "interval": interval,
        "level": score.level,
        "standard_error": _number(score.standard_error),
        "sources": {name: _number(error) for name, error in score.sources.items()},
        "approximate": score.approximate,
        "noise_floor": _number(score.noise_floor),
        "floor": None if score.floor is None else _floor(score.floor),
        "range": [_number(bound) for bound in score.range],
        "better": score.better,
        "signature": score.signature,
        "reason": score.reason,
    }
    if score.reference is not None:
        data |= {"reference": _number(score.reference), "gap": _number(score.gap)}
    if score.seeds:
        data["seeds"] = [_number(value) for value in score.seeds]
        data["seeds_sd"] = _deviation(score.seeds)
    if score.details:
        data["details"] = plain(score.details)
    if per_sample and score.per_sample is not None:
        data["per_sample"] = values(score.per_sample)
    return data


def all_scores(scores: Mapping[str, Score], per_sample: bool) -> dict[str, Any]:
    return {key: score_data(score, per_sample) for key, score in scores.items()}


def values(array: NDArray[Any]) -> list[Any]:
    """The values of an array; those that JSON lacks become None."""
    if array.dtype.kind != "f" or np.isfinite(array).all():
        return list(array.tolist())
    return [_number(value) for value in array.tolist()]


def plain(value: Any) -> Any:
    """Numbers that JSON lacks become None, at any depth, and tuples lists."""
    if isinstance(value, Mapping):
        return {name: plain(each) for name, each in value.items()}
    if isinstance(value, tuple | list):
        return [plain(each) for each in value]
    return _number(value) if isinstance(value, float) else value


def _floor(floor: NoiseFloor) -> dict[str, Any]:
    numbers = {name: _number(value) for name, value in asdict(floor).items()}
    return {**numbers, "size": floor.size, "splits": floor.splits, "inside": floor.inside}


def _deviation(seeds: Sequence[float]) -> float | None:
    """The sample standard deviation over seed files; None where fewer than two have a value."""
    finite = [value for value in seeds if math.isfinite(value)]
    return statistics.stdev(finite) if len(finite) > 1 else None


def _number(value: float | None) -> float | None:
    return None if value is None or not math.isfinite(value) else float(value)
