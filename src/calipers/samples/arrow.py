"""Arrow arrays as columns of strings, token ids and vectors, checked and without copies.

Loaded where there is an Arrow array: pyarrow is the extra ``parquet``.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import partial
from itertools import accumulate
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from calipers.errors import InputError
from calipers.memory import budget
from calipers.samples.columns import Part, RowError, StringColumn, sample_error
from calipers.samples.joining import Shard, joined
from calipers.samples.kinds import TokenData, read_only
from calipers.samples.source import Source
from calipers.samples.tokens import LARGEST, wrong_id


def text_column(texts: pa.Array | pa.ChunkedArray, where: str) -> StringColumn:
    """Return an array of strings as a column without nulls.

    Raises
    ------
    InputError
        If there is something else in the array, or a null.
    """
    if not is_string(texts.type):
        raise InputError(f"{where}: texts must be strings, but this Arrow array holds {texts.type}")
    return joined_strings(_checked_chunks(texts, where, string_array))


def token_lists(ids: pa.Array | pa.ChunkedArray, where: str) -> TokenData:
    """Return lists of whole numbers as token ids.

    Raises
    ------
    InputError
        If there is something else in the array, a null, or a number that is no token id.
    """
    if not is_id_type(ids.type):
        raise InputError(
            f"{where}: token ids must be lists of whole numbers, but this Arrow array "
            f"holds {ids.type}"
        )
    return joined_tokens(_checked_chunks(ids, where, token_array))


def vectors(lists: pa.Array | pa.ChunkedArray, where: str) -> NDArray[Any]:
    """Return lists of floats as vectors, without a copy for a single chunk.

    Raises
    ------
    InputError
        If there is a null, or lists differ in length.
    """
    chunks = lists.chunks if isinstance(lists, pa.ChunkedArray) else [lists]
    chunks = [chunk for chunk in chunks if len(chunk)]
    columns = vector_width(chunks[0]) if chunks else 0
    firsts = accumulate(map(len, chunks), initial=1)
    row_error = partial(sample_error, where)
    parts = [
        vector_array(chunk, columns, first, row_error)
        for chunk, first in zip(chunks, firsts, strict=False)
    ]
    if len(parts) == 1:
        return parts[0]
    shard = Shard(where, len(lists), columns, vector_dtype(lists.type), lambda: iter(parts))
    return joined([shard], Source(where, where))


def _checked_chunks(
    array: pa.Array | pa.ChunkedArray, where: str, check: Callable[[Any, int, RowError], Any]
) -> list[Any]:
    """Check an Arrow array chunk by chunk, each with the number of its first sample."""
    chunks = array.chunks if isinstance(array, pa.ChunkedArray) else [array]
    firsts = accumulate(map(len, chunks), initial=1)
    row_error = partial(sample_error, where)
    return [check(chunk, first, row_error) for chunk, first in zip(chunks, firsts, strict=False)]


# Strings -----------------------------------------------------------------------------------------


def is_string(kind: pa.DataType) -> bool:
    """Tell whether a column of this type holds strings."""
    if pa.types.is_dictionary(kind):
        kind = kind.value_type
    return bool(pa.types.is_string(kind) or pa.types.is_large_string(kind))


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
    _refuse_nulls(array, first, row_error, "the text is null, not a string")
    return utf8_array(array, first, row_error)


def _refuse_nulls(array: pa.Array, first: int, row_error: RowError, problem: str) -> None:
    if array.null_count:
        row = int(np.flatnonzero(array.is_null().to_numpy(zero_copy_only=False))[0])
        raise row_error(first + row, problem)


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


def joined_strings(arrays: Iterable[pa.Array]) -> StringColumn:
    """Concatenate arrays of large_string without nulls, as they lie in memory."""
    return StringColumn(_part(array) for array in arrays if len(array))


def _part(array: pa.Array) -> Part:
    _, places, data = array.buffers()
    # Offsets are counted in rows of the buffer, not of the slice
    ends = np.frombuffer(places, np.int64)[array.offset : array.offset + len(array) + 1]
    return np.frombuffer(data or b"", np.uint8), ends


def check_unpacked(array: pa.Array, refusal: Callable[[str], InputError]) -> None:
    """Refuse a dictionary-encoded array of strings that will not fit in memory when decoded.

    One long value may be in every row, which takes few bytes on disk.
    """
    if pa.types.is_dictionary(array.type) and is_string(array.type):
        lengths = pc.binary_length(array.dictionary).take(array.indices)
        with budget().borrowing() as current:
            current.borrow(pc.sum(lengths).as_py() or 0, refusal)


def _first_undecodable(array: pa.Array) -> int | None:
    large = pa.types.is_large_string(array.type)
    values = array.view(pa.large_binary() if large else pa.binary()).to_pylist()
    for row, value in enumerate(values):
        try:
            (value or b"").decode()
        except UnicodeDecodeError:
            return row
    return None


# Token ids ---------------------------------------------------------------------------------------


def is_id_type(kind: pa.DataType) -> bool:
    """Tell whether an Arrow column of this type holds lists of whole numbers."""
    return bool(_is_list(kind) and pa.types.is_integer(kind.value_type))


def _is_list(kind: pa.DataType) -> bool:
    is_list = pa.types.is_list(kind) or pa.types.is_large_list(kind)
    return bool(is_list or pa.types.is_fixed_size_list(kind))


def token_array(lists: Any, first: int, row_error: RowError) -> tuple[Any, Any]:
    """Check an Arrow array of lists of whole numbers; return its ids, int32, and their counts.

    Parameters
    ----------
    lists
        Lists of whole numbers.
    first
        Number of the array's first row, for messages.
    row_error
        Builds the error for a row.
    """
    _refuse_nulls(lists, first, row_error, "the token ids are null, not a list")
    ids, counts = lists.flatten(), _counts(lists)
    wrong = _wrong(ids)
    if wrong.size:
        ends = np.cumsum(counts)
        row = int(np.searchsorted(ends, wrong[0], side="right"))
        place = int(wrong[0] - (ends[row] - counts[row]))
        raise row_error(first + row, wrong_id(place, ids[int(wrong[0])].as_py()))
    return ids.to_numpy(zero_copy_only=False).astype(np.int32), counts


def joined_tokens(parts: Iterable[tuple[Any, Any]]) -> TokenData:
    """Concatenate the ids of consecutive arrays, each with its counts."""
    ids, counts = [np.empty(0, np.int32)], [np.zeros(1, np.int64)]
    for more_ids, more_counts in parts:
        ids.append(more_ids)
        counts.append(more_counts)
    ends = np.cumsum(np.concatenate(counts))
    return TokenData(read_only(np.concatenate(ids)), read_only(ends))


def _counts(lists: Any) -> NDArray[np.int64]:
    counts = pc.list_value_length(lists).to_numpy(zero_copy_only=False)
    return np.asarray(counts, np.int64)


def _wrong(ids: Any) -> NDArray[np.intp]:
    low, high = pa.scalar(0, ids.type), _limit(ids.type)
    fits = pc.and_(pc.greater_equal(ids, low), pc.less_equal(ids, high))
    return np.flatnonzero(~pc.fill_null(fits, fill_value=False).to_numpy(zero_copy_only=False))


def _limit(kind: pa.DataType) -> pa.Scalar:
    """Give the largest id in a type, since a limit beyond it cannot be compared with it."""
    bits = kind.bit_width - pa.types.is_signed_integer(kind)
    return pa.scalar(min(LARGEST, 2**bits - 1), kind)


# Vectors -----------------------------------------------------------------------------------------


def is_vector_type(kind: pa.DataType) -> bool:
    """Tell whether an Arrow column of this type holds lists of floating-point numbers."""
    return bool(_is_list(kind) and pa.types.is_floating(kind.value_type))


def vector_dtype(kind: pa.DataType) -> np.dtype[Any]:
    """Return the type in which vectors are held: float32, or float64 for float64."""
    return np.dtype(np.float64 if pa.types.is_float64(kind.value_type) else np.float32)


def vector_width(lists: Any) -> int:
    """Return the length of the first vector of an array; 0 where there is none."""
    return int(_counts(lists.drop_null()[:1]).sum())


def vector_array(lists: Any, columns: int, first: int, row_error: RowError) -> NDArray[Any]:
    """Check an Arrow array of vectors, and return it as a NumPy array, without a copy.

    Parameters
    ----------
    lists
        Lists of floating-point numbers, of any of Arrow's types of lists; also a slice.
    columns
        How many numbers each must have.
    first
        Number of the array's first row, for messages.
    row_error
        Builds the error for a row.

    Returns
    -------
    numpy.ndarray
        Shape (lists, columns): float16, float32 or float64.
    """
    _refuse_nulls(lists, first, row_error, "the vector is null")
    if not columns:
        raise row_error(first, "the vector is empty")
    counts = _counts(lists)
    wrong = np.flatnonzero(counts != columns)
    if wrong.size:
        row = int(wrong[0])
        raise row_error(
            first + row,
            f"the vector must have {columns:,} numbers, as the first has; found {counts[row]:,}",
        )
    numbers = lists.flatten()  # of a slice, those of its own rows
    if numbers.null_count:
        place = int(np.flatnonzero(numbers.is_null().to_numpy(zero_copy_only=False))[0])
        row, column = divmod(place, columns)
        raise row_error(first + row, f"number {column + 1:,} of the vector is null")
    values: NDArray[Any] = numbers.to_numpy(zero_copy_only=True)
    return values.reshape(len(lists), columns)
