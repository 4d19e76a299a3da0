"""The cache as one run over a sample set uses it: trouble becomes a note, never an error."""

from __future__ import annotations

from typing import TYPE_CHECKING

from calipers.embed.cache import Cache, DamagedChunkError
from calipers.embed.protocol import Embedder, EncodedBatch

if TYPE_CHECKING:
    from calipers.samples import Chunk


class Shelf:
    """What one run finds in the cache and adds to it, and what went wrong with it."""

    def __init__(self, cache: Cache | None, embedder: Embedder) -> None:
        self._cache = cache if getattr(embedder, "kept", True) else None
        if hasattr(embedder, "keep_in"):
            embedder.keep_in(None if cache is None else cache.directory)
        self._identity = embedder.identity
        self._views = embedder.views
        self._damaged: list[str] = []
        self._refusal: str | None = None

    def find(self, chunk: Chunk) -> EncodedBatch | None:
        """Return what the cache has of a chunk; note a damaged file and go on without it."""
        if self._cache is None:
            return None
        try:
            return self._cache.load(
                self._identity, chunk.content_hash, rows=len(chunk.items), views=self._views
            )
        except DamagedChunkError as error:
            self._damaged.append(str(error))
            return None

    def keep(self, chunk: Chunk, batch: EncodedBatch) -> None:
        """Add a chunk to the cache, unless it has refused one before."""
        if self._cache is None or self._refusal:
            return
        try:
            self._cache.store(self._identity, chunk.content_hash, batch)
        except OSError as error:
            self._refusal = (
                f"embeddings were not kept, because the cache folder {self._cache.directory} "
                f"cannot be written ({error.strerror or error})"
            )

    def notes(self) -> tuple[str, ...]:
        """Say what a person must be told: damaged files, a cache that cannot be written."""
        files = len(self._damaged)
        damage = (
            f"{files} damaged cache file{'s' if files > 1 else ''}, embedded again; the first: "
        )
        found = (damage + self._damaged[0],) if files else ()
        return (*found, self._refusal) if self._refusal else found
