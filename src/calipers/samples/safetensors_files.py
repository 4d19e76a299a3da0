"""Embeddings in ``.safetensors`` files: a JSON header that names the tensors, then their bytes."""

from __future__ import annotations

import io
import json
import math
import struct
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np
from numpy.typing import NDArray

from calipers.memory import budget
from calipers.samples import opening
from calipers.samples.arrays import from_array, pick
from calipers.samples.sample_set import SampleSet
from calipers.samples.source import Source
from calipers.samples.wording import describe, shortened

LONGEST = 100_000_000
"""Bytes; the format allows no longer header."""
AXES = 64
"""Most axes that an array of NumPy has."""

MOST = 2**63
"""What sizes and places in a file stay below."""

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
        name = pick(list(header), source)
        try:
            tensor = read_entry(header[name])
        except ValueError as error:
            raise source.error(
                f"the header describes the tensor {name!r} wrongly: {error}"
            ) from error
        if tensor.dtype not in _DTYPES:
            raise source.error(
                f"the tensor {name!r} has the type {shortened(tensor.dtype)}, which is no embedding"
            )
        dtype = np.dtype(_DTYPES[tensor.dtype])
        size = stream.seek(0, io.SEEK_END) - start
        if tensor.last > size or tensor.size != tensor.numbers * dtype.itemsize:
            raise source.error(f"the tensor {name!r} does not fit into the file; is it cut short?")
        if not tensor.numbers:
            raise source.error(f"the tensor {name!r} of shape {tensor.shape} holds no values")
        array = _array(path, stream, dtype, start + tensor.first, tensor.shape)
    if tensor.dtype == "BF16":
        budget().take(4 * array.size, source.error)
        array = _from_bfloat16(array)
    return from_array(array, source.name, source.path)


@dataclass(frozen=True)
class Entry:
    """What a header says of a tensor.

    Attributes
    ----------
    dtype
        As the format writes it, such as ``"F32"`` or ``"BF16"``.
    shape
        Its axes, none below 0.
    first, last
        Where its bytes begin and end, counted from the end of the header.
    """

    dtype: str
    shape: tuple[int, ...]
    first: int
    last: int

    @property
    def numbers(self) -> int:
        """How many numbers it has."""
        return math.prod(self.shape)

    @property
    def size(self) -> int:
        """How many bytes it takes in the file."""
        return self.last - self.first

    @property
    def floats(self) -> bool:
        """Whether it holds floating-point numbers, whose precision may be chosen when loading."""
        return self.dtype.startswith(("F", "BF"))


def read_entries(content: bytes) -> dict[str, Any]:
    """Read the header's entries by the names of their tensors; each still has to be looked at.

    Raises
    ------
    ValueError
        If it is no JSON object.
    """
    try:
        header = json.loads(content)
    except RecursionError:
        raise ValueError("its header is nested too deeply") from None
    except ValueError as error:
        raise ValueError("its header is no JSON") from error
    if not isinstance(header, dict):
        raise ValueError(f"its header must be an object, but it is {describe(header)}")
    header.pop("__metadata__", None)
    return header


def read_entry(entry: Any) -> Entry:
    """Read what a header says of one tensor.

    Raises
    ------
    ValueError
        If it says anything else than a type, a shape and where the bytes lie.
    """
    if not isinstance(entry, dict):
        raise ValueError(f"it must be an object, but it is {describe(entry)}")
    dtype = entry.get("dtype")
    if not isinstance(dtype, str):
        raise ValueError(f"'dtype' must be a string, but it is {describe(dtype)}")
    shape, offsets = _whole_numbers("shape", entry), _whole_numbers("data_offsets", entry)
    if len(shape) > AXES:
        raise ValueError(f"'shape' must have at most {AXES} axes; found {len(shape)}")
    if len(offsets) != 2:
        raise ValueError(
            f"'data_offsets' must be where the bytes begin and end; found {describe(offsets)}"
        )
    return Entry(dtype, tuple(shape), offsets[0], offsets[1])


def _whole_numbers(key: str, entry: dict[str, Any]) -> list[int]:
    found = entry.get(key)
    if not isinstance(found, list):
        raise ValueError(f"{key!r} must be a list, but it is {describe(found)}")
    for each in found:
        if type(each) is not int or not 0 <= each < MOST:
            raise ValueError(
                f"{key!r} must hold whole numbers from 0 to below 2**63; found {describe(each)}"
            )
    return found


def _header(stream: BinaryIO, source: Source) -> tuple[dict[str, Any], int]:
    """Return the header, and where the tensors' bytes start."""
    try:
        (length,) = struct.unpack("<Q", stream.read(8))
        if length > LONGEST:
            raise ValueError("it does not begin with the length of a header")
        return read_entries(stream.read(length)), 8 + length
    except (struct.error, ValueError) as error:
        raise source.error(f"is no safetensors file: {error}") from error


def _array(
    path: Path, stream: BinaryIO, dtype: np.dtype[Any], start: int, shape: tuple[int, ...]
) -> NDArray[Any]:
    if not opening.is_gzipped(path):
        return np.memmap(path, dtype, mode="r", offset=start, shape=shape)
    stream.seek(start)
    return np.frombuffer(stream.read(math.prod(shape) * dtype.itemsize), dtype).reshape(shape)


def _from_bfloat16(bits: NDArray[Any]) -> NDArray[np.float32]:
    return (bits.astype(np.uint32) << 16).view(np.float32)
