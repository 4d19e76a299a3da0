"""What a zip keeps beside the results: explanations without their texts, and maps.

Both are made when a comparison is kept, so that a report is rendered later without computing. The
texts of an explanation are those of the samples, which stand in the zip once.
"""

from __future__ import annotations

import io
import json
import zipfile
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING
from urllib.parse import quote, unquote

import numpy as np

from calipers.comparison.report_data import sample_maps
from calipers.comparison.samples import Samples
from calipers.comparison.system import SystemResult

if TYPE_CHECKING:
    from calipers.comparison.model import Comparison
    from calipers.explain import Explanation, SampleMap


def write_views(comparison: Comparison, archive: zipfile.ZipFile) -> None:
    """Keep the explanation of every system by every view, and the map."""
    for place, system in enumerate(comparison.systems):
        if system.against is None or not system.samples:
            continue
        for view in system.samples[0].vectors:
            data = system.explain(view).to_dict(texts=False)
            name = f"systems/{place}/explanations/{quote(view)}.json"
            archive.writestr(name, json.dumps(data, allow_nan=False), zipfile.ZIP_DEFLATED)
    for view, found in sample_maps(comparison).items():
        about = {"method": found.method, "explained": found.explained}
        archive.writestr(f"map/{quote(view)}.json", json.dumps(about, allow_nan=False))
        for number, points in enumerate(found.coordinates):
            with archive.open(f"map/{quote(view)}/{number}.npy", "w", force_zip64=True) as file:
                np.lib.format.write_array(file, points, allow_pickle=False)


def read_explanations(
    archive: zipfile.ZipFile, folder: str, system: SystemResult
) -> dict[str, Explanation]:
    """Give back what was kept of one system, its texts taken from the samples."""
    from calipers.explain import explanation_from

    kept = _named(archive, f"{folder}/explanations/", ".json")
    if not kept or system.against is None or not system.samples:
        return {}
    texts = system.against.samples.listed, system.samples[0].listed
    return {
        view: explanation_from(json.loads(archive.read(name))).with_texts(*texts)
        for view, name in kept.items()
    }


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
        about = json.loads(archive.read(name))
        count = len(_named(archive, f"map/{quote(view)}/", ".npy"))
        names = [f"map/{quote(view)}/{number}.npy" for number in range(count)]
        points = tuple(np.load(io.BytesIO(archive.read(n)), allow_pickle=False) for n in names)
        sizes = [len(each.vectors[view]) for each in sets if each is not None]
        if [each.shape for each in points] != [(size, 2) for size in sizes]:
            raise ValueError(f"the map of {view!r} has not a place for each sample")
        shares = about["explained"]
        explained = None if shares is None else tuple(map(float, shares))
        found[view] = SampleMap(about["method"], explained, points)
    return found


def _named(archive: zipfile.ZipFile, folder: str, suffix: str) -> Mapping[str, str]:
    """The files right in a folder, by what they are called."""
    inside = {
        name[len(folder) : -len(suffix)]: name
        for name in archive.namelist()
        if name.startswith(folder) and name.endswith(suffix)
    }
    return {unquote(stem): name for stem, name in inside.items() if "/" not in stem}
