"""One zip that keeps a comparison: JSON for what is read, npy for arrays, JSON lines for texts.

Nothing in it is ever unpickled. Loading gives the same comparison back without computing.
"""

from __future__ import annotations

import json
import struct
import tokenize
import zipfile
import zlib
from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any
from urllib.parse import quote, unquote

import numpy as np
from numpy.typing import NDArray

from calipers.errors import CalipersError, InputError
from calipers.files import check_plain, fitting_in_memory
from calipers.memory import reading
from calipers.report.whole_files import replacing
from calipers.results.archive_checks import check_fits
from calipers.results.archive_sizes import (
    TooLargeError,
    check_arrays,
    check_members,
    read_array,
    read_json,
    read_texts,
)
from calipers.results.archive_views import read_explanations, read_maps, write_views
from calipers.results.confounders_plain import confounders_from
from calipers.results.explaining import Against
from calipers.results.from_plain import (
    advice_from,
    correlations_from,
    score_from,
    significance_from,
)
from calipers.results.model import Comparison
from calipers.results.samples import Samples
from calipers.results.system import SetSummary, SystemResult
from calipers.samples.wording import shortened
from calipers.score import Score

INDEX = "comparison.json"
REASON = 300
"""Most characters of what is wrong that a message shows: a zip may hold texts of any length."""
# What the parts of a damaged or foreign zip may raise while they are read
DAMAGE = (
    zipfile.BadZipFile,
    zlib.error,
    struct.error,
    tokenize.TokenError,
    ArithmeticError,
    RuntimeError,
    AttributeError,
    LookupError,
    TypeError,
    ValueError,
    EOFError,
)


def save(comparison: Comparison, path: Path) -> None:
    """Write the zip beside its place first, so that a failure leaves an older file whole.

    Raises
    ------
    CalipersError
        If it cannot be written there.
    """
    try:
        with replacing(path) as file, zipfile.ZipFile(file, "w") as archive:
            _write(comparison, archive)
    except OSError as error:
        raise CalipersError(f"{path}: cannot be written: {error.strerror or error}") from error


def load(path: Path) -> Comparison:
    """Read a comparison back.

    Raises
    ------
    InputError
        If the file is missing, is no such zip, part of it is damaged, or it claims more than the
        memory that may be taken.
    """
    check_plain(path)
    with fitting_in_memory(path):
        try:
            with reading(), zipfile.ZipFile(path) as archive:
                check_members(archive)
                comparison = _read(archive)
            check_fits(comparison)
        except TooLargeError:
            raise
        except OSError as error:
            raise InputError(f"{path}: cannot be read: {error.strerror or error}") from error
        except DAMAGE as error:
            raise InputError(
                f"{path}: is no comparison saved by calipers, or is damaged: "
                f"{shortened(str(error), REASON)}"
            ) from error
    return comparison


def _write(comparison: Comparison, archive: zipfile.ZipFile) -> None:
    text = json.dumps(comparison.to_dict(), allow_nan=False, ensure_ascii=False, indent=1)
    archive.writestr(INDEX, text, zipfile.ZIP_DEFLATED)
    _write_samples(archive, "reference", comparison.reference_samples)
    _write_each(archive, "reference", comparison.reference_scores)
    for place, system in enumerate(comparison.systems):
        for key, curve in system.curves.items():
            _write_array(archive, f"systems/{place}/curves/{quote(key, '=')}.npy", curve)
        for key, errors in system.curve_errors.items():
            _write_array(archive, f"systems/{place}/curve_errors/{quote(key, '=')}.npy", errors)
        for name, array in system.neighbours.items():
            _write_array(archive, f"systems/{place}/neighbours/{name}.npy", array)
        _write_each(archive, f"systems/{place}", system.scores)
        for number, samples in enumerate(system.samples):
            _write_samples(archive, f"systems/{place}/samples/{number}", samples)
    write_views(comparison, archive)


def _write_samples(archive: zipfile.ZipFile, folder: str, samples: Samples | None) -> None:
    if samples is None:
        return
    for view, vectors in samples.vectors.items():
        _write_array(archive, f"{folder}/vectors/{view}.npy", vectors)
    if samples.texts is not None:
        info = zipfile.ZipInfo(f"{folder}/texts.jsonl")
        info.compress_type = zipfile.ZIP_DEFLATED
        with archive.open(info, "w", force_zip64=True) as file:
            for text in samples.texts:
                file.write(json.dumps(text).encode() + b"\n")


def _write_each(archive: zipfile.ZipFile, folder: str, scores: Mapping[str, Score]) -> None:
    """Keep one value for each sample; labels in keys may hold what names of files must not."""
    for key, score in scores.items():
        if score.per_sample is not None:
            _write_array(archive, f"{folder}/per_sample/{quote(key, '=')}.npy", score.per_sample)


def _write_array(archive: zipfile.ZipFile, name: str, array: NDArray[Any]) -> None:
    with archive.open(zipfile.ZipInfo(name), "w", force_zip64=True) as file:
        np.lib.format.write_array(file, np.asarray(array), allow_pickle=False)


def _read(archive: zipfile.ZipFile) -> Comparison:
    data = read_json(archive, INDEX)
    check_arrays(archive, data)
    reference, train, settings = data["reference"], data.get("train"), data["settings"]
    samples = _samples(archive, "reference")
    against = None
    if samples is not None and samples.vectors and settings.get("k") is not None:
        against = Against.of(samples, settings)
    systems = [
        _system(archive, place, entry, against) for place, entry in enumerate(data["systems"])
    ]
    mapped = [samples, *(next(iter(system.samples), None) for system in systems)]
    return Comparison(
        reference=_summary(reference, reference["warnings"]),
        systems=tuple(systems),
        settings=settings,
        warnings=tuple(data["warnings"]),
        reference_samples=samples,
        version=data["calipers"],
        reference_scores=_scores(archive, "reference", reference.get("scores", {})),
        train=None if train is None else _summary(train, train["warnings"]),
        tests=tuple(map(significance_from, data.get("tests", ()))),
        advice=tuple(map(advice_from, data.get("advice", ()))),
        maps=read_maps(archive, mapped),
    )


def _summary(data: Mapping[str, Any], warnings: list[str]) -> SetSummary:
    names = ("name", "source", "n", "n_given", "words", "content_hash")
    values = {name: data[name] for name in names}
    groups, clusters = data.get("groups"), data.get("clusters")
    return SetSummary(**values, warnings=tuple(warnings), groups=groups, clusters=clusters)


def _system(
    archive: zipfile.ZipFile, place: int, data: Mapping[str, Any], against: Against | None
) -> SystemResult:
    folder = f"systems/{place}"
    errors = _arrays(archive, f"{folder}/curve_errors/")
    system = SystemResult(
        summary=_summary(data, []),
        scores=_scores(archive, folder, data["scores"]),
        curves={unquote(key): curve for key, curve in _arrays(archive, f"{folder}/curves/")},
        seeds=tuple(data["seeds"]),
        samples=tuple(_all_samples(archive, f"{folder}/samples")),
        warnings=tuple(data["warnings"]),
        neighbours=dict(_arrays(archive, f"{folder}/neighbours/")),
        confounders=confounders_from(data.get("confounders")),
        curve_errors={unquote(key): each for key, each in errors},
        correlations=correlations_from(data.get("correlations")),
        against=against,
    )
    return replace(system, explained=read_explanations(archive, folder, system))


def _scores(archive: zipfile.ZipFile, folder: str, data: Mapping[str, Any]) -> dict[str, Score]:
    found = _arrays(archive, f"{folder}/per_sample/")
    each = {unquote(name): array for name, array in found}
    return {
        key: replace(score_from(score), per_sample=each.get(key)) for key, score in data.items()
    }


def _all_samples(archive: zipfile.ZipFile, folder: str) -> Iterator[Samples]:
    number = 0
    while (samples := _samples(archive, f"{folder}/{number}")) is not None:
        yield samples
        number += 1


def _samples(archive: zipfile.ZipFile, folder: str) -> Samples | None:
    vectors = dict(_arrays(archive, f"{folder}/vectors/"))
    name = f"{folder}/texts.jsonl"
    texts = None
    if name in archive.namelist():
        texts = list(read_texts(archive, name))
    return Samples(texts, vectors) if vectors or texts is not None else None


def _arrays(archive: zipfile.ZipFile, folder: str) -> Iterator[tuple[str, NDArray[Any]]]:
    for name in archive.namelist():
        if name.startswith(folder) and name.endswith(".npy"):
            yield name[len(folder) : -4], read_array(archive, name)
