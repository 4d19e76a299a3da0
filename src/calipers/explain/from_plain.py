"""Plain data ──► an explanation: the way back from what JSON holds of it.

Null stands for what was not measured, or for NaN where there is always a number.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import Any, TypeVar

from calipers.explain.model import Explanation
from calipers.explain.parts import Copy, Neighbour, Outlier, Region, Sample

Data = Mapping[str, Any]
T = TypeVar("T")
DIRECTIONS = ("over", "under", "even")
MOST = 2**53


def explanation_from(data: Data) -> Explanation:
    """Give an explanation back.

    Raises
    ------
    LookupError, TypeError, ValueError
        If a field is missing or damaged; the message names it.
    """
    return Explanation(
        view=_word(data, "view"),
        n=_count(data, "n"),
        m=_count(data, "m"),
        k=_count(data, "k"),
        score=_number(data, "score", None),
        topics=_each(data, "topics", _region),
        cells=_each(data, "cells", _region),
        outside=_each(data, "outside", _outlier),
        outside_count=_measured(data, "outside_count"),
        uncovered_count=_measured(data, "uncovered_count"),
        copies=_each(data, "copies", _copy),
        copies_count=_measured(data, "copies_count"),
        notes=_words(data, "notes"),
    )


def _region(data: Data) -> Region:
    return Region(
        words=_words(data, "words"),
        reference=_count(data, "reference"),
        generated=_count(data, "generated"),
        expected=_number(data, "expected", math.nan),
        produced=_number(data, "produced", math.nan),
        contribution=_number(data, "contribution", math.nan),
        share=_number(data, "share", math.nan),
        direction=_direction(data),
        uncovered=_measured(data, "uncovered"),
        outside=_measured(data, "outside"),
        cells=tuple(_whole("cells", cell) for cell in _list(data, "cells")),
        reference_medoids=_each(data, "reference_medoids", _sample),
        generated_medoids=_each(data, "generated_medoids", _sample),
        missed_samples=_each(data, "missed_samples", _sample),
    )


def _outlier(data: Data) -> Outlier:
    realism, first = _number(data, "realism", None), _count(data, "first_k")
    return Outlier(*_place(data), realism, first, _each(data, "nearest", _neighbour))


def _neighbour(data: Data) -> Neighbour:
    return Neighbour(*_place(data), _number(data, "distance", math.nan))


def _copy(data: Data) -> Copy:
    source = None if data["source"] is None else _sample(_object("source", data["source"]))
    return Copy(*_place(data), _number(data, "distance", math.nan), source)


def _sample(data: Data) -> Sample:
    return Sample(*_place(data))


def _place(data: Data) -> tuple[int, str | None]:
    return _count(data, "row"), None if data["text"] is None else _word(data, "text")


def _each(data: Data, name: str, read: Callable[[Data], T]) -> tuple[T, ...]:
    return tuple(read(_object(name, each)) for each in _list(data, name))


def _object(name: str, value: Any) -> Data:
    if not isinstance(value, Mapping):
        raise TypeError(f"{name} holds {value!r:.100}, not an object")
    return value


def _list(data: Data, name: str) -> list[Any]:
    if not isinstance(data[name], list):
        raise TypeError(f"{name} is {data[name]!r:.100}, not a list")
    return data[name]  # type: ignore[no-any-return]


def _words(data: Data, name: str) -> tuple[str, ...]:
    return tuple(_string(name, word) for word in _list(data, name))


def _word(data: Data, name: str) -> str:
    return _string(name, data[name])


def _string(name: str, value: Any) -> str:
    if not isinstance(value, str):
        raise TypeError(f"{name} is {value!r:.100}, not a text")
    return value


def _direction(data: Data) -> Any:
    if data["direction"] not in DIRECTIONS:
        raise ValueError(f"direction is {data['direction']!r:.100}, none of {DIRECTIONS}")
    return data["direction"]


def _number(data: Data, name: str, missing: Any) -> Any:
    value = data[name]
    if value is None:
        return missing
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise TypeError(f"{name} is {value!r:.100}, not a number")
    return float(value)


def _count(data: Data, name: str) -> int:
    return _whole(name, data[name])


def _measured(data: Data, name: str) -> int | None:
    return None if data[name] is None else _count(data, name)


def _whole(name: str, value: Any) -> int:
    if isinstance(value, bool) or not isinstance(value, int) or not 0 <= value < MOST:
        raise TypeError(f"{name} is {value!r:.100}, not a whole number of at least 0")
    return value
