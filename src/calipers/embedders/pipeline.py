"""Embed a sample set: each different sample once, and none that the cache has.

What the cache lacks is embedded and kept block by block. What an embedder can prepare without its
model is prepared in a thread while the vectors of the samples before are computed. Trouble with the
cache becomes a note, never an error. Other machines can fill it first (:func:`embedding_on`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol, TypeVar

import numpy as np
from numpy.typing import NDArray

from calipers.embedders.cache import Cache, CachedVectors, Rows, joined
from calipers.embedders.catalogue import AUTO, load_embedder
from calipers.embedders.embedder import Embedder, Embeddings, EncodedBatch, SampleError, as_embedder
from calipers.embedders.reading import ReadingCounts, unread_note
from calipers.embedders.run_vectors import MadeVectors, RunVectors
from calipers.embedders.segments import RowHashes
from calipers.errors import CalipersError, InputError, checks_keywords
from calipers.numeric.scratch import scratch
from calipers.progress import Advance, Progress, Silent
from calipers.samples.kinds import ROW_HASH

if TYPE_CHECKING:
    from calipers.samples import SampleSet


BLOCK = 1024
"""Samples that are kept together: a run that is killed loses no more of them."""

Given = TypeVar("Given")
Made = TypeVar("Made")


def ahead(work: Iterable[Given], make: Callable[[Given], Made]) -> Iterator[tuple[Given, Made]]:
    """Yield each item with what `make` makes of it, preparing one item in advance.

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
    """The vectors of a whole set, filled in parts."""

    def __init__(self, size: int, views: Sequence[str]) -> None:
        self._names = views
        self.views: dict[str, NDArray[np.float32]] = {}
        self.truncated = np.zeros(size, dtype=np.bool_)
        self._reading: ReadingCounts | None = ReadingCounts.of([(0, 0)] * size)

    def put(self, places: Rows, batch: EncodedBatch) -> None:
        """Fill some rows; the first batch determines the width of each view."""
        if not self.views:
            widths = {name: batch.views[name].shape[1] for name in self._names}
            shapes = {name: (len(self.truncated), width) for name, width in widths.items()}
            self.views = {name: scratch(shape, np.float32) for name, shape in shapes.items()}
        rows = _slice_of(places)
        for name, view in self.views.items():
            vectors = batch.views[name]
            if vectors.shape[1] != view.shape[1]:
                raise CalipersError(
                    f"vectors of one view must be equally long; those of {name!r} have "
                    f"{view.shape[1]} numbers at first, and {vectors.shape[1]} from row "
                    f"{places[0] + 1} on"
                )
            view[rows] = vectors
        self.truncated[rows] = batch.truncated
        if batch.reading is None:
            self._reading = None
        elif self._reading is not None:
            self._reading.words[rows] = batch.reading.words
            self._reading.unread[rows] = batch.reading.unread

    def repeat(self, places: Rows, sources: Rows) -> None:
        """Fill some rows with the vectors of equal samples."""
        for first in range(0, len(places), BLOCK):
            part = slice(first, first + BLOCK)
            self.put(places[part], self.part(sources[part]))

    @property
    def reading(self) -> ReadingCounts | None:
        """How much of each text was read; None where that is unknown for some texts."""
        return self._reading

    def part(self, places: Rows) -> EncodedBatch:
        """Return the present state of some rows."""
        rows = _slice_of(places)
        views = {name: view[rows] for name, view in self.views.items()}
        reading = None if self._reading is None else self._reading.take(rows)
        return EncodedBatch(views, self.truncated[rows], reading)

    def notes(self, embedder: Embedder) -> Iterator[str]:
        """Report truncated texts and unknown words."""
        if cut := int(self.truncated.sum()):
            where = embedder.signature.get("max_length", "the embedder's most")
            verb = "was" if cut == 1 else "were"
            yield f"{cut:,} of {len(self.truncated):,} texts {verb} cut at {where} tokens"
        if self._reading is not None and self._reading.unread.any():
            yield unread_note(embedder.name, self._reading)


def _slice_of(places: Rows) -> Rows | slice:
    """Return consecutive rows as a slice, which is copied faster."""
    first, last = int(places[0]), int(places[-1]) + 1
    consecutive = last - first == len(places) and bool((np.diff(places) == 1).all())
    return slice(first, last) if consecutive else places


class Shelf:
    """The cache of one run: what it finds and adds, and the errors."""

    def __init__(self, cache: Cache | RunVectors | None, embedder: Embedder, kind: str) -> None:
        self._cache: CachedVectors | MadeVectors | None = None
        if cache is not None and embedder.kept:
            self._cache = cache.of(embedder.identity, kind, embedder.views)
        self._directory = None if cache is None else cache.directory
        embedder.keep_in(None if cache is None else cache.directory)
        self._refusal: str | None = None
        self._damaged_before = 0 if self._cache is None else len(self._cache.damaged)

    def fill(self, rows: VectorRows, places: Rows, hashes: RowHashes, advance: Advance) -> Rows:
        """Fill some rows from the cache; return the others, ascending.

        Parameters
        ----------
        rows
            What is filled.
        places
            Which rows of it.
        hashes
            Those of their samples.
        advance
            Is told of each part.
        """
        if self._cache is None:
            return places
        lacking = np.ones(len(places), np.bool_)
        for where, batch in self._cache.find(hashes):
            rows.put(places[where], batch)
            lacking[where] = False
            advance(len(where))
        return places[lacking]

    def keep(self, hashes: RowHashes, batch: EncodedBatch) -> None:
        """Add vectors to the cache, unless an earlier write failed."""
        if self._cache is None or self._refusal:
            return
        try:
            self._cache.store(hashes, batch)
        except OSError as error:
            self._refusal = (
                f"embeddings were not kept, because the cache folder {self._directory} "
                f"cannot be written ({error.strerror or error})"
            )

    def notes(self) -> Iterator[str]:
        """Report damaged files, and a cache that cannot be written."""
        damaged = [] if self._cache is None else self._cache.damaged[self._damaged_before :]
        if damaged:
            noun = "damaged cache files" if len(damaged) > 1 else "damaged cache file"
            yield f"{len(damaged)} {noun}, embedded again; the first: {damaged[0]}"
        if self._refusal:
            yield self._refusal


class Elsewhere(Protocol):
    """Embeds samples on other machines, by filling a cache."""

    def fill(
        self, samples: SampleSet, embedder: Embedder, cache: Cache | None, progress: Progress
    ) -> Cache | None:
        """Embed the samples that a cache lacks; samples left out are embedded on this machine.

        Parameters
        ----------
        samples, embedder
            What is embedded by what, which reads samples of that kind.
        cache
            Where vectors are kept; None for nowhere.
        progress
            Display of the progress, in samples.

        Returns
        -------
        Cache or None
            That which has the vectors.
        """
        ...


_elsewhere: ContextVar[Elsewhere | None] = ContextVar("calipers_embedding_on", default=None)


@contextmanager
def embedding_on(elsewhere: Elsewhere | None) -> Iterator[None]:
    """Embed on other machines first whatever is embedded within; None for this machine only."""
    token = _elsewhere.set(elsewhere)
    try:
        yield
    finally:
        _elsewhere.reset(token)


@checks_keywords
def embed(
    samples: Any,
    embedder: Embedder | str = AUTO,
    *,
    cache: Cache | RunVectors | None = None,
    progress: Progress | None = None,
) -> Embeddings:
    """Embed every sample of a set.

    Samples whose vectors the cache holds, from whatever set, are read from it. Of the others each
    different one is embedded once, and blocks of 1,024 are kept as soon as they are done, so that a
    stopped job resumes there. Without a usable cache the result is the same. What an embedder can
    prepare without its model (tokens, decoded images) is prepared in parallel with the forward pass
    of earlier samples.

    Parameters
    ----------
    samples
        Of a kind that `embedder` reads: a :class:`~calipers.samples.SampleSet`, or whatever
        :func:`calipers.compare` takes.
    embedder
        The embedder, or its name; ``"auto"`` chooses for texts the embedder that
        reads their languages. Sets that different embedders read are not compared, so name it for
        all where their languages differ.
    cache
        Store of vectors: on disk, a :class:`RunVectors` for one run, or None.
    progress
        Display of the progress, in samples.

    Returns
    -------
    Embeddings
        One row for each sample, in their order. Vectors that were given are not copied.

    Raises
    ------
    InputError
        If the embedder does not read samples of this kind.

    Examples
    --------
    >>> import calipers
    >>> texts = ["a cat sat", "a dog sat", "an owl flew", "a fox ran"]
    >>> embedder = calipers.load_embedder("characters").fitted(texts)
    >>> len(calipers.embed(texts, embedder).views["form"])
    4
    """
    from calipers.samples import as_sample_set

    samples = as_sample_set(samples)
    if isinstance(embedder, str):
        from calipers.embedders.automatic import is_automatic, usual_embedder

        automatic = is_automatic(embedder)
        embedder = load_embedder(usual_embedder(samples) if automatic else embedder)
    embedder = as_embedder(embedder)
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
        kept = cache if isinstance(cache, Cache) else None
        cache = elsewhere.fill(samples, embedder, kept, progress) or cache
    shelf = Shelf(cache, embedder, samples.kind)
    rows = VectorRows(len(samples), embedder.views)
    with progress.task(f"Embedding {samples.name}", len(samples)) as advance:
        blocks, copies = _plan(samples, embedder, shelf, rows, advance)
        pieces = (piece for block in blocks for piece in block.pieces(embedder.at_once))
        for piece, prepared in ahead(pieces, lambda piece: _prepare(piece, embedder, samples.name)):
            rows.put(piece.rows, _encode(piece, prepared, embedder, samples.name))
            if piece.closes and embedder.kept:
                shelf.keep(piece.block.hashes, rows.part(piece.block.rows))
            advance(piece.size)
        if len(copies.places):
            rows.repeat(*copies)
            advance(len(copies.places))
    notes = (*rows.notes(embedder), *embedder.told(), *shelf.notes())
    pooled = dict(embedder.view_signature)
    read = rows.reading and replace(rows.reading, left_out=embedder.leaves_out)
    signature = dict(embedder.signature)
    return Embeddings(rows.views, signature, notes, pooled, rows.truncated, read)


@dataclass(frozen=True, eq=False)
class Block:
    """Samples of a set that are stored together.

    Attributes
    ----------
    rows
        Their rows in the set, ascending.
    items
        They themselves, as an embedder takes them.
    hashes
        The hash of each.
    """

    rows: Rows
    items: Sequence[Any]
    hashes: RowHashes

    def pieces(self, step: int) -> Iterator[_Piece]:
        """Divide the block for calls of an embedder."""
        for first in range(0, len(self.rows), step):
            yield _Piece(self, first, min(first + step, len(self.rows)))

    def part(self, places: Rows) -> Block:
        """Keep some of its samples."""
        return Block(self.rows[places], [self.items[at] for at in places], self.hashes[places])


def embed_block(block: Block, embedder: Embedder, name: str) -> EncodedBatch:
    """Embed the samples of one block, with the vectors and the errors of :func:`embed`.

    Parameters
    ----------
    block
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
    pieces = block.pieces(embedder.at_once)
    return joined(
        [_encode(piece, _prepare(piece, embedder, name), embedder, name) for piece in pieces]
    )


class Copies(NamedTuple):
    """Rows whose samples are equal to those of earlier rows."""

    places: Rows
    sources: Rows


def first_of_each(rows: Rows, hashes: RowHashes) -> tuple[Rows, Copies]:
    """Divide ascending rows into first occurrences of samples and repeats.

    Examples
    --------
    >>> first, copies = first_of_each(np.array([3, 4, 7]), np.array([b"b", b"a", b"b"]))
    >>> first.tolist(), copies.places.tolist(), copies.sources.tolist()
    ([3, 4], [7], [3])
    """
    _, first, numbers = np.unique(hashes, return_index=True, return_inverse=True)
    sources = first[numbers]
    repeats = sources != np.arange(len(rows))
    return rows[~repeats], Copies(rows[repeats], rows[sources[repeats]])


def check_reads(samples: SampleSet, embedder: Embedder) -> None:
    """Refuse samples of a kind that an embedder does not read.

    Raises
    ------
    InputError
        If the embedder reads other kinds.

    Examples
    --------
    >>> from calipers import SampleSet, load_embedder
    >>> check_reads(SampleSet.from_texts(["a text"], name="model"), load_embedder("tfidf"))
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
    "images": "such as 'efficientnet' or the folder of a vision model",
}
_INSTEAD = {
    "texts": "choose one that reads texts, such as 'minilm'",
    "tokens": "choose the model whose ids they are, or give the texts themselves",
    "images": "choose one that reads images, such as 'efficientnet'",
    "vectors": "give the samples themselves, or choose the embedder 'precomputed'",
}


@dataclass(frozen=True, eq=False)
class _Piece:
    """Some samples of a block, for one call of the embedder."""

    block: Block
    first: int
    last: int

    @property
    def size(self) -> int:
        return self.last - self.first

    @property
    def rows(self) -> Rows:
        return self.block.rows[self.first : self.last]

    @property
    def closes(self) -> bool:
        """Whether the block is done after it."""
        return self.last == len(self.block.rows)


def _plan(
    samples: SampleSet, embedder: Embedder, shelf: Shelf, rows: VectorRows, advance: Advance
) -> tuple[Iterator[Block], Copies]:
    """Fill in what is in the cache; tell what must be embedded, and which rows repeat it.

    Where embedding is as cheap as reading, samples are not even hashed.
    """
    places = np.arange(len(samples))
    if not embedder.kept:
        unhashed = np.broadcast_to(np.zeros((), ROW_HASH), len(samples))
        return blocks_of(samples, places, unhashed), Copies(places[:0], places[:0])
    hashes = samples.row_hashes()
    places = shelf.fill(rows, places, hashes, advance)
    fresh, copies = first_of_each(places, hashes[places])

    def left() -> Iterator[Block]:
        for first in range(0, len(fresh), BLOCK):
            block = fresh[first : first + BLOCK]
            # Another process may have embedded some of it meanwhile
            yield from blocks_of(samples, shelf.fill(rows, block, hashes[block], advance), hashes)

    return left(), copies


def blocks_of(samples: SampleSet, rows: Rows, hashes: RowHashes) -> Iterator[Block]:
    """Divide ascending rows of a set into blocks.

    Parameters
    ----------
    samples
        The set.
    rows
        Which rows.
    hashes
        Those of all samples of the set.
    """
    for first in range(0, len(rows), BLOCK):
        part = rows[first : first + BLOCK]
        yield Block(part, samples.items(part), hashes[part])


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

    items = piece.block.items
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
        raise SampleError(int(piece.rows[error.row]), error.problem, name) from error
