"""Checks of paths before they are opened, for every reader.

Only regular files are read, and folders where a reader takes them. To open a pipe that nobody
writes to would wait for ever, and a device need never end.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from calipers.errors import InputError

LONGEST = 200
"""Most characters of a path that a message shows."""

_SPECIAL = (
    (stat.S_ISFIFO, "a pipe"),
    (stat.S_ISSOCK, "a socket"),
    (stat.S_ISCHR, "a device"),
    (stat.S_ISBLK, "a device"),
)


def at_home(path: str | os.PathLike[str]) -> Path:
    """Replace a leading ``~`` of a path by the home folder.

    Raises
    ------
    InputError
        If there is no such home folder.
    """
    try:
        return Path(path).expanduser()
    except RuntimeError:
        user = _shown(path).partition("/")[0]
        raise InputError(f"{_shown(path)}: there is no home folder for {user!r}") from None


def check_there(path: str | os.PathLike[str]) -> None:
    """Check that a path leads to a regular file or a folder; links are followed.

    Raises
    ------
    InputError
        If there is nothing, or something else.
    """
    if not os.path.exists(path):
        raise InputError(f"{_shown(path)}: there is no such file")
    check_plain(path)


def check_plain(path: str | os.PathLike[str]) -> None:
    """Refuse what is neither a regular file nor a folder; the reader reports a missing path.

    Raises
    ------
    InputError
        If it is a pipe, a socket or a device.
    """
    kind = special_kind(path)
    if kind is not None:
        raise InputError(
            f"{_shown(path)}: must be a regular file or a folder, but it is {kind}; save its data "
            "to a file, or pipe samples to standard input and write - in its place"
        )


def special_kind(path: str | os.PathLike[str]) -> str | None:
    """Name the kind of a path that is neither a regular file nor a folder; else None."""
    try:
        mode = os.stat(path).st_mode
    except (OSError, ValueError):  # nothing is there, or no path can be like that
        return None
    return next((kind for is_kind, kind in _SPECIAL if is_kind(mode)), None)


@contextmanager
def fitting_in_memory(path: str | os.PathLike[str]) -> Iterator[None]:
    """Report that a file does not fit in memory, while it is read.

    Raises
    ------
    InputError
        If there is not enough memory; names the file, its size and what could not be had.
    """
    try:
        yield
    except MemoryError as error:
        reason = next(iter(str(error).strip().splitlines()), "")
        size = f" of {os.path.getsize(path):,} bytes" if os.path.isfile(path) else ""
        raise InputError(
            f"{_shown(path)}: the file{size} does not fit in the memory that is free"
            f"{f': {reason}' if reason else ''}"
        ) from error


def _shown(path: str | os.PathLike[str]) -> str:
    text = os.fspath(path)
    return text if len(text) <= LONGEST else f"{text[: LONGEST - 1]}…"
