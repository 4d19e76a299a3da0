"""Plain data ──► scores, tests and advice: the way back from what JSON holds of them.

Null stands for a number that JSON lacks: an open bound for a bound, NaN for anything else. Fields
that older files do not have are left as they are where nothing was measured.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any, overload

from calipers.results.significance import Advice, SignificanceTest
from calipers.score import NoiseFloor, Score

Data = Mapping[str, Any]


def score_from(data: Data) -> Score:
    """Give a score back, without its values of samples.

    Raises
    ------
    LookupError, TypeError, ValueError
        If a field is missing or damaged; the message names it.
    """
    low, high = _bounds("range", data["range"])
    return Score(
        value=_number("value", data["value"], math.nan),
        interval=_interval(data["interval"]),
        level=_number("level", data["level"], None),
        range=(low, high),
        better=data["better"],
        signature=data["signature"],
        reason=data["reason"],
        seeds=_numbers("seeds", data.get("seeds", ())),
        reference=_number("reference", data["reference"], math.nan)
        if "reference" in data
        else None,
        standard_error=_number("standard_error", data.get("standard_error"), None),
        sources=_sources(data.get("sources")),
        approximate=_flag("approximate", data.get("approximate", False)),
        floor=_floor(data.get("floor")),
        details=tuple(dict(row) for row in data.get("details", ())),
    )


def significance_from(data: Data) -> SignificanceTest:
    """Give a test back; raises as :func:`score_from` does."""
    return SignificanceTest(
        a=_word("a", data["a"]),
        b=_word("b", data["b"]),
        score=_word("score", data["score"]),
        difference=_number("difference", data["difference"], math.nan),
        interval=_interval(data["interval"]),
        p_value=_number("p_value", data["p_value"], math.nan),
        adjusted_p_value=_number("adjusted_p_value", data["adjusted_p_value"], math.nan),
        paired=_flag("paired", data["paired"]),
        standard_error=_number("standard_error", data.get("standard_error"), None),
        detectable=_number("detectable", data.get("detectable"), None),
        equivalence=_number("equivalence", data.get("equivalence"), None),
        separating_n=_count("separating_n", data["separating_n"], optional=True),
        reason=_word("reason", data["reason"], optional=True),
    )


def advice_from(data: Data) -> Advice:
    """Give advice back; raises as :func:`score_from` does."""
    return Advice(
        system=_word("system", data["system"]),
        score=_word("score", data["score"]),
        sizes=tuple(_count("sizes", size) for size in data["sizes"]),
        values=_numbers("values", data["values"]),
        limit=_number("limit", data["limit"], math.nan),
        bias=_number("bias", data["bias"], math.nan),
        spread=_number("spread", data["spread"], math.nan),
        plateau=_flag("plateau", data["plateau"]),
    )


def correlations_from(data: Data | None) -> dict[str, float]:
    """Give the correlations of errors; none where older files have none."""
    found = {} if data is None else data.items()
    numbers = {name: _number(f"correlation {name}", value, math.nan) for name, value in found}
    for name, value in numbers.items():
        if not -1 <= value <= 1:
            raise ValueError(f"correlation {name} is {value}, not between -1 and 1")
    return numbers


def _floor(data: Data | None) -> NoiseFloor | None:
    if data is None:
        return None
    names = ("value", "spread", "beside", "beside_spread")
    numbers = {name: _number(f"floor {name}", data[name], math.nan) for name in names}
    size, splits = (_count(f"floor {name}", data[name]) for name in ("size", "splits"))
    margin = _number("floor margin", data.get("margin"), None)
    return NoiseFloor(**numbers, size=size, splits=splits, margin=margin)


def _sources(data: Data | None) -> dict[str, float]:
    found = {} if data is None else data.items()
    return {name: _number(f"source {name}", error, math.nan) for name, error in found}


def _interval(data: Any) -> tuple[float, float] | None:
    return None if data is None else _bounds("interval", data)


def _bounds(name: str, data: Any) -> tuple[float, float]:
    if not isinstance(data, list) or len(data) != 2:
        raise ValueError(f"{name} is {data!r}, not two bounds")
    return _number(name, data[0], -math.inf), _number(name, data[1], math.inf)


def _numbers(name: str, data: Any) -> tuple[float, ...]:
    return tuple(_number(name, value, math.nan) for value in data)


@overload
def _number(name: str, value: Any, missing: float) -> float: ...
@overload
def _number(name: str, value: Any, missing: None) -> float | None: ...
def _number(name: str, value: Any, missing: float | None) -> float | None:
    if value is None:
        return missing
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise TypeError(f"{name} is {value!r}, not a number")
    return float(value)


def _count(name: str, value: Any, *, optional: bool = False) -> Any:
    if optional and value is None:
        return None
    if isinstance(value, bool) or not isinstance(value, int):
        raise TypeError(f"{name} is {value!r}, not a whole number")
    return value


def _flag(name: str, value: Any) -> bool:
    if not isinstance(value, bool):
        raise TypeError(f"{name} is {value!r}, neither true nor false")
    return value


def _word(name: str, value: Any, *, optional: bool = False) -> Any:
    if not (isinstance(value, str) or (optional and value is None)):
        raise TypeError(f"{name} is {value!r}, not a text")
    return value
