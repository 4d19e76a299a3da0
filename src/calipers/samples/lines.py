"""Text files: a sample a line; and the decoding that all line-based formats share."""

from __future__ import annotations

import io
from collections.abc import Iterator
from functools import partial
from typing import BinaryIO

from calipers.errors import InputError
from calipers.memory import budget, size_words
from calipers.samples.rows import read_rows
from calipers.samples.sample_set import SampleSet
from calipers.samples.source import Source

BOM = b"\xef\xbb\xbf"

_FOREIGN = {
    b"\xff\xfe": "; it looks like UTF-16: save it as UTF-8",
    b"\xfe\xff": "; it looks like UTF-16: save it as UTF-8",
    b"\x1f\x8b": "; it looks like gzip data, whose file name must end in .gz",
}


def read_lines(stream: BinaryIO, source: Source) -> SampleSet:
    """Read a sample from each line.

    Lines end with a line feed, or a carriage return and a line feed. Empty lines are samples,
    kept in place; the end of the last line does not start another one. Lines have no fields, so
    the source's field and group are not looked at.
    """
    plain = Source(source.path, source.name)
    return read_rows(((n, _bare(line)) for n, line in decoded(stream, plain)), plain)


def decoded(stream: BinaryIO, source: Source) -> Iterator[tuple[int, str]]:
    """Decode lines one by one, numbered from 1, with their ends; a byte order mark is dropped.

    Raises
    ------
    InputError
        If a line is not valid UTF-8, or too long for the memory that may be taken.
    """
    longest = budget().longest_line
    for number, raw in enumerate(iter(partial(stream.readline, longest + 1), b""), 1):
        if len(raw) > longest:
            raise source.error(
                f"line {number}: is longer than {size_words(longest)}, the most that a line may "
                "be in the memory that may be taken; is it a file of lines? Else allow more with "
                "--max-memory (calipers.memory_limit in Python)"
            )
        line = raw.removeprefix(BOM) if number == 1 else raw
        try:
            yield number, line.decode()
        except UnicodeDecodeError as error:
            raise _not_utf8(error, number, line, source) from error


def decode(data: bytes, source: Source) -> str:
    """Decode a whole file; the message for bytes that are not UTF-8 names their line."""
    try:
        return data.removeprefix(BOM).decode()
    except UnicodeDecodeError:
        return "".join(line for _, line in decoded(io.BytesIO(data), source))


def _bare(line: str) -> str:
    return line.removesuffix("\n").removesuffix("\r") if line.endswith("\n") else line


def _not_utf8(error: UnicodeDecodeError, number: int, line: bytes, source: Source) -> InputError:
    hint = _FOREIGN.get(line[:2], "") if number == 1 else ""
    return InputError(
        f"{source.path}: line {number}: not valid UTF-8 "
        f"(byte {error.start + 1:,} of the line is {line[error.start]:#04x}){hint}"
    )
