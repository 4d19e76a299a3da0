"""Embeddings and images in NumPy's files: ``.npy`` and ``.npz``. Nothing is ever unpickled."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from calipers.errors import InputError
from calipers.samples import opening
from calipers.samples.fields import NAME_IT
from calipers.samples.sample_set import SampleSet
from calipers.samples.source import LabelKind, Source
from calipers.samples.wording import names

_NPY, _NPZ = b"\x93NUMPY", b"PK"
Labels = dict[LabelKind, NDArray[Any]]


def read_numpy(path: Path, source: Source) -> SampleSet:
    """Read an array: a ``.npy`` is memory-mapped, of an ``.npz`` the field names the array.

    One with two axes holds embeddings, one with three or four images.
    """
    try:
        array, labels = _load(path, source)
    except InputError:
        raise
    except Exception as error:
        # A damaged header can make NumPy raise nearly anything, even errors of the tokenizer.
        if "ickle" in str(error) or "Python objects" in str(error):
            raise _pickled(source) from error
        raise source.error(f"is no readable NumPy file: {error}") from error
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
    there = [wanted for wanted in source.labels if wanted.path in arrays.files]
    return vectors, {wanted.kind: _member(arrays, wanted.path, source) for wanted in there}


def _member(arrays: Any, name: str, source: Source) -> NDArray[Any]:
    member = next(i for i in arrays.zip.infolist() if i.filename in (name, f"{name}.npy"))
    if member.file_size > opening.MAX_DECOMPRESSED:
        raise opening.too_large(source.path)
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
