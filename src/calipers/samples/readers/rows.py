"""Rows of any format, as Python values, turned into a sample set.

Readers give numbered rows; here the text, or the token ids, of each are found, checked and stored.
Whether a file holds texts or token ids is decided by the first value that tells.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from itertools import chain
from typing import Any

from calipers.errors import InputError
from calipers.samples.columns import StringBuilder
from calipers.samples.fields import (
    Extract,
    PathError,
    extractor,
    find_field,
    lists_texts,
    other_texts,
    prompt_field,
)
from calipers.samples.labels import FieldLabels, FieldLogIds
from calipers.samples.messages import messages_path, text_path
from calipers.samples.readers.every_eval import every_eval_items, is_every_eval
from calipers.samples.readers.logs import (
    Filters,
    batch_items,
    harness_items,
    harness_prompt,
    inspect_items,
    is_batch_output,
    is_harness,
    is_inspect,
)
from calipers.samples.sample_set import SampleSet
from calipers.samples.source import Source
from calipers.samples.tokens import TokenColumn, is_id_list
from calipers.samples.wording import counted, describe, numbered

Item = tuple[int, Any, Any, Any]


def typed(items: Iterator[Item], field: str | None, source: Source) -> Iterator[Item]:
    """Yield values that are all strings, or all lists of numbers, and refuse others.

    Parameters
    ----------
    items
        The number of a row, a value, and whatever else belongs to it.
    field
        Where the values lie in the rows; None where they are the rows.
    source
        The file, for messages.

    Raises
    ------
    InputError
        If a value is neither a string nor a list of numbers, or not what the first one is.
    """
    empty: list[Item] = []
    tokens: bool | None = None
    for item in items:
        number, value = item[:2]
        if tokens is None and value == []:
            empty.append(item)
            continue
        if tokens is None:
            # A null among numbers is a wrong id, and not a list of something else.
            plain = [entry for entry in value if entry is not None] if type(value) is list else []
            tokens = bool(plain) and is_id_list(plain)
            yield from _settled(empty, tokens, field, source)
        if not isinstance(value, list if tokens else str):
            raise source.row_error(number, _problem(field, value, tokens))
        yield item
    if tokens is None:
        # Nothing but empty lists, which the set will refuse.
        yield from empty


def _settled(empty: list[Item], tokens: bool, field: str | None, source: Source) -> Iterator[Item]:
    """Pass on the empty lists in front of the first value that tells what the values are."""
    if empty and not tokens:
        raise source.row_error(empty[0][0], _problem(field, [], tokens))
    yield from empty


def _problem(field: str | None, value: Any, tokens: bool) -> str:
    subject = "" if field is None else f"the field {field!r} "
    if tokens:
        return f"{subject}must be a list of token ids, as before, but it is {describe(value)}"
    if isinstance(value, list) and value and is_id_list(value):
        ids = counted(len(value), "token id")
        return f"{subject}must be a string, as before, but it is a list of {ids}"
    if field is None:
        return f"must be a string, as the rows before it are, but it is {describe(value)}"
    return f"{subject}must be a string, but it is {describe(value)}{_deeper(field, value)}"


def _deeper(field: str, value: Any) -> str:
    """Say how the text is named that lies in a list or an object."""
    path = text_path(value) if isinstance(value, dict | list) else None
    if isinstance(value, list) and (path is None or not isinstance(value[-1], dict | list)):
        return f"; take its items with `field='{field}[*]'`, or the first with `field='{field}[0]'`"
    if path is None:
        return ""
    where = "the text in it" if isinstance(value, dict) else "the text of its last item"
    if isinstance(value, list) and not path.startswith("[-1]"):
        where = "the last text in it"
    return f"; for {where} write `field='{field}{path}'`"


Row = tuple[int, Any]
"""The number of a row, counted from 1, and its value."""

"""One sample: the number of its row, its text or token ids, its prompt or None, and the row."""


def read_rows(rows: Iterable[Row], source: Source) -> SampleSet:
    """Extract the samples from rows: texts, token ids, objects with such a field, or a log."""
    rows = iter(rows)
    first = next(rows, None)
    if first is None:
        raise source.error("holds no samples")
    notes: list[str] = []
    others: tuple[str, ...] | None = None
    if source.field is None and _has_fields(first[1]):
        source, others = _with_field(first[1], source)
    items = _items(first, chain([first], rows), source, notes)
    logged = FieldLogIds(source) if is_inspect(first[1]) else None
    samples = _collected(items, source, notes, logged)
    return replace(samples, field=source.field, other_fields=others)


def _has_fields(row: Any) -> bool:
    """Tell whether a row is an object in which the text must be found, and not of a known log."""
    known = (is_harness, is_batch_output, is_inspect, is_every_eval)
    return isinstance(row, dict) and not any(is_of(row) for is_of in known)


def _with_field(row: dict[str, Any], source: Source) -> tuple[Source, tuple[str, ...]]:
    """Find the field of the text; give the others that may hold one too."""
    textual = [key for key, cell in row.items() if isinstance(cell, str | None)]
    listed = [key for key, cell in row.items() if isinstance(cell, list) and is_id_list(cell)]
    many = [key for key, cell in row.items() if lists_texts(cell)]
    with naming_messages(lambda: row):
        field = find_field(list(row), textual, source, listed=listed, many=many)
    return replace(source, field=field), other_texts(textual, field)


@contextmanager
def naming_messages(first: Callable[[], Any]) -> Iterator[None]:
    """Explain, where no text field is found, how to name that of the last message.

    Parameters
    ----------
    first
        Gives the first row.
    """
    try:
        yield
    except InputError as error:
        row = first()
        path = messages_path(row) if isinstance(row, dict) else None
        if path is None:
            raise
        raise InputError(f"{error}, such as {path!r} for the last message") from error


def _items(first: Row, rows: Iterator[Row], source: Source, notes: list[str]) -> Iterator[Item]:
    number, value = first
    if is_inspect(value):
        return typed(inspect_items(rows, source, notes), source.field, source)
    if source.field is not None:
        return _field_items(rows, source.field, source, notes)
    if isinstance(value, str) or (isinstance(value, list) and is_id_list(value)):
        return typed(((number, value, None, value) for number, value in rows), None, source)
    if not isinstance(value, dict):
        raise source.row_error(
            number, f"must be a string or an object, but it is {describe(value)}"
        )
    if is_harness(value):
        return harness_items(rows, source, notes)
    if is_every_eval(value):
        return every_eval_items(rows, source, notes)
    return batch_items(rows, source, notes)


def _field_items(
    rows: Iterator[Row], field: str, source: Source, notes: list[str]
) -> Iterator[Item]:
    return typed(_at_field(rows, field, source, notes), field, source)


def _at_field(rows: Iterator[Row], field: str, source: Source, notes: list[str]) -> Iterator[Item]:
    extract = extractor(field)
    none: list[int] = []
    filters = Filters()
    for number, row in rows:
        prompt = _prompt(row, field)
        filters.see(row)
        values = _at(extract, number, row, source)
        for value in values:
            yield number, value, prompt, row
        if not values:
            none.append(number)
    notes += filters.notes()
    if none:
        notes.append(
            f"{counted(len(none), 'row')} had no item at {field!r} and gave no sample "
            f"({numbered(source.unit, none)})"
        )


def _prompt(row: Any, field: str) -> Any:
    """Return what the text of a row answers, where the row says it."""
    if not isinstance(row, dict):
        return None
    if is_harness(row):
        return harness_prompt(row)
    name = prompt_field(row, field)
    return None if name is None else row[name]


def _collected(
    items: Iterator[Item], source: Source, notes: list[str], logged: FieldLogIds | None
) -> SampleSet:
    first = next(items, None)
    tokens = first is not None and isinstance(first[1], list)
    column = (TokenColumn if tokens else StringBuilder)(source.row_error)
    prompts = StringBuilder(source.row_error)
    labels = {wanted.kind: FieldLabels(source, wanted) for wanted in source.labels}
    for number, value, prompt, row in chain([] if first is None else [first], items):
        column.append(number, value)
        if isinstance(prompt, str):
            prompts.append(number, prompt)
        for label in labels.values():
            label.append(number, row)
        if logged is not None:
            logged.append(number, row)
    if 0 < prompts.length < column.length:
        notes.append(without_prompts(column.length - prompts.length, column.length))
    make: Any = SampleSet.from_tokens if tokens else SampleSet.from_texts
    samples: SampleSet = make(
        column.finish(),
        name=source.name,
        source=source.path,
        groups=labels["group"].finish() if "group" in labels else None,
        clusters=labels["cluster"].finish() if "cluster" in labels else None,
        prompts=prompts.finish() if prompts.length == column.length else None,
        notes=notes,
    )
    return samples if logged is None else replace(samples, log_ids=logged.finish())


def without_prompts(missing: int, total: int) -> str:
    """Report that prompts were not kept, since not every sample has one."""
    return f"prompts were left out: {missing:,} of {counted(total, 'sample')} have none"


def _at(extract: Extract, number: int, row: Any, source: Source) -> list[Any]:
    try:
        return extract(row)
    except PathError as error:
        raise source.row_error(number, str(error)) from None
