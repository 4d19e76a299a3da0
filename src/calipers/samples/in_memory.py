"""Lists, arrays and tables in memory as samples, by their type or that of their first item.

This is the one place that decides it, for every function that takes samples.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from itertools import chain
from typing import Any

import numpy as np

from calipers.errors import InputError
from calipers.numeric.arrays import is_array
from calipers.samples.columns import is_arrow
from calipers.samples.image_files import is_pillow
from calipers.samples.readers.frames import (
    DataFrameTable,
    collected,
    is_lazy,
    is_vector,
    read_frame,
    stacked,
)
from calipers.samples.readers.image_folder import is_image_name
from calipers.samples.readers.rows import read_rows
from calipers.samples.readers.streams import (
    holds_arrays,
    is_torch_data,
    read_stream,
    torch_samples,
)
from calipers.samples.readers.vectors import from_array
from calipers.samples.sample_set import SampleSet
from calipers.samples.source import Source
from calipers.samples.tokens import is_id_list
from calipers.samples.wording import counted, describe
from calipers.samples.wording import names as shown_names

SEVERAL = (
    "for several systems give a dict by their names, for the seeds of one a list of sample sets"
)
"""What to give in place of a list of sets."""


def hold(value: Any, source: Source) -> SampleSet:
    """Make a sample set of texts, token ids, images or embeddings.

    Parameters
    ----------
    value
        A list (also of dicts), a column, a table, an array or a tensor.
    source
        Where the samples and their labels are in the rows of a table, the name of the set, which
        may be empty, and what becomes of image files that cannot be read.

    Raises
    ------
    InputError
        If it is something else, or breaks the rules of its kind.
    """
    name = source.name
    if is_arrow(value):
        from calipers.samples.arrow import is_id_type, is_vector_type, vectors

        if is_id_type(value.type):
            return SampleSet.from_tokens(value, name=name or "tokens")
        if is_vector_type(value.type):
            return from_array(vectors(value, name or "vectors"), name or "vectors", "<array>")
        return SampleSet.from_texts(value, name=name or "texts")
    if is_pillow(value):
        raise InputError(f"{name or 'images'}: this is one image; give a list of several")
    if isinstance(value, Mapping):
        raise _mapping(value, name or "samples")
    if _are_embeddings(value):
        return SampleSet.from_embeddings(value, name=name or "embeddings")
    if is_lazy(value):
        frame, frame_source, others = collected(value, source.called(name or "samples"))
        samples = hold(frame, replace(frame_source, name=name))
        return replace(samples, source="<LazyFrame>", other_fields=others)
    if is_torch_data(value):
        samples = _from_items(torch_samples(value, name or "samples"), source)
        return replace(samples, source=f"<{type(value).__name__}>")
    table = DataFrameTable.of(value)
    if table is not None:
        if table.stream is None and not table.length:
            raise InputError(f"{name or 'samples'}: holds no samples (a {table.kind} without rows)")
        if source.field is not None or not _is_numeric(value):
            return read_frame(table, source.called(name or "samples"))
        value = _numbers(value)
    if type(value).__module__.startswith("polars") and hasattr(value, "to_list"):
        value = value.to_numpy() if value.dtype.is_numeric() else value.to_list()
    if is_array(value) and not _is_column(value):
        many = getattr(value, "ndim", 0) in (3, 4)
        return from_array(value, name or ("images" if many else "vectors"), "<array>")
    if not isinstance(value, Iterable) or isinstance(value, bytes):
        raise _unknown(value, name or "samples")
    if isinstance(value, Sequence) and _are_image_files(value, name or "samples"):
        return SampleSet.from_images(
            value, name=name or "images", skip_bad=source.skip_bad, progress=source.progress
        )
    return _from_items(value, source)


def _from_items(value: Iterable[Any], source: Source) -> SampleSet:
    name = source.name
    items = iter(value)
    missing = object()
    first = next(items, missing)
    if first is missing:
        raise InputError(f"{name or 'samples'}: holds no samples")
    value = value if isinstance(value, Sequence) else chain([first], items)
    if isinstance(first, dict):
        named = source.called(name or "samples").counting("row")
        if holds_arrays(first):
            return read_stream(value, "list", named)
        return replace(read_rows(enumerate(value, 1), named), source="<list>")
    whole = is_lazy(first) or is_torch_data(first) or _are_embeddings(first)
    if whole or DataFrameTable.of(first) is not None:
        raise InputError(
            f"{name or 'samples'}: must be one set of samples, but its first item is a whole "
            f"{type(first).__name__}; {SEVERAL}"
        )
    if isinstance(first, list | tuple) and first and all(isinstance(one, str) for one in first):
        raise InputError(
            f"{name or 'samples'}: must be one set of samples, but its first item is a list of "
            f"{counted(len(first), 'text')}; {SEVERAL}"
        )
    if _is_row(first):
        return SampleSet.from_vectors(list(value), name=name or "vectors", source="<list>")
    if is_pillow(first) or getattr(first, "ndim", 0) in (2, 3):
        return SampleSet.from_images(value, name=name or "images")
    if is_array(first) and is_vector(first):
        rows = stacked(list(value), name or "vectors")
        return SampleSet.from_vectors(rows, name=name or "vectors", source="<list>")
    if is_id_list(first) or _are_ids(first):
        return SampleSet.from_tokens(value, name=name or "tokens")
    return SampleSet.from_texts(value, name=name or "texts")


def _is_row(value: Any) -> bool:
    """Tell whether a value is a list of numbers that are no token ids: a vector."""
    if not isinstance(value, list | tuple) or not is_id_list(value):
        return False
    return any(isinstance(number, float | np.floating) for number in value)


def _are_ids(value: Any) -> bool:
    """Tell whether a value is an array of the token ids of one text."""
    if not is_array(value) or getattr(value, "ndim", 0) != 1:
        return False
    return "int" in str(getattr(value, "dtype", ""))


def _are_embeddings(value: Any) -> bool:
    """Tell whether a value is what an embedder made of samples: arrays by the name of the view."""
    views = getattr(value, "views", None)
    return isinstance(views, Mapping) and bool(views) and hasattr(value, "view_signature")


def _mapping(value: Mapping[Any, Any], name: str) -> InputError:
    """Say that one set is needed where a person gives several, such as the splits of a dataset."""
    if not value:
        return InputError(f"{name}: must be one set of samples; found an empty dict")
    first = next(iter(value))
    return InputError(
        f"{name}: must be one set of samples; found a {type(value).__name__} of "
        f"{shown_names(value)}: give one of them, such as [{first!r}]"
    )


def _unknown(value: Any, name: str) -> InputError:
    kind = f"{type(value).__module__.partition('.')[0]}.{type(value).__name__}"
    if hasattr(value, "collect"):
        return InputError(f"{name}: is a {kind}, which holds no rows yet; give its .collect()")
    if any(hasattr(value, method) for method in ("__arrow_c_stream__", "__dataframe__")):
        return InputError(
            f"{name}: is a table of a kind that is not known ({kind}); give it as a data frame of "
            "pandas or polars, or as a list of dicts"
        )
    return InputError(
        f"{name}: must be a path, a list of strings or an array of shape (n, d), "
        f"but it is {describe(value)}; further kinds are lists of dicts, data frames, datasets, "
        "and lists of token ids and of images"
    )


def _is_numeric(frame: Any) -> bool:
    """Tell whether a data frame holds numbers alone, which are embeddings, a row for each."""
    kinds = list(getattr(frame, "dtypes", ()))
    return bool(kinds) and all(_is_number(kind) for kind in kinds)


def _numbers(frame: Any) -> Any:
    """Return a data frame of numbers as an array; missing ones are NaN, which will be refused."""
    array = frame.to_numpy()
    return frame.to_numpy(dtype=float) if array.dtype == object else array


def _is_number(kind: Any) -> bool:
    """Tell whether a column of this type, of polars or pandas, holds numbers."""
    if hasattr(kind, "is_numeric"):
        return bool(kind.is_numeric())
    return getattr(kind, "kind", "") in ("f", "i", "u")


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
