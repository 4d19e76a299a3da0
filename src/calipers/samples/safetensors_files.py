"""Embeddings in ``.safetensors`` files: a JSON header that names the tensors, then their bytes."""

from __future__ import annotations

import io
import json
import math
import struct
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np
from numpy.typing import NDArray

from calipers.memory import budget
from calipers.samples import opening
from calipers.samples.arrays import from_array, pick
from calipers.samples.sample_set import SampleSet
from calipers.samples.source import Source

_DTYPES = {
    "F64": "<f8",
    "F32": "<f4",
    "F16": "<f2",
    # NumPy has no bfloat16: its bits are the upper half of a float32's.
    "BF16": "<u2",
    "I64": "<i8",
    "I32": "<i4",
    "I16": "<i2",
    "I8": "i1",
    "U64": "<u8",
    "U32": "<u4",
    "U16": "<u2",
    "U8": "u1",
}


def read_safetensors(path: Path, source: Source) -> SampleSet:
    """Read embeddings from the only tensor, or from the one that the field names.

    bfloat16 becomes float32. The tensor is memory-mapped where its type allows and the file is
    not gzipped.
    """
    with opening.open_seekable(path) as stream:
        header, start = _header(stream, source)
        name = pick([key for key in header if key != "__metadata__"], source)
        dtype, shape, first, last = _entry(name, header[name], source)
        size = stream.seek(0, io.SEEK_END) - start
        fits = 0 <= first <= last <= size and min(shape, default=0) >= 0
        if not fits or last - first != math.prod(shape) * dtype.itemsize:
            raise source.error(f"the tensor {name!r} does not fit into the file; is it cut short?")
        if not math.prod(shape):
            raise source.error(f"the tensor {name!r} of shape {tuple(shape)} holds no values")
        array = _array(path, stream, dtype, start + first, shape)
    if header[name]["dtype"] == "BF16":
        budget().take(4 * array.size, source.error)
        array = _from_bfloat16(array)
    return from_array(array, source.name, source.path)


def _header(stream: BinaryIO, source: Source) -> tuple[dict[str, Any], int]:
    """Return the header, and where the tensors' bytes start."""
    try:
        (length,) = struct.unpack("<Q", stream.read(8))
        header = json.loads(stream.read(length)) if length < 2**27 else None
    except (struct.error, ValueError, RecursionError) as error:
        raise source.error(f"is no safetensors file: {error}") from error
    if not isinstance(header, dict):
        raise source.error("is no safetensors file: it does not begin with a header")
    return header, 8 + length


def _entry(name: str, entry: Any, source: Source) -> tuple[np.dtype[Any], list[int], int, int]:
    try:
        kind, shape = entry["dtype"], [int(size) for size in entry["shape"]]
        first, last = map(int, entry["data_offsets"])
    except (KeyError, TypeError, ValueError) as error:
        raise source.error(f"the header describes the tensor {name!r} wrongly: {error}") from error
    if kind not in _DTYPES:
        raise source.error(f"the tensor {name!r} has the type {kind}, which is no embedding")
    return np.dtype(_DTYPES[kind]), shape, first, last


def _array(
    path: Path, stream: BinaryIO, dtype: np.dtype[Any], start: int, shape: list[int]
) -> NDArray[Any]:
    if not opening.is_gzipped(path):
        return np.memmap(path, dtype, mode="r", offset=start, shape=tuple(shape))
    stream.seek(start)
    return np.frombuffer(stream.read(math.prod(shape) * dtype.itemsize), dtype).reshape(shape)


def _from_bfloat16(bits: NDArray[Any]) -> NDArray[np.float32]:
    return (bits.astype(np.uint32) << 16).view(np.float32)
