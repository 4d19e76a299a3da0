"""Compressed files: recognised by name, read as streams of their contents.

gzip, bzip2 and xz come with Python, zstd with pyarrow.
"""

from __future__ import annotations

import gzip
import zlib
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import PurePath
from typing import Any, BinaryIO

from calipers.errors import MissingExtraError, require


@dataclass(frozen=True)
class Compression:
    """A compression format.

    Attributes
    ----------
    suffix
        What the names of such files end in.
    name
        What it is called.
    start
        What such data begin with.
    compressed
        What messages call a file that was compressed so.
    opened
        Gives the decompressed bytes of a stream, which a person calls as the second argument says.
    damage
        What is raised where the data are damaged or cut short.
    """

    suffix: str
    name: str
    start: bytes
    compressed: str
    opened: Callable[[BinaryIO, object], Any]
    damage: tuple[type[Exception], ...]


def _bzip2(stream: BinaryIO, path: object) -> Any:
    try:
        import bz2
    except ImportError as error:
        raise _not_built(path, "bzip2") from error
    return bz2.BZ2File(stream)


def _xz(stream: BinaryIO, path: object) -> Any:
    try:
        import lzma
    except ImportError as error:
        raise _not_built(path, "xz") from error

    class File(lzma.LZMAFile):
        """Raises `OSError` where the data are damaged, as the others do."""

        def read(self, size: int | None = -1) -> bytes:
            try:
                return super().read(size)
            except lzma.LZMAError as error:
                raise OSError(str(error)) from error

        def readinto(self, buffer: Any) -> int:
            part = self.read(len(buffer))
            buffer[: len(part)] = part
            return len(part)

    return File(stream)


def _not_built(path: object, name: str) -> MissingExtraError:
    return MissingExtraError(f"{path}: this Python was built without {name}; decompress it first")


def _zstd(stream: BinaryIO, path: object) -> Any:
    arrow: Any = require("pyarrow", extra="parquet", purpose=f"{path}: a file compressed by zstd")
    return arrow.CompressedInputStream(arrow.PythonFile(stream, "r"), "zstd")


COMPRESSIONS = (
    Compression(
        ".gz",
        "gzip",
        b"\x1f\x8b",
        "gzipped",
        lambda stream, _: gzip.GzipFile(fileobj=stream),
        (EOFError, gzip.BadGzipFile, zlib.error),
    ),
    Compression(
        ".bz2",
        "bzip2",
        b"BZh",
        "compressed by bzip2",
        _bzip2,
        (EOFError, OSError),
    ),
    Compression(
        ".xz",
        "xz",
        b"\xfd7zXZ",
        "compressed by xz",
        _xz,
        (EOFError, OSError),
    ),
    Compression(".zst", "zstd", b"\x28\xb5\x2f\xfd", "compressed by zstd", _zstd, (OSError,)),
)

SUFFIXES = tuple(compression.suffix for compression in COMPRESSIONS)


def compression_of(path: PurePath) -> Compression | None:
    """Return the compression of a file by its name; None where there is none.

    Examples
    --------
    >>> compression_of(PurePath("a.jsonl.zst")).name, compression_of(PurePath("a.jsonl"))
    ('zstd', None)
    """
    suffix = path.suffix.lower()
    return next((known for known in COMPRESSIONS if known.suffix == suffix), None)


def looks_compressed(start: bytes) -> Compression | None:
    """Return the compression of data by their first bytes; None where there is none."""
    return next((known for known in COMPRESSIONS if start.startswith(known.start)), None)
