"""Sample sets: texts, token ids, images or embeddings in a fixed order."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from calipers.errors import InputError
from calipers.progress import Progress
from calipers.samples import kinds
from calipers.samples.columns import StringColumn, is_arrow
from calipers.samples.image_files import hold_images
from calipers.samples.images import Images
from calipers.samples.kinds import (
    EmbeddedData,
    HasRowHashes,
    SampleData,
    SampleKind,
    TextData,
    TokenData,
    VectorData,
    checked_vectors,
)
from calipers.samples.labels import LogIds, label_column, label_columns, text_column
from calipers.samples.languages import (
    CHARACTERS,
    SAMPLED,
    TextLanguages,
    read_languages,
    sampled_rows,
)
from calipers.samples.tokens import checked_tokens
from calipers.samples.wording import counted
from calipers.unicode.written_words import unit_of

CHUNK = 1024
"""Rows that are read as Python objects, and hashed, together."""


@dataclass(frozen=True, eq=False, repr=False)
class SampleSet:
    """Samples in a fixed order: texts, token ids, images, or precomputed embeddings.

    Texts lie in flat memory and become Python strings a chunk at a time; images are decoded a
    few at a time. Make one with :meth:`from_texts`, :meth:`from_tokens`, :meth:`from_images`,
    :meth:`from_vectors` or :func:`calipers.samples.read_samples`.

    Attributes
    ----------
    name
        The name of the set in tables and messages.
    source
        The path or paths of the source, ``"<list>"`` or ``"<array>"``.
    data
        The samples themselves.
    groups, clusters, prompts
        A sequence of strings, one for each sample, or None. Samples of one cluster were drawn
        together (continuations of one prompt, sentences of one document).
    reading_notes
        Notes on how the samples were read.
    field, other_fields
        The field of a file or table that holds the samples, None where it has no fields; and
        other fields that may hold texts, None where the field was named.
    log_ids
        The id and the epoch of each sample in a log of inspect; None for other sources.

    Examples
    --------
    >>> samples = SampleSet.from_texts(["one text", "another"], name="model")
    >>> samples
    SampleSet('model', 2 texts, '<list>')
    >>> list(samples.texts)
    ['one text', 'another']
    """

    name: str
    source: str
    data: SampleData
    groups: StringColumn | None = None
    clusters: StringColumn | None = None
    prompts: StringColumn | None = None
    reading_notes: tuple[str, ...] = ()
    field: str | None = None
    other_fields: tuple[str, ...] | None = None
    log_ids: LogIds | None = None

    @classmethod
    def from_texts(
        cls,
        texts: Iterable[str],
        *,
        name: str = "texts",
        source: str = "<list>",
        groups: Iterable[object] | None = None,
        clusters: Iterable[object] | None = None,
        prompts: Iterable[object] | None = None,
        notes: Sequence[str] = (),
    ) -> Self:
        """Make a set of texts in the order given; empty ones are kept and noted.

        Parameters
        ----------
        texts
            Strings, or an Arrow array of strings.
        name, source
            What to call the set, and where it came from. A set without a name of its own is called
            ``"reference"`` or ``"generated"`` in a comparison.
        groups
            A label (string, number or boolean) for each text.
        clusters
            A label for each text; texts of one label were drawn together, as continuations of one
            prompt were.
        prompts
            The prompt (a string) of each text.
        notes
            Notes on how the texts were read.

        Raises
        ------
        InputError
            If there are no texts, one is not a string, all are empty, or `groups`,
            `clusters` or `prompts` have another length.
        """
        where = _where(name, source)
        column = text_column(texts, where)
        if not len(column):
            raise InputError(f"{where}: holds no samples")
        if len(column.blank_rows()) == len(column):
            raise InputError(f"{where}: all {counted(len(column), 'text')} are empty")
        return cls(
            name=name,
            source=source,
            data=TextData(column),
            **label_columns(where, len(column), groups=groups, clusters=clusters, prompts=prompts),
            reading_notes=tuple(notes),
        )

    @classmethod
    def from_tokens(
        cls,
        ids: Iterable[object] | TokenData,
        *,
        name: str = "tokens",
        source: str = "<list>",
        groups: Iterable[object] | None = None,
        clusters: Iterable[object] | None = None,
        prompts: Iterable[object] | None = None,
        notes: Sequence[str] = (),
    ) -> Self:
        """Make a set of texts given as token ids of a model; empty ones are kept.

        Parameters
        ----------
        ids
            For each sample a list or array of whole numbers from 0 to 2³¹ - 1.
        name, source, groups, clusters, prompts, notes
            As in :meth:`from_texts`.

        Raises
        ------
        InputError
            If there are no samples, one is not a list of such numbers, all are empty, or `groups`,
            `clusters` or `prompts` have another length.
        """
        where = _where(name, source)
        if is_arrow(ids):
            from calipers.samples.arrow import token_lists

            ids = token_lists(ids, where)
        data = checked_tokens(ids, where)
        return cls(
            name=name,
            source=source,
            data=data,
            **label_columns(where, len(data), groups=groups, clusters=clusters, prompts=prompts),
            reading_notes=tuple(notes),
        )

    @classmethod
    def from_images(
        cls,
        images: Iterable[object],
        *,
        name: str = "images",
        source: str = "<list>",
        groups: Iterable[object] | None = None,
        clusters: Iterable[object] | None = None,
        skip_bad: bool = False,
        notes: Sequence[str] = (),
        progress: Progress | None = None,
    ) -> Self:
        """Make a set of images; files are checked once, and decoded when needed.

        Parameters
        ----------
        images
            Paths of image files; or an array of shape (n, height, width) or (n, height, width, c)
            with c = 1 (grey), 3 (RGB) or 4 (RGB and alpha), uint8, or floats from 0 to 1; or a
            list of such arrays, one image each, or of Pillow images, which may differ in size.
            Arrays of shape (n, c, height, width) are transposed where the shape is unambiguous.
        name, source, groups, clusters, notes
            As in :meth:`from_texts`.
        skip_bad
            Whether files that cannot be decoded are left out, with a note, instead of refused.
        progress
            Display of the progress of the first check of files.

        Raises
        ------
        InputError
            If there are no images, a file is missing or damaged, an array has another shape, type
            or range, or `groups` or `clusters` have another length.
        """
        where = _where(name, source)
        checked = hold_images(images, where, skip_bad=skip_bad, progress=progress)
        labels = label_columns(where, checked.n_given, groups=groups, clusters=clusters)
        if checked.left_out:
            labels = {kind: _taken(column, checked.rows) for kind, column in labels.items()}
        return cls(
            name=name,
            source=source,
            data=checked.data,
            **labels,
            reading_notes=(*notes, *checked.notes),
        )

    @classmethod
    def from_vectors(
        cls, vectors: object, *, name: str = "vectors", source: str = "<array>"
    ) -> Self:
        """Hold embeddings, one row for each sample.

        Parameters
        ----------
        vectors
            Array of shape (n, d). float32 and float64 are kept as they are, without a copy, so
            leave the array unchanged afterwards; float16 and integers become float32.
        name, source
            What to call the set, and where it came from. A set without a name of its own is called
            ``"reference"`` or ``"generated"`` in a comparison.

        Raises
        ------
        InputError
            If the array is not two-dimensional, is empty, is not an array of real numbers, or holds
            NaN or infinite values.
        """
        where = _where(name, source)
        return cls(name=name, source=source, data=VectorData(checked_vectors(vectors, where)))

    @classmethod
    def of_checked_vectors(cls, vectors: NDArray[Any], *, name: str, source: str) -> Self:
        """Make a set from a checked (n, d) array of float32 or float64."""
        return cls(name=name, source=source, data=VectorData(vectors))

    @classmethod
    def from_embeddings(
        cls, embeddings: object, *, name: str = "vectors", source: str = "<embeddings>"
    ) -> Self:
        """Make a set from the output of an embedder, with all its views.

        Parameters
        ----------
        embeddings
            :class:`calipers.embedders.Embeddings`, such as :func:`calipers.embed` gives.
        name, source
            What to call the set, and where it came from. A set without a name of its own is called
            ``"reference"`` or ``"generated"`` in a comparison.

        Raises
        ------
        InputError
            If its views are not arrays of finite numbers, or differ in length.
        """
        return cls(name=name, source=source, data=EmbeddedData.of(embeddings, _where(name, source)))

    @property
    def kind(self) -> SampleKind:
        """The kind of the samples: texts, token ids, images or embeddings."""
        return self.data.kind

    @property
    def texts(self) -> StringColumn | None:
        """The texts as a sequence of strings; None for other kinds."""
        return self.data.column if isinstance(self.data, TextData) else None

    @property
    def images(self) -> Images | None:
        """The images, each decoded on access; None for other kinds."""
        return Images.of(self.data)

    @property
    def vectors(self) -> NDArray[Any] | None:
        """Read-only array of shape (n, d), float32 or float64; None for other kinds."""
        return self.data.array if isinstance(self.data, VectorData) else None

    @property
    def embedded(self) -> EmbeddedData | None:
        """All views of embeddings by an embedder; None for other kinds."""
        return self.data if isinstance(self.data, EmbeddedData) else None

    @property
    def notes(self) -> tuple[str, ...]:
        """Notes on the samples: rows left out, empty texts, images of different sizes."""
        return (*self.reading_notes, *self._data_notes)

    @cached_property
    def content_hash(self) -> str:
        """SHA-256 of the samples in hex, over the hashes of chunks of `CHUNK` rows."""
        return kinds.hash_hashes(self.data.hash(*rows) for rows in self._spans())

    @cached_property
    def languages(self) -> TextLanguages | None:
        """The languages of up to 200 of the texts, chosen by their hashes; None without texts."""
        column = self.texts
        if column is None:
            return None
        every = len(self) <= SAMPLED
        rows = np.arange(len(self)) if every else sampled_rows(self.row_hashes())
        return read_languages([text[:CHARACTERS] for text in column.take(rows)])

    def renamed(self, name: str) -> SampleSet:
        """Return the same samples under another name."""
        return replace(self, name=name)

    def noting(self, *notes: str) -> SampleSet:
        """Return the same samples with further notes."""
        return replace(self, reading_notes=(*self.reading_notes, *notes))

    def with_groups(self, labels: Iterable[object]) -> SampleSet:
        """Return the same samples with the group of each.

        Parameters
        ----------
        labels
            A label (string, number or boolean) for each sample, in their order.

        Raises
        ------
        InputError
            If there are more or fewer labels than samples, or one is missing or invalid.
        """
        where = self.place
        return replace(self, groups=label_column("groups", labels, len(self), where))

    def with_clusters(self, labels: Iterable[object]) -> SampleSet:
        """Return the same samples with the cluster that each was drawn in.

        Parameters
        ----------
        labels
            A label (string, number or boolean) for each sample, in their order: its prompt, its
            document, its author.

        Raises
        ------
        InputError
            If there are more or fewer labels than samples, or one is missing or invalid.
        """
        where = self.place
        return replace(self, clusters=label_column("clusters", labels, len(self), where))

    def row_hashes(self) -> NDArray[np.bytes_]:
        """Hash each sample to 16 bytes, shape (n,); embeddings have no such hashes."""
        data: object = self.data
        return data.row_hashes() if isinstance(data, HasRowHashes) else kinds.hash_each(())

    def items(self, rows: NDArray[np.intp]) -> Sequence[Any]:
        """Return the samples of some ascending rows in the form that embedders take.

        Returns
        -------
        sequence
            A list of strings, a list of int32 arrays (token ids), or images, which a slice of it
            decodes into uint8 arrays of shape (height, width, 3).
        """
        first, last = int(rows[0]), int(rows[-1]) + 1
        if last - first == len(rows):
            return self.data.items(first, last)
        return self.data.take(rows).items(0, len(rows))

    def word_counts(self) -> NDArray[np.int64] | None:
        """Count the words of each text, shape (n,); None for other kinds.

        Words are separated by white space; in scripts without spaces, characters count.
        """
        return None if self.texts is None else self.texts.word_counts()

    @property
    def word_unit(self) -> str:
        """The unit of :meth:`word_counts`: words, characters, or both."""
        return unit_of(self.texts or ())

    def token_counts(self) -> NDArray[np.int64] | None:
        """Count the token ids of each sample, shape (n,); None for other kinds."""
        return np.diff(self.data.ends) if isinstance(self.data, TokenData) else None

    def take(self, indices: NDArray[np.intp]) -> SampleSet:
        """Keep the given rows, in the given order, with their groups, clusters and prompts.

        Raises
        ------
        InputError
            If `indices` is empty, is not a list of row numbers, or names a row that does not exist.
        """
        rows = np.asarray(indices)
        if rows.size == 0 or rows.ndim != 1 or rows.dtype.kind not in "iu":
            raise InputError(
                f"{self.name}: rows must be a list of at least one row number, "
                f"but they have the shape {rows.shape} and the type {rows.dtype}"
            )
        outside = rows[(rows < 0) | (rows >= len(self))]
        if outside.size:
            raise InputError(
                f"{self.name}: there is no row {outside[0]}; the rows are 0 to {len(self) - 1}"
            )
        return replace(
            self,
            data=self.data.take(rows),
            groups=_taken(self.groups, rows),
            clusters=_taken(self.clusters, rows),
            prompts=_taken(self.prompts, rows),
            log_ids=None if self.log_ids is None else self.log_ids.take(rows),
        )

    def subsample(self, size: int, *, seed: int) -> SampleSet:
        """Keep `size` random rows in their order, or the whole set if it has no more.

        The rows depend on the number of samples, `size` and `seed` alone, so files whose rows
        correspond still do afterwards, and a smaller subsample lies within a larger one.
        """
        if size < 1:
            raise InputError(f"{self.name}: a subsample needs at least one row, not {size}")
        if seed < 0:
            raise InputError(f"{self.name}: the seed must not be negative, but it is {seed}")
        if size >= len(self):
            return self
        return self.take(np.sort(np.random.default_rng(seed).permutation(len(self))[:size]))

    def __len__(self) -> int:
        return len(self.data)

    def __getitem__(self, index: int) -> Any:
        row = range(len(self))[index]
        return self.data.items(row, row + 1)[0]

    @property
    def place(self) -> str:
        """The name of the set in messages: its file, or its name if it came from none."""
        return _where(self.name, self.source)

    def __iter__(self) -> Iterator[Any]:
        for start, stop in self._spans():
            yield from self.data.items(start, stop)

    def __repr__(self) -> str:
        return f"SampleSet({self.name!r}, {counted(len(self), self.data.noun)}, {self.source!r})"

    def _spans(self) -> Iterator[tuple[int, int]]:
        for start in range(0, len(self), CHUNK):
            yield start, min(start + CHUNK, len(self))

    @cached_property
    def _data_notes(self) -> tuple[str, ...]:
        return self.data.notes()


def _where(name: str, source: str) -> str:
    """Say what messages call the set: its file where there is one."""
    return name if source.startswith("<") else source


def _taken(column: StringColumn | None, rows: NDArray[np.intp]) -> StringColumn | None:
    return None if column is None else column.take(rows)
