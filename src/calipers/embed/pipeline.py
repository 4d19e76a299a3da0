"""From a sample set to its vectors: chunk by chunk, from the cache where it has them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from calipers.embed.cache import Cache
from calipers.embed.precomputed import Precomputed
from calipers.embed.protocol import Embedder, Embeddings, EncodedBatch
from calipers.embed.rows import Rows
from calipers.embed.shelf import Shelf
from calipers.errors import CalipersError, InputError
from calipers.progress import Advance, Progress, Silent

if TYPE_CHECKING:
    from calipers.samples import Chunk, SampleSet

TEXTS_AT_ONCE = 256
"""Texts in one call of an embedder: enough to sort by length, few enough to show progress."""


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

    Parameters
    ----------
    samples
        Texts, or vectors if `embedder` is the one named ``"precomputed"``.
    embedder
        What turns texts into vectors.
    cache
        Where vectors are kept; None for nowhere.
    progress
        What shows how far it is, in texts.

    Returns
    -------
    Embeddings
        One row for each sample, in their order. Vectors that were given are not copied.

    Raises
    ------
    InputError
        If the samples are vectors and the embedder reads texts, or the other way round.
    """
    if samples.vectors is not None:
        return _as_given(samples.name, samples.vectors, embedder)
    _refuse_texts(samples, embedder)
    shelf, rows = Shelf(cache, embedder), Rows(len(samples), embedder.views)
    with (progress or Silent()).task(f"Embedding {samples.name}", len(samples)) as advance:
        for chunk in samples.chunks():
            kept = shelf.find(chunk)
            if kept is None:
                _embed_chunk(chunk, embedder, rows, advance)
                shelf.keep(chunk, rows.part(chunk.start, len(chunk.texts)))
            else:
                rows.put(chunk.start, kept)
                advance(len(chunk.texts))
    notes = (*_cut_notes(rows.truncated, embedder), *shelf.notes())
    return Embeddings(rows.views, dict(embedder.signature), notes, _view_signature(embedder))


def _as_given(name: str, vectors: NDArray[Any], embedder: Embedder) -> Embeddings:
    if not isinstance(embedder, Precomputed):
        raise InputError(
            f"{name}: holds vectors, but the embedder {embedder.name!r} reads texts; "
            "give the texts themselves, or choose the embedder 'precomputed'"
        )
    views = {embedder.views[0]: vectors}
    return Embeddings(views, dict(embedder.signature), view_signature=_view_signature(embedder))


def _refuse_texts(samples: SampleSet, embedder: Embedder) -> None:
    if isinstance(embedder, Precomputed):
        raise InputError(
            f"{samples.name}: holds texts, but the embedder 'precomputed' takes vectors (.npy, "
            ".npz, .safetensors or an array); choose one that reads texts, such as 'minilm'"
        )


def _embed_chunk(chunk: Chunk, embedder: Embedder, rows: Rows, advance: Advance) -> None:
    for first in range(0, len(chunk.texts), TEXTS_AT_ONCE):
        texts = chunk.texts[first : first + TEXTS_AT_ONCE]
        batch = embedder.embed(texts)
        _check_rows(batch, len(texts), embedder)
        rows.put(chunk.start + first, batch)
        advance(len(texts))


def _check_rows(batch: EncodedBatch, texts: int, embedder: Embedder) -> None:
    found = {name: len(view) for name, view in batch.views.items()}
    if found != dict.fromkeys(embedder.views, texts) or len(batch.truncated) != texts:
        raise CalipersError(
            f"the embedder {embedder.name!r} must give one row for each of {texts} texts in the "
            f"views {', '.join(embedder.views)}; it gave {found}"
        )


def _cut_notes(truncated: NDArray[np.bool_], embedder: Embedder) -> tuple[str, ...]:
    cut = int(truncated.sum())
    if not cut:
        return ()
    where = embedder.signature.get("max_length", "the embedder's most")
    verb = "was" if cut == 1 else "were"
    return (f"{cut:,} of {len(truncated):,} texts {verb} cut at {where} tokens",)


def _view_signature(embedder: Embedder) -> dict[str, str]:
    return dict(getattr(embedder, "view_signature", {}))
