"""Reading files of word vectors: GloVe, fastText and word2vec, plain, gzipped or zipped.

What kind of file one is, its first bytes tell, never its name. The matrix is made once and read
into its place block by block, so that the file itself is never in memory: lines of text by a
compiled kernel, each block divided among threads, and word2vec's binary rows by NumPy. Numbers come
out as ``np.float32(text)`` gives them; what the kernel does not take for a word and its numbers is
left to Python, line by line. Nothing is unpickled.
"""

from __future__ import annotations

import gzip
import hashlib
import re
import zipfile
import zlib
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import chain, pairwise, takewhile
from pathlib import Path
from typing import BinaryIO, cast

import numpy as np
from numpy.typing import NDArray

from calipers.errors import InputError
from calipers.files import check_plain, fitting_in_memory
from calipers.numeric import native
from calipers.numeric.threads import available_threads

EXPECTED = (
    "word vectors are a text file with a word and its numbers on each line (GloVe, fastText .vec), "
    "or one that starts with the number of words and of numbers (word2vec, text or binary)"
)
_HEADER = re.compile(rb"\s*([0-9]{1,12})[ \t]+([0-9]{1,6})[ \t\r]*\n")
_LINES = 100  # of a file without a header, to find how many numbers most lines have
_OTHER = {
    b"\x93NUMPY": "a NumPy array; give it as the reference or a system, which takes vectors",
    b"\x89HDF": "an HDF5 file",
    b"\xba\x16\x4f\x2f": "a model in fastText's own format; use its .vec file",
    b"GGUF": "a language model in GGUF format",
    b"%PDF": "a PDF file",
    b"\x1f\x8b": "compressed twice",
}
_PICKLE = re.compile(rb"\x80[\x02-\x05]")
_CONTROL = re.compile(rb"[\x00-\x08\x0e-\x1f]")


@dataclass(frozen=True)
class Layout:
    """The format of the rows of a file.

    Attributes
    ----------
    kind
        ``"text"`` or ``"binary"``.
    width
        Numbers of a vector.
    words
        How many words the header promises; None without a header.
    skip
        Bytes of the header.
    """

    kind: str
    width: int
    words: int | None
    skip: int


def find_layout(head: bytes, name: str) -> Layout:
    """Recognise the format of a file from its beginning.

    Parameters
    ----------
    head
        Its first bytes, after decompression: a megabyte, or all there is.
    name
        What messages call it.

    Raises
    ------
    InputError
        If it is empty, or does not hold word vectors.
    """
    if not head.strip():
        raise InputError(f"{name}: is empty; {EXPECTED}")
    _refuse_others(head, name)
    header = _HEADER.match(head)
    if header is None:
        return Layout("text", _usual_width(head, name), None, 0)
    words, width = int(header[1]), int(header[2])
    if not words or not width:
        raise InputError(
            f"{name}: line 1 promises {words} words with {width} numbers; each must be at least 1"
        )
    rest = head[header.end() :]
    kind = "binary" if _CONTROL.search(rest) and numbers_in(rest) != width else "text"
    return Layout(kind, width, words, header.end())


def _refuse_others(head: bytes, name: str) -> None:
    if _PICKLE.match(head):
        raise InputError(
            f"{name}: is a pickled file, as gensim's own save() writes; it could run code when "
            "opened, so it is refused. Save the vectors with save_word2vec_format() instead"
        )
    for magic, what in _OTHER.items():
        if head.startswith(magic):
            raise InputError(f"{name}: is {what}; {EXPECTED}")
    if _CONTROL.search(head) and not _HEADER.match(head):
        raise InputError(f"{name}: is a binary file of an unknown kind; {EXPECTED}")


def _usual_width(head: bytes, name: str) -> int:
    """Find how many numbers stand at the end of most of the first lines."""
    lines = head.split(b"\n")[:_LINES]
    if len(lines) > 1:
        lines.pop()  # it may be cut, or be empty behind the last line break
    widths = Counter(numbers_in(line) for line in lines if line.strip())
    # A word of several parts may end in a number, so the fewest of equally common ones
    width = min(widths, key=lambda width: (-widths[width], width))
    if width < 2:
        first = lines[0][:60].decode("utf-8", "replace").strip()
        raise InputError(f"{name}: holds no word vectors; {EXPECTED}. Line 1 is {first!r}")
    return width


def numbers_in(line: bytes) -> int:
    """Count the numbers at the end of the first line, after at least one word."""
    fields = line.partition(b"\n")[0].split()[1:]
    return len(list(takewhile(is_number, reversed(fields))))


def is_number(field: bytes) -> bool:
    """Tell whether a field is a number in Python's syntax, including NaN and infinity."""
    try:
        float(field)
    except ValueError:
        return False
    return b"_" not in field


_MARGIN = 1.03  # words grow longer towards the end of a file sorted by frequency


class GrowingMatrix:
    """A float32 matrix to which rows are added.

    Parameters
    ----------
    width
        Numbers of a row.
    most
        How many rows are promised; None if nothing is.
    """

    def __init__(self, width: int, *, most: int | None) -> None:
        self._most = most
        self._array = np.empty((0, width), np.float32)
        self._filled = 0

    def expect(self, rows: int) -> None:
        """Allocate memory for about so many rows, before the first is read."""
        if not len(self._array):
            rows = int(rows * _MARGIN) if self._most is None else min(self._most, 2 * rows)
            # Room that no row is written to takes no memory
            self._array = np.empty((rows, self._array.shape[1]), np.float32)

    def grow(self, rows: int) -> int:
        """Add rows, and return the index of the first; no views of rows may be in use."""
        start = self._filled
        self._filled += rows
        if self._filled > len(self._array):
            self._resize(self._filled + self._filled // 8)
        return start

    def rows(self, start: int, count: int) -> NDArray[np.float32]:
        """Return rows to be filled, without a copy."""
        return self._array[start : start + count]

    def finished(self) -> NDArray[np.float32]:
        """Return all rows, and release unused memory."""
        self._resize(self._filled)
        return self._array

    def _resize(self, rows: int) -> None:
        # In place: a copy would need the memory twice
        self._array.resize((rows, self._array.shape[1]), refcheck=False)


BLOCK = 1 << 23
LONGEST_LINE = 1 << 26
"""Bytes of a line beyond which no line of word vectors goes."""


def read_text_rows(
    stream: BinaryIO,
    layout: Layout,
    name: str,
    size: int,
    pool: ThreadPoolExecutor,
    threads: int,
) -> tuple[list[str], NDArray[np.float32]]:
    """Read words and numbers line by line.

    Parameters
    ----------
    stream
        The file behind its header.
    layout
        How it is written.
    name
        What messages call it.
    size
        About how many bytes there are.
    pool, threads
        What reads, and into how many parts a block is divided.

    Returns
    -------
    tuple
        The words in their order, and float32 of shape (words, d).

    Raises
    ------
    InputError
        If a line has another number of values, or one that is not a finite number.
    """
    matrix = GrowingMatrix(layout.width, most=layout.words)
    words: list[str] = []
    header = 0 if layout.words is None else 1
    running: list[Future[list[str]]] = []
    for block in _whole_lines(stream, name):
        # While a block is read the one before is parsed; the matrix moves only when none is
        words += chain.from_iterable(job.result() for job in running)
        # Cut at line breaks into about as many parts as there are threads
        ends = [block.find(b"\n", len(block) * part // threads) + 1 for part in range(1, threads)]
        spans = list(pairwise(sorted({0, *ends, len(block)})))
        lines = [block.count(b"\n", *span) for span in spans]
        matrix.expect(size * sum(lines) // len(block))
        row = matrix.grow(sum(lines))
        running = []
        for span, count in zip(spans, lines, strict=True):
            vectors, line = matrix.rows(row, count), row + header + 1
            running.append(pool.submit(_read_part, block, span, vectors, line, name))
            row += count
    words += chain.from_iterable(job.result() for job in running)
    return words, matrix.finished()


def _whole_lines(stream: BinaryIO, name: str) -> Iterator[bytes]:
    """Yield blocks that end with a line break; the empty lines at the end of the file are left."""
    rest = b""
    while data := stream.read(BLOCK):
        data = rest + data
        cut = data.rfind(b"\n", 0, len(data.rstrip())) + 1
        if cut:
            yield data[:cut]
        rest = data[cut:]
        if len(rest) > LONGEST_LINE:
            raise InputError(f"{name}: a line is longer than {LONGEST_LINE:,} bytes")
    if rest.strip():
        yield rest.rstrip() + b"\n"


def _read_part(
    block: bytes, span: tuple[int, int], vectors: NDArray[np.float32], line: int, name: str
) -> list[str]:
    """Fill in the vectors of some lines, the first of which has the number `line`."""
    first, last = span
    starts, stops, done = read_plainly(np.frombuffer(block, np.uint8)[first:last], vectors)
    begins = (starts + first).tolist()
    words = [block[i:j] for i, j in zip(begins, (stops + first).tolist(), strict=False)]
    for row in np.flatnonzero(~done).tolist():
        content = block[begins[row] : begins[row + 1] - 1]
        words[row] = _read_carefully(content, vectors[row], f"{name}: line {line + row:,}")
    return list(map(_decode, words))


_POWERS = np.array([float(f"1e{exponent}") for exponent in range(309)])

_read_lines = native.kernel(
    "read_word_lines",
    "text u1[size]",
    "powers f8[309]",
    "vectors f4[count, width] out",
    "starts i8[ends] out",
    "stops i8[ends] out",
    "done b1[count] out",
    returns="bool",
)


def read_plainly(
    text: NDArray[np.uint8], vectors: NDArray[np.float32]
) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.bool_]]:
    """Read lines of a word and its numbers, separated by a space or tab.

    A number is written where it is certain how the exact one is rounded to float32. Other lines are
    left to Python.

    Parameters
    ----------
    text
        Bytes of whole lines.
    vectors
        Takes the numbers, float32 of shape (lines, d).

    Returns
    -------
    tuple
        Where each line begins and the end of the last, int64 of shape (lines + 1,); where each
        word ends, (lines,); and whether a line's numbers are read.

    Raises
    ------
    ValueError
        If there are not so many lines, or the last has no line break.
    """
    starts, stops = np.empty((2, len(vectors) + 1), np.int64)
    done = np.empty(len(vectors), np.bool_)
    if text[-1:].tobytes() not in (b"\n", b"") or not _read_lines(
        text, _POWERS, vectors, starts, stops, done
    ):
        raise ValueError(f"the text is not {len(vectors)} whole lines")
    return starts, stops[:-1], done


def _read_carefully(line: bytes, vector: NDArray[np.float32], where: str) -> bytes:
    """Read a line whose word may hold spaces, and whose numbers may be of any form."""
    width = len(vector)
    plain = line.replace(b"\t", b" ").rstrip(b" \r")
    word, _, rest = plain.partition(b" ")
    numbers = list(filter(None, rest.split(b" ")))
    if len(numbers) != width or not all(map(is_number, numbers)):
        fields = plain.lstrip(b" \r").split(b" ")
        word, numbers = b" ".join(fields[:-width]), fields[-width:]
        if len(fields) <= width or not all(map(is_number, numbers)):
            raise _broken(line, width, where)
    with np.errstate(over="ignore"):
        vector[:] = np.array([float(field) for field in numbers]).astype(np.float32)
    if not np.isfinite(vector).all():
        number = numbers[int(np.flatnonzero(~np.isfinite(vector))[0])].decode()
        raise InputError(f"{where}: every number must be finite in float32; found {number}")
    return word


def _broken(line: bytes, width: int, where: str) -> InputError:
    fields = [field.decode("utf-8", "replace") for field in line.split()]
    if not fields:
        return InputError(f"{where}: is empty; each line must be a word and {width} numbers")
    odd = [field for field in fields[1:] if not is_number(field.encode())]
    if odd and len(fields) > width:
        return InputError(
            f"{where}: a word must be followed by {width} numbers; found {odd[-1][:40]!r} among "
            f"those of the word {fields[0][:40]!r}"
        )
    return InputError(
        f"{where}: a word must be followed by {width} numbers; the word {fields[0][:40]!r} has "
        f"{len(fields) - 1}"
    )


def _decode(word: bytes) -> str:
    # What is not UTF-8 stays apart from every word that a text can hold
    return word.decode("utf-8", "surrogateescape")


LONGEST_WORD = 1 << 16
"""Bytes of a word beyond which no word goes."""


def read_binary_rows(
    stream: BinaryIO, layout: Layout, name: str, size: int
) -> tuple[list[str], NDArray[np.float32]]:
    """Read words and vectors row by row.

    Parameters
    ----------
    stream
        The file behind its header.
    layout
        How it is written.
    name
        What messages call it.
    size
        About how many bytes there are.

    Returns
    -------
    tuple
        The words in their order, and float32 of shape (words, d).

    Raises
    ------
    InputError
        If the file is cut short, goes on behind its last word, or a number is not finite.
    """
    assert layout.words is not None
    row_bytes = 4 * layout.width
    matrix = GrowingMatrix(layout.width, most=layout.words)
    matrix.expect(size // row_bytes)
    words: list[str] = []
    rest = b""
    while len(words) < layout.words and (data := stream.read(BLOCK)):
        data = rest + data
        places, end = _places(data, row_bytes, layout.words - len(words))
        vectors = matrix.rows(matrix.grow(len(places)), len(places))
        for vector, (_, stop) in zip(vectors, places, strict=True):
            vector[:] = np.frombuffer(data, "<f4", layout.width, stop + 1)
        bad = np.flatnonzero(~np.isfinite(vectors).all(axis=1))
        if bad.size:
            raise InputError(
                f"{name}: every number must be finite; that of word "
                f"{len(words) + int(bad[0]) + 1:,} is not, so the file is damaged or its first "
                "line is wrong"
            )
        words += [_decode(data[start:stop]) for start, stop in places]
        rest = data[end:]
        if len(rest) > row_bytes + LONGEST_WORD and len(words) < layout.words:
            break
    promised = f"{name}: line 1 promises {layout.words:,} words of {layout.width} numbers, but the"
    if len(words) < layout.words:
        raise InputError(
            f"{promised} file ends within word {len(words) + 1:,}; it was cut short, or its first "
            "line is wrong"
        )
    if (rest + stream.read(1024)).strip(b"\n"):
        raise InputError(
            f"{promised} file goes on behind them; it holds more words, or its first line is wrong"
        )
    return words, matrix.finished()


def _places(data: bytes, row_bytes: int, most: int) -> tuple[list[tuple[int, int]], int]:
    """Find where the words of whole rows start and end, and where the last such row ends."""
    places: list[tuple[int, int]] = []
    end = 0
    while len(places) < most:
        start = end
        while data.startswith(b"\n", start):
            start += 1
        stop = data.find(b" ", start)
        if stop < 0 or stop + 1 + row_bytes > len(data):
            break
        places.append((start, stop))
        end = stop + 1 + row_bytes
    return places, end


HEAD = 1 << 20
_GZIP, _ZIP = b"\x1f\x8b", b"PK"
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
        with one member. Its content decides which.
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
    threads = threads or available_threads()
    with fitting_in_memory(path), _readable(path), ThreadPoolExecutor(threads) as pool:
        sha256 = pool.submit(_hash, path)
        with _opened(path) as stream:
            layout = find_layout(stream.read(HEAD), str(path))
        with _opened(path) as stream:
            stream.read(layout.skip)
            shrinks = _SHRINKS if _magic(path) in (_GZIP, _ZIP) else 1
            size = path.stat().st_size * shrinks
            if layout.kind == "binary":
                words, vectors = read_binary_rows(stream, layout, str(path), size)
            else:
                words, vectors = read_text_rows(stream, layout, str(path), size, pool, threads)
        if layout.words not in (None, len(words)):
            raise InputError(
                f"{path}: line 1 promises {layout.words:,} words, but the file holds "
                f"{len(words):,}; it was cut short, or its first line is wrong"
            )
        rows: dict[str, int] = {}
        for row, word in enumerate(words):
            rows.setdefault(word, row)
        return WordTable(rows, vectors, sha256.result())


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
    elif magic == _ZIP:
        with zipfile.ZipFile(path) as archive, archive.open(_only_member(archive, path)) as member:
            yield cast(BinaryIO, member)
    else:
        with path.open("rb") as stream:
            yield stream


def _only_member(archive: zipfile.ZipFile, path: Path) -> zipfile.ZipInfo:
    members = [member for member in archive.infolist() if not member.is_dir()]
    if len(members) != 1:
        names = ", ".join(member.filename for member in members[:5])
        raise InputError(
            f"{path}: holds {len(members)} files ({names}); unpack it and name the one to use"
        )
    if members[0].flag_bits & 1:
        raise InputError(f"{path}: is protected by a password; unpack it first")
    return members[0]
