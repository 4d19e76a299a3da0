"""Whether the values of a file are texts or token ids; the first that tells decides for all."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from calipers.samples.source import Source
from calipers.samples.token_lists import is_id_list
from calipers.samples.wording import counted, describe

Item = tuple[int, Any, Any, Any]


def typed(items: Iterator[Item], field: str | None, source: Source) -> Iterator[Item]:
    """Pass on values that are all strings, or all lists of numbers, and refuse what is neither.

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
            plain = [each for each in value if each is not None] if type(value) is list else []
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
    hint = _list_hint(field, value) if isinstance(value, list) else ""
    return f"{subject}must be a string, but it is {describe(value)}{hint}"


def _list_hint(field: str, value: list[object]) -> str:
    last = value[-1] if value else None
    if isinstance(last, dict):
        key = "content" if "content" in last else next(iter(last), "KEY")
        return f"; for the text of its last item write --field '{field}[-1].{key}'"
    return f"; take its items with --field '{field}[*]', or the first with '{field}[0]'"
