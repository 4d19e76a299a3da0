"""Files that one process holds until it ends, by whatever, so that others can tell it goes on."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any, BinaryIO

fcntl: Any
try:
    import fcntl
except ModuleNotFoundError:  # Windows
    fcntl = None

LOCKS = fcntl is not None
"""Whether this system has locks of files that end with their process."""

TRIES = 100


def hold(path: Path) -> BinaryIO | None:
    """Make a file, with its folder, and hold it until it is closed; None if another process does.

    Raises
    ------
    OSError
        If it cannot be made.
    """
    for left in reversed(range(TRIES)):
        path.parent.mkdir(parents=True, exist_ok=True)
        try:
            file = _held(path)
            if os.fstat(file.fileno()).st_ino == os.stat(path).st_ino:
                return file
            file.close()
        except BlockingIOError:
            return None
        except FileNotFoundError:  # others remove what they held, and empty folders
            if not left:
                raise
    return None


def hold_new(path: Path) -> BinaryIO:
    """Make a file that is held from the moment at which it is there."""
    fresh = path.with_name(f".{path.name}.{os.getpid()}")
    file = _held(fresh)
    os.rename(fresh, path)
    return file


def wait_for(path: Path) -> BinaryIO:
    """Make a file and hold it until it is closed, once no other process does."""
    return _held(path, wait=True)


def _held(path: Path, *, wait: bool = False) -> BinaryIO:
    file = path.open("ab")
    try:
        if LOCKS:
            fcntl.flock(file, fcntl.LOCK_EX | (0 if wait else fcntl.LOCK_NB))
    except BaseException:
        file.close()
        raise
    return file
