"""Texts, groups and prompts as Arrow columns, from whatever a person holds them in."""

from __future__ import annotations

from collections.abc import Iterable
from functools import partial
from typing import Any

import numpy as np
import pyarrow as pa

from calipers.errors import InputError
from calipers.samples.columns import StringColumn, is_string, string_array
from calipers.samples.wording import describe


def text_column(texts: Iterable[object], where: str) -> pa.ChunkedArray:
    """Turn texts into a column of large strings without nulls, or name the one that is none."""
    row_error = partial(_sample_error, where)
    if isinstance(texts, pa.Array | pa.ChunkedArray):
        return _from_arrow(texts, where)
    column = StringColumn(row_error)
    for number, text in enumerate(texts, 1):
        if not isinstance(text, str):
            raise row_error(number, f"must be a string, but it is {describe(text)}")
        column.append(number, str(text))
    return column.finish()


def label_column(
    kind: str, values: Iterable[object] | None, length: int, where: str
) -> pa.ChunkedArray | None:
    """Turn one label for each sample into a column of large strings."""
    if values is None:
        return None
    column: Any = values if _is_finished(values) else _labels(kind, values, where)
    if len(column) != length:
        raise InputError(
            f"{where}: {kind} must have one value for each of the {length:,} samples, "
            f"but there are {len(column):,}"
        )
    return column


def as_label(value: object) -> str | None:
    """Write a string, integer or boolean as a label; None if it is something else."""
    return str(value) if isinstance(value, str | int | np.integer | np.bool_) else None


def _is_finished(values: Iterable[object]) -> bool:
    return (
        isinstance(values, pa.ChunkedArray)
        and values.type == pa.large_string()
        and not values.null_count
    )


def _labels(kind: str, values: Iterable[object], where: str) -> pa.ChunkedArray:
    column = StringColumn(partial(_sample_error, where))
    plain = values.to_pylist() if isinstance(values, pa.Array | pa.ChunkedArray) else values
    for number, value in enumerate(plain, 1):
        label = as_label(value)
        if label is None or (kind == "prompts" and not isinstance(value, str)):
            rule = "a string" if kind == "prompts" else "a string or an integer"
            raise InputError(
                f"{where}: {kind}, value {number}: must be {rule}, not {describe(value)}"
            )
        column.append(number, label)
    return column.finish()


def _from_arrow(texts: pa.Array | pa.ChunkedArray, where: str) -> pa.ChunkedArray:
    if not is_string(texts.type):
        raise InputError(f"{where}: texts must be strings, but this Arrow array holds {texts.type}")
    chunks, first = [], 1
    for chunk in texts.chunks if isinstance(texts, pa.ChunkedArray) else [texts]:
        chunks.append(string_array(chunk, first, partial(_sample_error, where)))
        first += len(chunk)
    return pa.chunked_array(chunks, type=pa.large_string())


def _sample_error(where: str, number: int, problem: str) -> InputError:
    return InputError(f"{where}: sample {number}: {problem}")
