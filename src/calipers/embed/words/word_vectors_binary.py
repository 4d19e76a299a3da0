"""Word vectors as word2vec's binary file: a word, a space, and the bytes of its float32 numbers."""

from __future__ import annotations

from typing import BinaryIO

import numpy as np
from numpy.typing import NDArray

from calipers.embed.words.word_vectors_kernels import read_binary
from calipers.embed.words.word_vectors_layout import Layout
from calipers.embed.words.word_vectors_matrix import Matrix
from calipers.errors import InputError

BLOCK = 1 << 23
LONGEST = 1 << 16
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
        if len(rest) > row_bytes + LONGEST and count < most:
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
