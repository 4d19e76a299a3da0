"""From what a person holds (paths, arrays, Pillow images) to images that a sample set can hold."""

from __future__ import annotations

import os
import warnings
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from calipers.errors import InputError
from calipers.progress import Progress, Silent
from calipers.samples.held import Held
from calipers.samples.image_arrays import ImageArrays, from_arrays, from_stack
from calipers.samples.image_files import Look, in_threads, look, sound_files
from calipers.samples.image_pixels import BadImageError, image_pixels
from calipers.samples.vectors import as_array
from calipers.samples.wording import counted, describe

FIRST = 5
"""Bad files that a message names."""


@dataclass(frozen=True, eq=False)
class FoundImages:
    """Images as they will be held, and which of those given they are.

    Attributes
    ----------
    held
        The images.
    rows
        Which of those given they are, counted from 0.
    n_given
        How many were given.
    notes
        What was left out.
    """

    held: Held
    rows: NDArray[np.intp]
    n_given: int
    notes: tuple[str, ...] = ()

    @property
    def left_out(self) -> bool:
        """Whether some of those given are not held."""
        return len(self.rows) < self.n_given


def hold_images(
    images: Any, where: str, *, skip_bad: bool = False, progress: Progress | None = None
) -> FoundImages:
    """Hold images that a person gives as paths, as arrays or as Pillow images.

    Raises
    ------
    InputError
        If there are none, they are of different types, or one cannot be used.
    """
    if isinstance(images, str | os.PathLike):
        raise InputError(
            f"{where}: images must be a list of paths or an array, but this is one path, "
            f"{os.fspath(images)!r}; read a folder with calipers.read_samples"
        )
    if hasattr(images, "__array__") and not is_pillow(images):
        array = as_array(images, where)
        if array.dtype != object or array.ndim != 1:
            return _all_of(from_stack(array, where))
    given = list(images) if isinstance(images, Iterable) and not is_pillow(images) else None
    if given is None:
        raise InputError(
            f"{where}: images must be a list of paths, arrays or Pillow images, or an array of "
            f"shape (n, height, width, 3), but this is {describe(images)}"
        )
    if not given:
        raise InputError(f"{where}: holds no samples")
    if all(isinstance(each, str | os.PathLike) for each in given):
        return hold_files([os.fspath(each) for each in given], where, skip_bad, progress)
    return _all_of(from_arrays((_as_array(n, v, where) for n, v in enumerate(given, 1)), where))


def hold_files(
    paths: Sequence[str], where: str, skip_bad: bool, progress: Progress | None
) -> FoundImages:
    """Look at image files once and hold those that are sound.

    Raises
    ------
    InputError
        If one is not sound and `skip_bad` is False, or none is.
    """
    looks = _looks(paths, where, progress)
    bad = [(path, each.problem) for path, each in zip(paths, looks, strict=True) if each.problem]
    if bad and (not skip_bad or len(bad) == len(paths)):
        raise InputError(_bad_message(bad, len(paths), where))
    rows = np.flatnonzero([not each.problem for each in looks])
    notes = (_left_out(bad, len(paths)),) if bad else ()
    return FoundImages(sound_files(paths, looks), rows, len(paths), notes)


def is_pillow(value: object) -> bool:
    """Tell whether a value is a Pillow image, without importing Pillow for it."""
    return any(
        each.__module__ == "PIL.Image" and each.__name__ == "Image" for each in type(value).__mro__
    )


def _looks(paths: Sequence[str], where: str, progress: Progress | None) -> list[Look]:
    looks = []
    task = (progress or Silent()).task(f"Reading {where}", len(paths))
    with task as advance, warnings.catch_warnings():
        # What Pillow finds odd and reads all the same; what it cannot read is an error.
        warnings.simplefilter("ignore")
        for each in in_threads(look, paths):
            looks.append(each)
            advance(1)
    return looks


def _bad_message(bad: list[tuple[str, str]], total: int, where: str) -> str:
    if total == 1:
        return f"{bad[0][0]}: {bad[0][1]}"
    each = "\n".join(f"  {path}: {problem}" for path, problem in bad[:FIRST])
    more = f"\n  and {len(bad) - FIRST:,} more" if len(bad) > FIRST else ""
    if len(bad) == total:
        return f"{where}: none of {counted(total, 'image file')} can be read:\n{each}{more}"
    return (
        f"{where}: {len(bad):,} of {counted(total, 'image file')} cannot be read; to leave "
        f"{'it' if len(bad) == 1 else 'them'} out give --skip-bad (skip_bad=True in Python):\n"
        f"{each}{more}"
    )


def _left_out(bad: list[tuple[str, str]], total: int) -> str:
    path, problem = bad[0]
    verb = "was" if len(bad) == 1 else "were"
    return (
        f"{len(bad):,} of {counted(total, 'image file')} could not be read and {verb} left out "
        f"(the first: {path}: {problem})"
    )


def _as_array(number: int, value: Any, where: str) -> Any:
    if is_pillow(value):
        try:
            return image_pixels(value)
        except (BadImageError, OSError, ValueError) as error:
            raise InputError(f"{where}: image {number}: {error}") from error
    if hasattr(value, "__array__") or hasattr(value, "__array_interface__"):
        return value
    raise InputError(
        f"{where}: image {number}: must be an array or a Pillow image, or all must be paths, but "
        f"it is {describe(value)}"
    )


def _all_of(held: ImageArrays) -> FoundImages:
    return FoundImages(held, np.arange(len(held)), len(held))
