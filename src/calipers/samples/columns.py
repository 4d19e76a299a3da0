"""Strings as Arrow columns: built row by row, checked, counted, never a million at once."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from itertools import accumulate
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from calipers.errors import InputError
from calipers.memory import ROW, budget

ROWS = 16 * 1024
CHARACTERS = 2**24

RowError = Callable[[int, str], InputError]
"""Builds the error for row `number`, given what is wrong with it."""


def sample_error(where: str, number: int, problem: str) -> InputError:
    """Build the error for a sample of what a person holds, counted from 1."""
    return InputError(f"{where}: sample {number}: {problem}")


def checked_chunks(
    array: pa.Array | pa.ChunkedArray, where: str, check: Callable[[Any, int, RowError], Any]
) -> list[Any]:
    """Check an Arrow array chunk by chunk, each with the number of its first sample."""
    chunks = array.chunks if isinstance(array, pa.ChunkedArray) else [array]
    firsts = accumulate(map(len, chunks), initial=1)
    row_error = partial(sample_error, where)
    return [check(chunk, first, row_error) for chunk, first in zip(chunks, firsts, strict=False)]


class StringColumn:
    """A column that grows by one string at a time and keeps few of them as Python strings."""

    def __init__(self, row_error: RowError) -> None:
        self._row_error, self._budget = row_error, budget()
        self._chunks: list[Any] = []
        self._values: list[str] = []
        self._numbers: list[int] = []
        self._characters = 0
        self.length = 0

    def append(self, number: int, value: str) -> None:
        """Add the value of row `number`."""
        self._values.append(value)
        self._numbers.append(number)
        self.length += 1
        self._characters += len(value)
        if len(self._values) >= ROWS or self._characters >= CHARACTERS:
            self._flush()

    def finish(self) -> pa.ChunkedArray:
        """Return the column, of type large_string."""
        self._flush()
        return pa.chunked_array(self._chunks, type=pa.large_string())

    def _flush(self) -> None:
        if not self._values:
            return
        try:
            chunk = pa.array(self._values, type=pa.large_string())
        except UnicodeEncodeError as error:
            raise self._broken_character() from error
        size = chunk.nbytes + ROW * len(chunk)
        self._budget.take(size, partial(self._row_error, self._numbers[-1]))
        self._chunks.append(chunk)
        self._values, self._numbers, self._characters = [], [], 0

    def _broken_character(self) -> InputError:
        pairs = zip(self._numbers, self._values, strict=True)
        number = next(number for number, value in pairs if _is_broken(value))
        return self._row_error(number, "holds half of a surrogate pair, which is not a character")


def string_array(array: pa.Array, first: int, row_error: RowError) -> pa.Array:
    """Check an Arrow array of strings, and return it as large_string without nulls.

    Parameters
    ----------
    array
        Strings, large strings, or a dictionary of them.
    first
        Number of the array's first row, for messages.
    row_error
        Builds the error for a row.
    """
    if array.null_count:
        row = int(np.flatnonzero(array.is_null().to_numpy(zero_copy_only=False))[0])
        raise row_error(first + row, "the text is null, not a string")
    return utf8_array(array, first, row_error)


def utf8_array(array: pa.Array, first: int, row_error: RowError) -> pa.Array:
    """Check that an Arrow array of strings is UTF-8, and return it as large_string."""
    if pa.types.is_dictionary(array.type):
        check_unpacked(array, partial(row_error, first))
        array = array.dictionary_decode()
    try:
        array.validate(full=True)
    except pa.ArrowInvalid as error:
        row = _first_undecodable(array)
        problem = "the column is damaged" if row is None else "the text is not valid UTF-8"
        raise row_error(first + (row or 0), problem) from error
    return array.cast(pa.large_string())


def check_unpacked(array: pa.Array, refusal: Callable[[str], InputError]) -> None:
    """Refuse an array of a dictionary of strings that will not fit in memory once it is unpacked.

    One long value may stand in every row, which takes few bytes on disk.
    """
    if pa.types.is_dictionary(array.type) and is_string(array.type):
        lengths = pc.binary_length(array.dictionary).take(array.indices)
        with budget().borrowing() as current:
            current.borrow(pc.sum(lengths).as_py() or 0, refusal)


def is_string(kind: pa.DataType) -> bool:
    """Tell whether a column of this type holds strings."""
    if pa.types.is_dictionary(kind):
        kind = kind.value_type
    return bool(pa.types.is_string(kind) or pa.types.is_large_string(kind))


def blank_rows(texts: pa.ChunkedArray) -> NDArray[np.intp]:
    """Find the texts that are empty or hold white space only; rows counted from 0."""
    parts = [pc.equal(pc.utf8_trim_whitespace(chunk), "") for chunk in texts.chunks]
    return np.flatnonzero(_joined(parts, np.bool_))


def word_counts(texts: pa.ChunkedArray) -> NDArray[np.int64]:
    """Count the words of every text that white space separates."""
    # Chunk by chunk, since splitting copies the text.
    return _joined([_words(chunk) for chunk in texts.chunks], np.int64)


def _words(texts: pa.Array) -> pa.Array:
    trimmed = pc.utf8_trim_whitespace(texts)
    lengths = pc.list_value_length(pc.utf8_split_whitespace(trimmed))
    return pc.if_else(pc.equal(trimmed, ""), 0, lengths)


def _joined(parts: list[Any], dtype: type[Any]) -> NDArray[Any]:
    arrays = [part.to_numpy(zero_copy_only=False) for part in parts]
    return np.concatenate(arrays).astype(dtype) if arrays else np.empty(0, dtype)


def _is_broken(text: str) -> bool:
    try:
        text.encode()
    except UnicodeEncodeError:
        return True
    return False


def _first_undecodable(array: pa.Array) -> int | None:
    large = pa.types.is_large_string(array.type)
    values = array.view(pa.large_binary() if large else pa.binary()).to_pylist()
    for row, value in enumerate(values):
        try:
            (value or b"").decode()
        except UnicodeDecodeError:
            return row
    return None
