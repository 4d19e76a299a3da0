"""What a zip keeps beside the results: explanations without their texts, and maps.

Both are made when a comparison is kept, so that a report is rendered later without computing. The
texts of an explanation are those of the samples, which stand in the zip once.
"""

from __future__ import annotations

import json
import zipfile
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any
from urllib.parse import quote, unquote

import numpy as np

from calipers.results.archive_sizes import read_array, read_json
from calipers.results.report_data import sample_maps
from calipers.results.samples import Samples
from calipers.results.system import SystemResult

if TYPE_CHECKING:
    from calipers.explain import Explanation, SampleMap
    from calipers.explain.map import Method
    from calipers.results.model import Comparison


def write_views(comparison: Comparison, archive: zipfile.ZipFile) -> None:
    """Keep the explanation of every system by every view, and the map."""
    for place, system in enumerate(comparison.systems):
        if system.against is None or not system.samples:
            continue
        for view in system.samples[0].vectors:
            data = system.explain(view).to_dict(texts=False)
            name = f"systems/{place}/explanations/{quote(view, '')}.json"
            archive.writestr(name, json.dumps(data, allow_nan=False), zipfile.ZIP_DEFLATED)
    for view, found in sample_maps(comparison).items():
        about = {"method": found.method, "explained": found.explained}
        archive.writestr(f"map/{quote(view, '')}.json", json.dumps(about, allow_nan=False))
        for number, points in enumerate(found.coordinates):
            with archive.open(f"map/{quote(view, '')}/{number}.npy", "w", force_zip64=True) as file:
                np.lib.format.write_array(file, points, allow_pickle=False)


def read_explanations(
    archive: zipfile.ZipFile, folder: str, system: SystemResult
) -> dict[str, Explanation]:
    """Give back what was kept of one system, its texts taken from the samples."""
    from calipers.explain import explanation_from

    kept = _named(archive, f"{folder}/explanations/", ".json")
    if not kept or system.against is None or not system.samples:
        return {}
    sets = system.against.samples, system.samples[0]
    found = {}
    for view, name in kept.items():
        made = explanation_from(read_json(archive, name))
        sizes = [len(each.vectors[view]) for each in sets]
        if (made.view, made.n, made.m) != (view, *sizes):
            raise ValueError(f"{name} is not of these samples")
        made.with_texts(*([""] * size for size in sizes))  # finds rows that are not there
        found[view] = made.with_texts(*(each.listed for each in sets))
    return found


def read_maps(archive: zipfile.ZipFile, sets: Sequence[Samples | None]) -> dict[str, SampleMap]:
    """Give back the maps that were kept, of the reference and the first file of every system.

    Raises
    ------
    ValueError
        If a map has not a place for each sample.
    """
    from calipers.explain import SampleMap

    found = {}
    for view, name in _named(archive, "map/", ".json").items():
        about = read_json(archive, name)
        count = len(_named(archive, f"map/{quote(view, '')}/", ".npy"))
        names = [f"map/{quote(view, '')}/{number}.npy" for number in range(count)]
        points = tuple(read_array(archive, n) for n in names)
        sizes = [len(each.vectors[view]) for each in sets if each is not None]
        if [each.shape for each in points] != [(size, 2) for size in sizes]:
            raise ValueError(f"the map of {view!r} has not a place for each sample")
        if any(each.dtype.kind != "f" or not np.isfinite(each).all() for each in points):
            raise ValueError(f"the map of {view!r} holds places that are no finite numbers")
        found[view] = SampleMap(_method(about["method"]), _shares(about["explained"]), points)
    return found


def _method(value: Any) -> Method:
    if value not in ("pca", "umap"):
        raise ValueError(f"the method of a map is {value!r:.100}")
    found: Method = value
    return found


def _shares(values: Any) -> tuple[float, ...] | None:
    shares = None if values is None else tuple(map(float, values))
    if shares is not None and not (len(shares) == 2 and all(0 <= each < 1.001 for each in shares)):
        raise ValueError(f"the axes of a map explain {values!r:.100}, not two shares")
    return shares


def _named(archive: zipfile.ZipFile, folder: str, suffix: str) -> Mapping[str, str]:
    """The files right in a folder, by what they are called."""
    inside = {
        name[len(folder) : -len(suffix)]: name
        for name in archive.namelist()
        if name.startswith(folder) and name.endswith(suffix)
    }
    return {unquote(stem): name for stem, name in inside.items() if "/" not in stem}
