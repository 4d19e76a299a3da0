"""Zip files of results: JSON for settings and scores, npy for arrays, JSON lines for texts.

Nothing in it is ever unpickled, and nothing behind it computes. ``calipers.json`` names the kind of
result and the format.

A zip may come from anywhere. A part of it claims a size, and an array a shape: both must agree with
each other and with the number of samples that the result names, and all parts together must fit
into the memory that may be taken (:mod:`calipers.memory`), before any is unpacked. No part gives
more bytes than it claims. Whether the parts fit together is for the result to say.
"""

from __future__ import annotations

import io
import json
import math
import struct
import tokenize
import zipfile
import zlib
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache
from pathlib import Path
from typing import Any, BinaryIO, cast
from urllib.parse import quote, unquote

import numpy as np
from numpy.typing import NDArray

from calipers._version import __version__
from calipers.errors import CalipersError, InputError
from calipers.files import check_plain, fitting_in_memory
from calipers.memory import ROW, budget, json_size, read_whole, reading, size_words
from calipers.results.pictures import Pictures, StoredPictures, stored
from calipers.results.sets import Samples, Texts
from calipers.samples.columns import StringColumn
from calipers.samples.labels import LogIds
from calipers.samples.readers.vectors import check_header
from calipers.samples.wording import shortened
from calipers.score import Score
from calipers.serialise import parsed_json
from calipers.whole_files import replacing

ABOUT = "calipers.json"
SMALL = 2**20
"""Bytes of an array up to which it is read at once."""

FIRST_VERSION = b"\x93NUMPY\x01\x00"
"""How an array of the first version of .npy begins, which is the one that is written."""

FORMAT = 2
"""Of the zips that are written."""

IDS, EPOCHS, THUMBNAILS = "log_ids.jsonl", "log_epochs.npy", "thumbnails.json"
"""Parts of a set that a log of inspect names the samples of."""

LEAST_ROWS = 10_000
"""Rows that an array may have in any result: curves have as many as they have points."""

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

_WRITTEN = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED)
_BUFFER = 2**20


class TooLargeError(InputError):
    """A zip holds, or declares, more than the available memory."""


class OtherKindError(InputError):
    """A valid zip of another kind of result or of a later version."""


# ------------------------------------------------------------------ writing


@dataclass(frozen=True)
class Draft:
    """A zip that is being written."""

    zip: zipfile.ZipFile

    def add_json(self, name: str, data: Any, *, readable: bool = True) -> None:
        """Add plain data as JSON, indented or compact."""
        if readable:
            text = json.dumps(data, allow_nan=False, ensure_ascii=False, indent=1)
        else:
            text = json.dumps(data, allow_nan=False)
        self.zip.writestr(name, text, zipfile.ZIP_DEFLATED)

    def add_array(self, name: str, array: NDArray[Any]) -> None:
        """Add an array of numbers.

        Raises
        ------
        ValueError
            If it holds objects.
        """
        with self.zip.open(zipfile.ZipInfo(name), "w", force_zip64=True) as file:
            np.lib.format.write_array(file, np.asarray(array), allow_pickle=False)

    def add_texts(self, name: str, texts: Texts) -> None:
        """Add texts, one JSON string per line."""
        info = zipfile.ZipInfo(name)
        info.compress_type = zipfile.ZIP_DEFLATED
        with self.zip.open(info, "w", force_zip64=True) as file:
            for text in texts:
                file.write(json.dumps(text).encode() + b"\n")

    def add_samples(self, folder: str, samples: Samples | None) -> None:
        """Add the texts, vectors, clusters and ids of a set, if it has any."""
        if samples is None:
            return
        for view, vectors in samples.vectors.items():
            self.add_array(f"{folder}/vectors/{view}.npy", vectors)
        if samples.texts is not None:
            self.add_texts(f"{folder}/texts.jsonl", samples.texts)
        if samples.clusters is not None:
            self.add_array(f"{folder}/clusters.npy", samples.clusters)
        if samples.log_ids is not None:
            self.add_texts(f"{folder}/{IDS}", samples.log_ids.ids)
            self.add_array(f"{folder}/{EPOCHS}", samples.log_ids.epochs)

    def add_pictures(self, folder: str, pictures: Pictures | None, rows: Sequence[int]) -> None:
        """Add the thumbnails of some rows of a set, if it is one of images."""
        if pictures is not None:
            self.add_json(f"{folder}/{THUMBNAILS}", stored(pictures, rows), readable=False)

    def add_per_sample(self, folder: str, scores: Mapping[str, Score]) -> None:
        """Add one value for each sample; keys may contain characters that file names must not."""
        for key, score in scores.items():
            if score.per_sample is not None:
                self.add_array(f"{folder}/per_sample/{quote(key, '=')}.npy", score.per_sample)


@contextmanager
def writing(path: Path, kind: str) -> Iterator[Draft]:
    """Write a zip to a temporary file first, so that a failure leaves an older file intact.

    Raises
    ------
    CalipersError
        If it cannot be written there.
    """
    try:
        with replacing(path) as file, zipfile.ZipFile(file, "w") as made:
            draft = Draft(made)
            draft.add_json(ABOUT, {"kind": kind, "format": FORMAT, "calipers": __version__})
            yield draft
    except OSError as error:
        raise CalipersError(f"{path}: cannot be written: {error.strerror or error}") from error


# ------------------------------------------------------------------ reading


@contextmanager
def opened(path: Path, wanted: str | None = None) -> Iterator[Archive]:
    """Open a zip to read its parts; any fault in them becomes one message.

    Parameters
    ----------
    path
        Of the zip.
    wanted
        The kind of result that it must hold; None for any.

    Raises
    ------
    InputError
        If the file is missing, is not such a zip, part of it is damaged, or it claims more than the
        memory that may be taken.
    """
    check_plain(path)
    with fitting_in_memory(path):
        try:
            with reading(), zipfile.ZipFile(path) as file:
                _check_members(file)
                archive = Archive(file, _kind(file, path))
                if wanted not in (None, archive.kind):
                    kind = archive.kind
                    raise OtherKindError(
                        f"{path}: holds a result of the kind {kind!r}, not {wanted!r}"
                    )
                yield archive
        except (TooLargeError, OtherKindError):
            raise
        except OSError as error:
            raise InputError(f"{path}: cannot be read: {error.strerror or error}") from error
        except DAMAGE as error:
            raise InputError(
                f"{path}: is not a {wanted or 'result'} saved by calipers, or is damaged: "
                f"{shortened(str(error), REASON)}"
            ) from error


def _kind(file: zipfile.ZipFile, path: Path) -> str:
    """The kind of result that a zip names."""
    about = _json(file, ABOUT)
    kind, version = about["kind"], about["format"]
    if isinstance(version, bool) or not isinstance(version, int):
        raise TypeError(f"its format is {version!r:.100}, not a whole number")
    if version > FORMAT:
        raise OtherKindError(
            f"{path}: has format {version:.6g}, of a later version of calipers; known are those up "
            f"to {FORMAT}"
        )
    if not isinstance(kind, str):
        raise TypeError(f"its kind is {kind!r:.100}, not a text")
    return kind


@dataclass(frozen=True)
class Archive:
    """A zip that is being read.

    Attributes
    ----------
    zip
        Its parts, whose sizes were checked.
    kind
        The kind of result that it holds.
    """

    zip: zipfile.ZipFile
    kind: str

    @cached_property
    def _names(self) -> frozenset[str]:
        """What its parts are called."""
        return frozenset(self.zip.namelist())

    @cached_property
    def _folders(self) -> Mapping[str, Sequence[str]]:
        """The parts by each folder that they are in, its name with a slash at the end."""
        folders: dict[str, list[str]] = {}
        for name in self.zip.namelist():
            for place, letter in enumerate(name, start=1):
                if letter == "/":
                    folders.setdefault(name[:place], []).append(name)
        return folders

    def check_arrays(self, data: Mapping[str, Any]) -> None:
        """Refuse arrays whose size does not fit this result, before unpacking any.

        Parameters
        ----------
        data
            Its JSON, which names how many samples there are.

        Raises
        ------
        ValueError
            If an array claims another size than its part of the zip, or more rows than there can
            be.
        """
        names = self.zip.namelist()
        files = {name.rpartition("/vectors/")[0] for name in names if "/vectors/" in name}
        sets = [*(data.get(side) or {"n": 0} for side in ("reference", "train")), *data["systems"]]
        samples = sum(entry["n"] for entry in sets)
        several = (len(entry.get("seeds", ())) for entry in sets)
        most = max(LEAST_ROWS, samples * max(1, len(files), *several))
        for name in names:
            if name.endswith(".npy"):
                self._check_array(name, samples, most)

    def _check_array(self, name: str, samples: int, most: int) -> None:
        claimed = self.zip.getinfo(name).file_size
        with self.zip.open(name) as file:
            try:
                shape, dtype = _header(file)
            except ValueError:
                return  # said where it is read
            size = file.tell() + math.prod(shape) * dtype.itemsize
        if not dtype.hasobject and size != claimed:
            raise ValueError(
                f"the array {name} of shape {shape} takes {size:,} bytes, but its part of the zip "
                f"claims {claimed:,}"
            )
        if shape and shape[0] > most:
            raise ValueError(
                f"the array {name} claims {shape[0]:,} rows ({size_words(claimed)}), but the "
                f"{self.kind} has {samples:,} samples"
            )

    def json(self, name: str) -> Any:
        """Read a JSON part.

        Raises
        ------
        TooLargeError
            If it takes more than may be taken once it is parsed.
        """
        return _json(self.zip, name)

    def array(self, name: str) -> NDArray[Any]:
        """Read an array, which may hold nothing but numbers.

        Raises
        ------
        ValueError
            If it is something else.
        """
        if self.zip.getinfo(name).file_size <= SMALL:
            small = _small_array(self.zip.read(name))
            if small is not None:
                return small
        with self.zip.open(name) as file:
            try:
                check_header(cast(BinaryIO, file), self.zip.getinfo(name).file_size)
            except ValueError as error:
                raise ValueError(f"{name}: {error}") from error
            return np.asarray(np.lib.format.read_array(file, allow_pickle=False))

    def arrays(self, folder: str) -> dict[str, NDArray[Any]]:
        """Read the arrays in a folder, by name without path."""
        return {
            name[len(folder) : -4]: self.array(name)
            for name in self._folders.get(folder, ())
            if name.endswith(".npy")
        }

    def named(self, folder: str, suffix: str) -> Mapping[str, str]:
        """Return the parts directly in a folder, by name."""
        return {
            unquote(name[len(folder) : -len(suffix)]): name
            for name in self._folders.get(folder, ())
            if name.endswith(suffix) and "/" not in name[len(folder) :]
        }

    def texts(self, name: str) -> Iterator[Any]:
        """Read texts, one JSON value per line.

        Raises
        ------
        TooLargeError
            If they take more than may be taken.
        """
        current, refusal = budget(), _refusal(self.zip)
        longest = current.longest_line
        with self.zip.open(name) as file, io.BufferedReader(file, _BUFFER) as lines:  # type: ignore[type-var]
            for number, line in enumerate(iter(lambda: lines.readline(longest + 1), b""), 1):
                if len(line) > longest:
                    raise refusal(f"line {number:,} of {name} is longer than {size_words(longest)}")
                current.take(ROW, refusal)
                yield json.loads(line)

    def samples(self, folder: str) -> Samples | None:
        """Read the texts, vectors, clusters and ids of a set; None where there are none."""
        vectors = self.arrays(f"{folder}/vectors/")
        name = f"{folder}/texts.jsonl"
        texts = list(self.texts(name)) if name in self._names else None
        place = f"{folder}/clusters.npy"
        clusters = self.array(place) if place in self._names else None
        if not vectors and texts is None:
            return None
        size = len(next(iter(vectors.values()))) if vectors else len(texts or ())
        pictures = self.pictures(folder, size)
        return Samples(texts, vectors, clusters, self._log_ids(folder), pictures)

    def pictures(self, folder: str, size: int) -> StoredPictures | None:
        """Read the thumbnails of a set of `size` samples; None if none were stored."""
        name = f"{folder}/{THUMBNAILS}"
        return StoredPictures.of(self.json(name), size) if name in self._names else None

    def _log_ids(self, folder: str) -> LogIds | None:
        """By what a log named the samples of a set, where that was kept.

        Raises
        ------
        TypeError, ValueError
            If an id is not a text, or an epoch is not a whole number from 1 on.
        """
        name, place = f"{folder}/{IDS}", f"{folder}/{EPOCHS}"
        if not {name, place} <= self._names:
            return None
        ids, epochs = list(self.texts(name)), self.array(place)
        check_array(f"epochs in {folder}", epochs, "iu", 1)
        if not all(isinstance(sample_id, str) for sample_id in ids):
            raise TypeError(f"an id in {folder} is no text")
        if len(ids) != len(epochs) or (epochs < 1).any():
            raise ValueError(f"the {len(ids)} ids in {folder} have epochs {epochs[:5].tolist()!r}")
        return LogIds(StringColumn.of(ids), epochs)

    def with_per_sample(self, folder: str, scores: Mapping[str, Score]) -> dict[str, Score]:
        """Restore the per-sample values of scores, where they were stored.

        Raises
        ------
        ValueError
            If such values are not a row of numbers.
        """
        arrays = self.arrays(f"{folder}/per_sample/")
        values = {unquote(name): array for name, array in arrays.items()}
        for key, array in values.items():
            check_array(f"{key} of the samples in {folder}", array, "biuf", 1)
        return {key: replace(score, per_sample=values.get(key)) for key, score in scores.items()}


def check_array(where: str, array: Any, kinds: str, axes: int) -> None:
    """Refuse anything but an array of such numbers with so many axes.

    Raises
    ------
    ValueError
        Names the array, its dtype and its shape.
    """
    if array.dtype.kind not in kinds or array.ndim != axes:
        raise ValueError(f"{where} has dtype {array.dtype} and shape {array.shape}")


def _check_members(archive: zipfile.ZipFile) -> None:
    """Refuse a zip whose parts claim more than may be taken, before any is unpacked.

    Raises
    ------
    TooLargeError
        Names the sizes.
    ValueError
        If a part is packed in a way that no result is.
    """
    members = archive.infolist()
    for member in members:
        if member.compress_type not in _WRITTEN:
            raise ValueError(f"{member.filename!r:.100} is packed in a way that is not read")
    size = sum(member.file_size for member in members)
    packed = size_words(sum(member.compress_size for member in members))
    about = f"claims to hold {len(members):,} parts ({packed} as packed)"
    budget().check_claim(about, size, _refusal(archive))
    budget().take(size, _refusal(archive))


def _json(archive: zipfile.ZipFile, name: str) -> Any:
    refusal = _refusal(archive)
    with archive.open(name) as file:
        content = read_whole(cast(io.BufferedIOBase, file), refusal)  # type: ignore[arg-type]
    budget().take(json_size(content), refusal)
    return parsed_json(content)


def _header(file: Any) -> tuple[tuple[int, ...], np.dtype[Any]]:
    start = file.read(len(FIRST_VERSION) + 2)
    if start.startswith(FIRST_VERSION):
        shape, _, dtype = _parsed(start + file.read(int.from_bytes(start[-2:], "little")))
        return shape, dtype
    file.seek(0)
    version = np.lib.format.read_magic(file)
    if version != (2, 0):
        raise ValueError(f"the version {version} of .npy is not read")
    shape, _, dtype = np.lib.format.read_array_header_2_0(file)
    return shape, dtype


@lru_cache(maxsize=256)
def _parsed(header: bytes) -> tuple[tuple[int, ...], bool, np.dtype[Any]]:
    """Read a header of the first version; most arrays of a result have one of a few."""
    stream = io.BytesIO(header)
    np.lib.format.read_magic(stream)
    return np.lib.format.read_array_header_1_0(stream)


def _small_array(content: bytes) -> NDArray[Any] | None:
    """Read an array of plain numbers from its bytes; None for what has to be looked at closely."""
    start = len(FIRST_VERSION) + 2
    if not content.startswith(FIRST_VERSION) or len(content) < start:
        return None
    end = start + int.from_bytes(content[start - 2 : start], "little")
    try:
        shape, in_columns, dtype = _parsed(content[:end])
    except Exception:  # a damaged header can lead to nearly any error
        return None
    counts = all(type(axis) is int and axis >= 0 for axis in shape)
    size = math.prod(shape) * dtype.itemsize
    if dtype.hasobject or not counts or not size or size != len(content) - end:
        return None
    array: NDArray[Any] = np.frombuffer(content, dtype, offset=end).copy()
    return array.reshape(shape, order="F" if in_columns else "C")


def _refusal(archive: zipfile.ZipFile) -> Any:
    return lambda problem: TooLargeError(f"{archive.filename}: {problem}")
