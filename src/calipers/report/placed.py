"""The map of a comparison: the rows shown of every set, their positions, and which lie inside.

Of a system of several files the first is shown, of large sets rows at even steps.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from calipers.results.comparison import Comparison
from calipers.results.system import SystemResult
from calipers.wording.cells import cut

MOST = 4_000
"""Samples of a set that are shown on the map; of larger sets as many, evenly spread."""

EXCERPT = 200
"""Characters of a sample that are shown on the map."""


@dataclass(frozen=True, eq=False)
class PlacedSet:
    """One set on the map of one view.

    Attributes
    ----------
    name
        Of the set.
    system
        Its place among the systems; None for the reference.
    rows
        The rows that are shown, ascending, shape ``(r,)``.
    x, y
        Where they lie, shape ``(r,)``, rounded to what can be seen.
    inside
        Which of them a ball of k reference neighbours holds, shape ``(r,)``; None for the reference
        and where that was not measured.
    """

    name: str
    system: int | None
    rows: NDArray[np.intp]
    x: NDArray[np.float64]
    y: NDArray[np.float64]
    inside: NDArray[np.bool_] | None

    @property
    def role(self) -> Literal["reference", "generated"]:
        """The role of the set in the comparison."""
        return "reference" if self.system is None else "generated"


def placed_sets(comparison: Comparison, view: str) -> list[PlacedSet]:
    """Return the reference and every system on the map of a view; empty without a map."""
    if view not in comparison.maps:
        return []
    coordinates = comparison.maps[view].coordinates
    decimals = _decimals(coordinates)
    sets = [(None, comparison.reference.name), *enumerate(system.name for system in comparison)]
    placed = []
    for (place, name), points in zip(sets, coordinates, strict=True):
        rows = shown_rows(len(points))
        x, y = (np.round(points[rows, axis].astype(float), decimals) for axis in (0, 1))
        inside = None if place is None else _inside(comparison, comparison.systems[place], view)
        placed.append(PlacedSet(name, place, rows, x, y, None if inside is None else inside[rows]))
    return placed


def shown_rows(size: int) -> NDArray[np.intp]:
    """Return the rows of a set that are shown: all, or an evenly spaced subset."""
    if size <= MOST:
        return np.arange(size)
    rows: NDArray[np.intp] = np.round(np.linspace(0, size - 1, MOST)).astype(np.intp)
    return rows


def excerpts_of(comparison: Comparison, placed: PlacedSet) -> list[str] | None:
    """Return the beginnings of a set's texts on the map, or the files of its images.

    None where there are neither.
    """
    if placed.system is None:
        samples = comparison.reference_samples
    else:
        samples = next(iter(comparison.systems[placed.system].samples), None)
    if samples is not None and samples.files is not None:
        return [beginning(samples.files[row], EXCERPT) for row in placed.rows]
    if samples is None or samples.listed is None:
        return None
    return [beginning(samples.listed[row], EXCERPT) for row in placed.rows]


def beginning(text: str, most: int) -> str:
    """Return the first characters of a text, without splitting a grapheme cluster.

    Where these are fewer, three dots say that the text goes on; where they are as many, that is
    seen by their number.
    """
    start = cut(text, most)
    return f"{start}…" if len(start) < min(most, len(text)) else start


def _decimals(coordinates: tuple[NDArray[Any], ...]) -> int:
    """How many decimals places on a map need: more where vectors as given all lie close to 0."""
    largest = max(float(np.abs(points).max()) for points in coordinates)
    return 5 - math.floor(math.log10(largest)) if 0 < largest < 0.01 else 5


def _inside(comparison: Comparison, system: SystemResult, view: str) -> NDArray[np.bool_] | None:
    """Tell of every sample whether a ball of k reference neighbours holds it."""
    before = "" if view == comparison.settings["views"][0] else f"{view}."
    first = system.neighbours.get(f"{before}reference_first_k")
    if first is None or system.against is None:
        return None
    inside: NDArray[np.bool_] = first <= system.against.settings.k
    return inside
