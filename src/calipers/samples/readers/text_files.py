"""Text files with one text per line, and standard input, recognised by its content."""

from __future__ import annotations

import io
import re
import sys
from collections.abc import Callable, Iterator
from functools import partial
from typing import BinaryIO

from calipers.memory import budget, json_size, read_whole
from calipers.samples.readers.csv_files import piped_table, read_csv
from calipers.samples.readers.decoding import decode, decoded
from calipers.samples.readers.json_files import parses, read_json, read_jsonl
from calipers.samples.readers.rows import read_rows
from calipers.samples.sample_set import SampleSet
from calipers.samples.source import Source


def read_lines(stream: BinaryIO, source: Source) -> SampleSet:
    """Read a sample from each line.

    Lines end with a line feed, or a carriage return and a line feed; in a file without line feeds
    with a carriage return. Empty lines are samples, kept in place; the end of the last line does
    not start another one. Lines have no fields, so the source's field and group are not looked at.
    """
    plain = Source(source.path, source.name)
    return read_rows(((n, _bare(line)) for n, line in decoded(stream, plain)), plain)


def _bare(line: str) -> str:
    return line.removesuffix("\n").removesuffix("\r") if line.endswith("\n") else line


_OBJECT = re.compile(r'\s*\{\s*["}]')


def read_standard_input(source: Source) -> SampleSet:
    """Read JSON lines, JSON or lines of text.

    What begins like a JSON object is JSON lines, or one JSON value over several lines. Lines that
    are all JSON strings, or all JSON lists, are JSON lines, and a JSON list is JSON. Lines of which
    the first names columns are a table, which a note says. All else is a sample a line.
    """
    data = read_whole(sys.stdin.buffer, source.error)
    if not data:
        raise source.error("is empty")
    with budget().borrowing() as current:
        current.borrow(len(data) * (1 if data.isascii() else 4), source.error)
        read = _reader(decode(data, source), source)
    return read(io.BytesIO(data), source)


def _read_table(columns: str, stream: BinaryIO, source: Source) -> SampleSet:
    """Read a table that was piped, and say so."""
    note = f"read as a table, whose columns {columns} the first line names"
    return read_csv(stream, source).noting(note)


def _reader(text: str, source: Source) -> Callable[[BinaryIO, Source], SampleSet]:
    lines = _lines(text)
    first = next(lines, "")
    if _OBJECT.match(text):
        # Broken JSON must not pass for text: only a value that goes on over lines is no JSONL.
        whole = not _is_json(first, source) and _is_json(text, source)
        return read_json if whole else read_jsonl
    if first.lstrip().startswith("["):
        alone = next(lines, None) is None or not _is_json(first, source)
        if alone and _is_json(text, source):
            return read_json
    if first[:1] in ('"', "[") and all(
        line[0] == first[0] and _is_json(line, source) for line in _lines(text)
    ):
        return read_jsonl
    if "\r" in text[:-1] and "\n" not in text:
        text = text.replace("\r", "\n")
    columns = piped_table(list(_lines(text)) or [""], source)
    return read_lines if columns is None else partial(_read_table, columns)


def _lines(text: str) -> Iterator[str]:
    """Return the lines that are not blank, one at a time."""
    return (line[0] for line in re.finditer(r"[^\n]+", text) if line[0].strip())


def _is_json(text: str, source: Source) -> bool:
    with budget().borrowing() as current:
        current.borrow(json_size(text), source.error)
        return parses(text)
