"""JSON lines, and JSON files of one value."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from dataclasses import replace
from typing import Any, BinaryIO

from calipers.memory import budget, json_size, read_whole
from calipers.samples.fields import PathError, extractor, root
from calipers.samples.readers.decoding import decode, decoded
from calipers.samples.readers.every_eval import is_every_eval_scores
from calipers.samples.readers.inspect_logs import is_inspect_log, read_inspect_json
from calipers.samples.readers.json_tables import only_list, rows_by_name, table_rows
from calipers.samples.readers.rows import read_rows
from calipers.samples.sample_set import SampleSet
from calipers.samples.source import Source
from calipers.samples.wording import describe


class _GivenTwiceError(ValueError):
    """An object has two fields of the same name."""


def read_jsonl(stream: BinaryIO, source: Source) -> SampleSet:
    """Read a sample, or several, from each line that is not blank: a string or an object."""
    return read_rows(json_rows(decoded(stream, source), source), source)


def read_json(stream: BinaryIO, source: Source) -> SampleSet:
    """Read samples from a JSON list of strings or objects, a table, or an object.

    Where an object holds several lists, the field names one: ``--field model_a``, or
    ``--field model_a[*].text``.
    """
    return read_json_value(json_value(stream, source), source)


def json_value(stream: BinaryIO, source: Source) -> Any:
    """Read the value of a JSON file."""
    data = read_whole(stream, source.error)
    budget().borrow(json_size(data), source.error)
    text = decode(data, source)
    try:
        return _DECODER.decode(text)
    except (ValueError, RecursionError) as error:
        raise source.error(_whole_problem(error)) from error


def read_json_value(value: Any, source: Source) -> SampleSet:
    """Read samples from the value of a JSON file."""
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
    if (table := table_rows(value, source)) is not None:
        return read_rows(table, source)
    if source.field is not None and (source.field in value or root(source.field) in value):
        return _read_at(value, source)
    return read_rows(enumerate(only_list(value, source), 1), source)


def json_rows(lines: Iterable[tuple[int, str]], source: Source) -> Iterator[tuple[int, Any]]:
    """Parse the lines that are not blank, with their numbers."""
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
    rows = values
    if len(values) == 1:
        rows = values[0] if isinstance(values[0], list) else rows_by_name(values[0]) or values
    plain = replace(source, field=None, unit="row")
    return read_rows(enumerate(rows, 1), plain)


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
