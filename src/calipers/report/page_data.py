"""The content of a comparison's report as one dict of plain data.

Explanations and maps are those of :meth:`Comparison.explained`; of a system of several files they
are of the first.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from numpy.typing import NDArray

from calipers.report.placed import PlacedSet, excerpts_of, placed_sets
from calipers.report.redacted import without_texts
from calipers.results.comparison import Comparison
from calipers.serialise import plain


def report_data(comparison: Comparison, *, redact: bool = False) -> dict[str, Any]:
    """Return the content of a report; see :meth:`Comparison.report_data`.

    Parameters
    ----------
    comparison
        With its explanations and maps.
    redact
        Whether all texts and folders are left out.
    """
    shown = without_texts(comparison) if redact else comparison
    maps = {view: placed_sets(shown, view) for view in shown.maps}
    return {
        "comparison": shown.to_dict(),
        "command": shown.settings.get("command"),
        "curves": {system.name: _numbers(system.curves) for system in shown},
        "curve_errors": {system.name: _numbers(system.curve_errors) for system in shown},
        "correlations": {system.name: dict(system.correlations) for system in shown},
        "explanations": {
            system.name: {view: explained.to_dict() for view, explained in system.explained.items()}
            for system in shown
        },
        "map": {view: _map(shown, view, sets) for view, sets in maps.items()},
        "excerpts": [
            {"name": one.name, "excerpts": excerpts_of(shown, one)}
            for one in next(iter(maps.values()), ())
        ],
        "redacted": redact,
    }


def _map(comparison: Comparison, view: str, sets: list[PlacedSet]) -> dict[str, Any]:
    layout = comparison.maps[view]
    return {
        "method": layout.method,
        "explained": None if layout.explained is None else list(layout.explained),
        "sets": [
            {
                "name": one.name,
                "role": one.role,
                "rows": one.rows.tolist(),
                "x": one.x.tolist(),
                "y": one.y.tolist(),
                "inside": None if one.inside is None else one.inside.astype(int).tolist(),
            }
            for one in sets
        ],
    }


def _numbers(arrays: Mapping[str, NDArray[Any]]) -> dict[str, Any]:
    return {key: plain(array.tolist()) for key, array in arrays.items()}
