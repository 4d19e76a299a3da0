"""Large arrays in memory, or in memory-mapped temporary files.

All work on rows goes from block to block, so an array that is larger than what is free costs only
the reading of its blocks. Where memory runs short the system writes parts of such a file out and
reads them in again, instead of ending the program.
"""

from __future__ import annotations

import math
import mmap
import os
import tempfile
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import DTypeLike, NDArray

from calipers.errors import InputError
from calipers.memory import budget, size_words

SHARE = 1 / 8
"""Share of the memory that may be taken which one array may have; larger ones lie in a file."""

SMALL = 2**26
"""Bytes up to which an array lies in memory in any case."""


def scratch(shape: Sequence[int], dtype: DTypeLike) -> NDArray[Any]:
    """Make an array of zeros, in a file if it is large for the available memory.

    The file is a nameless one in the folder for temporary files (``TMPDIR``), and is gone with the
    array. Its whole size is reserved at once, so that a full disk is an error here and no crash
    later.

    Parameters
    ----------
    shape, dtype
        As for :func:`numpy.zeros`.

    Returns
    -------
    numpy.ndarray
        Zeros; whether they lie in memory changes no result.

    Raises
    ------
    InputError
        If the folder for temporary files has no room for it.
    """
    kind = np.dtype(dtype)
    size = math.prod(shape) * kind.itemsize
    if lies_in_memory(size):
        return np.zeros(shape, kind)
    folder = tempfile.gettempdir()
    try:
        with tempfile.TemporaryFile(dir=folder, prefix="calipers-") as file:
            _reserve(file.fileno(), size)
            room = mmap.mmap(file.fileno(), size)
    except OSError as error:
        raise InputError(
            f"{folder}: has no room for {size_words(size)} of temporary data "
            f"({error.strerror or error}); name another folder in the environment variable "
            "TMPDIR, or allow more memory with `calipers.memory_limit`"
        ) from error
    return np.frombuffer(room, kind).reshape(shape)


def lies_in_memory(size: int) -> bool:
    """Tell whether :func:`scratch` would keep an array of so many bytes in memory."""
    return size <= SMALL or size <= SHARE * budget().limit


def filled(shape: Sequence[int], value: float, dtype: DTypeLike) -> NDArray[Any]:
    """Make an array of one value, as :func:`scratch` makes zeros."""
    made = scratch(shape, dtype)
    made.fill(value)
    return made


def converted(rows: NDArray[Any], dtype: DTypeLike) -> NDArray[Any]:
    """Copy rows to another type, block by block, into :func:`scratch`."""
    made = scratch(rows.shape, dtype)
    for start in range(0, len(rows), _ROWS):
        made[start : start + _ROWS] = rows[start : start + _ROWS]
    return made


def taken(rows: NDArray[Any], places: NDArray[np.integer]) -> NDArray[Any]:
    """Copy some rows, in the order of their indices, block by block, into :func:`scratch`."""
    made = scratch((len(places), *rows.shape[1:]), rows.dtype)
    for start in range(0, len(places), _ROWS):
        made[start : start + _ROWS] = rows[places[start : start + _ROWS]]
    return made


_ROWS = 4096


def _reserve(file: int, size: int) -> None:
    """Give a file its size on the disk; where a system cannot promise that, at least its length."""
    if hasattr(os, "posix_fallocate"):
        os.posix_fallocate(file, 0, size)
    else:
        os.ftruncate(file, size)
