"""Embeddings and images in NumPy's files: ``.npy`` and ``.npz``. Nothing is ever unpickled."""

from __future__ import annotations

import errno
import io
import math
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np
from numpy.typing import NDArray

from calipers.errors import InputError
from calipers.memory import budget
from calipers.samples import opening
from calipers.samples.fields import NAME_IT
from calipers.samples.sample_set import SampleSet
from calipers.samples.source import LabelKind, Source
from calipers.samples.wording import names, shortened

REASON = 200
"""Most characters of what NumPy says of a damaged file: it may quote a header of any length."""

_NPY, _NPZ = b"\x93NUMPY", b"PK"
Labels = dict[LabelKind, NDArray[Any]]


def read_numpy(path: Path, source: Source) -> SampleSet:
    """Read an array: a ``.npy`` is memory-mapped, of an ``.npz`` the field names the array.

    One with two axes holds embeddings, one with three or four images.
    """
    try:
        array, labels = _load(path, source)
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
        raise source.error(f"is no readable NumPy file: {reason}") from error
    samples = from_array(array, source.name, source.path)
    if "group" in labels:
        samples = samples.with_groups(labels["group"].tolist())
    if "cluster" in labels:
        samples = samples.with_clusters(labels["cluster"].tolist())
    return samples


def from_array(array: Any, name: str, source: str) -> SampleSet:
    """Hold embeddings (two axes) or images (three or four axes)."""
    if getattr(array, "ndim", 0) in (3, 4):
        return SampleSet.from_images(array, name=name, source=source)
    return SampleSet.from_vectors(array, name=name, source=source)


def pick(found: list[str], source: Source) -> str:
    """Choose one of a file's arrays: the one that the field names, or the only one."""
    if source.field is None and len(found) == 1:
        return found[0]
    if source.field is None:
        raise source.error(f"holds several arrays, {names(sorted(found))}; {NAME_IT}")
    if source.field not in found:
        raise source.error(
            f"holds no array {source.field!r}; the arrays are {names(sorted(found))}"
        )
    return source.field


def check_header(stream: BinaryIO, size: int) -> None:
    """Refuse a header that promises more numbers than there are bytes, before NumPy makes room.

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
    held = size - stream.tell()
    if not dtype.hasobject and (wrong or math.prod(shape) * dtype.itemsize > held):
        words = f"an array of shape {shape} and type {dtype}"
        raise ValueError(f"its header promises {words}, but {held:,} bytes follow it")
    stream.seek(0)


def _load(path: Path, source: Source) -> tuple[NDArray[Any], Labels]:
    """Read the embeddings, and their labels where there are any."""
    with opening.open_seekable(path) as stream:
        start = stream.read(len(_NPY))
        stream.seek(0)
        if start.startswith(_NPZ):
            with np.load(stream, allow_pickle=False) as arrays:
                return _from_archive(arrays, source)
        if start != _NPY:
            raise source.error("is no NumPy file of plain numbers (pickled data are refused)")
        check_header(stream, stream.seek(0, io.SEEK_END))
        if opening.is_gzipped(path):
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
    vectors = _member(
        arrays, pick([name for name in arrays.files if name not in asked], source), source
    )
    found: Labels = {}
    for wanted in (wanted for wanted in source.labels if wanted.path in arrays.files):
        labels = found[wanted.kind] = _member(arrays, wanted.path, source)
        if labels.ndim != 1:
            raise source.error(
                f"the array {wanted.path!r} of {wanted.kind}s must have one axis, a label for each "
                f"sample; found the shape {labels.shape}"
            )
    return vectors, found


def _member(arrays: Any, name: str, source: Source) -> NDArray[Any]:
    member = next(i for i in arrays.zip.infolist() if i.filename in (name, f"{name}.npy"))
    opening.check_decompressed(source.path, member.file_size)
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
