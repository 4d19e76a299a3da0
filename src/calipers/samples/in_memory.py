"""Lists and arrays that a person holds: their type, or their first item's, tells what they are."""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from itertools import chain
from typing import Any

import numpy as np

from calipers.errors import InputError
from calipers.progress import Progress
from calipers.samples.columns import is_arrow
from calipers.samples.image_files import is_pillow
from calipers.samples.readers.image_folder import is_image_name
from calipers.samples.readers.vectors import from_array
from calipers.samples.sample_set import SampleSet
from calipers.samples.tokens import is_id_list
from calipers.samples.wording import describe


def hold(
    value: Any, *, name: str | None, skip_bad: bool = False, progress: Progress | None = None
) -> SampleSet:
    """Make a sample set of texts, token ids, images or embeddings.

    Raises
    ------
    InputError
        If it is something else, or breaks the rules of its kind.
    """
    if is_arrow(value):
        from calipers.samples.arrow import is_id_type

        if is_id_type(value.type):
            return SampleSet.from_tokens(value, name=name or "tokens")
        return SampleSet.from_texts(value, name=name or "texts")
    if is_pillow(value):
        raise InputError(f"{name or 'images'}: this is one image; give a list of several")
    if hasattr(value, "__array__") and not _is_column(value):
        many = getattr(value, "ndim", 0) in (3, 4)
        return from_array(value, name or ("images" if many else "vectors"), "<array>")
    if not isinstance(value, Iterable) or isinstance(value, bytes | dict):
        raise InputError(
            f"{name or 'samples'}: must be a path, a list of strings or an array of shape (n, d), "
            f"but it is {describe(value)}; further kinds are lists of token ids and of images"
        )
    if isinstance(value, Sequence) and _are_image_files(value, name or "samples"):
        return SampleSet.from_images(
            value, name=name or "images", skip_bad=skip_bad, progress=progress
        )
    return _from_items(value, name)


def _from_items(value: Iterable[Any], name: str | None) -> SampleSet:
    items = iter(value)
    first = next(items, "")
    value = value if isinstance(value, Sequence) else chain([first], items)
    if is_pillow(first) or getattr(first, "ndim", 0) in (2, 3):
        return SampleSet.from_images(value, name=name or "images")
    if is_id_list(first):
        return SampleSet.from_tokens(value, name=name or "tokens")
    return SampleSet.from_texts(value, name=name or "texts")


def _is_column(value: Any) -> bool:
    # Columns of strings, such as those of pandas, are arrays of objects too.
    try:
        array = np.asarray(value)
    except (TypeError, ValueError, RuntimeError):
        return False
    return array.ndim == 1 and array.dtype.kind in "UOT"


def _are_image_files(values: Sequence[Any], where: str) -> bool:
    """Tell whether a list holds paths of image files alone; refuse one that mixes them."""
    paths = [number for number, value in enumerate(values, 1) if _is_image_file(value)]
    if not paths or len(paths) == len(values):
        return bool(paths)
    wrong = next(n for n, value in enumerate(values, 1) if not _is_image_file(value))
    raise InputError(
        f"{where}: item {paths[0]:,} is the path of an image file, "
        f"{str(values[paths[0] - 1])!r}, but item {wrong:,} is {_shown(values[wrong - 1])}; give "
        "images alone, or texts alone"
    )


def _is_image_file(value: object) -> bool:
    if isinstance(value, os.PathLike):
        return is_image_name(value)
    return isinstance(value, str) and is_image_name(value[-10:]) and os.path.isfile(value)


def _shown(value: object) -> str:
    return f"the path {os.fspath(value)!r}" if isinstance(value, os.PathLike) else describe(value)
