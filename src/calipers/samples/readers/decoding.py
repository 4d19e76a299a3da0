"""Decoding of text files: UTF-8 line by line, without a byte order mark."""

from __future__ import annotations

import io
import re
from collections.abc import Iterator
from functools import partial
from typing import BinaryIO

from calipers.errors import InputError
from calipers.memory import budget, size_words
from calipers.samples.compression import looks_compressed
from calipers.samples.source import Source

BOM = b"\xef\xbb\xbf"
UTF16 = (b"\xff\xfe", b"\xfe\xff")
SAVE_IT = "save it as UTF-8"

HEAD = 2**16
"""Bytes at the beginning of a file by which its encoding and its line ends are known."""


def decoded(stream: BinaryIO, source: Source) -> Iterator[tuple[int, str]]:
    """Decode lines one by one, numbered from 1, with their ends and without a byte order mark.

    Lines end with a line feed; in a file that begins without any, also with a carriage return,
    which is then given as a line feed.

    Raises
    ------
    InputError
        If a line is not valid UTF-8, or too long for the memory that may be taken, or the file is
        in UTF-16.
    """
    longest = budget().longest_line
    head = _head(stream)
    check_encoding(head, source)
    if b"\r" in head[:-1] and b"\n" not in head:  # a last one alone belongs to its line
        lines = _of_carriage_returns(stream, longest)
    else:
        lines = iter(partial(stream.readline, longest + 1), b"")
    for number, raw in enumerate(lines, 1):
        if len(raw) > longest:
            raise source.error(
                f"line {number}: is longer than {size_words(longest)}, the longest line that the "
                "memory limit allows; is it a file of lines? Else allow more with "
                "`calipers.memory_limit`"
            )
        line = raw.removeprefix(BOM) if number == 1 else raw
        try:
            yield number, line.decode()
        except UnicodeDecodeError as error:
            raise _not_utf8(error, number, line, source) from error


def decode(data: bytes, source: Source) -> str:
    """Decode a whole file; the message for invalid UTF-8 names the line."""
    check_encoding(data[:HEAD], source)
    try:
        return data.removeprefix(BOM).decode()
    except UnicodeDecodeError:
        return "".join(line for _, line in decoded(io.BytesIO(data), source))


def check_encoding(head: bytes, source: Source) -> None:
    """Refuse UTF-16 and UTF-32 without a byte order mark, which may be valid UTF-8.

    Where NULs stand beside most line ends, or in place of every other byte, each character takes
    two bytes or four.

    Raises
    ------
    InputError
        Names the encoding.
    """
    zeros = head.count(b"\0")
    if not zeros or head.startswith(UTF16):
        return
    ends = head.count(b"\n")
    beside = max(head.count(b"\n\0"), head.count(b"\0\n"))
    every_other = max(head[start::2].count(b"\0") for start in (0, 1))
    if 2 * beside > ends or 4 * every_other > len(head) > 3:
        width = 32 if 2 * zeros > len(head) + 2 else 16
        raise source.error(f"it looks like UTF-{width}: {SAVE_IT}")


def _head(stream: BinaryIO) -> bytes:
    """Look at the beginning of a stream without taking it off."""
    if isinstance(stream, io.BytesIO):
        with stream.getbuffer() as content:
            return bytes(content[stream.tell() :][:HEAD])
    if isinstance(stream, io.BufferedReader):
        return stream.peek(HEAD)[:HEAD]
    if stream.seekable():
        place = stream.tell()
        head = stream.read(HEAD)
        stream.seek(place)
        return head
    return b""


_END = re.compile(rb"\r\n|\r|\n")


def _of_carriage_returns(stream: BinaryIO, longest: int) -> Iterator[bytes]:
    """Return lines that end with a carriage return, a line feed or both, all as line feeds."""
    rest = b""
    while part := stream.read(HEAD):
        if part.endswith(b"\r"):
            part += stream.read(1)
        *whole, rest = _END.split(rest + part)
        for line in whole:
            yield line + b"\n"
        if len(rest) > longest:
            yield rest
    if rest:
        yield rest


def _not_utf8(error: UnicodeDecodeError, number: int, line: bytes, source: Source) -> InputError:
    return InputError(
        f"{source.path}: line {number}: not valid UTF-8 "
        f"(byte {error.start + 1:,} of the line is {line[error.start]:#04x})"
        f"{_hint(line) if number == 1 else ''}"
    )


def _hint(start: bytes) -> str:
    """Say what a file seems to be that begins so."""
    if start.startswith(UTF16):
        return f"; it looks like UTF-16: {SAVE_IT}"
    packed = looks_compressed(start)
    if packed is None:
        return ""
    return f"; it looks like {packed.name} data, whose file name must end in {packed.suffix}"
