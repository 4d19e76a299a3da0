"""Data ──► strict JSON, and text ──► a file that is either whole or untouched."""

from __future__ import annotations

import json
import os
import secrets
import shutil
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from calipers.errors import InputError

SHORT = 60
"""Characters in all that a list of words may have to stand on one line."""


def json_text(data: Any) -> str:
    """Write data as strict JSON for people and programs: indented, lists of numbers on one line.

    Keys keep their order. Characters outside ASCII stay as they are, except those that UTF-8
    cannot hold.

    Raises
    ------
    ValueError
        If a number is NaN or infinite: such a score is null in the data, with a reason.
    """
    return _render(data, "") + "\n"


def write_text_atomically(path: str | Path, text: str) -> None:
    """Write a text file in UTF-8, or leave what was there as it was.

    A pipe or device, such as ``/dev/stdout``, is written to as it is.

    Raises
    ------
    InputError
        If the file cannot be written; names the path and the reason.
    """
    write_bytes_atomically(path, text.encode("utf-8"))


def write_bytes_atomically(path: str | Path, content: bytes) -> None:
    """Write a file as it is, with the same care as :func:`write_text_atomically`."""
    try:
        _write(Path(path), content)
    except OSError as error:
        raise InputError(f"{path}: cannot be written: {error.strerror or error}") from error


def _write(path: Path, content: bytes) -> None:
    if path.is_dir():
        raise IsADirectoryError(None, "it is a folder")
    if path.exists() and not path.is_file():
        path.write_bytes(content)
        return
    _replace(Path(os.path.realpath(path)), content)


def _replace(target: Path, content: bytes) -> None:
    """Write beside the target, then put the new file in its place in one step."""
    fresh = target.with_name(f".{target.name[:100]}.{secrets.token_hex(4)}.tmp")
    try:
        with open(fresh, "xb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        if target.exists():
            shutil.copymode(target, fresh)
        os.replace(fresh, target)
    finally:
        fresh.unlink(missing_ok=True)


def _render(value: Any, indent: str) -> str:
    deeper = indent + "  "
    if isinstance(value, Mapping) and value:
        items = [f"{_scalar(str(key))}: {_render(item, deeper)}" for key, item in value.items()]
        return _block("{", items, "}", indent)
    if isinstance(value, list | tuple) and value and not _flat(value):
        return _block("[", [_render(item, deeper) for item in value], "]", indent)
    return _scalar(value)


def _block(start: str, items: list[str], end: str, indent: str) -> str:
    separator = f",\n{indent}  "
    return f"{start}\n{indent}  {separator.join(items)}\n{indent}{end}"


def _flat(values: list[Any] | tuple[Any, ...]) -> bool:
    """Tell whether a list reads well on one line: numbers only, or a few short words."""
    if all(isinstance(value, str) for value in values):
        return sum(map(len, values)) <= SHORT
    return all(isinstance(value, int | float | None) for value in values)


def _scalar(value: Any) -> str:
    text = json.dumps(value, allow_nan=False, ensure_ascii=False)
    try:
        text.encode("utf-8")
    except UnicodeEncodeError:
        return json.dumps(value, allow_nan=False)
    return text
