"""The parts of a zip, read with an eye on their size: what they claim is checked before unpacking.

A part of a zip claims a size, and an array a shape. Both must agree with each other and with the
number of samples that the comparison names; all parts together must fit into the memory that may
be taken (:mod:`calipers.memory`). No part gives more bytes than it claims.
"""

from __future__ import annotations

import io
import json
import math
import zipfile
from collections.abc import Iterator, Mapping
from typing import Any, BinaryIO, cast

import numpy as np
from numpy.typing import NDArray

from calipers.errors import InputError
from calipers.memory import ROW, budget, json_size, read_whole, size_words
from calipers.samples.readers.vectors import check_header

LEAST_ROWS = 10_000
"""Rows that an array may have in any comparison: curves have as many as they have points."""

_WRITTEN = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED)
_BUFFER = 2**20


class TooLargeError(InputError):
    """A zip holds, or claims, more than fits into the memory that may be taken."""


def check_members(archive: zipfile.ZipFile) -> None:
    """Refuse a zip whose parts claim more than may be taken, before any is unpacked.

    Raises
    ------
    TooLargeError
        Names the sizes.
    ValueError
        If a part is packed in a way that no comparison is.
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


def check_arrays(archive: zipfile.ZipFile, data: Mapping[str, Any]) -> None:
    """Refuse arrays that cannot be of this comparison by their size, before any is unpacked.

    Parameters
    ----------
    archive
        The zip.
    data
        Its JSON, which names how many samples there are.

    Raises
    ------
    ValueError
        If an array claims another size than its part of the zip, or more rows than there can be.
    """
    names = archive.namelist()
    files = {name.rpartition("/vectors/")[0] for name in names if "/vectors/" in name}
    sets = [data["reference"], data.get("train") or {"n": 0}, *data["systems"]]
    samples = sum(each["n"] for each in sets)
    most = max(LEAST_ROWS, samples * max(1, len(files)))
    for name in names:
        if name.endswith(".npy"):
            _check_array(archive, name, samples, most)


def _check_array(archive: zipfile.ZipFile, name: str, samples: int, most: int) -> None:
    claimed = archive.getinfo(name).file_size
    with archive.open(name) as file:
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
            f"comparison has {samples:,} samples"
        )


def _header(file: Any) -> tuple[tuple[int, ...], np.dtype[Any]]:
    version = np.lib.format.read_magic(file)
    if version == (1, 0):
        shape, _, dtype = np.lib.format.read_array_header_1_0(file)
    elif version == (2, 0):
        shape, _, dtype = np.lib.format.read_array_header_2_0(file)
    else:
        raise ValueError(f"the version {version} of .npy is not read")
    return shape, dtype


def read_array(archive: zipfile.ZipFile, name: str) -> NDArray[Any]:
    """Read an array that is nothing but numbers.

    Raises
    ------
    ValueError
        If it is something else.
    """
    with archive.open(name) as file:
        try:
            check_header(cast(BinaryIO, file), archive.getinfo(name).file_size)
        except ValueError as error:
            raise ValueError(f"{name}: {error}") from error
        return np.asarray(np.lib.format.read_array(file, allow_pickle=False))


def read_json(archive: zipfile.ZipFile, name: str) -> Any:
    """Read a part that is JSON.

    Raises
    ------
    TooLargeError
        If it takes more than may be taken once it is parsed.
    """
    refusal = _refusal(archive)
    with archive.open(name) as file:
        content = read_whole(cast(io.BufferedIOBase, file), refusal)  # type: ignore[arg-type]
    budget().take(json_size(content), refusal)
    return json.loads(content)


def read_texts(archive: zipfile.ZipFile, name: str) -> Iterator[Any]:
    """Read texts, a JSON value a line.

    Raises
    ------
    TooLargeError
        If they take more than may be taken.
    """
    current, refusal = budget(), _refusal(archive)
    longest = current.longest_line
    with archive.open(name) as file, io.BufferedReader(file, _BUFFER) as lines:  # type: ignore[type-var]
        for number, line in enumerate(iter(lambda: lines.readline(longest + 1), b""), 1):
            if len(line) > longest:
                raise refusal(f"line {number:,} of {name} is longer than {size_words(longest)}")
            current.take(ROW, refusal)
            yield json.loads(line)


def _refusal(archive: zipfile.ZipFile) -> Any:
    return lambda problem: TooLargeError(f"{archive.filename}: {problem}")
