"""Lines of numbers to float32 rows, and binary rows to float32: compiled, without the GIL.

Numbers come out as ``np.float32(text)`` gives them. Where that is not certain, or a line is not one
word and its numbers, the line is marked and left to Python.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar, cast

import numba
import numpy as np
from numpy.typing import NDArray

F = TypeVar("F", bound=Callable[..., Any])
_LARGEST_POWER = 300
POWERS = np.array([float(f"1e{power}") for power in range(_LARGEST_POWER + 1)])

_TAB, _NEWLINE, _RETURN, _SPACE = 9, 10, 13, 32
_PLUS, _MINUS, _POINT, _ZERO = 43, 45, 46, 48
_ROOM = np.uint64(10**18)  # below it, another digit fits into 64 bits
_EXACT, _EXACT_POWER = np.uint64(2**53), 22
_SLACK = 2.0**-50  # above the error of a product or quotient that is not exact


def kernel(function: F) -> F:
    """Compile a kernel once per machine where the disk allows it."""
    try:
        return cast(F, numba.njit(function, nogil=True, cache=True))
    except RuntimeError:  # no place to write the compiled code to
        return cast(F, numba.njit(function, nogil=True))


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
