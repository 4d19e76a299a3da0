"""Text ──► standard output and error, whatever they can encode."""

from __future__ import annotations

import shutil
import sys
import warnings
from collections.abc import Iterator
from contextlib import contextmanager, redirect_stdout
from typing import TextIO

from calipers.errors import InputError

PLAIN_WIDTH = 100

_ASCII = str.maketrans(
    {
        "↑": "^",
        "↓": "v",
        "–": "-",
        "…": "~",
        "·": "|",
        "é": "e",
        "─": "-",
        "’": "'",
        "±": "/",
        "•": "*",
        "²": "2",
        "χ": "x",
        "≈": "=",
        "→": ">",
        "✓": "+",
        "≤": "<=",
        "≥": ">=",
    }
)


def write(text: str) -> None:
    """Write lines to standard output, in ASCII where it knows no more."""
    with told_of_output():
        sys.stdout.write(encodable(text + "\n", sys.stdout))


def write_bytes_of(text: str) -> None:
    """Write a text to standard output in UTF-8, whatever the terminal speaks."""
    from calipers.whole_files import utf8

    with told_of_output():
        sys.stdout.flush()
        sys.stdout.buffer.write(utf8(text))
        sys.stdout.buffer.flush()


@contextmanager
def told_of_output() -> Iterator[None]:
    """Say plainly that standard output cannot be written, as where a disk is full.

    Raises
    ------
    InputError
        It cannot be written; a reader who went away stays a ``BrokenPipeError``.
    """
    try:
        yield
    except BrokenPipeError:
        raise
    except OSError as error:
        raise InputError(f"standard output cannot be written: {error.strerror}") from error


def write_error(text: str) -> None:
    """Write lines to standard error, without characters that could steer a terminal."""
    safe = "".join(c if c.isprintable() or c == "\n" else "\N{REPLACEMENT CHARACTER}" for c in text)
    sys.stderr.write(encodable(safe + "\n", sys.stderr))
    sys.stderr.flush()


@contextmanager
def calm(*, quiet: bool) -> Iterator[None]:
    """Keep standard output for results: what other packages print goes to standard error.

    Quiet silences their warnings too.
    """
    with warnings.catch_warnings(), redirect_stdout(sys.stderr):
        if quiet:
            warnings.simplefilter("ignore")
        yield


def line_width() -> int:
    """Give the width of the terminal, or of a page where there is none."""
    return shutil.get_terminal_size((PLAIN_WIDTH, 24)).columns


def encodable(text: str, stream: TextIO) -> str:
    """Give the text as the stream can write it: unknown characters become plain ones or ``?``."""
    encoding = getattr(stream, "encoding", None) or "utf-8"
    try:
        text.encode(encoding)
    except UnicodeEncodeError:
        return text.translate(_ASCII).encode(encoding, "replace").decode(encoding)
    return text
