"""Vectors that were computed already: taken as they are, or written to a file.

A file of vectors is one that any program reads, and that ``calipers compare`` reads back.
"""

from __future__ import annotations

import os
import uuid
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from types import MappingProxyType
from typing import Any, BinaryIO

import numpy as np
from numpy.typing import NDArray

from calipers.embed.embedder import Embedder, EncodedBatch
from calipers.embed.options import Options
from calipers.errors import InputError

TAKES: frozenset[str] = frozenset()
Arrays = Mapping[str, NDArray[Any]]


def load(name: str, options: Options) -> Precomputed:
    """Make the embedder of given vectors; none of the options can change them."""
    return Precomputed()


class Precomputed(Embedder):
    """The embedder of sample sets that hold vectors; it has one view and computes nothing."""

    name = "precomputed"
    views: tuple[str, ...] = ("precomputed",)
    identity = "precomputed"
    signature = MappingProxyType({"embedder": name})
    view_signature = MappingProxyType({"precomputed": "as_given"})
    reads = frozenset({"vectors"})

    @classmethod
    def of(
        cls,
        views: Sequence[str],
        signature: Mapping[str, str],
        view_signature: Mapping[str, str],
    ) -> Precomputed:
        """Stand for the embedder that made vectors beforehand: its name, views and signature."""
        made = cls()
        made.name = signature.get("embedder", cls.name)
        made.views = tuple(views)
        made.signature = MappingProxyType(dict(signature))
        made.view_signature = MappingProxyType(dict(view_signature))
        made.identity = repr(sorted(signature.items()))
        return made

    def encode(self, prepared: Sequence[Any]) -> EncodedBatch:
        """Refuse, since samples are not vectors."""
        raise InputError(
            f"the embedder 'precomputed' takes vectors, not texts; found {len(prepared)} samples. "
            "Choose an embedder that reads texts, such as 'minilm'"
        )


def write_vectors(path: str | Path, arrays: Arrays, *, about: Mapping[str, str]) -> None:
    """Write arrays to ``.npy`` (one of them), ``.npz`` or ``.safetensors``.

    Either the whole file appears, or none.

    Parameters
    ----------
    path
        Its suffix decides the format.
    arrays
        Name to array; ``.npy`` holds one, without its name.
    about
        What the vectors are, kept as the metadata of ``.safetensors``.

    Raises
    ------
    InputError
        If the suffix is another, ``.npy`` is to hold several arrays, or nothing can be written.
    """
    target = Path(path)
    write = check_format(path, len(arrays))
    partial = target.with_name(f".{target.name[:40]}-{uuid.uuid4().hex}.part")
    try:
        with partial.open("xb") as file:
            write(file, arrays, about)
        os.replace(partial, target)
    except OSError as error:
        raise InputError(f"{path}: cannot be written: {error.strerror or error}") from error
    finally:
        partial.unlink(missing_ok=True)


def check_format(path: str | Path, arrays: int) -> Callable[[BinaryIO, Arrays, Any], None]:
    """Return what writes the format, or say why so many arrays do not go into it."""
    suffix = Path(path).suffix.lower()
    if suffix not in _WRITERS:
        raise InputError(
            f"{path}: vectors are written as {', '.join(_WRITERS)}; found "
            f"{f'the suffix {suffix!r}' if suffix else 'no suffix'}"
        )
    if suffix == ".npy" and arrays != 1:
        raise InputError(
            f"{path}: a .npy file holds one array, not {arrays}; name one view, or write .npz or "
            ".safetensors"
        )
    return _WRITERS[suffix]


def _write_npy(file: BinaryIO, arrays: Arrays, about: Any) -> None:
    np.save(file, next(iter(arrays.values())), allow_pickle=False)


def _write_npz(file: BinaryIO, arrays: Arrays, about: Any) -> None:
    np.savez(file, allow_pickle=False, **arrays)


def _write_safetensors(file: BinaryIO, arrays: Arrays, about: Mapping[str, str]) -> None:
    from safetensors.numpy import save

    numbers = {name: np.ascontiguousarray(array) for name, array in arrays.items()}
    file.write(save(numbers, dict(about)))


_WRITERS: dict[str, Callable[[BinaryIO, Arrays, Any], None]] = {
    ".npy": _write_npy,
    ".npz": _write_npz,
    ".safetensors": _write_safetensors,
}
