"""The zip of a comparison: its parts, and checks that they fit together.

Beside the scores: points of curves, where samples lie, texts and vectors, one value for each
sample, explanations without their texts (those of the samples are in the zip once) and maps. A
zip may come from anywhere, and reports and explanations trust shapes, types and rows, so all of
them are looked at once, here, before anything reads them.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, get_args
from urllib.parse import quote, unquote

import numpy as np
from numpy.typing import NDArray

from calipers.explain import Explanation, SampleMap
from calipers.explain.evidence import OF_GENERATED, OF_REFERENCE
from calipers.explain.model import Side
from calipers.results.archive import Archive, Draft, check_array
from calipers.results.sets import Samples
from calipers.results.system import Against, SystemResult
from calipers.uncertainty.spread import Component, Source, Spread

if TYPE_CHECKING:
    from calipers.explain.map import Method
    from calipers.results.comparison import Comparison

CELLS = ("reference_cells", "generated_cells")
KINDS = {"covered": "biu", "copied": "biu"}
MOST = 2**53
SPREADS = "spreads.json"
"""Part of a system that tells how much its scores move, source by source."""


# ------------------------------------------------------------------ writing


def pack(comparison: Comparison, draft: Draft) -> None:
    """Write the parts of a comparison, computing missing explanations and maps."""
    draft.add_json("comparison.json", comparison.to_dict(), readable=False)
    draft.add_samples("reference", comparison.reference_samples)
    draft.add_per_sample("reference", comparison.reference_scores)
    for place, system in enumerate(comparison.systems):
        folder = f"systems/{place}"
        for key, curve in system.curves.items():
            draft.add_array(f"{folder}/curves/{quote(key, '=')}.npy", curve)
        for key, errors in system.curve_errors.items():
            draft.add_array(f"{folder}/curve_errors/{quote(key, '=')}.npy", errors)
        for name, array in system.neighbours.items():
            draft.add_array(f"{folder}/neighbours/{name}.npy", array)
        draft.add_per_sample(folder, system.scores)
        draft.add_json(f"{folder}/{SPREADS}", _spread_data(system.spreads), readable=False)
        for number, samples in enumerate(system.samples):
            draft.add_samples(f"{folder}/samples/{number}", samples)
    explained = comparison.explained()
    for place, system in enumerate(explained.systems):
        for view, explanation in system.explained.items():
            data = explanation.to_dict(texts=False)
            name = f"systems/{place}/explanations/{quote(view, '')}.json"
            draft.add_json(name, data, readable=False)
    _pack_pictures(explained, draft)
    for view, sample_map in explained.maps.items():
        about = {"method": sample_map.method, "explained": sample_map.explained}
        draft.add_json(f"map/{quote(view, '')}.json", about, readable=False)
        for number, points in enumerate(sample_map.coordinates):
            draft.add_array(f"map/{quote(view, '')}/{number}.npy", points)


def _pack_pictures(explained: Comparison, draft: Draft) -> None:
    """Write the thumbnails of all samples that explanations list."""
    rows: dict[tuple[int, Side], list[int]] = {}
    for place, system in enumerate(explained.systems):
        for explanation in system.explained.values():
            for side, sample in explanation.listed():
                key = (place if side == "generated" else 0, side)
                rows.setdefault(key, []).append(sample.row)
    reference, against = explained.reference_samples, [each.against for each in explained.systems]
    if reference is not None:
        draft.add_pictures("reference", reference.pictures, rows.get((0, "reference"), ()))
    for place, system in enumerate(explained.systems):
        for samples in system.samples[:1]:
            folder = f"systems/{place}/samples/0"
            draft.add_pictures(folder, samples.pictures, rows.get((place, "generated"), ()))
    trained_on = next((each.trained_on for each in against if each is not None), None)
    draft.add_pictures("train", trained_on, rows.get((0, "train"), ()))


# ------------------------------------------------------------------ reading


def _spread_data(spreads: Mapping[str, Spread]) -> dict[str, Any]:
    """Write how much scores move as plain data, where every replicate had a value."""
    return {
        key: {
            "components": [[part.source, part.deviations.tolist()] for part in spread.components],
            "halves": None if spread.halves is None else spread.halves.tolist(),
            "approximate": spread.approximate,
            "allowance": spread.allowance,
        }
        for key, spread in spreads.items()
        if spread.finite
    }


def parts_of(comparison: Comparison, archive: Archive) -> dict[str, Any]:
    """Read the parts of a comparison besides its JSON, by field."""
    samples, settings = archive.samples("reference"), comparison.settings
    against = None
    if samples is not None and samples.vectors and settings.get("k") is not None:
        size = 0 if comparison.train is None else comparison.train.n
        trained_on = archive.pictures("train", size)
        against = replace(Against.of(samples, settings), trained_on=trained_on)
    systems = tuple(
        _system(archive, f"systems/{place}", system, against)
        for place, system in enumerate(comparison.systems)
    )
    mapped = [samples, *(next(iter(system.samples), None) for system in systems)]
    return {
        "systems": systems,
        "reference_samples": samples,
        "reference_scores": archive.with_per_sample("reference", comparison.reference_scores),
        "maps": _maps(archive, mapped),
    }


def scores_of(comparison: Comparison, archive: Archive) -> Comparison:
    """Read the spreads of a comparison's scores besides its JSON, without samples."""
    systems = [
        replace(system, spreads=_spreads(archive, f"systems/{place}/{SPREADS}"))
        for place, system in enumerate(comparison.systems)
    ]
    return replace(comparison, systems=tuple(systems))


def _system(
    archive: Archive, folder: str, system: SystemResult, against: Against | None
) -> SystemResult:
    curves, errors = (archive.arrays(f"{folder}/{name}/") for name in ("curves", "curve_errors"))
    result = replace(
        system,
        scores=archive.with_per_sample(folder, system.scores),
        curves={unquote(key): curve for key, curve in curves.items()},
        curve_errors={unquote(key): error for key, error in errors.items()},
        samples=tuple(_all_samples(archive, f"{folder}/samples")),
        neighbours=archive.arrays(f"{folder}/neighbours/"),
        against=against,
        spreads=_spreads(archive, f"{folder}/{SPREADS}"),
    )
    return replace(result, explained=_explanations(archive, folder, result))


def _spreads(archive: Archive, name: str) -> dict[str, Spread]:
    """Read how much scores move.

    Raises
    ------
    TypeError, ValueError
        If deviations are not finite numbers, or their source is unknown.
    """
    return {
        str(key): Spread(
            tuple(Component(_source(source), _finite(key, d)) for source, d in entry["components"]),
            bool(entry["approximate"]),
            None if entry["halves"] is None else _finite(key, entry["halves"]),
            _allowance(key, entry["allowance"]),
        )
        for key, entry in archive.json(name).items()
    }


def _allowance(key: str, value: Any) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 < value < np.inf:
        raise ValueError(f"the allowance of {key!r:.100} is not a number above 0")
    return float(value)


def _finite(key: str, values: Any) -> NDArray[np.float64]:
    deviations = np.array(values)
    check_array(f"the deviations of {key!r:.100}", deviations, "if", 1)
    if len(deviations) < 2 or not np.isfinite(deviations).all():
        raise ValueError(f"the deviations of {key!r:.100} are not two finite numbers or more")
    return deviations.astype(float)


def _source(value: Any) -> Source:
    if value not in get_args(Source):
        raise ValueError(f"the source of a deviation is {value!r:.100}")
    source: Source = value
    return source


def _all_samples(archive: Archive, folder: str) -> Iterator[Samples]:
    number = 0
    while (samples := archive.samples(f"{folder}/{number}")) is not None:
        yield samples
        number += 1


def _explanations(archive: Archive, folder: str, system: SystemResult) -> dict[str, Explanation]:
    """What was kept of one system, its texts taken from the samples."""
    names = archive.named(f"{folder}/explanations/", ".json")
    if not names or system.against is None or not system.samples:
        return {}
    sets = system.against.samples, system.samples[0]
    explanations = {}
    for view, name in names.items():
        data = archive.json(name)
        made = Explanation.from_dict(data)
        sizes = [len(samples.vectors[view]) for samples in sets]
        if (made.view, made.n, made.m) != (view, *sizes):
            raise ValueError(f"{name} is not of these samples")
        if any(samples.listed is None for samples in sets):
            made.with_texts(*([""] * size for size in sizes))  # finds rows that are not there
        explanations[view] = made.with_texts(*(samples.listed for samples in sets))
    return explanations


def _maps(archive: Archive, sets: Sequence[Samples | None]) -> dict[str, SampleMap]:
    """The maps that were kept, of the reference and the first file of every system.

    Raises
    ------
    ValueError
        If a map lacks a place for each sample.
    """
    maps = {}
    for view, name in archive.named("map/", ".json").items():
        about = archive.json(name)
        count = len(archive.named(f"map/{quote(view, '')}/", ".npy"))
        names = [f"map/{quote(view, '')}/{number}.npy" for number in range(count)]
        points = tuple(archive.array(n) for n in names)
        sizes = [len(samples.vectors[view]) for samples in sets if samples is not None]
        if [array.shape for array in points] != [(size, 2) for size in sizes]:
            raise ValueError(f"the map of {view!r} lacks a place for each sample")
        if any(array.dtype.kind != "f" or not np.isfinite(array).all() for array in points):
            raise ValueError(f"the map of {view!r} holds places that are not finite numbers")
        maps[view] = SampleMap(_method(about["method"]), _shares(about["explained"]), points)
    return maps


def _method(value: Any) -> Method:
    if value not in ("pca", "umap"):
        raise ValueError(f"the method of a map is {value!r:.100}")
    method: Method = value
    return method


def _shares(values: Any) -> tuple[float, ...] | None:
    shares = None if values is None else tuple(map(float, values))
    if shares is not None and not (
        len(shares) == 2 and all(0 <= share < 1.001 for share in shares)
    ):
        raise ValueError(f"the axes of a map explain {values!r:.100}, not two shares")
    return shares


# ------------------------------------------------------------------ checks


def check_fits(comparison: Comparison) -> None:
    """Refuse parts that do not belong to one comparison.

    Raises
    ------
    TypeError, ValueError
        If a text, a number, a shape or a row cannot be; the message names where.
    """
    for system in comparison:
        _check_curves(system, comparison.settings["views"])
    reference = comparison.reference_samples
    if reference is not None and reference.vectors:
        _check_all_samples(comparison, reference)


def _check_all_samples(comparison: Comparison, reference: Samples) -> None:
    n = _check_samples("the reference", reference, reference)
    sizes = [
        [_check_samples(system.name, samples, reference) for samples in system.samples]
        for system in comparison
    ]
    every = n + sum(map(sum, sizes))
    for system, file_sizes in zip(comparison, sizes, strict=True):
        if file_sizes:
            _check_places(system, n, file_sizes, every)


def _check_samples(name: str, samples: Samples, reference: Samples) -> int:
    """Refuse texts that are none, and vectors unlike those of the reference; how many there are."""
    if set(samples.vectors) != set(reference.vectors):
        raise ValueError(f"the views of {name!r} are not those of the reference")
    for view, vectors in samples.vectors.items():
        where = f"the array of vectors of {name!r} by {view!r}"
        check_array(where, vectors, "iuf", 2)
        if not len(vectors) or vectors.shape[1:] != reference.vectors[view].shape[1:]:
            raise ValueError(f"{where} has shape {vectors.shape}")
        if not np.isfinite(vectors).all():
            raise ValueError(f"{where} holds numbers that are not finite")
    sizes = {len(vectors) for vectors in samples.vectors.values()}
    if samples.listed is not None:
        sizes.add(len(samples.listed))
        if not all(isinstance(text, str) for text in samples.listed):
            raise TypeError(f"a text of {name!r} is no text")
    if samples.clusters is not None:
        where = f"the array of clusters of {name!r}"
        check_array(where, samples.clusters, "iu", 1)
        if len(samples.clusters) and samples.clusters.min() < 0:
            raise ValueError(f"{where} holds numbers from {samples.clusters.min()}")
        sizes.add(len(samples.clusters))
    if samples.log_ids is not None:
        sizes.add(len(samples.log_ids))
    if len(sizes) > 1:
        raise ValueError(f"{name!r} has vectors, texts or ids of {sorted(sizes)} samples")
    return sizes.pop()


def _check_curves(system: SystemResult, views: Sequence[str]) -> None:
    for key, curve in system.curves.items():
        where = f"the array of curve {key!r} of {system.name!r}"
        check_array(where, curve, "iuf", 2)
        bare = next((key.removeprefix(f"{v}.") for v in views if key.startswith(f"{v}.")), key)
        columns = 2 if bare.split(":")[0] in ("prd", "renyi") else 3
        if not len(curve) or curve.shape[1] != columns:
            raise ValueError(f"{where} has shape {curve.shape}")
    for key, errors in system.curve_errors.items():
        where = f"the array of errors of curve {key!r} of {system.name!r}"
        check_array(where, errors, "iuf", 2)
        if key not in system.curves or errors.shape != system.curves[key].shape:
            raise ValueError(f"{where} has shape {errors.shape}, not that of the curve")


def _check_places(system: SystemResult, n: int, sizes: Sequence[int], every: int) -> None:
    """Refuse neighbours and cells of a system that do not fit its samples.

    Parameters
    ----------
    system
        The system.
    n, sizes
        Samples of the reference and of each file.
    every
        Samples of all sets, which is also the most cells that there can be.

    Raises
    ------
    ValueError
        Names the array and the numbers that it holds.
    """
    expected = _expected(n, sizes)
    below = {"nearest_reference": n, "nearest_generated": max(sizes), "cell_count": every + 1}
    for key, array in system.neighbours.items():
        where, name = f"{key} of {system.name!r}", key.rpartition(".")[2]
        check_array(where, array, KINDS.get(name, "f" if "distance" in name else "iu"), 1)
        if len(array) != expected.get(name, len(array)):
            raise ValueError(f"{where} has {len(array)} entries, not {expected[name]}")
        whole = array.dtype.kind in "iu"
        if whole and ((array < 0) | (array >= below.get(name, np.inf))).any():
            raise ValueError(f"{where} holds numbers from {array.min()} to {array.max()}")
    for key, counts in system.neighbours.items():
        if key.endswith("cell_count"):
            _check_cells(system, key.removesuffix("cell_count"), counts, (n, sizes))


def _expected(n: int, sizes: Sequence[int]) -> Mapping[str, int]:
    """How many entries each array has."""
    of_reference = dict.fromkeys((*OF_REFERENCE, CELLS[0]), n * len(sizes))
    generated = (*OF_GENERATED, CELLS[1], "nearest_train", "train_distance")
    return of_reference | dict.fromkeys(generated, sum(sizes)) | {"cell_count": len(sizes)}


def _check_cells(
    system: SystemResult, prefix: str, counts: NDArray[Any], sizes: tuple[int, Sequence[int]]
) -> None:
    """Refuse cells that a file does not have."""
    n, file_sizes = sizes
    for name, rows in zip(CELLS, ([n] * len(file_sizes), file_sizes), strict=True):
        if (system.neighbours[prefix + name] >= np.repeat(counts, rows)).any():
            raise ValueError(f"{prefix}{name} of {system.name!r} names cells that are not there")
