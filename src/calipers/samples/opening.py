"""Open files as bytes, decompressed, with a bound on how far a small file may grow."""

from __future__ import annotations

import gzip
import io
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO, cast

from calipers.errors import InputError

if TYPE_CHECKING:
    from _typeshed import WriteableBuffer

MAX_DECOMPRESSED = 8 * 2**30
"""Most bytes that a compressed file may hold; more is refused while it is being read."""

BUFFER = 2**20


def split_suffix(path: Path) -> tuple[str, str]:
    """Split a file's name into stem and suffix, ``.gz`` taken off: ``("a.b", ".jsonl")``."""
    bare = Path(path.name[:-3]) if is_gzipped(path) else Path(path.name)
    return bare.stem, bare.suffix.lower()


def is_gzipped(path: Path) -> bool:
    """Tell from its name whether a file is gzipped."""
    return path.suffix.lower() == ".gz"


@contextmanager
def open_stream(path: Path) -> Iterator[BinaryIO]:
    """Open a file as a stream of its decompressed bytes.

    Raises
    ------
    InputError
        If the file cannot be opened or read, is damaged gzip data, or grows over
        `MAX_DECOMPRESSED`.
    """
    try:
        with path.open("rb", buffering=BUFFER) as stream:
            yield _decompressed(stream, path) if is_gzipped(path) else stream
    except OSError as error:
        raise InputError(f"{path}: cannot be read: {error.strerror or error}") from error


@contextmanager
def open_seekable(path: Path) -> Iterator[BinaryIO]:
    """Open a file for formats that jump about in it; a gzipped one is decompressed to memory."""
    with open_stream(path) as stream:
        yield io.BytesIO(stream.read()) if is_gzipped(path) else stream


def too_large(path: object) -> InputError:
    """Build the error for a small file that would fill the memory."""
    return InputError(
        f"{path}: holds more than {MAX_DECOMPRESSED:,} bytes when decompressed, which is the most "
        "that is read from a compressed file; decompress it first if it is meant to be this large"
    )


def _decompressed(stream: BinaryIO, path: Path) -> BinaryIO:
    return cast(BinaryIO, io.BufferedReader(_BoundedGzip(stream, path), BUFFER))


class _BoundedGzip(io.RawIOBase):
    """The decompressed bytes of a stream, counted as they come."""

    def __init__(self, stream: BinaryIO, path: Path) -> None:
        self._gzip = gzip.GzipFile(fileobj=stream)
        self._path = path
        self._count = 0

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: WriteableBuffer) -> int:
        try:
            count = self._gzip.readinto(buffer)
        except (EOFError, gzip.BadGzipFile, zlib.error) as error:
            raise InputError(f"{self._path}: damaged gzip data: {error}") from error
        self._count += count
        if self._count > MAX_DECOMPRESSED:
            raise too_large(self._path)
        return count
