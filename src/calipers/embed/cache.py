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
from collections.abc import Sequence
from pathlib import Path

from calipers.embed.chunk_file import DamagedChunkError, read_chunk, write_chunk
from calipers.embed.protocol import EncodedBatch
from calipers.errors import InputError
from calipers.files import at_home

__all__ = ["Cache", "DamagedChunkError", "default_directory"]


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
    variable, default = (
        ("LOCALAPPDATA", "AppData/Local")
        if sys.platform == "win32"
        else ("XDG_CACHE_HOME", ".cache")
    )
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
        key = hashlib.sha256(f"{identity}\n{content_hash}".encode()).hexdigest()
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
            batch = read_chunk(path, _owner(identity, content_hash))
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
            write_chunk(partial, batch, _owner(identity, content_hash))
            os.replace(partial, path)
        except BaseException:
            partial.unlink(missing_ok=True)
            raise


def _owner(identity: str, content_hash: str) -> dict[str, str]:
    return {"identity": identity, "content": content_hash}
