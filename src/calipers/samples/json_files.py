"""JSON and JSON lines."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from dataclasses import replace
from typing import Any, BinaryIO

from calipers.memory import budget, json_size, read_whole
from calipers.samples.fields import NAME_IT
from calipers.samples.lines import decode, decoded
from calipers.samples.paths import PathError, extractor, root
from calipers.samples.rows import read_rows
from calipers.samples.sample_set import SampleSet
from calipers.samples.source import Source
from calipers.samples.token_lists import is_id_list
from calipers.samples.wording import describe, names


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
            raise source.row_error(number, _problem(error)) from error
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
        found = extractor(str(source.field))(value)
    except PathError as error:
        raise source.error(str(error)) from None
    rows = found[0] if len(found) == 1 and isinstance(found[0], list) else found
    plain = replace(source, field=None, unit="row")
    return read_rows(enumerate(rows, 1), plain)


def _only_list(value: dict[str, Any], source: Source) -> list[Any]:
    lists = {key: held for key, held in value.items() if _holds_rows(held)}
    lists = lists or {key: held for key, held in value.items() if _holds_ids(held)}
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


def _problem(error: Exception) -> str:
    if isinstance(error, _GivenTwiceError):
        return str(error)
    if isinstance(error, RecursionError):
        return "JSON is nested too deeply"
    return "a number has more digits than can be read"


def _whole_problem(error: Exception) -> str:
    if not isinstance(error, json.JSONDecodeError):
        return _problem(error)
    hint = ""
    if error.msg == "Extra data" and error.lineno > 1:
        hint = "; if it holds one value a line, its name must end in .jsonl"
    return f"broken JSON at line {error.lineno}, column {error.colno}: {error.msg}{hint}"


_DECODER = json.JSONDecoder(object_pairs_hook=_unique)
