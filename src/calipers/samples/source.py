"""A file to be read: the options for reading, its messages, and its bytes.

Bytes come decompressed, with a bound on how far a small file may grow and a check, before any is
kept, that its lines fit in memory.
"""

from __future__ import annotations

import io
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, replace
from dataclasses import field as made
from pathlib import Path, PurePath
from typing import TYPE_CHECKING, BinaryIO, Literal, cast

from calipers.errors import InputError
from calipers.memory import ROW, budget, read_whole, size_words
from calipers.progress import Progress
from calipers.samples.compression import Compression, compression_of

if TYPE_CHECKING:
    from _typeshed import WriteableBuffer

MAX_DECOMPRESSED = 8 * 2**30
"""Most bytes that a compressed file may hold, unless a person allows more memory than that."""

BUFFER = 2**20

_quotes: ContextVar[bool] = ContextVar("calipers_quotes", default=True)


@contextmanager
def quotation_marks(*, enclose: bool) -> Iterator[None]:
    """Set whether quotation marks enclose values of CSV and TSV files, within a context."""
    token = _quotes.set(enclose)
    try:
        yield
    finally:
        _quotes.reset(token)


Unit = Literal["line", "row", "sample"]
LabelKind = Literal["group", "cluster"]


@dataclass(frozen=True)
class Wanted:
    """Labels of samples to be read from a field of their rows.

    Attributes
    ----------
    kind
        What the labels say: the group of a sample, or the cluster that it was drawn with.
    path
        Path of the field.
    needed
        Whether a file in which no row has that field is refused.
    """

    kind: LabelKind
    path: str
    needed: bool = True

    def __str__(self) -> str:
        return f"{self.kind} {self.path!r}"


@dataclass(frozen=True)
class Source:
    """A file, or standard input, with the options for reading it.

    Attributes
    ----------
    path
        What a person calls the file; it begins every message.
    name
        Name of the sample set that is read from it.
    field
        Path of the text field, or None to find it.
    group
        Path of the field whose value is each sample's group, or None.
    group_needed
        Whether a file in which no row has that field is refused.
    cluster, cluster_needed
        The same of the field whose value names the cluster of each sample.
    unit
        What the numbers in messages count, from 1.
    skip_bad
        Whether image files that cannot be read are left out, with a note, instead of refused.
    progress
        Display of the progress of the first check of image files.
    header_note
        Said where a field is missing, for formats with the names of fields in a header row.
    quotes
        Whether quotation marks enclose values of CSV and TSV, or are part of them.
    """

    path: str
    name: str
    field: str | None = None
    group: str | None = None
    group_needed: bool = True
    cluster: str | None = None
    cluster_needed: bool = True
    unit: Unit = "line"
    header_note: str = ""
    quotes: bool = made(default_factory=_quotes.get)
    skip_bad: bool = False
    progress: Progress | None = None

    @property
    def labels(self) -> tuple[Wanted, ...]:
        """The requested labels."""
        asked: tuple[tuple[LabelKind, str | None, bool], ...] = (
            ("group", self.group, self.group_needed),
            ("cluster", self.cluster, self.cluster_needed),
        )
        return tuple(Wanted(kind, path, needed) for kind, path, needed in asked if path is not None)

    def counting(self, unit: Unit, header_note: str = "") -> Source:
        """Return the same source with another unit in its messages."""
        return replace(self, unit=unit, header_note=header_note)

    def called(self, name: str) -> Source:
        """Return the same source under the name of an object in memory."""
        return replace(self, path=name, name=name)

    def error(self, problem: str) -> InputError:
        """Build the error for a problem of the whole file."""
        return InputError(f"{self.path}: {problem}")

    def row_error(self, number: int, problem: str) -> InputError:
        """Build the error for a problem of one line or row, counted from 1."""
        return InputError(f"{self.path}: {self.unit} {number}: {problem}")


def split_suffix(path: PurePath) -> tuple[str, str]:
    """Split a file's name into stem and suffix, without ``.gz``: ``("a.b", ".jsonl")``."""
    packed = compression_of(path)
    bare = PurePath(path.name if packed is None else path.name[: -len(packed.suffix)])
    return bare.stem, bare.suffix.lower()


def is_compressed(path: PurePath) -> bool:
    """Tell whether a file is compressed, by its name."""
    return compression_of(path) is not None


@contextmanager
def open_stream(path: Path) -> Iterator[BinaryIO]:
    """Open a file as a stream of its decompressed bytes.

    Raises
    ------
    InputError
        If the file cannot be opened or read, is damaged compressed data, or grows over
        `MAX_DECOMPRESSED`.
    """
    with _opened(path) as stream:
        yield decompressed(stream, path, path)


@contextmanager
def open_seekable(path: Path) -> Iterator[BinaryIO]:
    """Open a file for formats with random access; a compressed one is unpacked to memory."""
    with open_stream(path) as stream:
        yield io.BytesIO(read_whole(stream, _about(path))) if is_compressed(path) else stream


def check_decompressed(path: object, size: int) -> None:
    """Refuse a small file that would decompress to a very large one.

    Raises
    ------
    InputError
        If it holds more than `MAX_DECOMPRESSED`, and than the memory that a person allowed.
    """
    current = budget()
    most = max(MAX_DECOMPRESSED, current.limit if current.asked else 0)
    if size > most:
        raise InputError(
            f"{path}: holds more than {most:,} bytes when decompressed, which is the most that is "
            "read from a compressed file; decompress it first if it is meant to be this large, or "
            "allow more with `calipers.memory_limit`"
        )


def check_lines_fit(path: Path, in_memory: Callable[[bytes], int]) -> None:
    """Refuse lines that will not fit in memory, before any is kept.

    Where the beginning of the file lets one expect too many, all lines are counted.

    Parameters
    ----------
    path
        The file.
    in_memory
        Tells how many bytes some lines take in memory at the least: `lines_size` or `rows_size`.

    Raises
    ------
    InputError
        If they take more than may be taken.
    """
    if not path.is_file():
        return
    current = budget()
    size = _counted(path, in_memory, current.left)
    packed = compression_of(path)
    stored = "on disk" if packed is None else packed.compressed
    on_disk = f"{size_words(path.stat().st_size)} {stored}"
    current.check_claim(f"holds lines ({on_disk})", size, _about(path))


def lines_size(content: bytes) -> int:
    """Return the memory that lines of text take, without their ends.

    Examples
    --------
    >>> lines_size(b"one\\ntwo\\n")
    116
    """
    return len(content) + (ROW + 8 - len(b"\r\n")) * content.count(b"\n")


def rows_size(content: bytes) -> int:
    """Return the least memory that JSON lines take, whatever is kept of each.

    Output files of a batch interface are left to the reading, since their rows may hold no text.
    """
    if b'"custom_id"' in content:
        return 0
    ends = (b"}\n", b'"\n', b"]\n")
    return (ROW + 8) * sum(map(content.count, ends))


def _counted(path: Path, in_memory: Callable[[bytes], int], most: int) -> int:
    """Count what lines take in memory, until that is more than `most`.

    Less than the half of `most`, as judged by the first MiB, counts as 0.
    """
    packed = compression_of(path)
    with _opened(path) as stream, _refusing_damage(packed, path):
        lines = stream if packed is None else cast(BinaryIO, packed.opened(stream, path))
        taken = in_memory(lines.read(BUFFER))
        size, place = path.stat().st_size, stream.tell()
        if place < size and size * taken <= most / 2 * place:
            return 0
        while taken <= most and (part := lines.read(BUFFER)):
            taken += in_memory(part)
    return taken


@contextmanager
def _opened(path: Path) -> Iterator[BinaryIO]:
    try:
        with path.open("rb", buffering=BUFFER) as stream:
            yield stream
    except OSError as error:
        raise InputError(f"{path}: cannot be read: {error.strerror or error}") from error


def _about(path: Path) -> Callable[[str], InputError]:
    return lambda problem: InputError(f"{path}: {problem}")


@contextmanager
def _refusing_damage(packed: Compression | None, path: object) -> Iterator[None]:
    if packed is None:
        yield
        return
    try:
        yield
    except packed.damage as error:
        raise InputError(f"{path}: damaged {packed.name} data: {error}") from error


def decompressed(stream: BinaryIO, named: PurePath, path: object) -> BinaryIO:
    """Return the decompressed bytes of a stream, whose growth is limited.

    Parameters
    ----------
    stream
        The bytes of a file.
    named
        Its name, which tells whether and how it is compressed.
    path
        The name of the embedder.
    """
    packed = compression_of(named)
    if packed is None:
        return stream
    return cast(BinaryIO, io.BufferedReader(_BoundedStream(stream, packed, path), BUFFER))


class _BoundedStream(io.RawIOBase):
    """The decompressed bytes of a stream, counted as they come."""

    def __init__(self, stream: BinaryIO, packed: Compression, path: object) -> None:
        with _refusing_damage(packed, path):
            self._stream = packed.opened(stream, path)
        self._packed, self._path = packed, path
        self._count = 0

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: WriteableBuffer) -> int:
        with _refusing_damage(self._packed, self._path):
            count: int = self._stream.readinto(buffer)
        self._count += count
        check_decompressed(self._path, self._count)
        return count
