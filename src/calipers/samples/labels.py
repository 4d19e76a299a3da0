"""Columns of texts, groups, clusters and prompts, from lists or from a field of each row."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from calipers.errors import InputError
from calipers.samples.columns import StringBuilder, StringColumn, is_arrow, sample_error
from calipers.samples.fields import PathError, extractor
from calipers.samples.source import Source, Wanted
from calipers.samples.wording import counted, describe, numbered

LONGEST = 200
"""Characters that a label may have; more of them are a text."""


@dataclass(frozen=True)
class LogIds:
    """Identifiers of samples in a log, by which per-sample values are written back.

    Attributes
    ----------
    ids
        The id of each sample, as text.
    epochs
        In which repetition of the run it was made, from 1, shape ``(n,)``.
    """

    ids: StringColumn
    epochs: NDArray[np.int64]

    def __len__(self) -> int:
        return len(self.ids)

    def take(self, rows: NDArray[np.intp]) -> LogIds:
        """Keep the given rows, counted from 0, in the given order."""
        return LogIds(self.ids.take(rows), self.epochs[rows])


def text_column(texts: Iterable[object], where: str) -> StringColumn:
    """Convert texts to a column; raise an error for one that is not a string."""
    if isinstance(texts, StringColumn):
        return texts
    if is_arrow(texts):
        from calipers.samples import arrow

        return arrow.text_column(texts, where)
    row_error = partial(sample_error, where)
    column = StringBuilder(row_error)
    for number, text in enumerate(texts, 1):
        if not isinstance(text, str):
            raise row_error(number, f"must be a string, but it is {describe(text)}")
        column.append(number, str(text))
    return column.finish()


def label_columns(where: str, length: int, **labels: Iterable[object] | None) -> dict[str, Any]:
    """Convert labels of every kind to columns, as the fields of a sample set."""
    return {kind: label_column(kind, values, length, where) for kind, values in labels.items()}


def label_column(
    kind: str, values: Iterable[object] | None, length: int, where: str
) -> StringColumn | None:
    """Convert one label for each sample to a column."""
    if values is None:
        return None
    column = values if isinstance(values, StringColumn) else _labels(kind, values, where)
    if len(column) != length:
        raise InputError(
            f"{where}: {kind} must have one value for each of the {length:,} samples, "
            f"but there are {len(column):,}"
        )
    return column


def as_label(value: object) -> str | None:
    """Convert a string, number or boolean to a label; None for anything else.

    Whole numbers are written alike, whether a table holds them as integers or as floats.
    """
    if isinstance(value, float | np.floating) and float(value).is_integer():
        return str(int(value))
    known = isinstance(value, str | int | float | np.integer | np.floating | np.bool_)
    return str(value) if known else None


def is_missing(value: object) -> bool:
    """Tell whether a label is null, blank or not a number."""
    if isinstance(value, str):
        return not value.strip()
    return value is None or (isinstance(value, float | np.floating) and bool(np.isnan(value)))


def _labels(kind: str, values: Iterable[object], where: str) -> StringColumn:
    column = StringBuilder(partial(sample_error, where))
    plain: Any = values
    if is_arrow(values):
        plain = plain.to_pylist()
    missing = []
    for number, value in enumerate(plain, 1):
        if kind != "prompts" and is_missing(value):
            missing.append(number)
        else:
            column.append(number, _label(kind, number, value, where))
    if missing:
        raise InputError(
            f"{where}: {kind} are missing for {len(missing):,} of "
            f"{counted(len(missing) + column.length, 'sample')} ({numbered('value', missing)}); "
            'give every sample a label, such as "none"'
        )
    return column.finish()


def _label(kind: str, number: int, value: object, where: str) -> str:
    label = as_label(value)
    rule = "a string" if kind == "prompts" else "a string, a number or a boolean"
    if kind == "groups" and label is not None and len(label) > LONGEST:
        label, rule = None, f"a label of at most {LONGEST} characters"
    if label is None or (kind == "prompts" and not isinstance(value, str)):
        raise InputError(f"{where}: {kind}, value {number}: must be {rule}, not {describe(value)}")
    return label


class FieldLabels:
    """Collects labels row by row, and the rows without one.

    Parameters
    ----------
    source
        The file.
    wanted
        Which labels, and the path of the field.
    """

    def __init__(self, source: Source, wanted: Wanted) -> None:
        self._source = source
        self._wanted = wanted
        self._extract = extractor(wanted.path)
        self._labels = StringBuilder(source.row_error)
        self._missing: list[int] = []
        self._reason = ""

    def append(self, number: int, row: Any) -> None:
        """Add the label of one more sample, from row `number`."""
        try:
            values = self._extract(row)
        except PathError as error:
            self._leave_out(number, str(error))
            return
        if len(values) == 1 and is_missing(values[0]):
            self._leave_out(number, f"it is {describe(values[0])}")
        else:
            self._labels.append(number, self._label(number, values))

    def finish(self) -> StringColumn | None:
        """Return the labels; None where no row has one and none is required.

        Raises
        ------
        InputError
            If rows without a label stand among rows with one, or a label is needed and no row
            has one.
        """
        if not self._missing:
            return self._labels.finish()
        if self._labels.length:
            raise self._source.error(self._some_missing())
        if self._wanted.needed:
            raise self._source.error(
                f"no {self._source.unit} has a {self._wanted} "
                f"({self._source.unit} {self._missing[0]}: {self._reason}); name a field that "
                "every row has"
            )
        return None

    def _leave_out(self, number: int, reason: str) -> None:
        self._reason = self._reason or reason
        self._missing.append(number)

    def _label(self, number: int, values: list[Any]) -> str:
        label = as_label(values[0]) if len(values) == 1 else None
        if label is None:
            description = describe(values[0] if len(values) == 1 else values)
            raise self._error(number, f"must be one string, number or boolean, not {description}")
        if self._wanted.kind == "group" and len(label) > LONGEST:
            raise self._error(
                number,
                f"must be a label of at most {LONGEST} characters, but it has {len(label):,}; "
                "is it the right field?",
            )
        return label

    def _error(self, number: int, rule: str) -> InputError:
        return self._source.row_error(number, f"the {self._wanted} {rule}")

    def _some_missing(self) -> str:
        total = self._labels.length + len(self._missing)
        rows = numbered(self._source.unit, list(dict.fromkeys(self._missing)))
        choice = "" if self._wanted.needed else ", or take the field out of every row"
        return (
            f"the {self._wanted} is missing in {len(self._missing):,} of "
            f"{counted(total, 'sample')} ({rows}: {self._reason}); give every row a label, such "
            f'as "none"{choice}'
        )


class FieldLogIds:
    """Collects identifiers of samples in a log of inspect.

    Parameters
    ----------
    source
        The file.
    """

    def __init__(self, source: Source) -> None:
        self._source = source
        self._ids = StringBuilder(source.row_error)
        self._epochs: list[int] = []

    def append(self, number: int, row: Any) -> None:
        """Add one more sample, from row `number`."""
        name, epoch = row["id"], row["epoch"]
        if isinstance(name, bool) or not isinstance(name, str | int):
            raise self._source.row_error(
                number, f"'id' must be a string or a whole number, but it is {describe(name)}"
            )
        if isinstance(epoch, bool) or not isinstance(epoch, int) or not 0 < epoch < 2**31:
            raise self._source.row_error(
                number, f"'epoch' must be a whole number from 1 on, but it is {describe(epoch)}"
            )
        self._ids.append(number, str(name))
        self._epochs.append(epoch)

    def finish(self) -> LogIds:
        """Return the identifiers."""
        return LogIds(self._ids.finish(), np.array(self._epochs, np.int64))
