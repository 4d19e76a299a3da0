"""One file of cached vectors: safetensors, with a hash of its arrays among the metadata."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from calipers.embed.protocol import EncodedBatch
from calipers.errors import CalipersError

FORMAT = "calipers-embeddings-1"
_VIEW = "view."
_TRUNCATED = "truncated"

Arrays = Mapping[str, NDArray[Any]]


class DamagedChunkError(CalipersError):
    """A file of the cache does not hold what it must, so its texts are embedded again."""


def write_chunk(path: Path, batch: EncodedBatch, owner: Mapping[str, str]) -> None:
    """Write vectors to a new file, with what they belong to.

    Raises
    ------
    OSError
        If the file is there already or cannot be written.
    """
    from safetensors.numpy import save

    arrays = {_VIEW + name: np.ascontiguousarray(view) for name, view in batch.views.items()}
    arrays[_TRUNCATED] = np.ascontiguousarray(batch.truncated)
    metadata = {"format": FORMAT, **owner, "sha256": _digest(arrays)}
    content = save(arrays, metadata)
    with path.open("xb") as file:
        file.write(content)


def read_chunk(path: Path, owner: Mapping[str, str]) -> EncodedBatch:
    """Read vectors back and check them.

    Raises
    ------
    FileNotFoundError
        If there is no such file.
    DamagedChunkError
        If it cannot be read, belongs to something else, or its arrays were changed.
    """
    metadata, arrays = _open(path)
    expected = {"format": FORMAT, **owner, "sha256": _digest(arrays)}
    if metadata != expected:
        wrong = sorted(key for key in expected if metadata.get(key) != expected[key])
        raise DamagedChunkError(f"{path}: its contents do not fit its {', '.join(wrong)}")
    _check_shapes(path, arrays)
    views = {name.removeprefix(_VIEW): arrays[name] for name in arrays if name != _TRUNCATED}
    return EncodedBatch(views, arrays[_TRUNCATED])


def _open(path: Path) -> tuple[dict[str, str], dict[str, NDArray[Any]]]:
    from safetensors import SafetensorError, safe_open

    try:
        with safe_open(path, framework="numpy") as file:
            arrays = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118
            return file.metadata() or {}, arrays
    except FileNotFoundError:
        raise
    except (SafetensorError, OSError, TypeError, ValueError) as error:
        raise DamagedChunkError(f"{path}: cannot be read ({error})") from error


def _check_shapes(path: Path, arrays: Arrays) -> None:
    flags = arrays.get(_TRUNCATED)
    if flags is None or flags.dtype != np.bool_ or flags.ndim != 1:
        raise DamagedChunkError(f"{path}: must hold one flag for each text")
    for name, array in arrays.items():
        fits = array.ndim == 2 and array.dtype == np.float32 and len(array) == len(flags)
        if name != _TRUNCATED and not fits:
            raise DamagedChunkError(f"{path}: must hold float32 vectors, one row for each text")


def _digest(arrays: Arrays) -> str:
    digest = hashlib.sha256()
    for name in sorted(arrays):
        array = arrays[name]
        digest.update(f"{name} {array.dtype.str} {array.shape} ".encode())
        digest.update(array.data)
    return digest.hexdigest()
