"""Standard output and error: any encoding, and readers that close the pipe."""

from __future__ import annotations

import io
import os
import shutil
import sys
import warnings
from collections.abc import Iterator
from contextlib import contextmanager, redirect_stdout
from typing import Any, TextIO

from calipers.errors import InputError
from calipers.wording.front import worded
from calipers.wording.printable import printable

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
        "▲": "@",
        "≡": "&",
        "≤": "<=",
        "≥": ">=",
    }
)


class Outliving(io.FileIO):
    """A stream whose reader may close the pipe; from then on writes are discarded.

    A command so ends as it would have ended with a reader (``| head``, ``| true``): with its own
    exit code, and with all of its files written.

    Parameters
    ----------
    descriptor
        Of an open stream, which stays open.
    trouble
        What of the errors of writing means that there is nobody to write to.
    """

    def __init__(self, descriptor: int, trouble: type[OSError] = BrokenPipeError) -> None:
        super().__init__(descriptor, "w", closefd=False)
        self._trouble = trouble

    def write(self, content: Any) -> int:
        """Write bytes, and return their number, which is all once nobody reads."""
        try:
            return super().write(content)
        except self._trouble:
            nowhere = os.open(os.devnull, os.O_WRONLY)
            os.dup2(nowhere, self.fileno())
            os.close(nowhere)
            return len(content)


def outlive_readers() -> None:
    """Keep a command from failing when the reader of standard output or error goes away.

    Of standard error that includes a full disk: there is no other place to say so. A stream that
    the shell closed (``>&-``) leads nowhere from the beginning.
    """
    if sys.stdin is None:
        sys.stdin = open(os.devnull, encoding="utf-8")  # noqa: SIM115
    for name, trouble in (("stdout", BrokenPipeError), ("stderr", OSError)):
        stream = getattr(sys, name)
        if stream is None:
            setattr(sys, name, open(os.devnull, "w", encoding="utf-8"))  # noqa: SIM115
            continue
        stream.flush()
        setattr(
            sys,
            name,
            io.TextIOWrapper(
                io.BufferedWriter(Outliving(stream.fileno(), trouble)),
                encoding=stream.encoding,
                errors=stream.errors,
                line_buffering=stream.line_buffering,
                write_through=stream.write_through,
            ),
        )


def write(text: str) -> None:
    """Write lines to standard output, as ASCII where the encoding has no more."""
    with told_of_output():
        sys.stdout.write(encodable(text + "\n", sys.stdout))


def write_bytes_of(text: str) -> None:
    """Write a text to standard output as UTF-8, whatever the encoding of the terminal."""
    from calipers.whole_files import utf8

    with told_of_output():
        sys.stdout.flush()
        sys.stdout.buffer.write(utf8(text))
        sys.stdout.buffer.flush()


@contextmanager
def told_of_output() -> Iterator[None]:
    """Report that standard output cannot be written, as on a full disk.

    Raises
    ------
    InputError
        It cannot be written.
    """
    try:
        yield
    except OSError as error:
        raise InputError(f"standard output cannot be written: {error.strerror}") from error


def write_error(text: str) -> None:
    """Write lines to standard error, with options as flags and without control sequences."""
    sys.stderr.write(encodable(printable(worded(text), keep="\n") + "\n", sys.stderr))
    sys.stderr.flush()


@contextmanager
def calm(*, quiet: bool) -> Iterator[None]:
    """Keep standard output for results: send what other packages print to standard error.

    Quiet silences their warnings too.
    """
    with warnings.catch_warnings(), redirect_stdout(sys.stderr):
        if quiet:
            warnings.simplefilter("ignore")
        yield


def line_width() -> int:
    """Return the width of the terminal; without one, that of a page."""
    return shutil.get_terminal_size((PLAIN_WIDTH, 24)).columns


def encodable(text: str, stream: TextIO) -> str:
    """Return the text in characters that the stream can encode, others as plain ones or ``?``."""
    encoding = getattr(stream, "encoding", None) or "utf-8"
    try:
        text.encode(encoding)
    except UnicodeEncodeError:
        return text.translate(_ASCII).encode(encoding, "replace").decode(encoding)
    return text
