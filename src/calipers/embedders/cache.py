"""Vectors on disk, so that no sample is embedded twice and an interrupted run continues.

Vectors are found by the hash of their sample and all that the embedder's identity says, whatever
set, order or cut the sample stands in. They lie in segments (:mod:`calipers.embedders.segments`):
each appears at once and whole, under a name that depends on its samples, and is never changed, so
processes and machines may share the folder without locks. Where small ones become many they are
merged, and then removed.
"""

from __future__ import annotations

import hashlib
import os
import sys
import uuid
from collections.abc import Iterator, Sequence
from contextlib import suppress
from pathlib import Path
from threading import Lock
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from calipers.embedders.embedder import EncodedBatch
from calipers.embedders.reading import ReadingCounts
from calipers.embedders.segments import (
    FORMAT,
    DamagedRowsError,
    DamagedSegmentError,
    RowHashes,
    read_hashes,
    read_segment,
    read_sound,
    write_segment,
)
from calipers.errors import InputError
from calipers.files import at_home

SMALL, MANY = 256, 64
"""Segments of fewer rows are merged when there are so many of them."""

MERGED = 4096
"""Rows that a merged segment has at most, but for those of one small one."""

Rows = NDArray[np.intp]


def default_directory() -> Path:
    """Return the folder of the cache: ``CALIPERS_CACHE``, or the user's cache folder.

    Raises
    ------
    InputError
        If neither is known.
    """
    chosen = os.environ.get("CALIPERS_CACHE")
    try:
        return at_home(chosen) if chosen else _user_caches() / "calipers"
    except RuntimeError as error:
        raise InputError(
            "there is no home folder to keep embeddings in; name a folder in the environment "
            "variable CALIPERS_CACHE or with `cache_dir`, or use `cache=False`"
        ) from error


def _user_caches() -> Path:
    if sys.platform == "darwin":
        return Path.home() / "Library" / "Caches"
    windows = ("LOCALAPPDATA", "AppData/Local")
    variable, default = windows if sys.platform == "win32" else ("XDG_CACHE_HOME", ".cache")
    named = Path(os.environ.get(variable, ""))
    return named if named.is_absolute() else Path.home() / default


class Cache:
    """A folder in which the vectors of embedders are kept.

    Parameters
    ----------
    directory
        The folder, made when it is first needed; None for the user's own.
    """

    def __init__(self, directory: Path | None = None) -> None:
        self.directory = default_directory() if directory is None else Path(directory)
        self._opened = dict[tuple[str, str, tuple[str, ...]], CachedVectors]()

    def of(self, identity: str, kind: str, views: Sequence[str]) -> CachedVectors:
        """Return the cached vectors of one embedder.

        Parameters
        ----------
        identity
            Everything that can change a vector.
        kind
            Kind of the samples.
        views
            Names of the views.
        """
        key = (identity, kind, tuple(views))
        if key not in self._opened:
            self._opened[key] = CachedVectors(self.directory, identity, kind, views)
        return self._opened[key]


class CachedVectors:
    """The vectors of one embedder in a cache, by the hashes of their samples.

    Parameters
    ----------
    directory
        The folder of the cache.
    identity, kind, views
        As in :meth:`Cache.of`.

    Attributes
    ----------
    folder
        Where the segments lie.
    damaged
        What was wrong with each file that could not be used.
    """

    def __init__(self, directory: Path, identity: str, kind: str, views: Sequence[str]) -> None:
        self._owner = {"identity": identity, "kind": kind}
        key = hashlib.sha256(f"{FORMAT}\n{identity}\n{kind}".encode()).hexdigest()
        self.folder = directory / "embeddings" / key[:32]
        self._views = sorted(views)
        self.damaged: list[str] = []
        self._index = SegmentIndex()
        self._unusable = set[str]()
        self._lock = Lock()

    def find(self, hashes: RowHashes) -> Iterator[tuple[Rows, EncodedBatch]]:
        """Yield the cached vectors, with their positions among the given hashes.

        A damaged file is removed and goes to :attr:`damaged`; what it held is not there, but for
        the rows that are whole where it is only rows that are damaged.
        """
        wanted = np.arange(len(hashes))
        while wanted.size:
            with self._lock:
                self._refresh()
                names, segments, rows = self._index.locate(hashes[wanted])
            there = np.flatnonzero(segments >= 0)
            order = there[np.lexsort((rows[there], segments[there]))]
            lost = [np.empty(0, np.intp)]
            for group in np.split(order, np.flatnonzero(np.diff(segments[order])) + 1):
                if not len(group):
                    continue
                places, name = wanted[group], names[segments[group[0]]]
                try:
                    batch = self._read(name, rows[group].astype(np.intp), hashes[places])
                except (DamagedSegmentError, OSError) as error:
                    self._set_aside(name, error)
                    self._salvage(name, error)
                    lost.append(places)
                else:
                    yield places, batch
            wanted = np.concatenate(lost)

    def missing(self, hashes: RowHashes) -> NDArray[np.bool_]:
        """Tell which samples have no cached vectors, as far as the heads of the segments tell."""
        with self._lock:
            self._refresh()
            return self._index.locate(hashes).segments < 0

    def store(self, hashes: RowHashes, batch: EncodedBatch) -> None:
        """Store the vectors of samples, either all of them or none.

        Raises
        ------
        OSError
            If the folder cannot be made or written to, or the disk is full.
        """
        name = self._write(hashes, batch)
        with self._lock:
            self._unusable.discard(name)
            self._index.add({name: hashes})
        self._merge()

    def forget(self, hashes: RowHashes) -> None:
        """Remove the segments that hold any of some samples, and the folders that become empty."""
        with self._lock:
            self._refresh()
            names, segments, _ = self._index.locate(hashes)
            while len(used := np.unique(segments[segments >= 0])):
                for segment in used:
                    (self.folder / names[segment]).unlink(missing_ok=True)
                self._refresh()
                names, segments, _ = self._index.locate(hashes)
        for emptied in (self.folder, self.folder.parent):
            with suppress(OSError):
                emptied.rmdir()

    def _refresh(self) -> None:
        """Take note of segments that others wrote, merged or removed."""
        try:
            there = {name for name in os.listdir(self.folder) if _is_segment(name)}
        except OSError:
            there = set()
        there -= self._unusable
        if gone := self._index.segments.keys() - there:
            self._index.remove(gone)
        fresh = {}
        for name in sorted(there - self._index.segments.keys()):
            try:
                fresh[name] = read_hashes(self.folder / name, self._owner)
            except (DamagedSegmentError, OSError) as error:
                self._set_aside(name, error)
        if fresh:
            self._index.add(fresh)

    def _read(self, name: str, rows: Rows, hashes: RowHashes) -> EncodedBatch:
        """Read rows of a segment, ascending, some perhaps several times."""
        path = self.folder / name
        single, places = rows, None
        if not np.diff(rows).all():
            single, places = np.unique(rows, return_inverse=True)
        stored, batch = read_segment(path, self._owner, single)
        if places is not None:
            stored, batch = stored[places], taken(batch, places)
        if sorted(batch.views) != self._views or not np.array_equal(stored, hashes):
            raise DamagedSegmentError(f"{path}: holds other views or samples than it must")
        return batch

    def _set_aside(self, name: str, error: Exception) -> None:
        """Use a segment no more; one that another process merged is only gone."""
        self._unusable.add(name)
        if isinstance(error, FileNotFoundError):
            return
        path = self.folder / name
        if isinstance(error, DamagedSegmentError):
            self.damaged.append(str(error))
            if not isinstance(error, DamagedRowsError):
                with suppress(OSError):
                    path.unlink(missing_ok=True)
        else:
            assert isinstance(error, OSError)
            self.damaged.append(f"{path}: cannot be read ({error.strerror or error})")

    def _salvage(self, name: str, error: Exception) -> None:
        """Write the rows of a segment that are whole anew, where others of it are damaged."""
        if not isinstance(error, DamagedRowsError):
            return
        with suppress(DamagedSegmentError, OSError):
            hashes, batch = read_sound(self.folder / name, self._owner)
            if len(hashes):
                written = self._write(hashes, batch)
                with self._lock:
                    self._unusable.discard(written)
        with suppress(OSError):
            (self.folder / name).unlink(missing_ok=True)

    def _write(self, hashes: RowHashes, batch: EncodedBatch) -> str:
        """Write a segment; return its name."""
        name = f"{hashlib.sha256(hashes.tobytes()).hexdigest()[:32]}{_SUFFIX}"
        self.folder.mkdir(parents=True, exist_ok=True)
        partial = self.folder / f".{name[:16]}-{uuid.uuid4().hex}.part"
        try:
            write_segment(partial, hashes, batch, self._owner)
            os.replace(partial, self.folder / name)
        except BaseException:
            partial.unlink(missing_ok=True)
            raise
        return name

    def _merge(self) -> None:
        """Merge small segments where there are many; what cannot be merged stays as it is."""
        with self._lock:
            small = [name for name, rows in self._index.segments.items() if len(rows) < SMALL]
        if len(small) < MANY:
            return
        waiting: list[str] = []
        parts: list[tuple[RowHashes, EncodedBatch]] = []
        for name in sorted(small):
            try:
                part = read_segment(self.folder / name, self._owner)
            except (DamagedSegmentError, OSError) as error:
                self._set_aside(name, error)
                self._salvage(name, error)
                continue
            if parts and (
                sum(len(hashes) for hashes, _ in parts) >= MERGED or _form(part) != _form(parts[0])
            ):
                self._replace(waiting, parts)
                waiting, parts = [], []
            waiting.append(name)
            parts.append(part)
        self._replace(waiting, parts)

    def _replace(
        self, names: Sequence[str], parts: Sequence[tuple[RowHashes, EncodedBatch]]
    ) -> None:
        """Write what small segments hold into one, and remove them."""
        if len(names) < 2:
            return
        hashes, first = np.unique(np.concatenate([part[0] for part in parts]), return_index=True)
        batch = taken(joined([part[1] for part in parts]), first)
        try:
            merged = self._write(hashes, batch)
            for name in {*names} - {merged}:
                (self.folder / name).unlink(missing_ok=True)
        except OSError:
            return


_SUFFIX = ".safetensors"


def _is_segment(name: str) -> bool:
    return name.endswith(_SUFFIX) and not name.startswith(".")


def _form(part: tuple[RowHashes, EncodedBatch]) -> tuple[Any, ...]:
    batch = part[1]
    widths = [(name, view.shape[1]) for name, view in batch.views.items()]
    return batch.reading is None, widths


class _Located(NamedTuple):
    """Where vectors are: the number of a segment, -1 for none, and the row in it."""

    names: Sequence[str]
    segments: NDArray[np.int32]
    rows: NDArray[np.int32]


class _Run(NamedTuple):
    """Sorted hashes, and where their vectors are; 24 bytes a sample."""

    hashes: RowHashes
    segments: NDArray[np.int32]
    rows: NDArray[np.int32]

    @classmethod
    def of(cls, parts: Sequence[_Run]) -> _Run:
        hashes, segments, rows = (np.concatenate(column) for column in zip(*parts, strict=True))
        order = np.argsort(hashes, kind="stable")
        return cls(hashes[order], segments[order], rows[order])


class SegmentIndex:
    """An index from samples to segments.

    Runs of sorted hashes, each more than twice as long as the next, so that both adding a segment
    and searching all stay cheap.

    Attributes
    ----------
    segments
        The hashes in each segment.
    """

    def __init__(self) -> None:
        self.segments: dict[str, RowHashes] = {}
        self._names: list[str] = []
        self._runs: list[_Run] = []

    def add(self, segments: dict[str, RowHashes]) -> None:
        """Add new segments."""
        runs = []
        for name, hashes in segments.items():
            size, number = len(hashes), len(self._names)
            rows = np.arange(size, dtype=np.int32)
            runs.append(_Run(hashes, np.full(size, number, np.int32), rows))
            self._names.append(name)
        self.segments.update(segments)
        self._runs.append(_Run.of(runs))
        while len(self._runs) > 1 and len(self._runs[-2][0]) <= 2 * len(self._runs[-1][0]):
            self._runs[-2:] = [_Run.of(self._runs[-2:])]

    def remove(self, names: set[str]) -> None:
        """Remove deleted segments."""
        left = {name: rows for name, rows in self.segments.items() if name not in names}
        self.segments, self._names, self._runs = {}, [], []
        if left:
            self.add(left)

    def locate(self, hashes: RowHashes) -> _Located:
        """Find the vectors of samples."""
        segments = np.full(len(hashes), -1, np.int32)
        rows = np.zeros(len(hashes), np.int32)
        for run in self._runs:
            if not len(run.hashes):
                continue
            places = np.searchsorted(run.hashes, hashes)
            places[places == len(run.hashes)] = 0
            there = np.flatnonzero(run.hashes[places] == hashes)
            segments[there], rows[there] = run.segments[places[there]], run.rows[places[there]]
        return _Located(tuple(self._names), segments, rows)


def taken(batch: EncodedBatch, rows: Rows) -> EncodedBatch:
    """Take some rows of a batch."""
    views = {name: view[rows] for name, view in batch.views.items()}
    reading = None if batch.reading is None else batch.reading.take(rows)
    return EncodedBatch(views, batch.truncated[rows], reading)


def joined(batches: Sequence[EncodedBatch]) -> EncodedBatch:
    """Concatenate the rows of several batches."""
    views = {
        name: np.concatenate([batch.views[name] for batch in batches]) for name in batches[0].views
    }
    return EncodedBatch(
        views,
        np.concatenate([batch.truncated for batch in batches]),
        ReadingCounts.joined([batch.reading for batch in batches]),
    )
