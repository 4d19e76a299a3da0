"""The rows in one JSON value: tables written by other tools, and lists in an object.

Tables are known by their form: **split**, the names of columns beside lists of cells (pandas,
MLflow, Weights & Biases, Datasette); **columns**, an object or a list of cells for each (pandas by
default, Hugging Face ``datasets``); **index**, an object of rows by their names. In any other
object the samples are its only list, if its name or its items say so: a list of stop strings, of
tags or of column names is no list of samples.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Any

from calipers.samples.fields import MANY, NAME_IT, TOKENS, USUAL, root
from calipers.samples.source import Source
from calipers.samples.tokens import is_id_list
from calipers.samples.wording import counted, describe, names

HEADERS = ("columns", "header", "headers", "column_names")
BODIES = ("data", "rows", "values")
WRAPPED = ("dataframe_split", "dataframe_records")
"""Under which MLflow puts a table that a model is to serve."""

LISTS = (
    *("data", "rows", "records", "items", "entries", "examples", "instances", "results", "list"),
    *("train", "validation", "test", "references", "generated", "human", "model"),
    *WRAPPED,
)
"""Names that a list of samples may have in an object, beside those of fields of texts."""

Rows = Iterator[tuple[int, Any]]


def table_rows(value: Any, source: Source) -> Rows | None:
    """Return the rows of a table in one of these forms, numbered from 1; None for anything else.

    Raises
    ------
    InputError
        If a row has more or fewer cells than there are columns.
    """
    if not isinstance(value, dict) or not value:
        return None
    for wrapped in WRAPPED:
        if isinstance(value.get(wrapped), dict):
            return table_rows(value[wrapped], source)
    if (header := _header(value)) is not None:
        columns, cells = header
        return _split(columns, cells, source)
    return _of_columns(value, source.field) or _of_index(value, source.field)


def _header(value: Mapping[str, Any]) -> tuple[list[str], list[Any]] | None:
    """Return the names of the columns and the lists of cells of a table in split form."""
    for name in HEADERS:
        columns = _column_names(value.get(name))
        for body in BODIES if columns else ():
            cells = value.get(body)
            if isinstance(cells, list) and all(isinstance(row, list) for row in cells[:1]):
                return columns, cells
    return None


def _column_names(columns: Any) -> list[str]:
    """Return the names of columns, which may be objects with a name; none where it is no header."""
    if not isinstance(columns, list):
        return []
    given = [column.get("name") if isinstance(column, dict) else column for column in columns]
    plain = [name for name in given if isinstance(name, str)]
    return plain if len(set(plain)) == len(given) else []


def _split(columns: list[str], cells: list[Any], source: Source) -> Rows:
    for number, row in enumerate(cells, 1):
        if not isinstance(row, list) or len(row) != len(columns):
            content = counted(len(row), "value") if isinstance(row, list) else describe(row)
            raise source.row_error(
                number, f"has {content}, but the table has {counted(len(columns), 'column')}"
            )
        yield number, dict(zip(columns, row, strict=True))


def _of_columns(value: Mapping[str, Any], field: str | None) -> Rows | None:
    """Return the rows of an object that has all cells of a column under its name."""
    named = field in value if field is not None else any(map(_names_texts, value))
    if not named:
        return None
    columns = list(value.values())
    if all(isinstance(column, dict) for column in columns):
        rows = list(columns[0])
        if not rows or any(list(column) != rows for column in columns):
            return None
        cells = [list(column.values()) for column in columns]
    elif len(columns) > 1 and all(isinstance(column, list) for column in columns):
        cells = columns
        if len(set(map(len, cells))) > 1 or not cells[0]:
            return None
    else:
        return None
    if any(isinstance(column[0], dict) for column in cells):
        return None
    return enumerate((dict(zip(value, row, strict=True)) for row in zip(*cells, strict=True)), 1)


def _of_index(value: Mapping[str, Any], field: str | None) -> Rows | None:
    """Return the rows of an object that has them under their names."""
    rows = list(value.values())
    if not all(isinstance(row, dict) for row in rows):
        return None
    asked = root(field) if field is not None else None
    if asked in value or not all(asked in row if asked else _has_text(row) for row in rows):
        return None
    return enumerate(rows, 1)


def only_list(value: Mapping[str, Any], source: Source) -> Sequence[Any]:
    """Return the list of samples in an object with a single one.

    Raises
    ------
    InputError
        If there is none, there are several, or the only one may be something else.
    """
    lists: dict[str, list[Any]] = {
        key: content for key, content in value.items() if _holds_rows(content)
    }
    lists = lists or {key: content for key, content in value.items() if _holds_ids(content)}
    if len(lists) > 1:
        known = f"holds several lists, {names(lists)}"
        if source.field is not None:
            raise source.error(f"{known}, and {source.field!r} begins with none of them")
        raise source.error(f"{known}; {NAME_IT}")
    for key, content in lists.items():
        if len(value) == 1 or _means_samples(key, content, source.field):
            return content
    by_name = {key: content for key, content in value.items() if _holds_by_name(content)}
    if not lists and not by_name:
        raise source.error(f"must hold a list of strings or objects; its fields are {names(value)}")
    parts = [f"{key!r} lists {_content(content)}" for key, content in lists.items()]
    parts += [f"{key!r} holds {_content(content)} by name" for key, content in by_name.items()]
    raise source.error(
        f"does not say which of its fields holds the samples: {'; '.join(parts)}; {NAME_IT}"
    )


def rows_by_name(value: Any) -> list[Any] | None:
    """Return the texts or rows that an object holds by name; None for anything else."""
    return list(value.values()) if _holds_by_name(value) else None


def _means_samples(key: str, content: list[Any], field: str | None) -> bool:
    """Tell from its name or its items whether a list holds samples."""
    if key.casefold() in LISTS or _names_texts(key):
        return True
    first = content[0]
    if not isinstance(first, dict):
        return False
    return _has_text(first) if field is None else root(field) in first


def _has_text(row: Mapping[str, Any]) -> bool:
    """Tell whether a row has a field with a usual name that holds a text or several."""
    return any(
        isinstance(cell, str | list) and bool(cell) and _names_texts(key)
        for key, cell in row.items()
    )


def _names_texts(key: str) -> bool:
    """Tell whether a name is usual for a field, or for a list, of texts or of token ids."""
    plain = key.casefold()
    known: Collection[str] = (*USUAL, *MANY, *TOKENS)
    return plain in known or (plain.endswith("s") and plain[:-1] in USUAL) or plain == "stories"


def _holds_rows(value: Any) -> bool:
    return isinstance(value, list) and bool(value) and isinstance(value[0], str | dict)


def _holds_ids(value: Any) -> bool:
    first = value[0] if isinstance(value, list) and value else None
    return isinstance(first, list) and is_id_list(first)


def _holds_by_name(value: Any) -> bool:
    if not isinstance(value, dict) or len(value) < 2:
        return False
    items = list(value.values())
    return any(all(isinstance(item, kind) for item in items) for kind in (str, dict))


def _content(content: Any) -> str:
    items = list(content.values()) if isinstance(content, dict) else content
    return counted(len(items), "string" if isinstance(items[0], str) else "object")
