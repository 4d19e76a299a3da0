"""Rows of any format, as Python values, into a sample set.

Readers give numbered rows; here the text of each is found, checked and stored.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import chain
from typing import Any

from calipers.samples.batch_output import batch_items, is_batch_output
from calipers.samples.columns import StringColumn
from calipers.samples.fields import find_field
from calipers.samples.group_column import GroupColumn
from calipers.samples.harness import harness_items, is_harness
from calipers.samples.paths import Extract, PathError, extractor
from calipers.samples.sample_set import SampleSet
from calipers.samples.source import Source
from calipers.samples.wording import counted, describe, numbered

Row = tuple[int, Any]
"""The number of a row, counted from 1, and its value."""

Item = tuple[int, Any, Any, Any]
"""One sample: the number of its row, its text, its prompt or None, and the row."""


def read_rows(rows: Iterable[Row], source: Source) -> SampleSet:
    """Take the samples out of rows: strings, objects with a text field, or a known log."""
    rows = iter(rows)
    first = next(rows, None)
    if first is None:
        raise source.error("holds no samples")
    notes: list[str] = []
    items = _items(first, chain([first], rows), source, notes)
    return _collected(items, source, notes)


def _items(first: Row, rows: Iterator[Row], source: Source, notes: list[str]) -> Iterator[Item]:
    number, value = first
    if source.field is not None:
        return _field_items(rows, source.field, source, notes)
    if isinstance(value, str):
        return _string_items(rows, source)
    if not isinstance(value, dict):
        raise source.row_error(
            number, f"must be a string or an object, but it is {describe(value)}"
        )
    if is_harness(value):
        return harness_items(rows, source, notes)
    if is_batch_output(value):
        return batch_items(rows, source, notes)
    textual = [key for key, held in value.items() if isinstance(held, str | None)]
    return _field_items(rows, find_field(list(value), textual, source), source, notes)


def _string_items(rows: Iterator[Row], source: Source) -> Iterator[Item]:
    for number, value in rows:
        if not isinstance(value, str):
            raise source.row_error(
                number, f"must be a string, as the rows before it are, but it is {describe(value)}"
            )
        yield number, value, None, value


def _field_items(
    rows: Iterator[Row], field: str, source: Source, notes: list[str]
) -> Iterator[Item]:
    extract = extractor(field)
    none: list[int] = []
    for number, row in rows:
        prompt = row.get("prompt") if field != "prompt" and isinstance(row, dict) else None
        texts = _at(extract, number, row, source)
        for text in texts:
            if not isinstance(text, str):
                raise source.row_error(number, _not_text(field, text))
            yield number, text, prompt, row
        if not texts:
            none.append(number)
    if none:
        notes.append(
            f"{counted(len(none), 'row')} had no item at {field!r} and gave no sample "
            f"({numbered(source.unit, none)})"
        )


def _collected(items: Iterator[Item], source: Source, notes: list[str]) -> SampleSet:
    texts, prompts = StringColumn(source.row_error), StringColumn(source.row_error)
    groups = None if source.group is None else GroupColumn(source)
    for number, text, prompt, row in items:
        texts.append(number, text)
        if isinstance(prompt, str):
            prompts.append(number, prompt)
        if groups is not None:
            groups.append(number, row)
    if 0 < prompts.length < texts.length:
        notes.append(without_prompts(texts.length - prompts.length, texts.length))
    return SampleSet.from_texts(
        texts.finish(),
        name=source.name,
        source=source.path,
        groups=groups.finish() if groups else None,
        prompts=prompts.finish() if prompts.length == texts.length else None,
        notes=notes,
    )


def without_prompts(missing: int, total: int) -> str:
    """Say that prompts were not kept, since not every sample has one."""
    return f"prompts were left out: {missing:,} of {counted(total, 'sample')} have none"


def _at(extract: Extract, number: int, row: Any, source: Source) -> list[Any]:
    try:
        return extract(row)
    except PathError as error:
        raise source.row_error(number, str(error)) from None


def _list_hint(field: str, value: list[object]) -> str:
    last = value[-1] if value else None
    if isinstance(last, dict):
        key = "content" if "content" in last else next(iter(last), "KEY")
        return f"; for the text of its last item write --field '{field}[-1].{key}'"
    return f"; take its items with --field '{field}[*]', or the first with '{field}[0]'"


def _not_text(field: str, value: object) -> str:
    hint = ""
    if isinstance(value, list):
        hint = _list_hint(field, value)
    return f"the field {field!r} must be a string, but it is {describe(value)}{hint}"
