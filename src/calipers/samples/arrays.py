"""Embeddings and images in NumPy's files: ``.npy`` and ``.npz``. Nothing is ever unpickled."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from calipers.errors import InputError
from calipers.memory import budget
from calipers.samples import opening
from calipers.samples.fields import NAME_IT
from calipers.samples.sample_set import SampleSet
from calipers.samples.source import Source
from calipers.samples.wording import names

_NPY, _NPZ = b"\x93NUMPY", b"PK"


def read_numpy(path: Path, source: Source) -> SampleSet:
    """Read an array: a ``.npy`` is memory-mapped, of an ``.npz`` the field names the array.

    One with two axes holds embeddings, one with three or four images.
    """
    try:
        array, groups = _load(path, source)
    except InputError:
        raise
    except Exception as error:
        # A damaged header can make NumPy raise nearly anything, even errors of the tokenizer.
        if "ickle" in str(error) or "Python objects" in str(error):
            raise _pickled(source) from error
        raise source.error(f"is no readable NumPy file: {error}") from error
    samples = from_array(array, source.name, source.path)
    return samples if groups is None else samples.with_groups(groups.tolist())


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


def _load(path: Path, source: Source) -> tuple[NDArray[Any], NDArray[Any] | None]:
    """Read the embeddings, and their groups where there are any."""
    with opening.open_seekable(path) as stream:
        start = stream.read(len(_NPY))
        stream.seek(0)
        if start.startswith(_NPZ):
            with np.load(stream, allow_pickle=False) as arrays:
                return _from_archive(arrays, source)
        if start != _NPY:
            raise source.error("is no NumPy file of plain numbers (pickled data are refused)")
        if opening.is_gzipped(path):
            return _array(np.load(stream, allow_pickle=False)), None
    return _array(np.load(path, mmap_mode="r", allow_pickle=False)), None


def _from_archive(arrays: Any, source: Source) -> tuple[NDArray[Any], NDArray[Any] | None]:
    group = source.group
    if group is not None and source.group_needed and group not in arrays.files:
        raise source.error(
            f"holds no array {group!r} of groups; the arrays are {names(arrays.files)}"
        )
    vectors = _member(
        arrays, pick([name for name in arrays.files if name != group], source), source
    )
    if group is None or group not in arrays.files:
        return vectors, None
    return vectors, _member(arrays, group, source)


def _member(arrays: Any, name: str, source: Source) -> NDArray[Any]:
    member = next(i for i in arrays.zip.infolist() if i.filename in (name, f"{name}.npy"))
    opening.check_decompressed(source.path, member.file_size)
    budget().check_claim(f"claims to hold numbers in {name!r}", member.file_size, source.error)
    budget().take(member.file_size, source.error)
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
