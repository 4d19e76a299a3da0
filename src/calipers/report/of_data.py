"""Plain data of a result, as what takes the result reads it.

Only documents and pictures that do not take their result yet need it; it goes with the last one.
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Mapping
from typing import Any

from calipers.explain.model import Copy, Explanation, Neighbour, Outlier, Region, Sample, Topic
from calipers.results.caution import Caution
from calipers.results.comparison import Advice, Comparison, SignificanceTest
from calipers.results.prompts import PromptOverlap
from calipers.results.sets import SetSummary
from calipers.results.system import SystemResult
from calipers.score import NoiseFloor, Score
from calipers.serialise import read

Data = Mapping[str, Any]

ABSENT: Data = {
    **dict.fromkeys(("warnings", "cautions", "seeds", "systems", "keywords", "cells"), ()),
    **dict.fromkeys(("words", "train", "clusters", "groups"), None),
    "settings": {},
    "scores": {},
}
"""What is read of a field that the data lack."""

PARTS: Mapping[type, Mapping[str, type]] = {
    Score: {"floor": NoiseFloor},
    SystemResult: {"prompts": PromptOverlap, "cautions": Caution, "scores": Score},
    Comparison: {
        "reference": SetSummary,
        "train": SetSummary,
        "systems": SystemResult,
        "tests": SignificanceTest,
        "advice": Advice,
        "cautions": Caution,
    },
    Explanation: {"topics": Topic, "cells": Region, "outside": Outlier, "copies": Copy},
    Outlier: {"nearest": Neighbour},
    Copy: {"source": Sample},
}
"""What the fields of a class hold, where that has fields of its own."""

MISSING = {"range": (-math.inf, math.inf), "interval": (-math.inf, math.inf), "better": "higher"}


class OfData:
    """A result, or a set of one, by its data: its fields are attributes.

    Parameters
    ----------
    data
        What ``to_dict()`` gave of it.
    """

    def __init__(self, data: Data) -> None:
        self._data = data

    def __getattr__(self, name: str) -> Any:
        data = self._data
        if name == "summary":
            return self
        if name == "version":
            return data.get("calipers") or ""
        if name == "n_given" and data.get(name) is None:
            return data["n"]
        value = data.get(name)
        if value is None:
            return ABSENT.get(name)
        if name == "cautions":
            return tuple(read(Caution, caution) for caution in value)
        if name == "systems":
            return [OfData(row) for row in value]
        if name == "scores":
            return {key: score_of(score) for key, score in value.items()}
        return OfData(value) if name in ("reference", "train") else value


def of_data(data: Data) -> Any:
    """Give a result, or a set of one, by its data."""
    return OfData(data)


def score_of(data: Data | None) -> Any:
    """Give a score by its data; None where there is none."""
    return None if data is None else _made(Score, data)


def comparison_of(data: Data) -> Comparison:
    """Give a comparison by its data."""
    scores = {"reference_scores": (data.get("reference") or {}).get("scores") or {}}
    found: Comparison = _made(Comparison, {**data, **scores, "version": data.get("calipers") or ""})
    made = {key: _made(Score, score) for key, score in found.reference_scores.items()}  # type: ignore[arg-type]
    return dataclasses.replace(found, reference_scores=made)


def explanation_of(data: Data) -> Explanation:
    """Give an explanation by its data."""
    found: Explanation = _made(Explanation, data)
    return found


def _made(kind: Any, data: Data) -> Any:
    """Make an object of a class without a look at whether it can be; what is missing is empty."""
    given = {**data, "summary": {**data, "warnings": ()}} if kind is SystemResult else data
    parts = {**PARTS.get(kind, {}), **({"summary": SetSummary} if kind is SystemResult else {})}
    fields = {}
    for field in dataclasses.fields(kind):
        value = given.get(field.name)
        if value is None and not _has_default(field):
            optional = "None" in str(field.type)
            value = MISSING.get(field.name) if not optional else None
            value = _empty(str(field.type)) if value is None else value
        if value is None and _has_default(field):
            continue
        if field.name == "range":
            value = _bounds(value)
        elif field.name == "interval":
            value = None if value is None else _bounds(value)
        elif field.name in parts:
            value = _part(parts[field.name], value)
        fields[field.name] = tuple(value) if isinstance(value, list) else value
    if "n_given" in fields and given.get("n_given") is None:
        fields["n_given"] = fields["n"]
    return kind(**fields)


def _part(kind: type, value: Any) -> Any:
    if isinstance(value, list | tuple):
        return tuple(_made(kind, each) for each in value)
    if kind is Score:
        return {key: _made(kind, each) for key, each in value.items() if each is not None}
    return _made(kind, value)


def _bounds(value: Any) -> tuple[float, float]:
    low, high = value
    return -math.inf if low is None else low, math.inf if high is None else high


def _has_default(field: Any) -> bool:
    missing = dataclasses.MISSING
    return field.default is not missing or field.default_factory is not missing


def _empty(kind: str) -> Any:
    if "None" in kind:
        return None
    empty = {"str": "", "float": math.nan, "int": 0, "bool": False, "tuple": (), "Mapping": {}}
    return next((value for name, value in empty.items() if kind.startswith(name)), None)
