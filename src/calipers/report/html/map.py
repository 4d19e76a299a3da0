"""The points of the 2-D map of a comparison, compact enough for a page on a phone."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from calipers.report.html.pictures import described, number, reference_name, shown_names
from calipers.report.html.texts import text_key
from calipers.report.placed import PlacedSet, beginning, excerpts_of, placed_sets
from calipers.results.comparison import Comparison

STEPS = 9999
"""Largest coordinate: four digits, finer than a pixel up to tenfold zoom."""
LONGEST = 200
"""Characters of an excerpt."""
SHORTEST = 40
"""Characters of an excerpt, however much room all of them take."""
ROOM, ROOM_PACKED = 5_000_000, 1_000_000
"""Bytes that all excerpts may take, so that a page of 20,000 samples stays below 12 MB; of many
systems, before they are packed."""

Numbers = list[int | None]


def map_data(
    comparison: Comparison, *, redacted: bool = False, stored: Collection[str] = ()
) -> dict[str, Any]:
    """Return the map as plain data: integer coordinates, and excerpts once for all views.

    Parameters
    ----------
    comparison
        With its maps.
    redacted
        Whether the excerpts are left out.
    stored
        Texts that the page stores for its lists, by their keys (:func:`.texts.text_key`): instead
        of their excerpts there is 0.

    Returns
    -------
    dict
        ``redacted``; ``longest``, the characters of an excerpt at most; ``sets``, the reference
        first, each with ``name``, ``role``, ``series`` (its place among the systems, None for the
        reference), ``rows`` (None where they are 0, 1, 2 …) and ``excerpts`` (None where there
        are none); and ``views``, each with ``name``, what it ``sees``, ``method``, ``explained``,
        ``width`` and ``height`` of the map in steps, and by
        set ``x`` and ``y`` (None where a sample has no place) and ``inside``, a string with 1 for
        each sample inside the reference's support and 0 for each outside, or None. Both axes have
        one scale, so that distances on the map are those of the projection. Without a map both
        lists are empty.
    """
    views = {view: placed_sets(comparison, view) for view in comparison.maps}
    first = next(iter(views.values()), [])
    excerpts = [None if redacted else excerpts_of(comparison, one) for one in first]
    longest = _fitting(excerpts, ROOM_PACKED if stored else ROOM)
    return {
        "redacted": redacted,
        "longest": longest,
        "sets": [
            _set(comparison, one, texts, longest, stored)
            for one, texts in zip(first, excerpts, strict=True)
        ],
        "views": [
            _view(about, comparison, view, sets)
            for about, (view, sets) in zip(
                described(comparison, list(views)), views.items(), strict=True
            )
        ],
    }


def _fitting(excerpts: Iterable[list[str] | None], room: int) -> int:
    """Choose how much of each sample is shown: less where letters take several bytes."""
    size = sum(_size(text[:LONGEST]) for texts in excerpts for text in texts or ())
    return LONGEST if size <= room else max(SHORTEST, LONGEST * room // size)


def _size(text: str) -> int:
    """Bytes of a text in an island, where what means something to HTML is spelt by its number."""
    size = len(text) if text.isascii() else len(text.encode("utf-8", "replace"))
    return size + 5 * sum(map(text.count, "<>&")) + text.count('"') + text.count("\\")


def _set(
    comparison: Comparison,
    one: PlacedSet,
    texts: list[str] | None,
    longest: int,
    stored: Collection[str],
) -> dict[str, Any]:
    names, size = shown_names(comparison), len(one.rows)
    place = 0 if one.system is None else one.system + 1
    keys = [text_key(place, one.role, row) for row in one.rows.tolist()] if stored else []
    counts = bool((one.rows == np.arange(size)).all())
    return {
        "name": reference_name(comparison) if one.system is None else names[one.system],
        "role": one.role,
        "series": one.system,
        "size": size,
        "rows": None if counts else one.rows.tolist(),
        "excerpts": texts
        and [
            0 if keys and keys[nth] in stored else beginning(text, longest)
            for nth, text in enumerate(texts)
        ],
    }


def _view(
    about: dict[str, str], comparison: Comparison, view: str, sets: Sequence[PlacedSet]
) -> dict[str, Any]:
    xs, ys = [one.x for one in sets], [one.y for one in sets]
    (left, width), (low, height) = _extent(xs), _extent(ys)
    step = max(width, height) / STEPS or 1.0
    layout = comparison.maps[view]
    return {
        **about,
        "method": layout.method,
        "explained": layout.explained and [number(share) for share in layout.explained],
        "width": round(width / step),
        "height": round(height / step),
        "x": [_steps(values, left, step) for values in xs],
        "y": [_steps(values, low, step) for values in ys],
        "inside": [_flags(one) for one in sets],
    }


def _extent(columns: Sequence[NDArray[np.float64]]) -> tuple[float, float]:
    """Return the least value and how far the greatest is from it."""
    values = np.concatenate([np.empty(0), *columns])
    values = values[np.isfinite(values)]
    return (float(values.min()), float(np.ptp(values))) if values.size else (0.0, 0.0)


def _steps(values: NDArray[np.float64], least: float, step: float) -> Numbers:
    steps = np.rint((values - least) / step).tolist()
    return [
        int(place) if finite else None
        for place, finite in zip(steps, np.isfinite(values), strict=True)
    ]


def _flags(one: PlacedSet) -> str | None:
    """Write inside as 1, outside as 0; None for the reference and where that is not known."""
    return None if one.inside is None else "".join(map(str, one.inside.astype(int).tolist()))
