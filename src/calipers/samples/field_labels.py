"""The group, or the cluster, of every sample, from a field of its row."""

from __future__ import annotations

from typing import Any

import pyarrow as pa

from calipers.errors import InputError
from calipers.samples.columns import StringColumn
from calipers.samples.labels import LONGEST, as_label, is_missing
from calipers.samples.paths import PathError, extractor
from calipers.samples.source import Source, Wanted
from calipers.samples.wording import counted, describe, numbered


class FieldLabels:
    """Collects labels row by row, and remembers the rows that have none.

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
        self._labels = StringColumn(source.row_error)
        self._missing: list[int] = []
        self._reason = ""

    def append(self, number: int, row: Any) -> None:
        """Add the label of one more sample, which stands in row `number`."""
        try:
            values = self._extract(row)
        except PathError as error:
            self._leave_out(number, str(error))
            return
        if len(values) == 1 and is_missing(values[0]):
            self._leave_out(number, f"it is {describe(values[0])}")
        else:
            self._labels.append(number, self._label(number, values))

    def finish(self) -> pa.ChunkedArray | None:
        """Return the labels; None where no row has one and none is needed.

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
            found = describe(values[0] if len(values) == 1 else values)
            raise self._error(number, f"must be one string, number or boolean, not {found}")
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
