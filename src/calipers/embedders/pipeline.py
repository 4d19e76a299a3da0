"""From a sample set to its vectors: chunk by chunk, from the cache where it has them.

What an embedder can prepare without its model is prepared in a thread while the vectors of the
samples before are computed. Trouble with the cache becomes a note, never an error. Other machines
can fill the cache first (:func:`embedding_on`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Protocol, TypeVar

import numpy as np
from numpy.typing import NDArray

from calipers.embedders.cache import Cache, DamagedChunkError
from calipers.embedders.catalogue import load_embedder
from calipers.embedders.embedder import Embedder, Embeddings, EncodedBatch, SampleError, as_embedder
from calipers.embedders.reading import ReadingCounts, unread_note
from calipers.errors import CalipersError, InputError
from calipers.numeric.scratch import scratch
from calipers.progress import Advance, Progress, Silent

if TYPE_CHECKING:
    from calipers.samples import Chunk, SampleSet


Given = TypeVar("Given")
Made = TypeVar("Made")


def ahead(work: Iterable[Given], make: Callable[[Given], Made]) -> Iterator[tuple[Given, Made]]:
    """Yield each item with what `make` makes of it, in order, one item made in advance.

    What `make` raises for an item is raised when its turn comes, so that all before it is done.
    """
    with ThreadPoolExecutor(1, thread_name_prefix="calipers-ahead") as pool:
        waiting: tuple[Given, Future[Made]] | None = None
        for item in work:
            following = (item, pool.submit(make, item))
            if waiting is not None:
                yield waiting[0], waiting[1].result()
            waiting = following
        if waiting is not None:
            yield waiting[0], waiting[1].result()


class VectorRows:
    """The vectors of a whole set, filled part by part."""

    def __init__(self, size: int, views: Sequence[str]) -> None:
        self._names = views
        self.views: dict[str, NDArray[np.float32]] = {}
        self.truncated = np.zeros(size, dtype=np.bool_)
        self._reading: ReadingCounts | None = ReadingCounts.of([(0, 0)] * size)

    def put(self, start: int, batch: EncodedBatch) -> None:
        """Fill the rows from `start` on; the first batch decides how wide each view is."""
        if not self.views:
            widths = {name: batch.views[name].shape[1] for name in self._names}
            shapes = {name: (len(self.truncated), width) for name, width in widths.items()}
            self.views = {name: scratch(shape, np.float32) for name, shape in shapes.items()}
        rows = slice(start, start + len(batch.truncated))
        for name, view in self.views.items():
            vectors = batch.views[name]
            if vectors.shape[1] != view.shape[1]:
                raise CalipersError(
                    f"vectors of one view must be equally long; those of {name!r} have "
                    f"{view.shape[1]} numbers at first, and {vectors.shape[1]} from row "
                    f"{start + 1} on"
                )
            view[rows] = vectors
        self.truncated[rows] = batch.truncated
        if batch.reading is None:
            self._reading = None
        elif self._reading is not None:
            self._reading.words[rows] = batch.reading.words
            self._reading.unread[rows] = batch.reading.unread

    @property
    def reading(self) -> ReadingCounts | None:
        """What was read of each text; None where nothing is known of some of them."""
        return self._reading

    def part(self, start: int, size: int) -> EncodedBatch:
        """Return some rows as they are now, without a copy."""
        rows = slice(start, start + size)
        views = {name: view[rows] for name, view in self.views.items()}
        reading = None if self._reading is None else self._reading.take(rows)
        return EncodedBatch(views, self.truncated[rows], reading)

    def notes(self, embedder: Embedder) -> Iterator[str]:
        """Report what the user must know: texts that were cut, words that are unknown."""
        if cut := int(self.truncated.sum()):
            where = embedder.signature.get("max_length", "the embedder's most")
            verb = "was" if cut == 1 else "were"
            yield f"{cut:,} of {len(self.truncated):,} texts {verb} cut at {where} tokens"
        if self._reading is not None and self._reading.unread.any():
            yield unread_note(embedder.name, self._reading)


class Shelf:
    """What one run finds in the cache and adds to it, and what went wrong with it."""

    def __init__(self, cache: Cache | None, embedder: Embedder) -> None:
        self._cache = cache if embedder.kept else None
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

    def notes(self) -> Iterator[str]:
        """Report what the user must know: damaged files, a cache that cannot be written."""
        if files := len(self._damaged):
            noun = "damaged cache files" if files > 1 else "damaged cache file"
            yield f"{files} {noun}, embedded again; the first: {self._damaged[0]}"
        if self._refusal:
            yield self._refusal


class Elsewhere(Protocol):
    """What embeds samples on other machines, by filling a cache."""

    def fill(
        self, samples: SampleSet, embedder: Embedder, cache: Cache | None, progress: Progress
    ) -> Cache | None:
        """Embed what a cache lacks of a set; what is left out is embedded here.

        Parameters
        ----------
        samples, embedder
            What is embedded by what, which reads samples of that kind.
        cache
            Where vectors are kept; None for nowhere.
        progress
            What shows how far it is, in samples.

        Returns
        -------
        Cache or None
            That which has the vectors.
        """
        ...


_elsewhere: ContextVar[Elsewhere | None] = ContextVar("calipers_embedding_on", default=None)


@contextmanager
def embedding_on(elsewhere: Elsewhere | None) -> Iterator[None]:
    """Have all that is embedded within embedded on other machines first; None for this one."""
    token = _elsewhere.set(elsewhere)
    try:
        yield
    finally:
        _elsewhere.reset(token)


def embed(
    samples: Any,
    embedder: Embedder | str = "minilm",
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
        Of a kind that `embedder` reads: a :class:`~calipers.samples.SampleSet`, or whatever
        :func:`calipers.compare` takes.
    embedder
        What turns samples into vectors, or its name.
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
    from calipers.samples import as_sample_set

    samples = as_sample_set(samples)
    embedder = load_embedder(embedder) if isinstance(embedder, str) else as_embedder(embedder)
    check_reads(samples, embedder)
    if samples.embedded is not None:
        made = samples.embedded
        reading = None
        if made.words is not None and made.unread is not None:
            reading = ReadingCounts(made.words, made.unread, made.left_out)
        return Embeddings(
            made.views,
            made.signature,
            made.embedding_notes,
            made.view_signature,
            made.truncated,
            reading,
        )
    if samples.vectors is not None:
        views = {embedder.views[0]: samples.vectors}
        return Embeddings(views, dict(embedder.signature), (), dict(embedder.view_signature))
    progress, elsewhere = progress or Silent(), _elsewhere.get()
    if elsewhere is not None:
        cache = elsewhere.fill(samples, embedder, cache, progress)
    shelf, rows = Shelf(cache, embedder), VectorRows(len(samples), embedder.views)
    with progress.task(f"Embedding {samples.name}", len(samples)) as advance:
        pieces = _pieces(samples, embedder, shelf, rows, advance)
        for piece, prepared in ahead(pieces, lambda piece: _prepare(piece, embedder, samples.name)):
            batch = _encode(piece, prepared, embedder, samples.name)
            rows.put(piece.chunk.start + piece.first, batch)
            if piece.closes:
                shelf.keep(piece.chunk, rows.part(piece.chunk.start, len(piece.chunk.items)))
            advance(piece.size)
    notes = (*rows.notes(embedder), *embedder.told(), *shelf.notes())
    pooled = dict(embedder.view_signature)
    read = rows.reading and replace(rows.reading, left_out=embedder.leaves_out)
    signature = dict(embedder.signature)
    return Embeddings(rows.views, signature, notes, pooled, rows.truncated, read)


def embed_chunk(chunk: Chunk, embedder: Embedder, name: str) -> EncodedBatch:
    """Embed the samples of one chunk, with the vectors and the errors of :func:`embed`.

    Parameters
    ----------
    chunk
        Which samples.
    embedder
        What embeds them.
    name
        What messages call their set.

    Raises
    ------
    SampleError
        If one cannot be read; counts from the beginning of the set.
    """
    rows = VectorRows(len(chunk.items), embedder.views)
    for piece in _divided(chunk, embedder.at_once):
        prepared = _prepare(piece, embedder, name)
        rows.put(piece.first, _encode(piece, prepared, embedder, name))
    return rows.part(0, len(chunk.items))


def check_reads(samples: SampleSet, embedder: Embedder) -> None:
    """Refuse samples of a kind that an embedder does not read.

    Raises
    ------
    InputError
        If it reads others.
    """
    reads = embedder.reads
    if samples.kind in reads:
        return
    if reads == {"vectors"}:
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
    samples: SampleSet, embedder: Embedder, shelf: Shelf, rows: VectorRows, advance: Advance
) -> Iterator[_Piece]:
    """Divide what is not in the cache into pieces; fill in what is."""
    step = embedder.at_once
    for chunk in samples.chunks():
        vectors = shelf.find(chunk)
        if vectors is not None:
            rows.put(chunk.start, vectors)
            advance(len(chunk.items))
            continue
        yield from _divided(chunk, step)


def _divided(chunk: Chunk, step: int) -> Iterator[_Piece]:
    for first in range(0, len(chunk.items), step):
        yield _Piece(chunk, first, min(first + step, len(chunk.items)))


def _encode(piece: _Piece, prepared: Any, embedder: Embedder, name: str) -> EncodedBatch:
    with _named(piece, name):
        batch = embedder.encode(prepared)
    counts = {view: len(rows) for view, rows in batch.views.items()}
    expected = dict.fromkeys(embedder.views, piece.size)
    if counts != expected or len(batch.truncated) != piece.size:
        raise CalipersError(
            f"the embedder {embedder.name!r} must give one row for each of {piece.size} "
            f"samples in the views {', '.join(embedder.views)}; it gave {counts}"
        )
    return batch


def _prepare(piece: _Piece, embedder: Embedder, name: str) -> Any:
    from calipers.samples.images import Images

    items = piece.chunk.items
    # Images stay undecoded until the embedder goes through them
    part = items.part if isinstance(items, Images) else lambda *rows: items[slice(*rows)]
    with _named(piece, name):
        return embedder.prepare(part(piece.first, piece.last))


@contextmanager
def _named(piece: _Piece, name: str) -> Iterator[None]:
    """Have errors about a sample count from the beginning of the set, and name it."""
    try:
        yield
    except SampleError as error:
        raise error.behind(piece.chunk.start + piece.first, name) from error
