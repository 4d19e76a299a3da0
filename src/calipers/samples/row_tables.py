"""Small tables of scores and judgements, from files or from objects in memory.

Rows stay as they were written; each knows its number, so that every message can name it.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from sys import getsizeof
from typing import Any

from calipers.errors import InputError, require
from calipers.files import check_there, fitting_in_memory
from calipers.memory import budget
from calipers.samples.readers.csv_files import csv_rows
from calipers.samples.readers.decoding import decoded
from calipers.samples.readers.json_files import json_rows, json_value
from calipers.samples.readers.json_tables import table_rows
from calipers.samples.source import Source, open_seekable, open_stream, split_suffix
from calipers.samples.wording import describe, names

SUFFIXES = (".csv", ".tsv", ".jsonl", ".ndjson", ".json", ".parquet")

STDIO = "-"
ROW_SIZE = 400
"""Bytes that a row takes beside its values."""

Row = tuple[int, Mapping[str, Any]]


@dataclass(frozen=True)
class RowTable:
    """Numbered rows, and the name of the table.

    Attributes
    ----------
    source
        Begins every message.
    rows
        The number of each row, counted from 1 as a person would, and its values by column.
    columns
        All columns of any row, in the order in which they come up.
    """

    source: Source
    rows: tuple[Row, ...]
    columns: tuple[str, ...]

    def need(self, *columns: str, hint: str = "") -> None:
        """Refuse a table that lacks a column, listing those that it has."""
        for column in columns:
            if column not in self.columns:
                note = f" ({self.source.header_note})" if self.source.header_note else ""
                raise self.source.error(
                    f"has no column {column!r}; its columns are {names(self.columns)}{note}{hint}"
                )

    def name(self, row: Row, column: str) -> str:
        """Read the name of a system or metric."""
        number, values = row
        value = values.get(column)
        if isinstance(value, int) and not isinstance(value, bool):
            return str(value)
        if not isinstance(value, str) or not value.strip():
            raise self.source.row_error(number, f"{column} must be a name; found {_shown(value)}")
        return value.strip()

    def number(self, row: Row, column: str) -> float:
        """Read a finite number; blank cells, NaN and infinity are refused."""
        number, values = row
        value = as_number(values.get(column))
        if value is None or not math.isfinite(value):
            shown = _shown(values.get(column))
            raise self.source.row_error(number, f"{column} must be a finite number; found {shown}")
        return value


def read_table(given: Any, parameter: str) -> RowTable:
    """Make a table from a file, a data frame or a list of rows.

    Parameters
    ----------
    given
        A path ending in .csv, .tsv, .jsonl, .json or .parquet, each also compressed; a data frame;
        a list of mappings from column to value.
    parameter
        What a person calls it, where it is no file.

    Raises
    ------
    InputError
        If it cannot be read, holds no rows, or is something else.
    """
    if isinstance(given, str | Path):
        value, source = read_file(Path(given))
        rows = table_rows(value, source)
        return table_of(value if rows is None else list(rows), source)
    return table_of(_records(given, parameter), Source(parameter, parameter, unit="row"))


def read_file(path: Path) -> tuple[Any, Source]:
    """Read a file: its rows with their numbers, or the value of a JSON file."""
    suffix = split_suffix(path)[1]
    source = Source(str(path), path.stem)
    if str(path) == STDIO:
        raise InputError("standard input (-) cannot be read as a table; give a file")
    check_there(path)
    if path.is_dir():
        raise source.error("is a folder; give a file")
    if suffix not in SUFFIXES:
        kind = f"a file with suffix {suffix!r}" if suffix else "a file without suffix"
        raise source.error(f"{kind} cannot be read as a table; known are {', '.join(SUFFIXES)}")
    if suffix in (".csv", ".tsv"):
        source = source.counting("line", "the first row must name the columns")
    if suffix in (".json", ".parquet"):
        source = source.counting("row")
    with fitting_in_memory(path):
        return _READ[suffix](path, source), source


def table_of(rows: Any, source: Source) -> RowTable:
    """Check the rows, and collect their columns."""
    if not isinstance(rows, list):
        raise source.error(f"must hold a list of rows, but it holds {describe(rows)}")
    numbered = rows if rows and isinstance(rows[0], tuple) else list(enumerate(rows, 1))
    for number, row in numbered:
        if not isinstance(row, Mapping):
            raise source.row_error(number, f"must be an object, but it is {describe(row)}")
    if not numbered:
        raise source.error("holds no rows")
    plain = tuple((number, {str(key): row[key] for key in row}) for number, row in numbered)
    columns = dict.fromkeys(column for _, row in plain for column in row)
    return RowTable(source, plain, tuple(columns))


def as_number(value: Any) -> float | None:
    """Read a number or a string of one; None for anything else."""
    if isinstance(value, bool) or value is None:
        return None
    text = value.strip() if isinstance(value, str) else value
    if isinstance(text, str) and "_" in text:
        return None
    try:
        return float(text)
    except (TypeError, ValueError, OverflowError):
        return None


def is_blank(value: Any) -> bool:
    """Whether a cell is empty, which data frames write as NaN."""
    nan = isinstance(value, float) and math.isnan(value)
    return nan or value is None or (isinstance(value, str) and not value.strip())


def _shown(value: Any) -> str:
    return "blank" if is_blank(value) and not isinstance(value, float) else describe(value)


def _records(given: Any, parameter: str) -> list[Any]:
    if hasattr(given, "columns") and hasattr(given, "to_dict"):
        return list(given.to_dict("records"))
    if isinstance(given, Sequence) and not isinstance(given, str | bytes):
        return list(given)
    raise InputError(
        f"{parameter} must be a path, a data frame or a list of rows such as {{'system': 'a'}}; "
        f"found a {type(given).__name__}"
    )


def _csv(path: Path, source: Source) -> list[Row]:
    delimiter = "\t" if split_suffix(path)[1] == ".tsv" else ","
    with open_stream(path) as stream:
        return list(_counted(csv_rows(stream, source, delimiter), source))


def _jsonl(path: Path, source: Source) -> list[Row]:
    with open_stream(path) as stream:
        return list(_counted(json_rows(decoded(stream, source), source), source))


def _json(path: Path, source: Source) -> Any:
    with open_stream(path) as stream:
        return json_value(stream, source)


def _parquet(path: Path, source: Source) -> list[Any]:
    pa: Any = require("pyarrow", extra="parquet", purpose=f"{path}: a parquet file")
    import pyarrow.parquet as pq

    with open_seekable(path) as stream:
        try:
            file = pq.ParquetFile(stream)
            rows = file.metadata.num_rows
            budget().check_claim(f"claims to hold {rows:,} rows", ROW_SIZE * rows, source.error)
            return list(_counted(_batches(file), source))
        except (pa.ArrowException, OSError, OverflowError, ValueError) as error:
            problem = str(error).partition("\n")[0]
            raise source.error(f"cannot be read as a parquet file: {problem}") from error


def _batches(file: Any) -> Iterator[Any]:
    for batch in file.iter_batches(batch_size=1024):
        yield from batch.to_pylist()


def _counted(rows: Iterator[Any], source: Source) -> Iterator[Any]:
    """Pass on rows, counting roughly what they take as Python objects."""
    current = budget()
    for row in rows:
        values = row[1] if isinstance(row, tuple) else row
        cells = values.values() if isinstance(values, Mapping) else ()
        current.take(ROW_SIZE + sum(map(getsizeof, cells)), source.error)
        yield row


_READ = {
    ".csv": _csv,
    ".tsv": _csv,
    ".jsonl": _jsonl,
    ".ndjson": _jsonl,
    ".json": _json,
    ".parquet": _parquet,
}
