"""Checks of the arguments that public functions over arrays take."""

from __future__ import annotations

from collections.abc import Sequence
from numbers import Integral, Real
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from calipers.errors import InputError, unknown_name
from calipers.numeric.arrays import as_numpy
from calipers.numeric.distances import Points
from calipers.numeric.scratch import converted

LARGEST = 1e100


def check_points(points: ArrayLike, name: str) -> Points:
    """Return samples as rows of float32 or float64; raise an error for invalid ones.

    float32 and float64 are taken as given, other real numbers are converted once: half precision
    (float16, bfloat16) and short integers to float32, longer integers to float64. Tensors come
    without their gradients.

    Raises
    ------
    InputError
        If the array is not two-dimensional, is empty, or holds anything but finite real numbers.
    """
    array = as_array(points, name)
    if array.ndim != 2:
        raise InputError(f"{name} must have shape (samples, dimensions); found {array.shape}")
    if array.dtype.kind not in "fiu":
        raise InputError(f"{name} must hold real numbers; found dtype {array.dtype}")
    if 0 in array.shape:
        raise InputError(f"{name} must have at least one row and one column; found {array.shape}")
    if array.dtype not in (np.float32, np.float64):
        array = converted(array, np.float32 if array.dtype.itemsize < 4 else np.float64)
    if not array.flags.c_contiguous:
        array = converted(array, array.dtype)
    _check_finite(array, name)
    return array


def check_pair(reference: ArrayLike, generated: ArrayLike) -> tuple[Points, Points]:
    """Check both sets, and that they have the same number of columns.

    Sets of different precision are both brought to float64.
    """
    left, right = check_points(reference, "reference"), check_points(generated, "generated")
    if left.shape[1] != right.shape[1]:
        raise InputError(
            "reference and generated must have the same number of columns; "
            f"found {left.shape[1]} and {right.shape[1]}"
        )
    if left.dtype != right.dtype:
        return converted(left, np.float64), converted(right, np.float64)
    return left, right


def check_choice(parameter: str, value: Any, known: Sequence[str]) -> None:
    """Refuse a word other than the known ones."""
    if value not in known:
        raise unknown_name(f"value for {parameter}", str(value), known)


def check_whole(parameter: str, value: Any, least: int) -> int:
    """Return a whole number of at least a minimum; refuse anything else."""
    if not is_whole(value, least):
        raise InputError(f"{parameter} must be a whole number of at least {least}; found {value!r}")
    return int(value)


def check_threads(threads: int | None) -> int | None:
    """Return the number of threads; None means as many as there are cores."""
    return None if threads is None else check_whole("threads", threads, 1)


def check_flags(**flags: bool) -> None:
    """Refuse options other than booleans, such as the word "no"."""
    for name, flag in flags.items():
        if not isinstance(flag, bool | np.bool_):
            raise InputError(f"{name} must be True or False; found {flag!r}")


def is_whole(value: Any, least: int) -> bool:
    """Whether a value is a whole number, of Python or NumPy, of at least `least`."""
    return type(value) is not bool and isinstance(value, Integral) and int(value) >= least


def is_real(value: Any) -> bool:
    """Whether a value is a real number, of Python or NumPy, but not a boolean."""
    return isinstance(value, Real) and not isinstance(value, bool)


def is_positive(value: Any) -> bool:
    """Whether a value is a finite number above 0, of Python or NumPy."""
    if not is_real(value):
        return False
    try:
        return 0 < float(value) < np.inf
    except OverflowError:  # a whole number beyond all floats
        return False


def check_inner_share(parameter: str, value: Any, rule: str = "must lie between 0 and 1;") -> None:
    """Refuse values other than real numbers strictly between 0 and 1."""
    if not (is_real(value) and 0 < value < 1):
        raise InputError(f"{parameter} {rule} found {value!r}")


def as_array(points: Any, name: str) -> NDArray[Any]:
    """Convert a container of numbers to an array, without dropping anything.

    Raises
    ------
    InputError
        If values are masked, or it is ragged or no array at all.
    """
    if type(points) is np.ndarray and points.dtype.kind in "biuf":
        return points
    if np.ma.is_masked(points):
        raise InputError(f"{name} must have no masked values; found {int(points.mask.sum())}")
    try:
        return as_numpy(points)
    except (ValueError, TypeError, RuntimeError) as error:
        raise InputError(f"{name} cannot be read as an array of numbers: {error}") from error


def _check_finite(array: Points, name: str) -> None:
    bad: list[int] = []
    for start in range(0, len(array), 4096):
        good = _usable(array[start : start + 4096])
        if not good.all():
            bad += (start + np.flatnonzero(~good.all(axis=1)) + 1).tolist()
    if bad:
        shown = ", ".join(map(str, bad[:5])) + (", …" if len(bad) > 5 else "")
        raise InputError(
            f"{name} must hold finite numbers (of absolute value at most {LARGEST:g}); "
            f"{len(bad)} row(s) do not, counted from 1: {shown}"
        )


def _usable(rows: Points) -> NDArray[np.bool_]:
    """Finite, and small enough that a float64 holds the square of a distance."""
    return np.isfinite(rows) if rows.dtype == np.float32 else np.abs(rows) <= LARGEST
