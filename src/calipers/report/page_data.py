"""All that a report or a picture shows, as one dict of plain data.

Explanations and the map are taken as they were kept, else made now; of a system of several files
those of the first.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Collection
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from calipers.report.redacted import without_texts
from calipers.results.sets import Samples
from calipers.results.system import SystemResult
from calipers.serialise import plain

if TYPE_CHECKING:
    from calipers.explain import SampleMap
    from calipers.explain.map import Method, Norm
    from calipers.results.comparison import Comparison

Data = dict[str, Any]

EXCERPT = 200
"""Characters of a sample that are shown on the map."""

MOST = 4_000
"""Samples of a set that are shown on the map; of larger sets as many, evenly spread."""


PARTS = ("explanations", "map", "excerpts")
"""What takes time to gather where it was not kept."""


def report_data(
    comparison: Comparison,
    *,
    redact: bool = False,
    method: Method | None = None,
    parts: Collection[str] = PARTS,
) -> Data:
    """Gather what a report shows, or some of its `parts`; see :meth:`Comparison.report_data`."""
    gather: dict[str, Callable[[], Any]] = {
        "explanations": lambda: {each.name: _explanations(each) for each in comparison},
        "map": lambda: _maps(comparison, method),
        "excerpts": lambda: [_excerpts(name, samples) for name, samples in _sets(comparison)],
    }
    data = {
        "comparison": comparison.to_dict(),
        "command": comparison.settings.get("command"),
        "curves": {each.name: _numbers(each.curves) for each in comparison},
        "curve_errors": {each.name: _numbers(each.curve_errors) for each in comparison},
        "correlations": {each.name: dict(each.correlations) for each in comparison},
        **{part: gather[part]() for part in PARTS if part in parts},
        "redacted": redact,
    }
    return without_texts(data) if redact else data


def picture_data(comparison: Comparison, kind: str) -> Data:
    """Gather what one kind of plot shows.

    Explanations and maps take seconds where they were not kept, and most kinds show neither.
    """
    from calipers.report.plot_kinds import KINDS

    needed = KINDS[kind].needs if kind in KINDS else None
    return report_data(comparison, parts=(needed,) if needed else ())


def sample_maps(comparison: Comparison, method: Method | None = None) -> dict[str, SampleMap]:
    """Lay out all samples by every view: as it was kept, unless another method is asked for."""
    from calipers.explain import sample_map

    if comparison.maps and method in (None, next(iter(comparison.maps.values())).method):
        return dict(comparison.maps)
    sets = [samples for _, samples in _sets(comparison)]
    seed, how = int(comparison.settings.get("seed") or 0), method or "pca"
    # Runs that were kept before there was a choice scaled every row
    norm: Norm = "none" if comparison.settings.get("normalise") == "none" else "l2"
    return {
        view: sample_map(
            [each.vectors[view] for each in sets], method=how, normalise=norm, seed=seed
        )
        for view in (sets[0].vectors if sets else ())
    }


def _sets(comparison: Comparison) -> list[tuple[str, Samples]]:
    """The reference and the first file of every system, where their samples were kept."""
    reference = comparison.reference_samples
    if reference is None or any(not each.samples for each in comparison):
        return []
    return [
        (comparison.reference.name, reference),
        *((each.name, each.samples[0]) for each in comparison),
    ]


def _maps(comparison: Comparison, method: Method | None) -> dict[str, Data]:
    sets, maps = _sets(comparison), sample_maps(comparison, method)
    return {
        view: {
            "method": found.method,
            "explained": None if found.explained is None else list(found.explained),
            "sets": [
                _placed(comparison, number, name, points, view, _decimals(found))
                for number, ((name, _), points) in enumerate(
                    zip(sets, found.coordinates, strict=True)
                )
            ],
        }
        for view, found in maps.items()
    }


def _decimals(found: SampleMap) -> int:
    """How many decimals places on a map need: more where vectors as given all lie close to 0."""
    largest = max(float(np.abs(points).max()) for points in found.coordinates)
    return 5 - math.floor(math.log10(largest)) if 0 < largest < 0.01 else 5


def _placed(
    comparison: Comparison,
    number: int,
    name: str,
    points: NDArray[Any],
    view: str,
    decimals: int,
) -> Data:
    rows = _thinned(len(points))
    inside = None if number == 0 else _inside(comparison.systems[number - 1], view, rows)
    return {
        "name": name,
        "role": "generated" if number else "reference",
        "rows": rows.tolist(),
        "x": np.round(points[rows, 0].astype(float), decimals).tolist(),
        "y": np.round(points[rows, 1].astype(float), decimals).tolist(),
        "inside": inside,
    }


def _inside(system: SystemResult, view: str, rows: NDArray[np.intp]) -> list[int] | None:
    """Whether a ball of k reference neighbours holds each sample."""
    main = next(iter(system.samples[0].vectors)) == view
    first = system.neighbours.get("reference_first_k" if main else f"{view}.reference_first_k")
    if first is None or system.against is None:
        return None
    held: list[int] = (first[rows] <= system.against.k).astype(int).tolist()
    return held


def _excerpts(name: str, samples: Samples) -> Data:
    if samples.texts is None:
        return {"name": name, "excerpts": None}
    texts = samples.listed or []
    return {"name": name, "excerpts": [texts[row][:EXCERPT] for row in _thinned(len(texts))]}


def _explanations(system: SystemResult) -> Data:
    return {view: system.explain(view).to_dict() for view in system.explainable}


def _thinned(size: int) -> NDArray[np.intp]:
    """Rows that are shown: all, or so many at even steps."""
    if size <= MOST:
        return np.arange(size)
    rows: NDArray[np.intp] = np.round(np.linspace(0, size - 1, MOST)).astype(np.intp)
    return rows


def _numbers(arrays: Any) -> dict[str, Any]:
    return {key: plain(array.tolist()) for key, array in arrays.items()}
