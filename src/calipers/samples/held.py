"""What a sample set holds: one small class for each kind of samples, all with the same few members.

Texts and token ids lie in flat memory and become Python objects a slice at a time; images are
decoded a slice at a time (:mod:`calipers.samples.image_files`); embeddings are one array.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, ClassVar, Literal, Protocol, Self

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from calipers.samples import columns, hashing
from calipers.samples.vectors import read_only
from calipers.samples.wording import counted, numbered

Kind = Literal["texts", "tokens", "images", "vectors"]


class Held(Protocol):
    """Samples of one kind, in a fixed order; rows are counted from 0."""

    @property
    def kind(self) -> Kind:
        """What the samples are."""
        ...

    @property
    def noun(self) -> str:
        """What messages call one of them."""
        ...

    def __len__(self) -> int: ...

    def take(self, rows: NDArray[np.intp]) -> Self:
        """Keep the given rows, in the given order."""
        ...

    def items(self, start: int, stop: int) -> Sequence[Any]:
        """Give the samples of some rows as an embedder takes them."""
        ...

    def hash(self, start: int, stop: int) -> str:
        """Hash some rows: the same samples give the same hash, however they are stored."""
        ...

    def notes(self) -> tuple[str, ...]:
        """Tell what a person must know about these samples."""
        ...


@dataclass(frozen=True, eq=False)
class Texts:
    """Texts in an Arrow column of large strings without nulls."""

    column: pa.ChunkedArray
    kind: ClassVar[Kind] = "texts"
    noun: ClassVar[str] = "text"

    def __len__(self) -> int:
        return len(self.column)

    def take(self, rows: NDArray[np.intp]) -> Self:
        """Keep the given rows, in the given order."""
        return type(self)(self.column.take(pa.array(rows)))

    def items(self, start: int, stop: int) -> list[str]:
        """Give the texts of some rows as Python strings."""
        texts: list[str] = self.column.slice(start, stop - start).to_pylist()
        return texts

    def hash(self, start: int, stop: int) -> str:
        """Hash the texts of some rows."""
        part = self.column.slice(start, stop - start)
        return hashing.hash_texts(pa.concat_arrays(part.chunks))

    def notes(self) -> tuple[str, ...]:
        """Tell of empty texts."""
        return empty_note(self, (columns.blank_rows(self.column) + 1).tolist())


@dataclass(frozen=True, eq=False)
class Tokens:
    """Lists of token ids, one behind the other.

    Attributes
    ----------
    ids
        All ids, int32.
    ends
        Where each list begins and ends: int64 of shape (n + 1,), from 0 on.
    """

    ids: NDArray[np.int32]
    ends: NDArray[np.int64]
    kind: ClassVar[Kind] = "tokens"
    noun: ClassVar[str] = "token list"

    def __len__(self) -> int:
        return len(self.ends) - 1

    def take(self, rows: NDArray[np.intp]) -> Self:
        """Keep the given rows, in the given order."""
        lengths = np.diff(self.ends)[rows]
        ends = np.concatenate([[0], np.cumsum(lengths)])
        places = np.arange(ends[-1]) + np.repeat(self.ends[rows] - ends[:-1], lengths)
        return type(self)(read_only(self.ids[places]), read_only(ends))

    def items(self, start: int, stop: int) -> list[NDArray[np.int32]]:
        """Give the ids of some rows, an int32 array for each, without copying them."""
        ends = self.ends[start : stop + 1].tolist()
        return [self.ids[first:last] for first, last in pairwise(ends)]

    def hash(self, start: int, stop: int) -> str:
        """Hash the ids of some rows."""
        ends = self.ends[start : stop + 1]
        return hashing.hash_tokens(self.ids[ends[0] : ends[-1]], ends - ends[0])

    def notes(self) -> tuple[str, ...]:
        """Tell of lists without ids."""
        return empty_note(self, (np.flatnonzero(np.diff(self.ends) == 0) + 1).tolist())


@dataclass(frozen=True, eq=False)
class Vectors:
    """Embeddings: an array of shape (n, d), float32 or float64, read-only."""

    array: NDArray[Any]
    kind: ClassVar[Kind] = "vectors"
    noun: ClassVar[str] = "vector"

    def __len__(self) -> int:
        return len(self.array)

    def take(self, rows: NDArray[np.intp]) -> Self:
        """Keep the given rows, in the given order."""
        return type(self)(read_only(self.array[rows]))

    def items(self, start: int, stop: int) -> list[NDArray[Any]]:
        """Give some rows, as they are."""
        return list(self.array[start:stop])

    def hash(self, start: int, stop: int) -> str:
        """Hash some rows."""
        return hashing.hash_vectors(self.array[start:stop])

    def notes(self) -> tuple[str, ...]:
        """Tell nothing: what could be said of an embedding is an error."""
        return ()


def empty_note(held: Held, rows: list[int]) -> tuple[str, ...]:
    """Tell which samples, counted from 1, are empty and were kept all the same."""
    if not rows:
        return ()
    verb = "is" if len(rows) == 1 else "are"
    which = numbered("sample", rows)
    return (f"{len(rows):,} of {counted(len(held), held.noun)} {verb} empty and kept ({which})",)
