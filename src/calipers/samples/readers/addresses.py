"""Files at addresses with ``://``, such as ``s3://bucket/ref.parquet``, read by fsspec.

Nothing is reached but what a person named. Of a parquet file only the columns that are needed are
fetched; files of lines are read as they come. Formats that are mapped from disk (``.npy``,
``.safetensors``, Arrow) must be copied first.
"""

from __future__ import annotations

import glob
import io
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path, PurePosixPath
from typing import Any, BinaryIO

from calipers.errors import CalipersError, InputError, MissingExtraError, first_line, require
from calipers.memory import read_whole
from calipers.samples.joined_sets import joined_sets
from calipers.samples.readers.shards import TEXTS, check_complete, natural, text_shards
from calipers.samples.sample_set import SampleSet
from calipers.samples.source import Source, decompressed, is_compressed, split_suffix

_SCHEME = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*://")

Read = Callable[[BinaryIO, Source], SampleSet]

TABLE = ".parquet"


def is_address(text: str) -> bool:
    """Tell whether a text is an address rather than a path.

    Examples
    --------
    >>> [is_address(text) for text in ("s3://b/x.parquet", "a=s3://b/x.parquet", "x.parquet")]
    [True, False, False]
    """
    return _SCHEME.match(text) is not None


@dataclass(frozen=True)
class Remote:
    """A file, a folder or a pattern at an address.

    Attributes
    ----------
    address
        What a person wrote.
    storage
        What fsspec reaches it by.
    path
        Where it lies there.
    """

    address: str
    storage: Any
    path: str

    @classmethod
    def at(cls, address: str) -> Remote:
        """Find the file system of an address, without connecting.

        Raises
        ------
        MissingExtraError
            If fsspec, or what it needs for this kind of address, is not installed.
        InputError
            If there is no such kind of address.
        """
        fsspec = require("fsspec", extra="remote", purpose=address)
        try:
            storage, path = fsspec.core.url_to_fs(address)
        except ImportError as error:
            raise MissingExtraError(f"{address}: cannot be read: {first_line(error)}") from error
        except (OSError, ValueError) as error:
            raise InputError(f"{address}: {first_line(error)}") from error
        return cls(address, storage, str(path))

    @property
    def name(self) -> str:
        """The name of its set: the file's name without suffixes, or the folder's."""
        place = PurePosixPath(self.path)
        if glob.has_magic(self.path):
            return place.parent.name
        return split_suffix(place)[0] if self.suffix else place.name

    @property
    def suffix(self) -> str:
        """The suffix of its name, without ``.gz`` and the like."""
        return split_suffix(PurePosixPath(self.path))[1]

    def found(self) -> list[Remote]:
        """List the files: itself, the matches of a pattern, or the shards of a folder.

        Raises
        ------
        InputError
            If there is nothing.
        """
        with self.reached():
            if glob.has_magic(self.path):
                paths = list(self.storage.glob(self.path))
            elif self.storage.isdir(self.path):
                listed = self.storage.ls(self.path, detail=False)
                tables = [path for path in listed if path.lower().endswith(TABLE)]
                paths = tables or list(map(str, text_shards(map(PurePosixPath, listed))))
                if not paths:
                    raise InputError(
                        f"{self.address}: is a folder without {TABLE} files, or files of texts "
                        "whose names say that they are shards, such as part-00000.jsonl"
                    )
            else:
                paths = [self.path]
                if not self.storage.exists(self.path):
                    raise InputError(f"{self.address}: there is no such file")
        if not paths:
            raise InputError(f"{self.address}: no file matches it")
        if paths == [self.path]:
            return [self]
        return [self._beside(str(path)) for path in natural(map(PurePosixPath, paths))]

    def _beside(self, path: str) -> Remote:
        return replace(self, address=self.storage.unstrip_protocol(path), path=path)

    @contextmanager
    def reached(self) -> Iterator[None]:
        """Turn errors of access into messages."""
        try:
            yield
        except CalipersError:
            raise
        except ImportError as error:
            raise MissingExtraError(
                f"{self.address}: cannot be read: {first_line(error)}"
            ) from error
        except (OSError, ValueError) as error:
            raise InputError(f"{self.address}: cannot be read: {first_line(error)}") from error

    @contextmanager
    def stream(self) -> Iterator[BinaryIO]:
        """Open the file as a stream of its decompressed bytes."""
        with self.reached(), self.storage.open(self.path, "rb") as stream:
            yield decompressed(stream, PurePosixPath(self.path), self.address)

    @contextmanager
    def seekable(self) -> Iterator[BinaryIO]:
        """Open the file for formats with random access; a compressed one is read into memory."""
        with self.stream() as stream:
            if is_compressed(PurePosixPath(self.path)):
                yield io.BytesIO(
                    read_whole(stream, lambda why: InputError(f"{self.address}: {why}"))
                )
            else:
                yield stream

    def check_filled(self) -> None:
        """Refuse an empty file."""
        with self.reached():
            if self.storage.size(self.path) == 0:
                raise InputError(f"{self.address}: is empty")


def matches(address: str) -> list[str]:
    """Return the addresses of the files that match a pattern, or the address itself."""
    if not glob.has_magic(address):
        return [address]
    return [file.address for file in Remote.at(address).found()]


def read_remote(
    place: Remote, source: Source, streamed: Mapping[str, Read], seeking: Mapping[str, Read]
) -> SampleSet:
    """Read the file, or the parquet shards, at an address.

    Parameters
    ----------
    place
        Where it lies.
    source
        What was asked of it.
    streamed, seeking
        What reads each kind of file, by suffix, from a stream or from one that it jumps about in.

    Raises
    ------
    InputError
        If there is nothing, it is of another kind, or cannot be read.
    """
    files = place.found()
    if files != [place]:
        check_complete([PurePosixPath(file.path) for file in files], source)
    for file in files:
        file.check_filled()
    if _are_tables(files):
        require("pyarrow", extra="parquet", purpose=f"{source.path}: a parquet file")
        from calipers.samples.readers.tables import open_parquet, read_tables

        tables = [
            open_parquet(Path(), replace(source, path=file.address), opened=file.seekable)
            for file in files
        ]
        return read_tables(tables, source)
    if len(files) > 1:
        parts = [
            _read_file(file, replace(source, path=file.address), streamed, seeking)
            for file in files
        ]
        return joined_sets(parts, source)
    return _read_file(files[0], source, streamed, seeking)


def _read_file(
    file: Remote, source: Source, streamed: Mapping[str, Read], seeking: Mapping[str, Read]
) -> SampleSet:
    read = {**streamed, **seeking}.get(file.suffix)
    if read is None:
        known = ", ".join((*streamed, *seeking, TABLE))
        suffix = f"suffix {file.suffix!r}" if file.suffix else "no suffix"
        raise source.error(
            f"a file with {suffix} cannot be read from there; possible are {known}; copy it to "
            "this machine first"
        )
    with file.seekable() if file.suffix in seeking else file.stream() as stream:
        return read(stream, source)


def _are_tables(files: Sequence[Remote]) -> bool:
    """Tell whether files are parquet files; refuse several that are neither that nor texts."""
    tables = [file.suffix == TABLE for file in files]
    suffixes = {file.suffix for file in files}
    if len(files) > 1 and not all(tables) and (len(suffixes) > 1 or not suffixes & set(TEXTS)):
        other = next(file for file in files if file.suffix != TABLE).address
        raise InputError(
            f"{files[0].address}: several files behind an address must be shards of one set, "
            f"{TABLE} or files of texts; found {other} among them"
        )
    return all(tables)
