"""A file of word vectors in memory: GloVe, fastText and word2vec, plain, gzipped or zipped.

The matrix is read into its place block by block, by as many threads as there are cores, so the
file itself is never in memory. Nothing is unpickled.
"""

from __future__ import annotations

import gzip
import hashlib
import os
import zipfile
import zlib
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO, cast

import numpy as np
from numpy.typing import NDArray

from calipers.embed.words.word_vectors_layout import Layout, find_layout
from calipers.errors import InputError
from calipers.files import check_plain, fitting_in_memory

HEAD = 1 << 20
_GZIP, _ZIP = b"\x1f\x8b", b"PK\x03\x04"
_SHRINKS = 3
"""How many times smaller a compressed file may be, for a first guess at the number of words."""


@dataclass(frozen=True, eq=False)
class WordTable:
    """Words and their vectors.

    Attributes
    ----------
    rows
        Word to its row; of a word that stands twice in the file, the first.
    vectors
        float32 of shape (words in the file, d).
    sha256
        Hex SHA-256 of the file.
    """

    rows: dict[str, int]
    vectors: NDArray[np.float32]
    sha256: str


def read_word_vectors(path: str | Path, *, threads: int | None = None) -> WordTable:
    """Read word vectors from a file.

    Parameters
    ----------
    path
        GloVe text, fastText ``.vec``, or word2vec text or binary; also as ``.gz``, or as a zip
        with one member. What it is is told by its content.
    threads
        How many threads read numbers; None for one for each core.

    Raises
    ------
    InputError
        If there is no such file, it cannot be read, is empty, damaged or cut short, holds something
        else, a row has another number of values than the others, one is not a finite number, or
        there are more or fewer words than its header promises.
    """
    path = Path(path)
    check_plain(path)
    threads = threads or _cores()
    with fitting_in_memory(path), _readable(path), ThreadPoolExecutor(threads) as pool:
        sha256 = pool.submit(_hash, path)
        with _opened(path) as stream:
            layout = find_layout(stream.read(HEAD), str(path))
        with _opened(path) as stream:
            stream.read(layout.skip)
            words, vectors = _read(stream, layout, path, pool, threads)
        _check_count(len(words), layout, path)
        rows: dict[str, int] = {}
        for row, word in enumerate(words):
            rows.setdefault(word, row)
        return WordTable(rows, vectors, sha256.result())


def _read(
    stream: BinaryIO, layout: Layout, path: Path, pool: ThreadPoolExecutor, threads: int
) -> tuple[list[str], NDArray[np.float32]]:
    # Imported here, so that a file that holds something else is refused without the compiler
    from calipers.embed.words.word_vectors_binary import read_binary_rows
    from calipers.embed.words.word_vectors_text import read_text_rows

    size = path.stat().st_size * (_SHRINKS if _magic(path) in (_GZIP, _ZIP[:2]) else 1)
    if layout.kind == "binary":
        return read_binary_rows(stream, layout, str(path), size)
    return read_text_rows(stream, layout, str(path), size, pool, threads)


def _check_count(found: int, layout: Layout, path: Path) -> None:
    if layout.words is not None and found != layout.words:
        raise InputError(
            f"{path}: line 1 promises {layout.words:,} words, but the file holds {found:,}; it was "
            "cut short, or its first line is wrong"
        )


def _hash(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _magic(path: Path) -> bytes:
    with path.open("rb") as file:
        return file.read(2)


@contextmanager
def _readable(path: Path) -> Iterator[None]:
    """Turn what goes wrong with a file into messages that name it."""
    try:
        yield
    except FileNotFoundError as error:
        raise InputError(f"{path}: no such file") from error
    except (EOFError, zlib.error, gzip.BadGzipFile, zipfile.BadZipFile) as error:
        raise InputError(f"{path}: is damaged or cut short ({error})") from error
    except NotImplementedError as error:
        raise InputError(f"{path}: cannot be unpacked here ({error}); unpack it first") from error
    except OSError as error:
        raise InputError(f"{path}: cannot be read ({error.strerror or error})") from error


@contextmanager
def _opened(path: Path) -> Iterator[BinaryIO]:
    """Open a file for reading, decompressed."""
    magic = _magic(path)
    if magic == _GZIP:
        with gzip.open(path, "rb") as stream:
            yield cast(BinaryIO, stream)
    elif magic == _ZIP[:2]:
        with zipfile.ZipFile(path) as archive, archive.open(_only_member(archive, path)) as member:
            yield cast(BinaryIO, member)
    else:
        with path.open("rb") as stream:
            yield stream


def _only_member(archive: zipfile.ZipFile, path: Path) -> zipfile.ZipInfo:
    members = [each for each in archive.infolist() if not each.is_dir()]
    if len(members) != 1:
        names = ", ".join(each.filename for each in members[:5])
        raise InputError(
            f"{path}: holds {len(members)} files ({names}); unpack it and name the one to use"
        )
    if members[0].flag_bits & 1:
        raise InputError(f"{path}: is protected by a password; unpack it first")
    return members[0]


def _cores() -> int:
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1
