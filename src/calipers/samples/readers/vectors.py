"""Embeddings, and images as arrays, in ``.npy``, ``.npz`` and ``.safetensors`` files.

Nothing is ever unpickled. A ``.safetensors`` file is a JSON header that names the tensors, then
their bytes.
"""

from __future__ import annotations

import errno
import io
import json
import math
import struct
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any, BinaryIO

import numpy as np
from numpy.typing import NDArray

from calipers.errors import InputError
from calipers.memory import budget
from calipers.numeric.scratch import scratch
from calipers.samples.fields import NAME_IT
from calipers.samples.kinds import take_room
from calipers.samples.sample_set import SampleSet
from calipers.samples.source import (
    LabelKind,
    Source,
    check_decompressed,
    is_compressed,
    open_seekable,
)
from calipers.samples.wording import describe, names, shortened

REASON = 200
"""Most characters of what NumPy says of a damaged file: it may quote a header of any length."""

_NPY, _NPZ = b"\x93NUMPY", b"PK"
Labels = dict[LabelKind, NDArray[Any]]


def read_numpy(path: Path, source: Source) -> SampleSet:
    """Read an array: ``.npy`` is memory-mapped, in an ``.npz`` the field names the array.

    One with two axes holds embeddings, one with three or four images.
    """
    array, labels = open_numpy(path, source)
    samples = from_array(array, source.name, source.path)
    if "group" in labels:
        samples = samples.with_groups(labels["group"].tolist())
    if "cluster" in labels:
        samples = samples.with_clusters(labels["cluster"].tolist())
    return samples


def open_numpy(path: Path, source: Source) -> tuple[NDArray[Any], Labels]:
    """Open the array of a file without reading it, with labels of its rows if it has any.

    Raises
    ------
    InputError
        If it is damaged, cut short or pickled, or too large for the memory that may be taken.
    """
    try:
        return _load(path, source)
    except (InputError, MemoryError):
        raise
    except OSError as error:
        if error.errno == errno.ENOMEM:  # a file is mapped whole
            raise MemoryError from error
        raise source.error(f"cannot be read: {error.strerror or error}") from error
    except Exception as error:
        # A damaged header can make NumPy raise nearly anything, even errors of the tokenizer.
        if "ickle" in str(error) or "Python objects" in str(error):
            raise _pickled(source) from error
        reason = shortened(str(error).partition("\n")[0], REASON)
        raise source.error(f"cannot be read as a NumPy file: {reason}") from error


def from_array(array: Any, name: str, source: str) -> SampleSet:
    """Make embeddings (two axes) or images (three or four axes) from an array."""
    if getattr(array, "ndim", 0) in (3, 4):
        return SampleSet.from_images(array, name=name, source=source)
    return SampleSet.from_vectors(array, name=name, source=source)


def pick(arrays: list[str], source: Source) -> str:
    """Choose one of a file's arrays: the one named by the field, or the only one."""
    if source.field is None and len(arrays) == 1:
        return arrays[0]
    if source.field is None:
        raise source.error(f"holds several arrays, {names(sorted(arrays))}; {NAME_IT}")
    if source.field not in arrays:
        raise source.error(
            f"holds no array {source.field!r}; the arrays are {names(sorted(arrays))}"
        )
    return source.field


def check_header(stream: BinaryIO, size: int) -> None:
    """Refuse a header that declares more numbers than the file holds, before NumPy allocates them.

    Parameters
    ----------
    stream
        The bytes of a ``.npy`` file, which can seek; it is put back to its beginning.
    size
        How many bytes there are.

    Raises
    ------
    ValueError
        If the header cannot be read, or what it promises is not there.
    """
    stream.seek(0)
    try:
        form = np.lib.format
        first = form.read_magic(stream) == (1, 0)
        read = form.read_array_header_1_0 if first else form.read_array_header_2_0
        shape, _, dtype = read(stream)
        # NumPy would take True for 1
        wrong = any(type(axis) is not int or axis < 0 for axis in shape)
    except Exception as error:  # a damaged header can lead to nearly any error
        raise ValueError("its header is damaged") from error
    available = size - stream.tell()
    if not dtype.hasobject and (wrong or math.prod(shape) * dtype.itemsize > available):
        words = f"an array of shape {shape} and type {dtype}"
        raise ValueError(f"its header promises {words}, but {available:,} bytes follow it")
    stream.seek(0)


def _load(path: Path, source: Source) -> tuple[NDArray[Any], Labels]:
    """Read the embeddings, and their labels where there are any."""
    with open_seekable(path) as stream:
        start = stream.read(len(_NPY))
        stream.seek(0)
        if start.startswith(_NPZ):
            with np.load(stream, allow_pickle=False) as arrays:
                return _from_archive(arrays, source)
        if start != _NPY:
            raise source.error("is not a NumPy file of plain numbers (pickled data are refused)")
        check_header(stream, stream.seek(0, io.SEEK_END))
        if is_compressed(path):
            return _array(np.load(stream, allow_pickle=False)), {}
    return _array(np.load(path, mmap_mode="r", allow_pickle=False)), {}


def _from_archive(arrays: Any, source: Source) -> tuple[NDArray[Any], Labels]:
    for wanted in source.labels:
        if wanted.needed and wanted.path not in arrays.files:
            raise source.error(
                f"holds no array {wanted.path!r} of {wanted.kind}s; "
                f"the arrays are {names(arrays.files)}"
            )
    asked = {wanted.path for wanted in source.labels}
    statistics = _statistics(arrays, source)
    if statistics and (source.field in statistics or set(arrays.files) == statistics):
        raise source.error(
            "holds statistics of a Fréchet distance (FID), a mean and a covariance, and no "
            "samples; give the vectors or the images that they were made of (in Python "
            "calipers.metrics.frechet_distance takes numpy.load(path), for this distance alone)"
        )
    candidates = [name for name in arrays.files if name not in asked | statistics]
    vectors = _member(arrays, pick(candidates, source), source)
    labels_by_kind: Labels = {}
    for wanted in (wanted for wanted in source.labels if wanted.path in arrays.files):
        labels = labels_by_kind[wanted.kind] = _member(arrays, wanted.path, source)
        if labels.ndim != 1:
            raise source.error(
                f"the array {wanted.path!r} of {wanted.kind}s must have one axis, a label for each "
                f"sample; found the shape {labels.shape}"
            )
    return vectors, labels_by_kind


STATISTICS = (("mu", "sigma"), ("mu_s", "sigma_s"))
"""Under which names packages that compute FID keep a mean and a covariance."""


def _statistics(arrays: Any, source: Source) -> set[str]:
    """Name the arrays of an archive that are means and covariances."""
    kept = set()
    for mean, covariance in STATISTICS:
        if {mean, covariance} <= set(arrays.files):
            columns = _member(arrays, mean, source).shape
            if len(columns) == 1 and _member(arrays, covariance, source).shape == columns * 2:
                kept |= {mean, covariance}
    return kept


def _member(arrays: Any, name: str, source: Source) -> NDArray[Any]:
    member = next(i for i in arrays.zip.infolist() if i.filename in (name, f"{name}.npy"))
    check_decompressed(source.path, member.file_size)
    budget().check_claim(f"claims to hold numbers in {name!r}", member.file_size, source.error)
    budget().take(member.file_size, source.error)
    with arrays.zip.open(member) as stream:
        if stream.read(len(_NPY)) == _NPY:
            check_header(stream, member.file_size)
    return _array(arrays[name])


def _array(value: Any) -> NDArray[Any]:
    if not isinstance(value, np.ndarray):
        raise ValueError("it does not begin like an array")
    return value


def _pickled(source: Source) -> InputError:
    return source.error(
        "holds pickled Python objects (dtype object), which are refused; "
        "save an array of plain numbers"
    )


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
    """Read embeddings from the only tensor, or from the one named by the field.

    Of a file that ``calipers embed`` wrote all views are read, with the signature of their
    embedder, unless the field names one. bfloat16 becomes float32. Tensors are memory-mapped where
    their type allows and the file is not gzipped.
    """
    if source.field is None and (made := read_made(path, source)) is not None:
        views = {name: _read_tensor(path, replace(source, field=name)) for name in made.views}
        return made.holding(views, source)
    return from_array(_read_tensor(path, source), source.name, source.path)


def _read_tensor(path: Path, source: Source) -> NDArray[Any]:
    array, half = open_tensor(path, source)
    if half:
        take_room(2 * array.nbytes, source.path)
        array = from_bfloat16(array)
    return array


def open_tensor(path: Path, source: Source) -> tuple[NDArray[Any], bool]:
    """Open a tensor without reading it; tell whether it is bfloat16, whose bits come as uint16.

    Raises
    ------
    InputError
        If the file is damaged or cut short, or has no such tensor.
    """
    with open_seekable(path) as stream:
        header, start = _header(stream, source)
        header.pop(METADATA, None)
        name = pick(list(header), source)
        try:
            tensor = read_entry(header[name])
        except ValueError as error:
            raise source.error(
                f"the header describes the tensor {name!r} wrongly: {error}"
            ) from error
        if tensor.dtype not in _DTYPES:
            raise source.error(
                f"the tensor {name!r} has the type {shortened(tensor.dtype)}, which cannot be "
                "an embedding"
            )
        dtype = np.dtype(_DTYPES[tensor.dtype])
        size = stream.seek(0, io.SEEK_END) - start
        if tensor.last > size or tensor.size != tensor.numbers * dtype.itemsize:
            raise source.error(f"the tensor {name!r} does not fit into the file; is it cut short?")
        if not tensor.numbers:
            raise source.error(f"the tensor {name!r} of shape {tensor.shape} holds no values")
        array = _tensor(path, stream, dtype, start + tensor.first, tensor.shape)
    return array, tensor.dtype == "BF16"


@dataclass(frozen=True)
class Made:
    """Metadata that ``calipers embed`` writes with vectors.

    Attributes
    ----------
    views
        The views in the file, the main one first.
    signature, view_signature
        How they were made: in all views, and how each was pooled.
    words, unread
        For each sample how many words it has, and how many of them the embedder does not know;
        empty where nobody knows.
    truncated
        The rows of samples that were cut; None where nobody knows.
    left_out
        Whether words that it does not know leave no trace in a vector.
    """

    views: tuple[str, ...]
    signature: Mapping[str, str]
    view_signature: Mapping[str, str]
    words: tuple[int, ...] = ()
    unread: tuple[int, ...] = ()
    truncated: tuple[int, ...] | None = None
    left_out: bool = False

    def line(self) -> str:
        """Write the metadata as one line of JSON."""
        return json.dumps(
            {
                "views": list(self.views),
                "signature": dict(self.signature),
                "view_signature": dict(self.view_signature),
                "words": list(self.words),
                "unread": list(self.unread),
                "truncated": None if self.truncated is None else list(self.truncated),
                "left_out": self.left_out,
            },
            ensure_ascii=False,
        )

    @classmethod
    def of_line(cls, line: str) -> Made | None:
        """Read the metadata; None for anything else."""
        try:
            data = json.loads(line)
            views = tuple(data["views"])
            signature, pooled = dict(data["signature"]), dict(data["view_signature"])
            words, unread = tuple(data["words"]), tuple(data["unread"])
            cut = None if data["truncated"] is None else tuple(data["truncated"])
            left_out = data["left_out"] is True
        except (ValueError, KeyError, TypeError, RecursionError):
            return None
        names = (*views, *signature, *signature.values(), *pooled, *pooled.values())
        counts = (*words, *unread, *(cut or ()))
        whole = all(type(count) is int and 0 <= count < LARGEST for count in counts)
        if not whole or not all(isinstance(name, str) for name in names):
            return None
        return cls(views, signature, pooled, words, unread, cut, left_out)

    def holding(self, views: Mapping[str, NDArray[Any]], source: Source) -> SampleSet:
        """Make the views, float32 or float64, into embeddings by that embedder."""
        n = len(next(iter(views.values())))
        known = n == len(self.words) == len(self.unread)
        cut = None
        if self.truncated is not None and all(row < n for row in self.truncated):
            cut = np.zeros(n, np.bool_)
            cut[list(self.truncated)] = True
        made = SimpleNamespace(
            views=views,
            signature=self.signature,
            view_signature=self.view_signature,
            notes=(),
            truncated=cut,
            reading=SimpleNamespace(
                words=np.array(self.words, np.int32),
                unread=np.array(self.unread, np.int32),
                left_out=self.left_out,
            )
            if known
            else None,
        )
        return SampleSet.from_embeddings(made, name=source.name, source=source.path)


def read_made(path: Path, source: Source) -> Made | None:
    """Read how the vectors of a safetensors file were made; None where that is not recorded.

    Raises
    ------
    InputError
        If it is no safetensors file, or lacks a view that it should have.
    """
    with open_seekable(path) as stream:
        header, _ = _header(stream, source)
    about = header.pop(METADATA, None)
    line = about.get(MADE) if isinstance(about, dict) else None
    made = Made.of_line(line) if isinstance(line, str) else None
    if made is None or not made.views:
        return None
    for name in made.views:
        if name not in header:
            raise source.error(f"says that it holds the view {name!r}, but it does not")
    return made


LARGEST = 2**31
"""Words of a sample, and rows, are fewer."""
METADATA = "__metadata__"
MADE = "calipers.embeddings"
"""Key of the metadata under which a file says how its vectors were made."""


@dataclass(frozen=True)
class TensorEntry:
    """The entry of a tensor in a header.

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
        """Number of its elements."""
        return math.prod(self.shape)

    @property
    def size(self) -> int:
        """Number of its bytes in the file."""
        return self.last - self.first

    @property
    def floats(self) -> bool:
        """Whether it holds floating-point numbers, whose precision can be chosen on loading."""
        return self.dtype.startswith(("F", "BF"))


def read_entries(content: bytes) -> dict[str, Any]:
    """Read the entries of a header by tensor name, without checking each.

    Raises
    ------
    ValueError
        If it is no JSON object.
    """
    header = _read_object(content)
    header.pop(METADATA, None)
    return header


def _read_object(content: bytes) -> dict[str, Any]:
    try:
        header = json.loads(content)
    except RecursionError:
        raise ValueError("its header is nested too deeply") from None
    except ValueError as error:
        raise ValueError("its header is not valid JSON") from error
    if not isinstance(header, dict):
        raise ValueError(f"its header must be an object, but it is {describe(header)}")
    return header


def read_entry(entry: Any) -> TensorEntry:
    """Read and check the entry of one tensor.

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
    return TensorEntry(dtype, tuple(shape), offsets[0], offsets[1])


def _whole_numbers(key: str, entry: dict[str, Any]) -> list[int]:
    numbers = entry.get(key)
    if not isinstance(numbers, list):
        raise ValueError(f"{key!r} must be a list, but it is {describe(numbers)}")
    for number in numbers:
        if type(number) is not int or not 0 <= number < MOST:
            raise ValueError(
                f"{key!r} must hold whole numbers from 0 to below 2**63; found {describe(number)}"
            )
    return numbers


def _header(stream: BinaryIO, source: Source) -> tuple[dict[str, Any], int]:
    """Return the header, with its metadata, and where the tensors' bytes start."""
    try:
        (length,) = struct.unpack("<Q", stream.read(8))
        if length > LONGEST:
            raise ValueError("it does not begin with the length of a header")
        return _read_object(stream.read(length)), 8 + length
    except (struct.error, ValueError) as error:
        raise source.error(f"is not a safetensors file: {error}") from error


def _tensor(
    path: Path, stream: BinaryIO, dtype: np.dtype[Any], start: int, shape: tuple[int, ...]
) -> NDArray[Any]:
    if not is_compressed(path):
        return np.memmap(path, dtype, mode="r", offset=start, shape=shape)
    stream.seek(start)
    return np.frombuffer(stream.read(math.prod(shape) * dtype.itemsize), dtype).reshape(shape)


def from_bfloat16(bits: NDArray[Any]) -> NDArray[np.float32]:
    """Return the float32 values of bfloat16 numbers, whose bits come as uint16."""
    made = scratch(bits.shape, np.uint32)
    for start in range(0, len(bits), _ROWS):
        made[start : start + _ROWS] = bits[start : start + _ROWS]
        made[start : start + _ROWS] <<= np.uint32(16)
    return made.view(np.float32)


_ROWS = 4096
