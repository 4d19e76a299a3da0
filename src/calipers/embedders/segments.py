"""A file of vectors in the cache, in which rows are found by the hashes of their samples.

A segment is a safetensors file that is written once and whole, and never changed. What is small
lies first: the hashes of its samples, which texts were cut, what was read of them, and a checksum
of each row. All of that has one SHA-256 in the header, so that rows are read singly and damage does
not go unseen.
"""

from __future__ import annotations

import hashlib
import json
import os
import zlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np
from numpy.typing import NDArray

from calipers.embedders.embedder import EncodedBatch
from calipers.embedders.reading import ReadingCounts
from calipers.errors import CalipersError
from calipers.samples.kinds import ROW_HASH

FORMAT = "calipers-embeddings-3"
METADATA = "__metadata__"
LARGEST_HEADER = 2**20
_DAMAGE = (ValueError, KeyError, TypeError, IndexError, AttributeError, RecursionError)

RowHashes = NDArray[np.bytes_]
"""The hash of each sample, of type :data:`calipers.samples.kinds.ROW_HASH`."""


class DamagedSegmentError(CalipersError):
    """A file of the cache is damaged as a whole; its samples are embedded again."""


class DamagedRowsError(DamagedSegmentError):
    """Some vectors of a file are damaged; the rest of it is intact."""


@dataclass(frozen=True, eq=False)
class _Columns:
    """What a segment holds beside vectors, a value for each row, in this order."""

    checks: NDArray[np.uint32]
    words: NDArray[np.int32] | None
    unread: NDArray[np.int32] | None
    hashes: RowHashes
    truncated: NDArray[np.bool_]

    def to_bytes(self) -> bytes:
        columns = (getattr(self, name) for name in _TYPES)
        return b"".join(
            np.ascontiguousarray(column, column.dtype.newbyteorder("<")).tobytes()
            for column in columns
            if column is not None
        )

    @classmethod
    def from_bytes(cls, content: bytes, rows: int, names: Sequence[str]) -> _Columns:
        made: dict[str, Any] = dict.fromkeys(_TYPES)
        place = 0
        for name in names:
            _, stored = _TYPES[name]
            made[name] = np.frombuffer(content, stored, rows, place)
            place += made[name].nbytes
        return cls(**made)


_TYPES = {
    "checks": ("U32", np.dtype("<u4")),
    "words": ("I32", np.dtype("<i4")),
    "unread": ("I32", np.dtype("<i4")),
    "hashes": ("U8", np.dtype(ROW_HASH)),
    "truncated": ("BOOL", np.dtype("?")),
}


def write_segment(
    path: Path, hashes: RowHashes, batch: EncodedBatch, owner: Mapping[str, str]
) -> None:
    """Write vectors to a new file.

    Parameters
    ----------
    path
        Where; nothing may be there.
    hashes
        Those of the samples.
    batch
        Their vectors.
    owner
        What made them, which must be the same when they are read.

    Raises
    ------
    OSError
        If the file is there already or cannot be written.
    """
    vectors = np.concatenate(list(batch.views.values()), axis=1).astype("<f4", copy=False)
    reading = batch.reading
    columns = _Columns(
        _checksums(vectors),
        None if reading is None else reading.words,
        None if reading is None else reading.unread,
        hashes,
        batch.truncated,
    )
    widths = {name: view.shape[1] for name, view in batch.views.items()}
    content = columns.to_bytes()
    digest = hashlib.sha256(content).hexdigest()
    names = _names(with_reading=reading is not None)
    header = json.dumps(_header(len(hashes), names, widths, owner, digest)).encode()
    header += b" " * (-len(header) % 8)
    with path.open("xb") as file:
        file.write(len(header).to_bytes(8, "little") + header + content)
        file.write(vectors.data)


def read_hashes(path: Path, owner: Mapping[str, str]) -> RowHashes:
    """Read the hashes of the samples whose vectors a file holds.

    Raises
    ------
    OSError
        If it is not there or cannot be read.
    DamagedSegmentError
        If it was cut or changed, or belongs to something else.
    """
    with path.open("rb") as file:
        return _Head.read(file, path, owner).columns.hashes.copy()


def read_segment(
    path: Path, owner: Mapping[str, str], rows: NDArray[np.intp] | None = None
) -> tuple[RowHashes, EncodedBatch]:
    """Read the vectors of some rows, and the hashes of their samples.

    Parameters
    ----------
    path, owner
        As in :func:`read_hashes`.
    rows
        Which, each larger than the one before; None for all.

    Raises
    ------
    OSError, DamagedSegmentError
        As in :func:`read_hashes`; and if one of these rows was changed.
    """
    hashes, batch, sound = _read_rows(path, owner, rows)
    if not sound.all():
        count = f"{int((~sound).sum()):,} of {len(sound):,} vectors do"
        raise DamagedRowsError(f"{path}: {count} not fit their checksums")
    return hashes, batch


def read_sound(path: Path, owner: Mapping[str, str]) -> tuple[RowHashes, EncodedBatch]:
    """Read the intact vectors of a file with damaged ones.

    Raises
    ------
    OSError, DamagedSegmentError
        As in :func:`read_hashes`.
    """
    hashes, batch, sound = _read_rows(path, owner, None)
    views = {name: view[sound] for name, view in batch.views.items()}
    reading = None if batch.reading is None else batch.reading.take(np.flatnonzero(sound))
    return hashes[sound], EncodedBatch(views, batch.truncated[sound], reading)


def _read_rows(
    path: Path, owner: Mapping[str, str], rows: NDArray[np.intp] | None
) -> tuple[RowHashes, EncodedBatch, NDArray[np.bool_]]:
    """Read some rows, and tell which of their vectors fit their checksums."""
    with path.open("rb", buffering=0) as file:
        head = _Head.read(file, path, owner)
        columns, width = head.columns, sum(head.widths.values())
        rows = np.arange(len(columns.hashes)) if rows is None else rows
        if len(rows) and rows[-1] >= len(columns.hashes):
            raise DamagedSegmentError(f"{path}: has lost rows")
        vectors = np.empty((len(rows), width), "<f4")
        breaks = np.flatnonzero(np.diff(rows) != 1) + 1
        for start, stop in zip([0, *breaks.tolist()], [*breaks.tolist(), len(rows)], strict=True):
            if start < stop:
                file.seek(head.start + int(rows[start]) * width * 4)
                _fill(file, vectors[start:stop], path)
    sound = np.asarray(_checksums(vectors) == columns.checks[rows])
    views, place = {}, 0
    for name, wide in head.widths.items():
        views[name] = vectors[:, place : place + wide]
        place += wide
    reading = None
    if columns.words is not None and columns.unread is not None:
        reading = ReadingCounts(columns.words[rows], columns.unread[rows])
    return columns.hashes[rows], EncodedBatch(views, columns.truncated[rows], reading), sound


@dataclass(frozen=True, eq=False)
class _Head:
    """All of a segment but its vectors.

    Attributes
    ----------
    columns
        A value for each row.
    widths
        How many numbers each view has.
    start
        Where the vectors begin in the file.
    """

    columns: _Columns
    widths: Mapping[str, int]
    start: int

    @classmethod
    def read(cls, file: BinaryIO, path: Path, owner: Mapping[str, str]) -> _Head:
        """Read and check it: the header must be, to the letter, what would be written."""
        size = int.from_bytes(file.read(8), "little")
        if size > LARGEST_HEADER:
            raise DamagedSegmentError(f"{path}: is not a file of vectors")
        try:
            header = json.loads(file.read(size))
            metadata = header[METADATA]
            rows, _ = header["vectors"]["shape"]
            widths = json.loads(metadata["views"])
            names = _names(with_reading="words" in header)
            expected = _header(rows, names, widths, owner, metadata["sha256"])
            start, stop = expected["vectors"]["data_offsets"]
        except _DAMAGE as error:
            raise DamagedSegmentError(f"{path}: cannot be read ({error})") from error
        if header != expected:
            theirs = expected[METADATA]
            wrong = sorted(key for key in theirs if metadata.get(key) != theirs[key])
            raise DamagedSegmentError(
                f"{path}: its contents do not fit its {', '.join(wrong) or 'header'}"
            )
        if os.fstat(file.fileno()).st_size != 8 + size + stop:
            raise DamagedSegmentError(f"{path}: is cut or has grown")
        content = np.empty(start, np.uint8)
        _fill(file, content, path)
        if hashlib.sha256(content.data).hexdigest() != metadata["sha256"]:
            raise DamagedSegmentError(f"{path}: its contents do not fit its sha256")
        return cls(_Columns.from_bytes(content.tobytes(), rows, names), widths, 8 + size + start)


def _names(*, with_reading: bool) -> list[str]:
    return [name for name in _TYPES if with_reading or name not in ("words", "unread")]


def _header(
    rows: int,
    names: Sequence[str],
    widths: Mapping[str, int],
    owner: Mapping[str, str],
    digest: str,
) -> dict[str, Any]:
    """Return the header of a segment as safetensors writes one."""
    if not (isinstance(rows, int) and all(isinstance(wide, int) for wide in widths.values())):
        raise ValueError("sizes must be whole numbers")
    about = {"format": FORMAT, **owner, "views": json.dumps(widths), "sha256": digest}
    header: dict[str, Any] = {METADATA: about}
    place = 0
    for name in names:
        written, stored = _TYPES[name]
        shape = [rows, stored.itemsize] if name == "hashes" else [rows]
        end = place + rows * stored.itemsize
        header[name] = {"dtype": written, "shape": shape, "data_offsets": [place, end]}
        place = end
    width = sum(widths.values())
    offsets = [place, place + rows * width * 4]
    header["vectors"] = {"dtype": "F32", "shape": [rows, width], "data_offsets": offsets}
    return header


def _checksums(vectors: NDArray[np.float32]) -> NDArray[np.uint32]:
    """Return the CRC-32 of each row."""
    view, size = vectors.data.cast("B"), vectors.shape[1] * 4
    starts = range(0, len(view), size) if size else [0] * len(vectors)
    return np.array([zlib.crc32(view[start : start + size]) for start in starts], "<u4")


def _fill(file: BinaryIO, array: NDArray[Any], path: Path) -> None:
    """Read as many bytes as an array takes."""
    view = array.data.cast("B")
    done = 0
    while done < len(view):
        count = file.readinto(view[done:])  # type: ignore[attr-defined]
        if not count:
            raise DamagedSegmentError(f"{path}: is cut")
        done += count
