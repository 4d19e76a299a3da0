"""What stands behind a score, where it lists that: one sentence for each system and score."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from calipers.report.names import clean

Data = Mapping[str, Any]

SHOWN = 5
"""Rows that are named of each score; all of them stand in the JSON."""


def detail_notes(systems: Sequence[Data], label: Callable[[str], str]) -> Iterator[str]:
    """Name the weightiest rows behind each score of each system.

    Parameters
    ----------
    systems
        Each with its ``name`` and ``scores``; what a score lists stands under ``details``, rows
        of which the first field names the thing and the others are numbers.
    label
        Gives the name of a score by its key.
    """
    for system in systems:
        for key, score in (system.get("scores") or {}).items():
            rows = score.get("details") or ()
            if rows:
                more = f"; {len(rows) - SHOWN} more in the JSON" if len(rows) > SHOWN else ""
                shown = "; ".join(map(_row_text, rows[:SHOWN]))
                yield f"{clean(system['name'])}, {label(key)}: {shown}{more}"


def _row_text(row: Data) -> str:
    """Write a row: its name in quotation marks, then its numbers.

    Examples
    --------
    >>> _row_text({"phrase": "a lot of", "texts": 34, "ratio": None, "p_value": 0.0019116})
    "'a lot of' (texts 34, p value 0.0019)"
    """
    (_, name), *numbers = row.items()
    said = (
        f"{field.replace('_', ' ')} {value:.2g}"
        if isinstance(value, float)
        else f"{field.replace('_', ' ')} {value:,}"
        for field, value in numbers
        if value is not None
    )
    return f"{clean(str(name))!r} ({', '.join(said)})"
