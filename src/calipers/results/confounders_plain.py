"""Plain data ──► what else may have moved a score, refused where a reader would trip over it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

Data = Mapping[str, Any]

NUMBERS: Mapping[str, Sequence[str]] = {
    "truncation": ("reference", "generated"),
    "duplicates": ("reference", "generated"),
    "copies": ("generated", "expected"),
    "prompts": ("reference", "generated"),
    "beginnings": ("generated", "expected", "words"),
    "language": ("generated_foreign", "expected"),
}
"""The numbers that every check has; others beside them may be missing."""

UNITS = ("words", "characters", "tokens")
OF_LENGTHS = ("reference", "generated", "distance", "chance")
SIDES = ("reference", "generated")


def confounders_from(data: Any) -> Data | None:
    """Give what was found besides the model; None where nothing was looked at.

    Raises
    ------
    LookupError, TypeError
        If a field is missing or of another kind; the message names it.
    """
    if data is None:
        return None
    found = _object("confounders", data)
    for check, names in NUMBERS.items():
        if found.get(check) is not None:
            _numbers(check, found[check], names)
    lengths = _object("lengths", found.get("lengths") or {})
    for unit in UNITS:
        if lengths.get(unit) is not None:
            _numbers(f"lengths in {unit}", lengths[unit], OF_LENGTHS, defined=True)
    scripts = _object("scripts", found.get("scripts") or {side: {} for side in SIDES})
    for side in SIDES:
        letters = _object(f"scripts of the {side} set", scripts[side])
        _numbers(f"scripts of the {side} set", letters, list(letters))
    example = _object("language", found.get("language") or {}).get("example")
    if not isinstance(example, str | None):
        raise TypeError(f"the example of another language is {example!r:.100}, not a text")
    return found


def _object(name: str, data: Any) -> Data:
    if not isinstance(data, Mapping):
        raise TypeError(f"{name} are {data!r:.100}, not an object")
    return data


def _numbers(where: str, data: Any, names: Sequence[str], *, defined: bool = False) -> None:
    """Refuse what is no number; null, for one that JSON lacks, passes unless it must be defined."""
    for name, value in ((name, _object(where, data)[name]) for name in names):
        if value is None and not defined:
            continue
        if isinstance(value, bool) or not isinstance(value, int | float):
            raise TypeError(f"{name} of {where} is {value!r:.100}, not a number")
