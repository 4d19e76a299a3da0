"""Tables as text: comma-separated and tab-separated values with a header row."""

from __future__ import annotations

import csv
from collections.abc import Iterator
from typing import Any, BinaryIO

from calipers.memory import budget, size_words
from calipers.samples.lines import decoded
from calipers.samples.rows import read_rows
from calipers.samples.sample_set import SampleSet
from calipers.samples.source import Source
from calipers.samples.wording import counted, names

FIELD_LIMIT = 2**31 - 1


def read_csv(stream: BinaryIO, source: Source) -> SampleSet:
    """Read a sample from each row of comma-separated values; the first row names the columns."""
    return _read(stream, source, ",")


def read_tsv(stream: BinaryIO, source: Source) -> SampleSet:
    """Read a sample from each row of tab-separated values; the first row names the columns."""
    return _read(stream, source, "\t")


def _read(stream: BinaryIO, source: Source, delimiter: str) -> SampleSet:
    source = source.counting("line", "the first row must name the columns")
    return read_rows(csv_rows(stream, source, delimiter), source)


def csv_rows(
    stream: BinaryIO, source: Source, delimiter: str
) -> Iterator[tuple[int, dict[str, str]]]:
    """Yield the rows below the header, each with the line on which it begins."""
    cells = _cells(stream, source, delimiter)
    _, header = next(cells, (1, []))
    _check_header(header, source, delimiter)
    for number, row in cells:
        if len(row) != len(header):
            raise source.row_error(
                number,
                f"has {counted(len(row), 'value')}, but the header row names "
                f"{counted(len(header), 'column')}",
            )
        yield number, dict(zip(header, row, strict=True))


def _cells(stream: BinaryIO, source: Source, delimiter: str) -> Iterator[tuple[int, list[str]]]:
    """Split rows that are not blank into values, numbered by the line on which they begin."""
    # The limit is one for the whole process; it is only ever raised, so that a reader in another
    # thread never finds it lowered.
    csv.field_size_limit(max(csv.field_size_limit(), FIELD_LIMIT))
    longest, held = budget().longest_line, 0

    def lines() -> Iterator[str]:
        nonlocal held
        for _, line in decoded(stream, source):
            held += len(line)
            if held > longest:
                raise source.row_error(
                    number,
                    f"the row that begins here is longer than {size_words(longest)}, the most that "
                    "a row may be in the memory that may be taken; does a quoted value never end? "
                    "Else allow more with --max-memory (calipers.memory_limit in Python)",
                )
            yield line

    reader = csv.reader(lines(), delimiter=delimiter, strict=True)
    while True:
        number, held = reader.line_num + 1, 0
        try:
            row = next(reader)
        except StopIteration:
            return
        except csv.Error as error:
            raise source.row_error(number, _problem(error)) from error
        if row:
            yield number, row


def _check_header(header: list[str], source: Source, delimiter: str) -> None:
    header[:] = [name.strip() for name in header]
    twice = sorted({name for name in header if header.count(name) > 1})
    if twice:
        raise source.error(f"the header row names the column {names(twice)} twice")
    if source.field is None and len(header) == 1:
        found = [mark for mark in ";,\t|" if mark != delimiter and mark in header[0]]
        if found:
            raise source.error(
                f"the header row is one column, {header[0]!r}; columns must be separated by "
                f"{delimiter!r}, not {found[0]!r}"
            )


def _problem(error: Any) -> str:
    if "unexpected end of data" in str(error):
        return "a quoted value that begins in this row never ends"
    return f"broken table: {error}"
