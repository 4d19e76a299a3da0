"""What counts as a list of texts, said once for every function of :mod:`calipers.text`."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Set
from typing import Any

from calipers.errors import InputError


def as_strings(texts: Any, name: str = "texts") -> list[str]:
    """List texts from whatever holds them, or say which of them is no text.

    Parameters
    ----------
    texts
        Any iterable of strings: a list, a generator, a one-dimensional NumPy array, a column of
        pandas, Arrow or a dataset, a :class:`~calipers.samples.SampleSet` of texts.
    name
        What messages call it.

    Returns
    -------
    list of str
        A list of its own, in the same order; empty texts are kept.

    Raises
    ------
    InputError
        If it is a single string, has no order or more than one dimension, is empty, or an item is
        no string (rows are counted from 1).
    """
    _check_shape(texts, name)
    listed = _listed(texts)
    if not listed:
        raise InputError(f"{name} must hold at least one text; found none")
    wrong = next((row for row, text in enumerate(listed) if not isinstance(text, str)), None)
    if wrong is not None:
        raise InputError(
            f"{name} must hold strings only; row {wrong + 1:,} is {_described(listed[wrong])}"
        )
    return listed


def _check_shape(texts: Any, name: str) -> None:
    if isinstance(texts, str | bytes):
        kind = "string" if isinstance(texts, str) else "bytes object"
        raise InputError(
            f"{name} must be a list of strings; found a single {kind}: put it into a list, [text]"
        )
    if isinstance(texts, Mapping | Set):
        raise InputError(
            f"{name} must be a list of strings, in a fixed order; found a {type(texts).__name__}"
        )
    if getattr(texts, "ndim", 1) != 1 or hasattr(texts, "columns"):
        raise InputError(
            f"{name} must have one dimension, a text in each row; found a {type(texts).__name__} "
            f"of shape {getattr(texts, 'shape', 'unknown')}: choose one column"
        )
    if not isinstance(texts, Iterable):
        raise InputError(f"{name} must be a list of strings; found {_described(texts)}")


def _listed(texts: Any) -> list[Any]:
    for method in ("to_pylist", "tolist"):  # Arrow; NumPy and pandas
        if hasattr(texts, method):
            return list(getattr(texts, method)())
    return list(texts)


def _described(value: object) -> str:
    shown = repr(value)
    short = shown if len(shown) <= 40 else shown[:39] + "…"
    return "None" if value is None else f"{short}, of type {type(value).__name__}"
