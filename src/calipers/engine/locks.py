"""Lock files: held by one process until it ends, so that others can tell that it is running."""

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
    """Make a lock file, with its folder; None if another process holds it.

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
    """Make a lock file that is locked from the moment it exists."""
    fresh = path.with_name(f".{path.name}.{os.getpid()}")
    file = _held(fresh)
    os.rename(fresh, path)
    return file


def wait_for(path: Path) -> BinaryIO:
    """Make a lock file, waiting until no other process holds it."""
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
