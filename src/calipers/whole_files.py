"""Atomic writing of files, which end up either complete or unchanged."""

from __future__ import annotations

import os
import secrets
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO

from calipers.errors import InputError


def write_text_atomically(path: str | Path, text: str) -> None:
    """Write a text file in UTF-8, or leave the existing one unchanged.

    A pipe or device, such as ``/dev/stdout``, is written to as it is. Characters that UTF-8
    cannot hold are replaced.

    Raises
    ------
    InputError
        If the file cannot be written; names the path and the reason.
    BrokenPipeError
        If it is a pipe whose reader went away.
    """
    write_bytes_atomically(path, utf8(text))


def write_bytes_atomically(path: str | Path, content: bytes) -> None:
    """Write a file of bytes, with the same care as :func:`write_text_atomically`."""
    try:
        _write(Path(path), content)
    except BrokenPipeError:
        raise
    except OSError as error:
        raise InputError(f"{path}: cannot be written: {error.strerror or error}") from error


def utf8(text: str) -> bytes:
    """Encode a text, with lone surrogates replaced by U+FFFD."""
    try:
        return text.encode("utf-8")
    except UnicodeEncodeError:
        return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace").encode("utf-8")


def _write(path: Path, content: bytes) -> None:
    if path.is_dir():
        raise IsADirectoryError(None, "it is a folder")
    if path.exists() and not path.is_file():
        path.write_bytes(content)
        return
    with replacing(path) as file:
        file.write(content)


@contextmanager
def replacing(path: Path) -> Iterator[BinaryIO]:
    """Write to a temporary file, then replace the file, or the target of a link, in one step.

    A failure leaves what was there as it was. The new file has the old one's mode.

    Raises
    ------
    OSError
        If it cannot be written there.
    """
    target = Path(os.path.realpath(path))
    # Names end at 255 bytes, and a character has up to four
    fresh = target.with_name(f".{target.name[:40]}.{secrets.token_hex(4)}.tmp")
    try:
        with open(fresh, "xb") as file:
            if target.exists():
                shutil.copymode(target, fresh)
            yield file
            file.flush()
            os.fsync(file.fileno())
        os.replace(fresh, target)
    finally:
        fresh.unlink(missing_ok=True)
