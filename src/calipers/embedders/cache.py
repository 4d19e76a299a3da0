"""Vectors kept on disk, so that no text is embedded twice and a killed job goes on where it was.

One safetensors file holds all views of one chunk of texts. Its name depends on the embedder's
identity and the texts, so a file never goes stale; it appears at once and whole, so processes may
share the folder; and it carries a hash of its arrays, so damage does not go unseen.
"""

from __future__ import annotations

import hashlib
import os
import sys
import uuid
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from calipers.embedders.embedder import EncodedBatch
from calipers.embedders.reading import ReadingCounts
from calipers.errors import CalipersError, InputError
from calipers.files import at_home
from calipers.numeric.arrays import NamedArrays

FORMAT = "calipers-embeddings-2"
_VIEW = "view."
_TRUNCATED, _WORDS, _UNREAD = "truncated", "words", "unread"


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

    arrays = arrays_of(batch)
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
    from safetensors import SafetensorError, safe_open

    try:
        with safe_open(path, framework="numpy") as file:
            arrays = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118
            metadata = file.metadata() or {}
    except FileNotFoundError:
        raise
    except (SafetensorError, OSError, TypeError, ValueError) as error:
        raise DamagedChunkError(f"{path}: cannot be read ({error})") from error
    expected = {"format": FORMAT, **owner, "sha256": _digest(arrays)}
    if metadata != expected:
        wrong = sorted(key for key in expected if metadata.get(key) != expected[key])
        raise DamagedChunkError(f"{path}: its contents do not fit its {', '.join(wrong)}")
    return batch_of(arrays, str(path))


def arrays_of(batch: EncodedBatch) -> dict[str, NDArray[Any]]:
    """Give all that is known of a batch as arrays, by name."""
    arrays: dict[str, NDArray[Any]] = {_VIEW + name: view for name, view in batch.views.items()}
    arrays[_TRUNCATED] = batch.truncated
    if batch.reading is not None:
        arrays |= {_WORDS: batch.reading.words, _UNREAD: batch.reading.unread}
    return {name: np.ascontiguousarray(array) for name, array in arrays.items()}


def batch_of(arrays: NamedArrays, where: str) -> EncodedBatch:
    """Make the batch again of its arrays.

    Raises
    ------
    DamagedChunkError
        If one is missing, or of another shape or type than it must be.
    """
    views = {
        name.removeprefix(_VIEW): array for name, array in arrays.items() if name.startswith(_VIEW)
    }
    others = {name: array for name, array in arrays.items() if not name.startswith(_VIEW)}
    flags, words, unread = (others.pop(name, None) for name in (_TRUNCATED, _WORDS, _UNREAD))
    if others or flags is None or flags.dtype != np.bool_ or flags.ndim != 1:
        raise DamagedChunkError(f"{where}: must hold one flag for each text")
    for array in views.values():
        if array.ndim != 2 or array.dtype != np.float32 or len(array) != len(flags):
            raise DamagedChunkError(f"{where}: must hold float32 vectors, one row for each text")
    if words is None and unread is None:
        return EncodedBatch(views, flags)
    for counts in (words, unread):
        if counts is None or counts.shape != flags.shape or counts.dtype != np.int32:
            raise DamagedChunkError(f"{where}: must hold its words and those unread for each text")
    assert words is not None
    assert unread is not None
    return EncodedBatch(views, flags, ReadingCounts(words, unread))


def _digest(arrays: NamedArrays) -> str:
    digest = hashlib.sha256()
    for name in sorted(arrays):
        array = arrays[name]
        digest.update(f"{name} {array.dtype.str} {array.shape} ".encode())
        digest.update(array.data)
    return digest.hexdigest()


def default_directory() -> Path:
    """Tell where vectors are kept: ``CALIPERS_CACHE``, or the user's folder for caches.

    Raises
    ------
    InputError
        If neither is known.
    """
    chosen = os.environ.get("CALIPERS_CACHE")
    try:
        return at_home(chosen) if chosen else _user_caches() / "calipers"
    except RuntimeError as error:
        raise InputError(
            "there is no home folder to keep embeddings in; name a folder in the environment "
            "variable CALIPERS_CACHE or with --cache-dir, or use --no-cache"
        ) from error


def _user_caches() -> Path:
    if sys.platform == "darwin":
        return Path.home() / "Library" / "Caches"
    windows = ("LOCALAPPDATA", "AppData/Local")
    variable, default = windows if sys.platform == "win32" else ("XDG_CACHE_HOME", ".cache")
    named = Path(os.environ.get(variable, ""))
    return named if named.is_absolute() else Path.home() / default


class Cache:
    """A folder of embedded chunks.

    Parameters
    ----------
    directory
        The folder, made when it is first needed; None for the user's own.
    """

    def __init__(self, directory: Path | None = None) -> None:
        self.directory = default_directory() if directory is None else Path(directory)

    def path(self, identity: str, content_hash: str) -> Path:
        """Tell where the vectors of a chunk are kept, whether or not they are there."""
        key = hashlib.sha256(f"{FORMAT}\n{identity}\n{content_hash}".encode()).hexdigest()
        return self.directory / "embeddings" / key[:2] / f"{key}.safetensors"

    def load(
        self, identity: str, content_hash: str, *, rows: int, views: Sequence[str]
    ) -> EncodedBatch | None:
        """Return the vectors of a chunk, or None if they are not there.

        Raises
        ------
        DamagedChunkError
            If the file cannot be read, or does not hold what it must.
        """
        path = self.path(identity, content_hash)
        try:
            batch = read_chunk(path, {"identity": identity, "content": content_hash})
        except FileNotFoundError:
            return None
        expected = dict.fromkeys(views, (rows,))
        if {view: array.shape[:1] for view, array in batch.views.items()} != expected:
            raise DamagedChunkError(f"{path}: holds other views or rows than it must")
        return batch

    def store(self, identity: str, content_hash: str, batch: EncodedBatch) -> None:
        """Keep the vectors of a chunk; either the whole file appears, or none.

        Raises
        ------
        OSError
            If the folder cannot be made or written to, or the disk is full.
        """
        path = self.path(identity, content_hash)
        path.parent.mkdir(parents=True, exist_ok=True)
        partial = path.with_name(f".{path.stem[:16]}-{uuid.uuid4().hex}.part")
        try:
            write_chunk(partial, batch, {"identity": identity, "content": content_hash})
            os.replace(partial, path)
        except BaseException:
            partial.unlink(missing_ok=True)
            raise
