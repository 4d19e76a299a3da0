"""Text formats: lines, CSV and TSV, JSON lines and JSON; and standard input, by its content.

All are UTF-8, decoded line by line, with a byte order mark dropped.
"""

from __future__ import annotations

import csv
import io
import json
import re
import sys
from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from functools import partial
from itertools import chain
from typing import Any, BinaryIO

from calipers.errors import InputError
from calipers.memory import budget, json_size, read_whole, size_words
from calipers.samples.fields import NAME_IT, TOKENS, USUAL, PathError, extractor, root
from calipers.samples.readers.every_eval import is_every_eval_scores
from calipers.samples.readers.inspect_logs import is_inspect_log, read_inspect_json
from calipers.samples.readers.rows import read_rows
from calipers.samples.sample_set import SampleSet
from calipers.samples.source import Source
from calipers.samples.tokens import is_id_list
from calipers.samples.wording import counted, describe, names

BOM = b"\xef\xbb\xbf"

_FOREIGN = {
    b"\xff\xfe": "; it looks like UTF-16: save it as UTF-8",
    b"\xfe\xff": "; it looks like UTF-16: save it as UTF-8",
    b"\x1f\x8b": "; it looks like gzip data, whose file name must end in .gz",
}


def read_lines(stream: BinaryIO, source: Source) -> SampleSet:
    """Read a sample from each line.

    Lines end with a line feed, or a carriage return and a line feed. Empty lines are samples,
    kept in place; the end of the last line does not start another one. Lines have no fields, so
    the source's field and group are not looked at.
    """
    plain = Source(source.path, source.name)
    return read_rows(((n, _bare(line)) for n, line in decoded(stream, plain)), plain)


def decoded(stream: BinaryIO, source: Source) -> Iterator[tuple[int, str]]:
    """Decode lines one by one, numbered from 1, with their ends; a byte order mark is dropped.

    Raises
    ------
    InputError
        If a line is not valid UTF-8, or too long for the memory that may be taken.
    """
    longest = budget().longest_line
    for number, raw in enumerate(iter(partial(stream.readline, longest + 1), b""), 1):
        if len(raw) > longest:
            raise source.error(
                f"line {number}: is longer than {size_words(longest)}, the most that a line may "
                "be in the memory that may be taken; is it a file of lines? Else allow more with "
                "--max-memory (calipers.memory_limit in Python)"
            )
        line = raw.removeprefix(BOM) if number == 1 else raw
        try:
            yield number, line.decode()
        except UnicodeDecodeError as error:
            raise _not_utf8(error, number, line, source) from error


def decode(data: bytes, source: Source) -> str:
    """Decode a whole file; the message for bytes that are not UTF-8 names their line."""
    try:
        return data.removeprefix(BOM).decode()
    except UnicodeDecodeError:
        return "".join(line for _, line in decoded(io.BytesIO(data), source))


def _bare(line: str) -> str:
    return line.removesuffix("\n").removesuffix("\r") if line.endswith("\n") else line


def _not_utf8(error: UnicodeDecodeError, number: int, line: bytes, source: Source) -> InputError:
    hint = _FOREIGN.get(line[:2], "") if number == 1 else ""
    return InputError(
        f"{source.path}: line {number}: not valid UTF-8 "
        f"(byte {error.start + 1:,} of the line is {line[error.start]:#04x}){hint}"
    )


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
    return read_rows(csv_rows(stream, source, delimiter), source)


def csv_rows(
    stream: BinaryIO, source: Source, delimiter: str | None
) -> Iterator[tuple[int, dict[str, str]]]:
    """Yield the rows below the header, each with the line on which it begins.

    Without a delimiter the header row decides which of `MARKS` it is.
    """
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


def _cells(
    stream: BinaryIO, source: Source, delimiter: str | None
) -> Iterator[tuple[int, list[str]]]:
    """Split rows that are not blank into values, numbered by the line on which they begin."""
    # The limit is one for the whole process; it is only ever raised, so that a reader in another
    # thread never finds it lowered.
    csv.field_size_limit(max(csv.field_size_limit(), FIELD_LIMIT))
    longest, length, first = budget().longest_line, 0, 1
    numbered_lines = decoded(stream, source)
    begun: list[tuple[int, str]] = []
    if delimiter is None:
        begun = list(_begin(numbered_lines))
        delimiter = _mark(begun[-1][1], source) if begun else ","
        if begun and (named := _NAMED_MARK.fullmatch(begun[-1][1].strip("\r\n"))):
            delimiter, begun, first = named[1], [], begun[-1][0] + 1

    def lines() -> Iterator[str]:
        nonlocal length
        for _, line in chain(begun, numbered_lines):
            length += len(line)
            if length > longest:
                raise source.row_error(
                    number,
                    f"the row that begins here is longer than {size_words(longest)}, the most that "
                    "a row may be in the memory that may be taken; does a quoted value never end? "
                    "Else allow more with --max-memory (calipers.memory_limit in Python)",
                )
            yield line

    reader = csv.reader(lines(), delimiter=delimiter, strict=True)
    while True:
        number, length = reader.line_num + first, 0
        try:
            row = next(reader)
        except StopIteration:
            return
        except csv.Error as error:
            raise source.row_error(number, _csv_problem(error)) from error
        if row:
            yield number, row


def _begin(lines: Iterator[tuple[int, str]]) -> Iterator[tuple[int, str]]:
    """Give the lines up to the first that is not blank, which is the header row or its beginning.

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


def _csv_problem(error: Any) -> str:
    if "unexpected end of data" in str(error):
        return "a quoted value that begins in this row has no closing quote"
    return f"broken table: {error}"


class _GivenTwiceError(ValueError):
    """An object has two fields of the same name."""


def read_jsonl(stream: BinaryIO, source: Source) -> SampleSet:
    """Read a sample, or several, from each line that is not blank: a string or an object."""
    return read_rows(json_rows(decoded(stream, source), source), source)


def read_json(stream: BinaryIO, source: Source) -> SampleSet:
    """Read samples from a list of strings, or of objects, or from an object that holds one.

    Where an object holds several such lists, the field names one: ``--field model_a``, or
    ``--field model_a[*].text``.
    """
    return read_json_value(json_value(stream, source), source)


def json_value(stream: BinaryIO, source: Source) -> Any:
    """Read a whole JSON file, whatever it holds."""
    data = read_whole(stream, source.error)
    budget().borrow(json_size(data), source.error)
    text = decode(data, source)
    try:
        return _DECODER.decode(text)
    except (ValueError, RecursionError) as error:
        raise source.error(_whole_problem(error)) from error


def read_json_value(value: Any, source: Source) -> SampleSet:
    """Read samples from the value of a whole JSON file."""
    if is_inspect_log(value):
        return read_inspect_json(value, source)
    if is_every_eval_scores(value):
        raise source.error(
            "holds scores of Every Eval Ever, and no samples; give the file of its samples, "
            "whose name ends in _samples.jsonl"
        )
    source = source.counting("row")
    if isinstance(value, list):
        return read_rows(enumerate(value, 1), source)
    if not isinstance(value, dict):
        raise source.error(f"must hold a list of samples, but it holds {describe(value)}")
    if source.field is not None and (source.field in value or root(source.field) in value):
        return _read_at(value, source)
    return read_rows(enumerate(_only_list(value, source), 1), source)


def json_rows(lines: Iterable[tuple[int, str]], source: Source) -> Iterator[tuple[int, Any]]:
    """Parse the lines that are not blank, keeping their numbers."""
    parse = _DECODER.decode
    for number, line in lines:
        if line.isspace() or not line:
            continue
        try:
            value = parse(line)
        except json.JSONDecodeError as error:
            column = min(error.pos, len(line.rstrip())) + 1
            problem = f"broken JSON at column {column}: {error.msg.removesuffix(' at')}"
            raise source.row_error(number, problem) from error
        except (ValueError, RecursionError) as error:
            raise source.row_error(number, _json_problem(error)) from error
        yield number, value


def parses(text: str) -> bool:
    """Tell whether a text is JSON."""
    try:
        _DECODER.decode(text)
    except (ValueError, RecursionError):
        return False
    return True


def _read_at(value: dict[str, Any], source: Source) -> SampleSet:
    try:
        values = extractor(str(source.field))(value)
    except PathError as error:
        raise source.error(str(error)) from None
    rows = values[0] if len(values) == 1 and isinstance(values[0], list) else values
    plain = replace(source, field=None, unit="row")
    return read_rows(enumerate(rows, 1), plain)


def _only_list(value: dict[str, Any], source: Source) -> list[Any]:
    lists = {key: content for key, content in value.items() if _holds_rows(content)}
    lists = lists or {key: content for key, content in value.items() if _holds_ids(content)}
    if len(lists) == 1:
        return next(iter(lists.values()))
    if lists:
        known = f"holds several lists, {names(lists)}"
        if source.field is not None:
            raise source.error(f"{known}, and {source.field!r} begins with none of them")
        raise source.error(f"{known}; {NAME_IT}")
    raise source.error(f"must hold a list of strings or objects; its fields are {names(value)}")


def _holds_rows(value: Any) -> bool:
    return isinstance(value, list) and bool(value) and isinstance(value[0], str | dict)


def _holds_ids(value: Any) -> bool:
    first = value[0] if isinstance(value, list) and value else None
    return isinstance(first, list) and is_id_list(first)


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    row = dict(pairs)
    if len(row) != len(pairs):
        keys = [key for key, _ in pairs]
        twice = next(key for key in keys if keys.count(key) > 1)
        raise _GivenTwiceError(f"the field {twice!r} is given twice in one object")
    return row


def _json_problem(error: Exception) -> str:
    if isinstance(error, _GivenTwiceError):
        return str(error)
    if isinstance(error, RecursionError):
        return "JSON is nested too deeply"
    return "a number has more digits than can be read"


def _whole_problem(error: Exception) -> str:
    if not isinstance(error, json.JSONDecodeError):
        return _json_problem(error)
    hint = ""
    if error.msg == "Extra data" and error.lineno > 1:
        hint = "; if it holds one value per line, its name must end in .jsonl"
    return f"broken JSON at line {error.lineno}, column {error.colno}: {error.msg}{hint}"


_DECODER = json.JSONDecoder(object_pairs_hook=_unique)


_OBJECT = re.compile(r'\s*\{\s*["}]')


def read_standard_input(source: Source) -> SampleSet:
    """Read JSON lines, JSON or lines of text.

    What begins like a JSON object is JSON lines, or one JSON value over several lines. Lines that
    are all JSON strings, or all JSON lists, are JSON lines, and a JSON list is JSON. All else is a
    sample a line.
    """
    data = read_whole(sys.stdin.buffer, source.error)
    if not data:
        raise source.error("is empty")
    with budget().borrowing() as current:
        current.borrow(len(data) * (1 if data.isascii() else 4), source.error)
        read = _reader(decode(data, source), source)
    return read(io.BytesIO(data), source)


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
    return read_lines


def _lines(text: str) -> Iterator[str]:
    """Give the lines that are not blank, one at a time."""
    return (line[0] for line in re.finditer(r"[^\n]+", text) if line[0].strip())


def _is_json(text: str, source: Source) -> bool:
    with budget().borrowing() as current:
        current.borrow(json_size(text), source.error)
        return parses(text)
