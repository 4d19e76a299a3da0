"""Report data ──► the points of the 2-D map, small enough for a page that is read on a phone."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from typing import Any

from calipers.report.html.pictures import (
    described,
    number,
    reference_name,
    shown_names,
    systems_of,
)
from calipers.report.table import Data
from calipers.wording.words import short

STEPS = 9999
"""Largest coordinate: four digits, finer than a pixel up to tenfold zoom."""
LONGEST = 200
"""Characters of an excerpt."""
SHORTEST = 40
"""Characters of an excerpt, however much room all of them take."""
ROOM = 5_000_000
"""Bytes that all excerpts may take, so that a page of 20,000 samples stays below 12 MB."""
REFERENCE = "reference"

Numbers = list[int | None]


def map_data(data: Data) -> dict[str, Any]:
    """Give the map of all samples as plain data: whole coordinates, excerpts once for all views.

    Parameters
    ----------
    data
        What ``Comparison.report_data()`` gives.

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
    maps = data.get("map") or {}
    first: list[Data] = next(iter(maps.values()))["sets"] if maps else []
    excerpts = [None if data.get("redacted") else each for each in _excerpts(data, len(first))]
    longest = _fitting(excerpts)
    return {
        "redacted": bool(data.get("redacted")),
        "longest": longest,
        "sets": [
            _set(data, one, texts, longest) for one, texts in zip(first, excerpts, strict=True)
        ],
        "views": [
            _view(about, maps[view], first)
            for view, about in zip(maps, described(list(maps)), strict=True)
        ],
    }


def _excerpts(data: Data, count: int) -> list[list[str | None] | None]:
    """Give the excerpts of every set, in the order of the map's sets."""
    given = [each["excerpts"] for each in data.get("excerpts") or []]
    return [*given, *[None] * count][:count]


def _fitting(excerpts: Iterable[list[str | None] | None]) -> int:
    """Choose how much of each sample is shown: less where letters take several bytes."""
    size = sum(_size(text[:LONGEST]) for texts in excerpts for text in texts or () if text)
    return LONGEST if size <= ROOM else max(SHORTEST, LONGEST * ROOM // size)


def _size(text: str) -> int:
    """Bytes of a text in an island, where what means something to HTML is spelt by its number."""
    size = len(text) if text.isascii() else len(text.encode("utf-8", "replace"))
    return size + 5 * sum(map(text.count, "<>&")) + text.count('"') + text.count("\\")


def _set(data: Data, one: Data, texts: list[str | None] | None, longest: int) -> dict[str, Any]:
    rows = list(one["rows"])
    series = _series(data, one)
    return {
        "name": _name(data, one, series),
        "role": one["role"],
        "series": series,
        "size": len(rows),
        "rows": None if rows == list(range(len(rows))) else rows,
        "excerpts": texts and [text and text[:longest] for text in texts],
    }


def _name(data: Data, one: Data, series: int | None) -> str:
    """Call a set as the charts do."""
    if one["role"] == REFERENCE:
        return reference_name(data)
    return short(one["name"]) if series is None else shown_names(data)[series]


def _series(data: Data, one: Data) -> int | None:
    """Find the place of a generated set among the systems; None for the reference."""
    names = [system["name"] for system in systems_of(data)]
    generated = one["role"] != REFERENCE and one["name"] in names
    return names.index(one["name"]) if generated else None


def _view(about: dict[str, str], view: Data, first: Sequence[Data]) -> dict[str, Any]:
    sets = [_matched(one, view["sets"]) for one in first]
    xs, ys = [one["x"] for one in sets], [one["y"] for one in sets]
    (left, width), (low, height) = _extent(xs), _extent(ys)
    step = max(width, height) / STEPS or 1.0
    explained = view.get("explained")
    return {
        **about,
        "method": view.get("method") or "",
        "explained": explained and [number(share) for share in explained],
        "width": round(width / step),
        "height": round(height / step),
        "x": [_steps(values, left, step) for values in xs],
        "y": [_steps(values, low, step) for values in ys],
        "inside": [_flags(one) for one in sets],
    }


def _matched(one: Data, sets: Sequence[Data]) -> dict[str, Any]:
    """Find the same set in another view, row by row; rows that it lacks have no place."""
    same = [each for each in sets if (each["role"], each["name"]) == (one["role"], one["name"])]
    if same and list(same[0]["rows"]) == list(one["rows"]):
        return dict(same[0])
    found = {row: place for place, row in enumerate(same[0]["rows"])} if same else {}
    places = [found.get(row) for row in one["rows"]]
    chosen: dict[str, Any] = {"role": one["role"]}
    for field in ("x", "y", "inside"):
        held = same[0][field] if same else None
        absent = None if field == "inside" and held is None else [None] * len(places)
        chosen[field] = absent if held is None else _taken(held, places)
    return chosen


def _taken(values: Sequence[Any], places: Iterable[int | None]) -> list[Any]:
    return [None if place is None else values[place] for place in places]


def _extent(columns: Sequence[Sequence[float | None]]) -> tuple[float, float]:
    """Give the least value and how far the greatest is from it."""
    values = [v for column in columns for v in column if v is not None and math.isfinite(v)]
    return (min(values), max(values) - min(values)) if values else (0.0, 0.0)


def _steps(values: Sequence[float | None], least: float, step: float) -> Numbers:
    return [
        None if value is None or not math.isfinite(value) else round((value - least) / step)
        for value in values
    ]


def _flags(one: Data) -> str | None:
    """Write inside as 1, outside as 0, not known as -; None for the reference and where unknown."""
    if one["role"] == REFERENCE or one.get("inside") is None:
        return None
    return "".join("-" if flag is None else str(int(bool(flag))) for flag in one["inside"])
