"""Logs of inspect (inspect_ai): ``.eval``, a zip of JSON files, and ``.json``.

Both hold the same samples; what is read of one is said in :mod:`calipers.samples.readers.logs`. A
log may come from anywhere: nothing is unpacked to disk, a part gives no more bytes than the zip
claims for it, and the claims are counted before anything is unpacked. inspect packs the parts with
zstd, which needs pyarrow here; stored and deflated parts need nothing.
"""

from __future__ import annotations

import copy
import json
import re
import zipfile
import zlib
from collections.abc import Iterator
from dataclasses import replace
from typing import Any, BinaryIO

from calipers.errors import require
from calipers.memory import budget, json_size
from calipers.samples.readers.logs import OF_INSPECT, is_inspect
from calipers.samples.readers.rows import read_rows
from calipers.samples.sample_set import SampleSet
from calipers.samples.source import Source, check_decompressed
from calipers.samples.wording import counted, describe, names, shortened

HEADER = "header.json"
START = "_journal/start.json"
SUCCESS = "success"

ZSTD = 93
"""The number of zstd among the methods of the zip format (APPNOTE 6.3.8)."""

_PLAIN = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED)
_SAMPLE = re.compile(r"samples/(?P<id>.*)_epoch_(?P<epoch>[0-9]{1,9})\.json", re.DOTALL)


def is_inspect_log(value: object) -> bool:
    """Tell whether the value of a JSON file is a log of inspect."""
    return isinstance(value, dict) and "status" in value and isinstance(value.get("eval"), dict)


def read_inspect_json(value: dict[str, Any], source: Source) -> SampleSet:
    """Read the samples of a log in one JSON file."""
    source = source.counting("sample")
    samples = value.get("samples")
    if not isinstance(samples, list) or not samples:
        content = "no samples" if samples in (None, []) else f"samples that are {describe(samples)}"
        raise source.error(f"the log of inspect holds {content}; was only its header written?")
    return _noted(read_rows(_checked(enumerate(samples, 1), source), source), value.get("status"))


def read_eval(stream: BinaryIO, source: Source) -> SampleSet:
    """Read the samples of an ``.eval`` log, in the order of epochs and ids.

    Raises
    ------
    InputError
        If it is not such a log, is damaged, claims more than may be taken, or holds no output.
    MissingExtraError
        If it is packed by zstd and pyarrow is not installed.
    """
    source = source.counting("sample")
    try:
        with zipfile.ZipFile(stream) as file:
            parts = {info.filename: info for info in file.infolist()}  # a later one replaces
            samples = sorted(filter(_SAMPLE.fullmatch, parts), key=_order)
            _check_parts(parts, samples, source)
            check_decompressed(source.path, sum(parts[name].file_size for name in samples))
            status = None
            if HEADER in parts:
                header = _json(file, parts[HEADER], source)
                status = header.get("status") if isinstance(header, dict) else None
            rows = (
                (number, _json(file, parts[name], source)) for number, name in enumerate(samples, 1)
            )
            return _noted(read_rows(_checked(rows, source), source), status)
    except (zipfile.BadZipFile, zlib.error, EOFError, NotImplementedError, RuntimeError) as error:
        raise source.error(
            f"is not a log of inspect, or is damaged: {shortened(str(error), 200)}"
        ) from error


def _order(name: str) -> tuple[int, str]:
    """Order as inspect does, so that logs of one data set have the same sample in a row."""
    match = _SAMPLE.fullmatch(name)
    assert match is not None
    sample_id = match["id"]
    return int(match["epoch"]), sample_id.zfill(20) if sample_id.isdecimal() else sample_id


def _check_parts(parts: dict[str, zipfile.ZipInfo], samples: list[str], source: Source) -> None:
    if not samples:
        if HEADER in parts or START in parts:
            raise source.error("the log of inspect holds no samples; had its run begun?")
        raise source.error(
            "is not a log of inspect: a zip without samples/*.json; it holds "
            f"{names(parts, limit=5)}"
        )


def _noted(samples: SampleSet, status: object) -> SampleSet:
    """Say of a run that has not succeeded."""
    if status == SUCCESS:
        return samples
    if not isinstance(status, str) or status == "started":
        remark = "the log has no end: its run goes on, or was killed, and samples may be missing"
    else:
        remark = (
            f"the log says that its run ended with {shortened(status)!r}: samples may be missing"
        )
    return replace(samples, reading_notes=(remark, *samples.reading_notes))


def _checked(rows: Iterator[tuple[int, Any]], source: Source) -> Iterator[tuple[int, Any]]:
    """Pass on samples, and refuse rows that are not samples of inspect."""
    for number, row in rows:
        if not is_inspect(row):
            description = names(row) if isinstance(row, dict) else describe(row)
            raise source.row_error(
                number, f"is not a sample of inspect, {OF_INSPECT}; found {description}"
            )
        yield number, row


def _json(file: zipfile.ZipFile, info: zipfile.ZipInfo, source: Source) -> Any:
    """Parse a part; its memory counts until the next one is read."""
    current = budget()
    what = f"claims a part {shortened(info.filename)!r} of {info.file_size:,} bytes"
    current.check_claim(what, info.file_size, source.error)
    data = _unpacked(file, info, source)
    with current.borrowing():
        current.borrow(json_size(data), source.error)
        try:
            return json.loads(data)
        except (ValueError, RecursionError) as error:
            part, why = shortened(info.filename), shortened(str(error), 120)
            raise source.error(f"its part {part!r} is broken JSON: {why}") from error


def _unpacked(file: zipfile.ZipFile, info: zipfile.ZipInfo, source: Source) -> bytes:
    if info.flag_bits & 1:
        raise source.error("is encrypted; give the log as inspect wrote it")
    if info.compress_type in _PLAIN:
        return file.read(info)
    if info.compress_type != ZSTD:
        raise source.error(
            f"its part {shortened(info.filename)!r} is packed by method {info.compress_type} of "
            "the zip format; known are 0 (stored), 8 (deflated) and 93 (zstd)"
        )
    arrow = require("pyarrow", extra="parquet", purpose=f"{source.path}: a log packed by zstd")
    # The bytes as they are packed: Python's zipfile knows zstd from 3.14 on only
    packed = copy.copy(info)
    packed.compress_type, packed.file_size = zipfile.ZIP_STORED, info.compress_size
    packed.CRC = None  # type: ignore[assignment]
    with file.open(packed) as raw:
        try:
            with arrow.CompressedInputStream(arrow.PythonFile(raw, "r"), "zstd") as stream:
                data: bytes = stream.read(info.file_size + 1)
        except OSError as error:
            raise zipfile.BadZipFile(f"{info.filename}: {error}") from error
    if len(data) != info.file_size or zlib.crc32(data) != info.CRC:
        raise zipfile.BadZipFile(
            f"{info.filename} has {counted(len(data), 'byte')} with another checksum than claimed"
        )
    return data
