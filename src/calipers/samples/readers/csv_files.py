"""Tables in text files: CSV with any separator, and TSV."""

from __future__ import annotations

import csv
import re
from collections.abc import Iterable, Iterator, Sequence
from itertools import chain
from typing import Any, BinaryIO

from calipers.memory import budget, size_words
from calipers.samples.fields import TOKENS, USUAL, root
from calipers.samples.readers.decoding import decoded
from calipers.samples.readers.rows import read_rows
from calipers.samples.sample_set import SampleSet
from calipers.samples.source import Source
from calipers.samples.wording import counted, names, numbered

FIELD_LIMIT = 2**31 - 1


MARKS = ",;\t|"
"""What may stand between the columns of a ``.csv`` file; the header row tells which does."""


def read_csv(stream: BinaryIO, source: Source) -> SampleSet:
    """Read a sample from each row of a table; the first row names the columns.

    Columns are separated by commas, or by semicolons, tabs or bars where the header row is.
    """
    return _read(stream, source, None)


def read_tsv(stream: BinaryIO, source: Source) -> SampleSet:
    """Read a sample from each row of tab-separated values; the first row names the columns."""
    return _read(stream, source, "\t")


def _read(stream: BinaryIO, source: Source, delimiter: str | None) -> SampleSet:
    source = source.counting("line", "the first row must name the columns")
    notes: list[str] = []
    return read_rows(csv_rows(stream, source, delimiter, notes), source).noting(*notes)


def csv_rows(
    stream: BinaryIO, source: Source, delimiter: str | None, notes: list[str] | None = None
) -> Iterator[tuple[int, dict[str, str]]]:
    """Yield the rows below the header, each with the line where it begins.

    Without a delimiter the header row decides which of `MARKS` it is. Of quoted values that hold
    what looks like further rows a note is made.
    """
    cells = _Cells(stream, source, delimiter, of_samples=notes is not None)
    rows = cells.rows()
    _, header = next(rows, (1, []))
    _check_header(header, source, delimiter)
    cells.columns = len(header)
    for number, row in rows:
        if len(row) != len(header):
            raise source.row_error(
                number,
                f"has {counted(len(row), 'value')}, but the header row names "
                f"{counted(len(header), 'column')}",
            )
        yield number, dict(zip(header, row, strict=True))
    if cells.swallowing and notes is not None:
        notes.append(_swallowed(cells.swallowing))


class _Cells:
    """The rows of a table, split into values.

    Parameters
    ----------
    stream, source, delimiter
        As of :func:`csv_rows`.
    of_samples
        Whether it holds samples, for which quotation marks can be switched off.

    Attributes
    ----------
    columns
        How many columns the header row names; 0 until it is known.
    swallowing
        The lines on which rows begin that seem to hold further ones in a quoted value, with the
        number of their lines.
    """

    def __init__(
        self, stream: BinaryIO, source: Source, delimiter: str | None, *, of_samples: bool
    ) -> None:
        # The limit is one for the whole process; it is only ever raised, so that a reader in
        # another thread never finds it lowered.
        csv.field_size_limit(max(csv.field_size_limit(), FIELD_LIMIT))
        self._source, self._of_samples = source, of_samples
        self._longest, self._length = budget().longest_line, 0
        self._number, self._lines, self._alike = 1, 0, 0
        self.columns, self.swallowing = 0, dict[int, int]()
        lines = decoded(stream, source)
        begun: list[tuple[int, str]] = []
        self._first = 1
        if delimiter is None:
            begun = list(_begin(lines))
            delimiter = _mark(begun[-1][1], source) if begun else ","
            if begun and (named := _NAMED_MARK.fullmatch(begun[-1][1].strip("\r\n"))):
                delimiter, self._first, begun = named[1], begun[-1][0] + 1, []
        self._delimiter = delimiter
        self._physical = chain(begun, lines)

    def rows(self) -> Iterator[tuple[int, list[str]]]:
        """Return the rows that are not blank, numbered by the line on which they begin."""
        quoting: Any = csv.QUOTE_MINIMAL if self._source.quotes else csv.QUOTE_NONE
        reader = csv.reader(
            self._counted(), delimiter=self._delimiter, quoting=quoting, strict=True
        )
        while True:
            self._number = reader.line_num + self._first
            self._length = self._lines = self._alike = 0
            try:
                row = next(reader)
            except StopIteration:
                return
            except csv.Error as error:
                raise self._source.row_error(self._number, self._problem(error)) from error
            if self._alike == self._lines >= (2 if self._delimiter == "\t" else SEVERAL):
                self.swallowing[self._number] = self._lines
            if row:
                yield self._number, row

    def _counted(self) -> Iterator[str]:
        """Return the lines, counting those of the row that is being read."""
        for _, line in self._physical:
            self._length += len(line)
            if self._length > self._longest:
                raise self._source.row_error(
                    self._number,
                    f"the row that begins here is longer than {size_words(self._longest)}, the "
                    "longest row that the memory limit allows; does a quoted value "
                    "never end? Else allow more with `calipers.memory_limit`",
                )
            self._lines += 1
            self._alike += 1 < self.columns == line.count(self._delimiter) + 1
            yield line

    def _problem(self, error: csv.Error) -> str:
        """Say what is wrong with a row, and how else it may be meant."""
        unquoted = f", {UNQUOTED}" if self._of_samples else ""
        if "unexpected end of data" in str(error):
            hint = f"; if it is not meant to be quoted{unquoted}" if unquoted else ""
            return f"a quoted value that begins in this row has no closing quote{hint}"
        if "new-line character" in str(error):
            return (
                "has a carriage return outside of quotation marks; lines must end with line feeds"
            )
        hint = f"; if no value is quoted{unquoted}" if "expected after" in str(error) else ""
        return f"broken table: {error}{hint if unquoted else ''}"


SEVERAL = 4
"""Lines of a quoted value with as many marks as the header row that are hardly chance.

Of tabs, which texts rarely hold, two are enough.
"""


def _swallowed(rows: dict[int, int]) -> str:
    """Say that quoted values seem to hold rows."""
    where, lines = numbered("line", list(rows)), sum(rows.values())
    if len(rows) == 1:
        values = f"the value that begins with a quotation mark in {where} spans {lines:,} lines"
    else:
        values = (
            f"{len(rows):,} values that begin with a quotation mark span {lines:,} lines ({where})"
        )
    return f"{values}, each with as many columns as the header row: if these are rows, {UNQUOTED}"


def swallowed(notes: Iterable[str]) -> Iterator[str]:
    """Return notes on a file in which quotation marks may have swallowed rows."""
    return (note for note in notes if note.endswith(f": if these are rows, {UNQUOTED}"))


UNQUOTED = "read quotation marks as part of the texts with `quotes=False`"


def _begin(lines: Iterator[tuple[int, str]]) -> Iterator[tuple[int, str]]:
    """Return the lines up to the first that is not blank, which is the header row or its beginning.

    It is followed by further ones only where a quoted name goes on over several lines.
    """
    for number, line in lines:
        yield number, line
        if not line.isspace():
            return


_NAMED_MARK = re.compile(r"sep=([,;\t|])")
"""The first line in which Excel names the mark between columns."""


def _mark(header: str, source: Source) -> str:
    """Tell what separates the columns that a header row names.

    The mark by which it names the field that was asked for, else one with a usual name, else that
    of the most columns; a comma where marks are alike.
    """

    def merit(mark: str) -> tuple[bool, bool, int]:
        try:
            row = next(csv.reader([header], delimiter=mark), [])
        except csv.Error:
            row = []
        names = {name.strip() for name in row}
        asked = source.field is not None and bool({source.field, root(source.field)} & names)
        usual = len(row) > 1 and any(name.casefold() in (*USUAL, *TOKENS) for name in names)
        return asked, usual, len(row)

    return max(MARKS, key=merit)  # of equal ones the first


def _check_header(header: list[str], source: Source, delimiter: str | None) -> None:
    header[:] = [name.strip() for name in header]
    twice = sorted({name for name in header if header.count(name) > 1})
    if twice:
        raise source.error(f"the header row names the column {names(twice)} twice")
    if delimiter is not None and source.field is None and len(header) == 1:
        marks = [mark for mark in MARKS if mark != delimiter and mark in header[0]]
        if marks:
            raise source.error(
                f"the header row is one column, {header[0]!r}; columns must be separated by "
                f"{delimiter!r}, not {marks[0]!r}"
            )


def piped_table(lines: Sequence[str], source: Source) -> str | None:
    """Describe the columns of a table without a file name, if its first line is a header.

    That is so where it names several columns, one of them usual for a text or asked for, or all
    other rows have as many values; or one usual name where further lines are quoted.
    """
    header = lines[0].strip("\r\n")
    mark = _mark(header, source)
    try:
        raw = next(csv.reader([header], delimiter=mark, strict=True), [])
    except csv.Error:
        return None
    columns = [name.strip() for name in raw]
    known = {source.field, root(source.field or "")} & set(columns)
    usual = bool(known) or any(name.casefold() in (*USUAL, *TOKENS) for name in columns)
    if len(columns) == 1:
        quoted = any(line.startswith('"') for line in lines[1:])
        return names(columns) if usual and (quoted or known) else None
    named = len(set(columns)) == len(columns) and all(map(_NAME.fullmatch, columns))
    if not named or len(lines) < 2:
        return None
    plain = not any(" " in name for name in raw)
    if (plain and usual) or ((plain or usual) and _all_alike(lines, mark, len(columns))):
        return names(columns)
    return None


_NAME = re.compile(r"[^\W\d][\w .:/()\[\]-]{0,39}")
"""What the name of a column is like, and the beginning of a text hardly."""


def _all_alike(lines: Sequence[str], mark: str, columns: int) -> bool:
    try:
        rows = csv.reader((f"{line}\n" for line in lines), delimiter=mark, strict=True)
        return all(len(row) == columns for row in rows if row)
    except csv.Error:
        return False
