"""Samples from standard input, whose format has to be told from its content."""

from __future__ import annotations

import io
import re
import sys
from collections.abc import Callable
from typing import BinaryIO

from calipers.samples.json_files import parses, read_json, read_jsonl
from calipers.samples.lines import decode, read_lines
from calipers.samples.sample_set import SampleSet
from calipers.samples.source import Source

_OBJECT = re.compile(r'\{\s*["}]')


def read_standard_input(source: Source) -> SampleSet:
    """Read JSON lines, JSON or lines of text.

    What begins like a JSON object is JSON lines, or one JSON value over several lines. Lines that
    are all JSON strings, or all JSON lists, are JSON lines, and a JSON list is JSON. All else is a
    sample a line.
    """
    data = sys.stdin.buffer.read()
    if not data:
        raise source.error("is empty")
    return _reader(decode(data, source))(io.BytesIO(data), source)


def _reader(text: str) -> Callable[[BinaryIO, Source], SampleSet]:
    lines = [line for line in text.split("\n") if line.strip()]
    first = lines[0] if lines else ""
    if _OBJECT.match(text.lstrip()):
        # Broken JSON must not pass for text: only a value that goes on over lines is no JSONL.
        return read_json if not parses(first) and parses(text) else read_jsonl
    if first.lstrip().startswith("[") and parses(text):
        return read_json
    if first[:1] in ('"', "[") and all(line[0] == first[0] and parses(line) for line in lines):
        return read_jsonl
    return read_lines
