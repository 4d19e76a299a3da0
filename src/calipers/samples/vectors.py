"""What an array must be to serve as embeddings."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from calipers.errors import InputError
from calipers.memory import budget
from calipers.samples.wording import counted, numbered

BLOCK = 2**22


def checked_vectors(value: object, where: str) -> NDArray[Any]:
    """Return an (n, d) array of finite float32 or float64 values, or say what is wrong with it.

    float32 and float64 are kept; float16 and integers become float32. The array returned is a
    read-only view, not a copy, where no conversion is needed.

    Raises
    ------
    InputError
        If the array is not two-dimensional, has no rows or columns, holds anything else than
        numbers, or holds NaN or infinite values.
    """
    array = as_array(value, where)
    if array.ndim != 2:
        raise InputError(
            f"{where}: embeddings must be a two-dimensional array, one row for each sample, "
            f"but this one has the shape {array.shape}"
        )
    if 0 in array.shape:
        raise InputError(f"{where}: embeddings of shape {array.shape} hold no values")
    array = _as_float(array, where)
    _check_finite(array, where)
    return read_only(array)


def as_array(value: object, where: str) -> NDArray[Any]:
    """Take an array, a tensor, or a list of numbers as an array."""
    try:
        return np.asarray(value)
    except (TypeError, ValueError, RuntimeError) as error:
        raise InputError(f"{where}: cannot be read as an array: {error}") from error


def _as_float(array: NDArray[Any], where: str) -> NDArray[Any]:
    if array.dtype.hasobject:
        raise InputError(
            f"{where}: an array of Python objects (dtype {array.dtype}) is refused; "
            "embeddings must be numbers"
        )
    if array.dtype.kind == "f" and array.dtype.itemsize in (4, 8):
        return array.astype(array.dtype.newbyteorder("="), copy=False)
    if array.dtype.kind in "iu" or array.dtype == np.float16:
        budget().take(4 * array.size, lambda problem: InputError(f"{where}: {problem}"))
        return array.astype(np.float32)
    raise InputError(
        f"{where}: embeddings must be float16, float32, float64 or integers, "
        f"but this array is {array.dtype}"
    )


def _check_finite(array: NDArray[Any], where: str) -> None:
    step = max(1, BLOCK // array.shape[1])
    blocks = range(0, len(array), step)
    bad = np.concatenate([_not_finite(array[i : i + step]) + i for i in blocks])
    if bad.size:
        raise InputError(
            f"{where}: NaN or infinite values in {bad.size:,} of {counted(len(array), 'row')}: "
            f"{numbered('row', (bad + 1).tolist())}"
        )


def _not_finite(block: NDArray[Any]) -> NDArray[np.intp]:
    return np.flatnonzero(~np.isfinite(block).all(axis=1))


def read_only(array: NDArray[Any]) -> NDArray[Any]:
    """Return a view of an array through which it cannot be changed."""
    view = array.view(np.ndarray)
    view.flags.writeable = False
    return view
