"""Scores as plain data, fit for strict JSON."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from calipers.score import Score


def score_data(score: Score, per_sample: bool) -> dict[str, Any]:
    """Return a score as plain data; numbers that JSON lacks become None."""
    interval = None if score.interval is None else [_number(bound) for bound in score.interval]
    data: dict[str, Any] = {
        "value": _number(score.value),
        "interval": interval,
        "level": score.level,
        "noise_floor": _number(score.noise_floor),
        "range": [_number(bound) for bound in score.range],
        "better": score.better,
        "signature": score.signature,
        "reason": score.reason,
    }
    if score.reference is not None:
        data |= {"reference": _number(score.reference), "gap": _number(score.gap)}
    if score.seeds:
        data["seeds"] = [_number(value) for value in score.seeds]
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


def _number(value: float | None) -> float | None:
    return None if value is None or not math.isfinite(value) else float(value)
