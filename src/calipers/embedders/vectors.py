"""Precomputed vectors: used as they are, or written to a file.

A file or folder of vectors is one that any program reads, and that ``calipers compare`` reads back.
"""

from __future__ import annotations

import json
import os
import shutil
import uuid
from collections.abc import Callable, Mapping, Sequence
from itertools import pairwise
from pathlib import Path
from types import MappingProxyType
from typing import Any, BinaryIO

import numpy as np

from calipers.embedders.embedder import Embedder, EncodedBatch
from calipers.embedders.options import EmbedderOptions
from calipers.errors import InputError
from calipers.numeric.arrays import NamedArrays
from calipers.samples.readers.vectors import METADATA
from calipers.whole_files import replacing

TAKES: frozenset[str] = frozenset()


def load(name: str, options: EmbedderOptions) -> Precomputed:
    """Make the embedder of precomputed vectors; no option can change them."""
    return Precomputed()


class Precomputed(Embedder):
    """The embedder of sample sets that hold vectors: one view, no computation."""

    name = "precomputed"
    views: tuple[str, ...] = ("precomputed",)
    identity = "precomputed"
    signature = MappingProxyType({"embedder": name})
    view_signature = MappingProxyType({"precomputed": "as_given"})
    reads = frozenset({"vectors"})

    @classmethod
    def of(
        cls,
        views: Sequence[str],
        signature: Mapping[str, str],
        view_signature: Mapping[str, str],
    ) -> Precomputed:
        """Represent the embedder that made vectors: its name, views and signature."""
        made = cls()
        made.name = signature.get("embedder", cls.name)
        made.views = tuple(views)
        made.signature = MappingProxyType(dict(signature))
        made.view_signature = MappingProxyType(dict(view_signature))
        made.identity = repr(sorted(signature.items()))
        return made

    def encode(self, prepared: Sequence[Any]) -> EncodedBatch:
        """Refuse samples that are not vectors."""
        raise InputError(
            f"the embedder 'precomputed' takes vectors, not texts; found {len(prepared)} samples. "
            "Choose an embedder that reads texts, such as 'minilm'"
        )


def write_vectors(path: str | Path, arrays: NamedArrays, *, about: Mapping[str, str]) -> None:
    """Write arrays to ``.npy`` (one array), ``.npz`` or ``.safetensors``.

    Either the whole file appears, or none. Rows are written as they lie, without a copy of all.

    Parameters
    ----------
    path
        Its suffix decides the format.
    arrays
        Name to array; ``.npy`` holds one, without its name.
    about
        What the vectors are, kept as the metadata of ``.safetensors``.

    Raises
    ------
    InputError
        If the suffix is another, ``.npy`` is to hold several arrays, or nothing can be written.
    """
    write = check_format(path, len(arrays))
    try:
        with replacing(Path(path)) as file:
            write(file, arrays, about)
    except OSError as error:
        raise InputError(f"{path}: cannot be written: {error.strerror or error}") from error


def write_shards(
    folder: str | Path, arrays: NamedArrays, *, shards: int, about: Mapping[str, str]
) -> None:
    """Write arrays to a new folder of ``.safetensors`` files, each with some rows of all arrays.

    Either the whole folder appears, or none.

    Parameters
    ----------
    folder
        What is not there yet.
    arrays
        Name to array, all of as many rows.
    shards
        How many files, whose rows differ by one at most.
    about
        What the vectors are, kept as the metadata of every file.

    Raises
    ------
    InputError
        If there are fewer rows than files, the folder is there, or it cannot be written.
    """
    target, rows = Path(folder), len(next(iter(arrays.values())))
    if shards > rows:
        raise InputError(f"{folder}: {rows:,} rows cannot fill {shards:,} shards; write fewer")
    check_new(folder)
    fresh = target.with_name(f".{target.name[:40]}.{uuid.uuid4().hex}.part")
    ends = [rows * place // shards for place in range(shards + 1)]
    try:
        fresh.mkdir()
        for place, (start, stop) in enumerate(pairwise(ends)):
            part = {name: array[start:stop] for name, array in arrays.items()}
            name = f"vectors-{place:05d}-of-{shards:05d}.safetensors"
            with replacing(fresh / name) as file:
                _write_safetensors(file, part, about)
        os.rename(fresh, target)
    except OSError as error:
        raise InputError(f"{folder}: cannot be written: {error.strerror or error}") from error
    finally:
        shutil.rmtree(fresh, ignore_errors=True)


def check_new(folder: str | Path) -> None:
    """Refuse an existing folder, whose contents would be mixed with the new shards.

    Raises
    ------
    InputError
        If anything is there.
    """
    if os.path.lexists(folder):
        raise InputError(f"{folder}: is there already; name a folder that is not, for the shards")


def check_format(path: str | Path, arrays: int) -> Callable[[BinaryIO, NamedArrays, Any], None]:
    """Return the writer of a format; raise an error if it cannot hold so many arrays."""
    suffix = Path(path).suffix.lower()
    if suffix not in _WRITERS:
        raise InputError(
            f"{path}: the file for vectors must end in {', '.join(_WRITERS)}; found "
            f"{repr(suffix) if suffix else 'no suffix'}"
        )
    if suffix == ".npy" and arrays != 1:
        raise InputError(
            f"{path}: a .npy file holds one array, not {arrays}; name one view, or write .npz or "
            ".safetensors"
        )
    return _WRITERS[suffix]


def _write_npy(file: BinaryIO, arrays: NamedArrays, about: Any) -> None:
    np.save(file, next(iter(arrays.values())), allow_pickle=False)


def _write_npz(file: BinaryIO, arrays: NamedArrays, about: Any) -> None:
    np.savez(file, allow_pickle=False, **arrays)


def _write_safetensors(file: BinaryIO, arrays: NamedArrays, about: Mapping[str, str]) -> None:
    """Write the header and then the rows, some at a time: the library would copy all of them."""
    header: dict[str, Any] = {METADATA: dict(about)}
    place = 0
    for name, array in arrays.items():
        entry = {"dtype": f"F{8 * array.itemsize}", "shape": list(array.shape)}
        header[name] = {**entry, "data_offsets": [place, place + array.nbytes]}
        place += array.nbytes
    content = json.dumps(header).encode()
    content += b" " * (-len(content) % 8)  # so that the numbers are aligned
    file.write(len(content).to_bytes(8, "little") + content)
    for array in arrays.values():
        for start in range(0, len(array), ROWS):
            rows = array[start : start + ROWS]
            file.write(np.ascontiguousarray(rows, rows.dtype.newbyteorder("<")).data)


ROWS = 4096


_WRITERS: dict[str, Callable[[BinaryIO, NamedArrays, Any], None]] = {
    ".npy": _write_npy,
    ".npz": _write_npz,
    ".safetensors": _write_safetensors,
}
