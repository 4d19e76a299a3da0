"""From a sample set to its vectors: chunk by chunk, from the cache where it has them."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from calipers.embed.ahead import ahead
from calipers.embed.cache import Cache
from calipers.embed.precomputed import Precomputed
from calipers.embed.protocol import Embedder, Embeddings, EncodedBatch
from calipers.embed.rows import Rows
from calipers.embed.sample_error import SampleError
from calipers.embed.shelf import Shelf
from calipers.errors import CalipersError, InputError
from calipers.progress import Advance, Progress, Silent

if TYPE_CHECKING:
    from calipers.samples import Chunk, SampleSet

AT_ONCE = 256
"""Samples in one call of an embedder: enough to sort by length, few enough to show progress."""


def embed_samples(
    samples: SampleSet,
    embedder: Embedder,
    *,
    cache: Cache | None = None,
    progress: Progress | None = None,
) -> Embeddings:
    """Embed every sample of a set.

    Chunks that the cache holds are read from it; each further one is kept as soon as it is done,
    so that a job that was stopped goes on there. Without a usable cache the result is the same.
    What an embedder can prepare without its model (tokens, decoded images) is prepared beside the
    forward pass of the samples before.

    Parameters
    ----------
    samples
        Of a kind that `embedder` reads.
    embedder
        What turns samples into vectors.
    cache
        Where vectors are kept; None for nowhere.
    progress
        What shows how far it is, in samples.

    Returns
    -------
    Embeddings
        One row for each sample, in their order. Vectors that were given are not copied.

    Raises
    ------
    InputError
        If the embedder does not read samples of this kind.
    """
    check_reads(samples, embedder)
    if samples.vectors is not None:
        views = {embedder.views[0]: samples.vectors}
        return Embeddings(views, dict(embedder.signature), (), _view_signature(embedder))
    shelf, rows = Shelf(cache, embedder), Rows(len(samples), embedder.views)
    with (progress or Silent()).task(f"Embedding {samples.name}", len(samples)) as advance:
        pieces = _pieces(samples, embedder, shelf, rows, advance)
        for piece, prepared in ahead(pieces, lambda piece: _prepare(piece, embedder, samples.name)):
            with _named(piece, samples.name):
                batch = _encode(prepared, embedder)
            _check_rows(batch, piece.size, embedder)
            rows.put(piece.chunk.start + piece.first, batch)
            if piece.closes:
                shelf.keep(piece.chunk, rows.part(piece.chunk.start, len(piece.chunk.items)))
            advance(piece.size)
    notes = (*rows.notes(embedder), *_told(embedder), *shelf.notes())
    pooled = _view_signature(embedder)
    return Embeddings(rows.views, dict(embedder.signature), notes, pooled, rows.truncated)


def check_reads(samples: SampleSet, embedder: Embedder) -> None:
    """Refuse samples of a kind that an embedder does not read.

    Raises
    ------
    InputError
        If it reads others.
    """
    reads = getattr(embedder, "reads", frozenset({"texts"}))
    if samples.kind in reads:
        return
    if isinstance(embedder, Precomputed):
        raise InputError(
            f"{samples.name}: holds {_WORDS[samples.kind]}, but the embedder 'precomputed' takes "
            "vectors (.npy, .npz, .safetensors or an array); choose one that reads "
            f"{_WORDS[samples.kind]}, {_SUCH_AS[samples.kind]}"
        )
    known = " and ".join(_WORDS[kind] for kind in sorted(reads, reverse=True))
    raise InputError(
        f"{samples.name}: holds {_WORDS[samples.kind]}, but the embedder {embedder.name!r} reads "
        f"{known}; {_INSTEAD[samples.kind]}"
    )


_WORDS = {"texts": "texts", "tokens": "token ids", "images": "images", "vectors": "vectors"}
_SUCH_AS = {
    "texts": "such as 'minilm'",
    "tokens": "the model whose ids they are",
    "images": "such as 'pixels' or the folder of a vision model",
}
_INSTEAD = {
    "texts": "choose one that reads texts, such as 'minilm'",
    "tokens": "choose the model whose ids they are, or give the texts themselves",
    "images": "choose the folder of a vision model, 'inception' or 'pixels'",
    "vectors": "give the samples themselves, or choose the embedder 'precomputed'",
}


@dataclass(frozen=True, eq=False)
class _Piece:
    """Some samples of a chunk, for one call of the embedder."""

    chunk: Chunk
    first: int
    last: int

    @property
    def size(self) -> int:
        return self.last - self.first

    @property
    def closes(self) -> bool:
        """Whether the chunk is done after it."""
        return self.last == len(self.chunk.items)


def _pieces(
    samples: SampleSet, embedder: Embedder, shelf: Shelf, rows: Rows, advance: Advance
) -> Iterator[_Piece]:
    """Divide what is not in the cache into pieces; fill in what is."""
    step = getattr(embedder, "at_once", AT_ONCE)
    for chunk in samples.chunks():
        kept = shelf.find(chunk)
        if kept is not None:
            rows.put(chunk.start, kept)
            advance(len(chunk.items))
            continue
        for first in range(0, len(chunk.items), step):
            yield _Piece(chunk, first, min(first + step, len(chunk.items)))


def _prepare(piece: _Piece, embedder: Embedder, name: str) -> Any:
    items = _part(piece.chunk.items, piece.first, piece.last)
    prepare = getattr(embedder, "prepare", None)
    with _named(piece, name):
        return items if prepare is None else prepare(items)


@contextmanager
def _named(piece: _Piece, name: str) -> Iterator[None]:
    """Have errors about a sample count from the beginning of the set, and name it."""
    try:
        yield
    except SampleError as error:
        raise error.behind(piece.chunk.start + piece.first, name) from error


def _part(items: Any, first: int, last: int) -> Any:
    """Take some items; images stay undecoded until the embedder goes through them."""
    return items.part(first, last) if hasattr(items, "part") else items[first:last]


def _encode(prepared: Any, embedder: Embedder) -> EncodedBatch:
    encode = getattr(embedder, "encode", embedder.embed)
    batch: EncodedBatch = encode(prepared)
    return batch


def _check_rows(batch: EncodedBatch, samples: int, embedder: Embedder) -> None:
    found = {name: len(view) for name, view in batch.views.items()}
    if found != dict.fromkeys(embedder.views, samples) or len(batch.truncated) != samples:
        raise CalipersError(
            f"the embedder {embedder.name!r} must give one row for each of {samples} samples in "
            f"the views {', '.join(embedder.views)}; it gave {found}"
        )


def _told(embedder: Embedder) -> tuple[str, ...]:
    told = getattr(embedder, "told", None)
    return () if told is None else tuple(told())


def _view_signature(embedder: Embedder) -> dict[str, str]:
    return dict(getattr(embedder, "view_signature", {}))
