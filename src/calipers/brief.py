"""Short ``repr`` of values with many parts, such as results and estimates.

>>> from dataclasses import dataclass
>>> @dataclass(frozen=True)
... class Curve(Brief):
...     name: str
...     points: list[float]
>>> Curve("prd", [0.1, 0.2, 0.3, 0.4, 0.5, 0.6])
Curve(name='prd', points=[6])
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sized
from typing import Any

LONGEST = 400
"""Characters that a value takes at most."""

LONGEST_PART = 60
"""Characters of one of its parts, of which the rest is counted."""


FEW = 4
"""Names, or short values, that are written before the others are counted."""


class Brief:
    """A dataclass whose ``repr`` counts parts that are many instead of writing them."""

    def __init_subclass__(cls, **more: Any) -> None:
        super().__init_subclass__(**more)
        if "__repr__" not in vars(cls):
            cls.__repr__ = cls.__repr__  # type: ignore[method-assign]  # a dataclass makes none then

    def __repr__(self) -> str:
        parts = (
            f"{field.name}={_part(value)}"
            for field in dataclasses.fields(self)  # type: ignore[arg-type]
            if field.repr and not _is_nothing(value := getattr(self, field.name))
        )
        return cut(f"{type(self).__name__}({', '.join(parts)})", LONGEST)


def cut(text: str, most: int) -> str:
    """Cut a text that is too long.

    Examples
    --------
    >>> cut("a long text", 7)
    'a long…'
    """
    return text if len(text) <= most else f"{text[: most - 1]}…"


def _is_nothing(value: Any) -> bool:
    return value is None or (isinstance(value, str | tuple | list | Mapping) and not value)


def _part(value: Any) -> str:
    """Write a part; count what it holds where that is too long, or an array."""
    shape = getattr(value, "shape", None)
    if shape:
        return f"<{' × '.join(map(str, shape))} {value.dtype}>"
    if isinstance(value, Brief):
        return f"<{type(value).__name__}>"
    if isinstance(value, str | int | float):
        return cut(repr(value), LONGEST_PART)
    if isinstance(value, Mapping):
        return f"{{{', '.join(_few(list(value)))}}}"
    if isinstance(value, Sized):
        written = repr(value) if isinstance(value, tuple | list) and len(value) <= FEW else ""
        return written if 0 < len(written) <= LONGEST_PART else f"[{len(value)}]"
    return cut(repr(value), LONGEST_PART)


def _few(names: list[Any]) -> list[str]:
    """Write the first names, and how many more there are."""
    shown = [cut(repr(name), LONGEST_PART // 2) for name in names[:FEW]]
    return [*shown, f"{len(names) - FEW} more"] if len(names) > FEW else shown
