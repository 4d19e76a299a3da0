"""The samples of one side: texts or embeddings, with all that later stages ask of them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Literal, Self

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from calipers.errors import InputError
from calipers.samples import columns, hashing
from calipers.samples.labels import label_column, text_column
from calipers.samples.vectors import checked_vectors, read_only
from calipers.samples.wording import counted, numbered

CHUNK = 1024
"""Rows that are hashed, embedded and cached together."""


@dataclass(frozen=True)
class Chunk:
    """Consecutive texts of a set, and the hash under which their embeddings are kept.

    Attributes
    ----------
    start
        Row of the first text in the set, counted from 0.
    texts
        At most `CHUNK` texts.
    content_hash
        Hex SHA-256 of these texts.
    """

    start: int
    texts: list[str]
    content_hash: str


@dataclass(frozen=True, eq=False, repr=False)
class SampleSet:
    """Samples in a fixed order: texts, or embeddings that a person has computed already.

    Texts live in Arrow memory and become Python strings a chunk at a time. Make one with
    :meth:`from_texts`, :meth:`from_vectors` or :func:`calipers.samples.read_samples`.

    Attributes
    ----------
    name
        What tables and messages call the set.
    source
        The path or paths it came from, ``"<list>"`` or ``"<array>"``.
    texts
        Arrow column of large strings, for kind ``"texts"``; None otherwise.
    vectors
        Read-only array of shape (n, d), float32 or float64, for kind ``"vectors"``.
    groups, prompts
        Arrow columns of large strings, one value for each sample, or None.
    """

    name: str
    source: str
    texts: pa.ChunkedArray | None = None
    vectors: NDArray[Any] | None = None
    groups: pa.ChunkedArray | None = None
    prompts: pa.ChunkedArray | None = None
    reading_notes: tuple[str, ...] = ()

    @classmethod
    def from_texts(
        cls,
        texts: Iterable[str],
        *,
        name: str,
        source: str = "<list>",
        groups: Iterable[object] | None = None,
        prompts: Iterable[object] | None = None,
        notes: Sequence[str] = (),
    ) -> Self:
        """Hold texts in the order given; empty ones are kept in place and noted.

        Parameters
        ----------
        texts
            Strings, or an Arrow array of strings.
        name, source
            What to call the set, and where it came from.
        groups
            A label (string, number or boolean) for each text.
        prompts
            The prompt (a string) of each text.
        notes
            What a person should be told about how the texts were read.

        Raises
        ------
        InputError
            If there are no texts, one is not a string, all are empty, or `groups` or `prompts`
            have another length.
        """
        where = name if source.startswith("<") else source
        column = text_column(texts, where)
        if not len(column):
            raise InputError(f"{where}: holds no samples")
        if len(columns.blank_rows(column)) == len(column):
            raise InputError(f"{where}: all {counted(len(column), 'text')} are empty")
        return cls(
            name=name,
            source=source,
            texts=column,
            groups=label_column("groups", groups, len(column), where),
            prompts=label_column("prompts", prompts, len(column), where),
            reading_notes=tuple(notes),
        )

    @classmethod
    def from_vectors(cls, vectors: object, *, name: str, source: str = "<array>") -> Self:
        """Hold embeddings, one row for each sample.

        Parameters
        ----------
        vectors
            Array of shape (n, d). float32 and float64 are kept as they are, without a copy, so
            leave the array unchanged afterwards; float16 and integers become float32.
        name, source
            What to call the set, and where it came from.

        Raises
        ------
        InputError
            If the array is not two-dimensional, is empty, is no array of real numbers, or holds
            NaN or infinite values.
        """
        where = name if source.startswith("<") else source
        return cls(name=name, source=source, vectors=checked_vectors(vectors, where))

    @property
    def kind(self) -> Literal["texts", "vectors"]:
        """Whether the samples are texts or embeddings."""
        return "texts" if self.vectors is None else "vectors"

    @property
    def notes(self) -> tuple[str, ...]:
        """What a person must be told: rows that were left out, and empty texts."""
        return (*self.reading_notes, *self._blank_notes)

    @cached_property
    def content_hash(self) -> str:
        """Hex SHA-256 of the samples, over the hashes of chunks of `CHUNK` rows."""
        if self.vectors is None:
            return hashing.hash_hashes(hashing.hash_texts(part) for _, part in self._slices())
        starts = range(0, len(self), CHUNK)
        return hashing.hash_hashes(
            hashing.hash_vectors(self.vectors[i : i + CHUNK]) for i in starts
        )

    def renamed(self, name: str) -> SampleSet:
        """Return the same samples under another name."""
        return replace(self, name=name)

    def with_groups(self, labels: Iterable[object]) -> SampleSet:
        """Return the same samples, each with the group that it belongs to.

        Parameters
        ----------
        labels
            A label (string, number or boolean) for each sample, in their order.

        Raises
        ------
        InputError
            If there are more or fewer labels than samples, or one is missing or no label.
        """
        where = self.name if self.source.startswith("<") else self.source
        return replace(self, groups=label_column("groups", labels, len(self), where))

    def chunks(self) -> Iterator[Chunk]:
        """Go through the texts, `CHUNK` at a time; embeddings have no chunks."""
        for start, part in self._slices():
            yield Chunk(start, part.to_pylist(), hashing.hash_texts(part))

    def word_counts(self) -> NDArray[np.int64] | None:
        """Count each text's words, separated by white space, shape (n,); None for embeddings."""
        return None if self.texts is None else columns.word_counts(self.texts)

    def take(self, indices: NDArray[np.intp]) -> SampleSet:
        """Keep the given rows, in the given order, with their groups and prompts.

        Raises
        ------
        InputError
            If `indices` is empty, is no list of row numbers, or names a row that is not there.
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
            texts=_taken(self.texts, rows),
            vectors=None if self.vectors is None else read_only(self.vectors[rows]),
            groups=_taken(self.groups, rows),
            prompts=_taken(self.prompts, rows),
        )

    def subsample(self, size: int, *, seed: int) -> SampleSet:
        """Keep `size` random rows in their order; the set itself if it has no more than that.

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
        if self.vectors is not None:
            return len(self.vectors)
        return 0 if self.texts is None else len(self.texts)

    def __getitem__(self, index: int) -> Any:
        if self.vectors is not None:
            return self.vectors[index]
        return None if self.texts is None else self.texts[index].as_py()

    def __iter__(self) -> Iterator[Any]:
        if self.vectors is not None:
            yield from self.vectors
        for chunk in self.chunks():
            yield from chunk.texts

    def __repr__(self) -> str:
        return f"SampleSet({self.name!r}, {counted(len(self), self.kind[:-1])}, {self.source!r})"

    def _slices(self) -> Iterator[tuple[int, pa.Array]]:
        if self.texts is None:
            return
        for start in range(0, len(self), CHUNK):
            part = self.texts.slice(start, CHUNK)
            yield start, pa.concat_arrays(part.chunks)

    @cached_property
    def _blank_notes(self) -> tuple[str, ...]:
        rows = [] if self.texts is None else (columns.blank_rows(self.texts) + 1).tolist()
        if not rows:
            return ()
        verb = "is" if len(rows) == 1 else "are"
        which = numbered("sample", rows)
        return (f"{len(rows):,} of {counted(len(self), 'text')} {verb} empty and kept ({which})",)


def _taken(column: pa.ChunkedArray | None, rows: NDArray[np.intp]) -> pa.ChunkedArray | None:
    return None if column is None else column.take(pa.array(rows))
