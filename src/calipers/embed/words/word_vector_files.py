"""What kind of word-vector file one is: told by its first bytes, never by its name.

The matrix of word vectors while its rows are read: made once, and seldom moved.

Lines of numbers to float32 rows, and binary rows to float32: compiled, without the GIL.

Numbers come out as ``np.float32(text)`` gives them. Where that is not certain, or a line is not one
word and its numbers, the line is marked and left to Python.

Word vectors as lines of text: blocks of whole lines, each divided among threads.

Word vectors as word2vec's binary file: a word, a space, and the bytes of its float32 numbers.

A file of word vectors in memory: GloVe, fastText and word2vec, plain, gzipped or zipped.

The matrix is read into its place block by block, by as many threads as there are cores, so the
file itself is never in memory. Nothing is unpickled.
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
from itertools import pairwise
from pathlib import Path
from typing import BinaryIO, cast

import numpy as np
from numpy.typing import NDArray

from calipers.errors import InputError
from calipers.files import check_plain, fitting_in_memory
from calipers.numeric.compile import kernel
from calipers.numeric.threads import available_threads

EXPECTED = (
    "word vectors are a text file with a word and its numbers on each line (GloVe, fastText .vec), "
    "or one that starts with the number of words and of numbers (word2vec, text or binary)"
)
_HEADER = re.compile(rb"\s*([0-9]{1,12})[ \t]+([0-9]{1,6})[ \t\r]*\n")
_LINES = 100  # of a file without a header, to find how many numbers most lines have
_OTHER = {
    b"\x93NUMPY": "a NumPy array; give it as --reference or as a system, which takes vectors",
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
    """How the rows of a file are written.

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
    """Tell how a file is written from its beginning.

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
    width = min(widths, key=lambda each: (-widths[each], each))
    if width < 2:
        found = lines[0][:60].decode("utf-8", "replace").strip()
        raise InputError(f"{name}: holds no word vectors; {EXPECTED}. Line 1 is {found!r}")
    return width


def numbers_in(line: bytes) -> int:
    """Count the numbers at the end of the first line, behind at least one word."""
    fields = line.partition(b"\n")[0].split()[1:]
    count = 0
    for field in reversed(fields):
        if not is_number(field):
            break
        count += 1
    return count


def is_number(field: bytes) -> bool:
    """Tell whether a field is a number as Python reads it; NaN and infinity are."""
    try:
        float(field)
    except ValueError:
        return False
    return b"_" not in field


_MARGIN = 1.03  # words grow longer towards the end of a file sorted by frequency


class Matrix:
    """Rows of float32 that grow in number.

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
        """Take room for about so many rows, before the first are read."""
        if not len(self._array):
            rows = int(rows * _MARGIN) if self._most is None else min(self._most, 2 * rows)
            # Room that no row is written to takes no memory
            self._array = np.empty((rows, self._array.shape[1]), np.float32)

    def grow(self, rows: int) -> int:
        """Add rows, and tell where the first of them is. No rows may be in use."""
        start = self._filled
        self._filled += rows
        if self._filled > len(self._array):
            self._resize(self._filled + self._filled // 8)
        return start

    def rows(self, start: int, count: int) -> NDArray[np.float32]:
        """Give rows to fill in, without a copy."""
        return self._array[start : start + count]

    def finished(self, rows: int | None = None) -> NDArray[np.float32]:
        """Give all rows, or the first of them, and the rest of the room back."""
        self._resize(self._filled if rows is None else rows)
        return self._array

    def _resize(self, rows: int) -> None:
        # In place: a copy would need the memory twice
        self._array.resize((rows, self._array.shape[1]), refcheck=False)


_LARGEST_POWER = 300
POWERS = np.array([float(f"1e{power}") for power in range(_LARGEST_POWER + 1)])

_TAB, _NEWLINE, _RETURN, _SPACE = 9, 10, 13, 32
_PLUS, _MINUS, _POINT, _ZERO = 43, 45, 46, 48
_ROOM = np.uint64(10**18)  # below it, another digit fits into 64 bits
_EXACT, _EXACT_POWER = np.uint64(2**53), 22
_SLACK = 2.0**-50  # above the error of a product or quotient that is not exact


@kernel
def read_lines(
    text: NDArray[np.uint8],
    start: int,
    stop: int,
    powers: NDArray[np.float64],
    vectors: NDArray[np.float32],
    words: NDArray[np.int64],
    unsure: NDArray[np.bool_],
) -> None:
    """Read the lines of ``text[start:stop]``, each a word and numbers, the last one closed too.

    Parameters
    ----------
    text, start, stop
        Bytes, and where the lines are.
    powers
        `POWERS`.
    vectors
        Filled, shape (lines, d).
    words
        Filled with where each line, its word, and the line end: shape (lines, 3).
    unsure
        Filled: which lines Python must read, shape (lines,).
    """
    at = start
    for row in range(len(vectors)):
        words[row, 0] = at
        while text[at] != _SPACE and text[at] != _TAB and text[at] != _NEWLINE:
            at += 1
        words[row, 1] = at
        at, good = _read_row(text, at, powers, vectors[row])
        while good and text[at] != _NEWLINE:
            good = text[at] == _SPACE or text[at] == _TAB or text[at] == _RETURN
            at += 1
        while text[at] != _NEWLINE:
            at += 1
        words[row, 2] = at
        unsure[row] = not good
        at += 1


@kernel
def _read_row(
    text: NDArray[np.uint8], at: int, powers: NDArray[np.float64], row: NDArray[np.float32]
) -> tuple[int, bool]:
    for place in range(len(row)):
        if text[at] != _SPACE and text[at] != _TAB:
            return at, False
        while text[at] == _SPACE or text[at] == _TAB:
            at += 1
        at, value, good = _read_number(text, at, powers)
        if not good:
            return at, False
        row[place] = value
    return at, True


@kernel
def _read_number(
    text: NDArray[np.uint8], at: int, powers: NDArray[np.float64]
) -> tuple[int, np.float32, bool]:
    """Read a decimal number; give where it ends, and whether it is certain."""
    negative = text[at] == _MINUS
    if negative or text[at] == _PLUS:
        at += 1
    digits, power, whole = np.uint64(0), 0, at
    while _ZERO <= text[at] <= _ZERO + 9:
        if digits < _ROOM:
            digits = digits * np.uint64(10) + np.uint64(text[at] - _ZERO)
        else:
            power += 1
        at += 1
    seen = at - whole
    if text[at] == _POINT:
        at += 1
        whole = at
        while _ZERO <= text[at] <= _ZERO + 9:
            if digits < _ROOM:
                digits = digits * np.uint64(10) + np.uint64(text[at] - _ZERO)
                power -= 1
            at += 1
        seen += at - whole
    if text[at] | 32 == 101:  # e or E
        at, exponent = _read_exponent(text, at + 1)
        power += exponent
    if seen == 0 or abs(power) >= len(powers):
        return at, np.float32(0), False
    size, good = _scale(digits, power, powers)
    return at, (-size if negative else size), good


@kernel
def _read_exponent(text: NDArray[np.uint8], at: int) -> tuple[int, int]:
    negative = text[at] == _MINUS
    if negative or text[at] == _PLUS:
        at += 1
    value, start = 0, at
    while _ZERO <= text[at] <= _ZERO + 9:
        value = min(value * 10 + int(text[at] - _ZERO), 100_000)
        at += 1
    if at == start:  # no digits: too large for any number, so that Python looks at the line
        return at, 1_000_000
    return at, -value if negative else value


@kernel
def _scale(digits: np.uint64, power: int, powers: NDArray[np.float64]) -> tuple[np.float32, bool]:
    """Give digits times ten to a power, and whether it is what float32 must be."""
    value = float(digits) / powers[-power] if power < 0 else float(digits) * powers[power]
    size = np.float32(value)
    if digits <= _EXACT and abs(power) <= _EXACT_POWER:
        return size, np.isfinite(size)
    same = np.float32(value * (1 - _SLACK)) == np.float32(value * (1 + _SLACK))
    return size, same and np.isfinite(size)


@kernel
def read_binary(
    data: NDArray[np.uint8], rows: NDArray[np.uint8], words: NDArray[np.int64]
) -> tuple[int, int]:
    """Read word, space and vector as often as they are whole; give how many and where they end.

    Parameters
    ----------
    data
        Bytes that start with a word, or with the line break before it.
    rows
        Filled with the bytes of the vectors, shape (most rows, 4 d).
    words
        Filled with where each word starts and ends, shape (most rows, 2).
    """
    at, row = 0, 0
    while row < len(rows):
        begin = at
        while begin < len(data) and data[begin] == _NEWLINE:
            begin += 1
        end = begin
        while end < len(data) and data[end] != _SPACE:
            end += 1
        following = end + 1 + rows.shape[1]
        if following > len(data):
            break
        words[row, 0], words[row, 1] = begin, end
        for place in range(rows.shape[1]):
            rows[row, place] = data[end + 1 + place]
        row, at = row + 1, following
    return row, at


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
    matrix = Matrix(layout.width, most=layout.words)
    words: list[str] = []
    header = 0 if layout.words is None else 1
    running: list[Future[list[str]]] = []
    for block in _whole_lines(stream, name):
        # While a block is read the one before is parsed; the matrix moves only when none is
        words += [word for part in running for word in part.result()]
        spans = _divide(block, threads)
        lines = [block.count(b"\n", *span) for span in spans]
        matrix.expect(size * sum(lines) // len(block))
        row = matrix.grow(sum(lines))
        running = []
        for span, count in zip(spans, lines, strict=True):
            job = (block, span, matrix.rows(row, count), row + header + 1, name)
            running.append(pool.submit(_read_part, *job))
            row += count
    words += [word for part in running for word in part.result()]
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


def _divide(block: bytes, parts: int) -> list[tuple[int, int]]:
    """Cut a block at line breaks into about as many parts."""
    ends = [block.find(b"\n", len(block) * part // parts) + 1 for part in range(1, parts)]
    cuts = sorted({0, *ends, len(block)})
    return list(pairwise(cuts))


def _read_part(
    block: bytes, span: tuple[int, int], vectors: NDArray[np.float32], line: int, name: str
) -> list[str]:
    """Fill in the vectors of some lines, the first of which has the number `line`."""
    places = np.empty((len(vectors), 3), np.int64)
    unsure = np.empty(len(vectors), np.bool_)
    read_lines(np.frombuffer(block, np.uint8), *span, POWERS, vectors, places, unsure)
    words = [_decode(block[start:end]) for start, end, _ in places.tolist()]
    for row in np.flatnonzero(unsure).tolist():
        start, _, stop = places[row].tolist()
        where = f"{name}: line {line + row:,}"
        words[row] = _read_carefully(block[start:stop], vectors[row], where)
    return words


def _read_carefully(line: bytes, vector: NDArray[np.float32], where: str) -> str:
    """Read a line whose word may hold spaces, and whose numbers may be of any form."""
    width = len(vector)
    fields = line.replace(b"\t", b" ").strip(b" \r").split(b" ")
    word, numbers = b" ".join(fields[:-width]), fields[-width:]
    if len(fields) <= width or not all(map(is_number, numbers)):
        raise _broken(line, width, where)
    with np.errstate(over="ignore"):
        vector[:] = np.array([float(field) for field in numbers]).astype(np.float32)
    if not np.isfinite(vector).all():
        found = numbers[int(np.flatnonzero(~np.isfinite(vector))[0])].decode()
        raise InputError(f"{where}: every number must be finite in float32; found {found}")
    return _decode(word)


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
    matrix = Matrix(layout.width, most=layout.words)
    matrix.expect(size // row_bytes)
    words: list[str] = []
    rest = b""
    while len(words) < layout.words and (data := stream.read(BLOCK)):
        data = rest + data
        most = min(layout.words - len(words), len(data) // (row_bytes + 1) + 1)
        rows = np.empty((most, row_bytes), np.uint8)
        places = np.empty((most, 2), np.int64)
        count, end = read_binary(np.frombuffer(data, np.uint8), rows, places)
        vectors = rows[:count].view("<f4")
        _check_finite(vectors, len(words), name)
        matrix.rows(matrix.grow(count), count)[:] = vectors
        words += [data[a:b].decode("utf-8", "surrogateescape") for a, b in places[:count].tolist()]
        rest = data[end:]
        if len(rest) > row_bytes + LONGEST_WORD and count < most:
            break
    _check_end(words, rest + stream.read(1024), layout, name)
    return words, matrix.finished()


def _check_finite(vectors: NDArray[np.float32], before: int, name: str) -> None:
    bad = np.flatnonzero(~np.isfinite(vectors).all(axis=1))
    if bad.size:
        raise InputError(
            f"{name}: every number must be finite; that of word {before + int(bad[0]) + 1:,} is "
            "not, so the file is damaged or its first line is wrong"
        )


def _check_end(words: list[str], rest: bytes, layout: Layout, name: str) -> None:
    assert layout.words is not None
    if len(words) < layout.words:
        raise InputError(
            f"{name}: line 1 promises {layout.words:,} words of {layout.width} numbers, but the "
            f"file ends within word {len(words) + 1:,}; it was cut short, or its first line is "
            "wrong"
        )
    if rest.strip(b"\n"):
        raise InputError(
            f"{name}: line 1 promises {layout.words:,} words of {layout.width} numbers, but the "
            "file goes on behind them; it holds more words, or its first line is wrong"
        )


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
    threads = threads or available_threads()
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
