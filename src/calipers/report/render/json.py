"""Results, and their data, as strict JSON."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from calipers.serialise import Plain

SHORT = 60
"""Characters in all that a list of words may have to stand on one line."""

PAIR = 2
"""Numbers of an interval; a list of intervals stands on one line as one of numbers does."""

LINE = 240
"""Characters that an object within another one, without others in it, may have on one line."""

LONG = 1_000
"""From so many values on a list is written without spaces."""


def json_text(data: Any) -> str:
    """Write a result, or data, as strict JSON, indented, with short lists of numbers on one line.

    Keys keep their order. Characters outside ASCII stay as they are, except those that UTF-8
    cannot hold.

    Raises
    ------
    ValueError
        If a number is NaN or infinite: such a score is null in the data, with a reason.

    Examples
    --------
    >>> print(json_text({"precision": 0.5, "interval": [0.4, 0.6]}), end="")
    {
      "precision": 0.5,
      "interval": [0.4, 0.6]
    }
    """
    return _render(data.to_dict() if isinstance(data, Plain) else data, "") + "\n"


def _render(value: Any, indent: str) -> str:
    deeper = indent + "  "
    if isinstance(value, Mapping) and value:
        if indent and all(map(_simple, value.values())):
            line = _scalar(value)
            if len(line) <= LINE:
                return line
        items = [f"{_scalar(str(key))}: {_render(item, deeper)}" for key, item in value.items()]
        return _block("{", items, "}", indent)
    if isinstance(value, list | tuple) and value and not _flat(value):
        return _block("[", [_render(item, deeper) for item in value], "]", indent)
    return _scalar(value)


def _block(start: str, items: list[str], end: str, indent: str) -> str:
    separator = f",\n{indent}  "
    return f"{start}\n{indent}  {separator.join(items)}\n{indent}{end}"


def _simple(value: Any) -> bool:
    """Tell whether a value may stand on one line with others."""
    if isinstance(value, Mapping):
        return not value
    return _flat(value) if isinstance(value, list | tuple) else True


def _flat(values: list[Any] | tuple[Any, ...]) -> bool:
    """Tell whether a list reads well on one line: numbers only, or a few short words."""
    if all(isinstance(value, str) for value in values):
        return sum(map(len, values)) <= SHORT
    return all(
        all(isinstance(part, int | float | None) for part in value)
        if isinstance(value, list | tuple) and len(value) == PAIR
        else isinstance(value, int | float | None)
        for value in values
    )


def _scalar(value: Any) -> str:
    long = isinstance(value, list | tuple) and len(value) >= LONG
    separators = (",", ":") if long else None
    text = json.dumps(value, allow_nan=False, ensure_ascii=False, separators=separators)
    try:
        text.encode("utf-8")
    except UnicodeEncodeError:
        return json.dumps(value, allow_nan=False)
    return text
