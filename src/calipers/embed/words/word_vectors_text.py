"""Word vectors as lines of text: blocks of whole lines, each divided among threads."""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from itertools import pairwise
from typing import BinaryIO

import numpy as np
from numpy.typing import NDArray

from calipers.embed.words.word_vectors_kernels import POWERS, read_lines
from calipers.embed.words.word_vectors_layout import Layout, is_number
from calipers.embed.words.word_vectors_matrix import Matrix
from calipers.errors import InputError

BLOCK = 1 << 23
LONGEST = 1 << 26
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
        if len(rest) > LONGEST:
            raise InputError(f"{name}: a line is longer than {LONGEST:,} bytes")
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
