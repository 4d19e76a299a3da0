"""The contents of a sample set, in a class for each kind of samples with a common interface.

Texts and token ids lie in flat memory and become Python objects a slice at a time; embeddings are
one array, checked when it is given; images are decoded a slice at a time
(:mod:`calipers.samples.images`). The same samples give the same content hash, however they were
stored.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any, ClassVar, Literal, Protocol, Self, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from calipers.errors import InputError
from calipers.memory import budget
from calipers.numeric.arrays import as_numpy
from calipers.numeric.scratch import converted, lies_in_memory, taken
from calipers.samples.columns import StringColumn
from calipers.samples.wording import counted, numbered

SampleKind = Literal["texts", "tokens", "images", "vectors"]

BLOCK = 2**22
"""Values of an array that are looked at together."""


def hash_texts(texts: StringColumn) -> str:
    """Hash a column: the number of texts, their ends, and the UTF-8 bytes.

    The ends are counted from the column's own start, so neither a slice's place in a larger column
    nor the division into rows can be mistaken.
    """
    digest = hashlib.sha256(b"texts %d " % len(texts))
    digest.update(texts.ends.astype("<i8").data)
    for part in texts.utf8():
        digest.update(part)
    return digest.hexdigest()


def hash_vectors(vectors: NDArray[Any]) -> str:
    """Hash the rows of an array: dtype, shape and bytes."""
    little = np.ascontiguousarray(vectors, dtype=vectors.dtype.newbyteorder("<"))
    digest = hashlib.sha256(f"vectors {little.dtype.str} {little.shape} ".encode())
    digest.update(little.data)
    return digest.hexdigest()


def hash_tokens(ids: NDArray[np.int32], ends: NDArray[np.int64]) -> str:
    """Hash lists of token ids: their number, their ends, and the ids."""
    digest = hashlib.sha256(b"tokens %d " % (len(ends) - 1))
    digest.update(ends.astype("<i8").tobytes())
    digest.update(np.ascontiguousarray(ids, "<i4").data)
    return digest.hexdigest()


def hash_images(digests: bytes, kind: str) -> str:
    """Hash the SHA-256 digests of consecutive images, of files or of pixels by `kind`."""
    start = f"{kind} {len(digests) // 32} ".encode()
    return hashlib.sha256(start + digests).hexdigest()


def digest_pixels(image: NDArray[np.uint8]) -> bytes:
    """Hash the shape and the values of one image."""
    digest = hashlib.sha256(f"{image.shape} ".encode())
    digest.update(np.ascontiguousarray(image).data)
    return digest.digest()


def hash_hashes(hashes: Iterable[str]) -> str:
    """Hash the hashes of consecutive chunks."""
    digest = hashlib.sha256(b"chunks ")
    for chunk in hashes:
        digest.update(bytes.fromhex(chunk))
    return digest.hexdigest()


ROW_HASH = "S16"
"""The type of the hash of one sample: 16 bytes of its SHA-256."""


def hash_each(samples: Iterable[bytes | memoryview]) -> NDArray[np.bytes_]:
    """Hash each of some samples, given as bytes."""
    digests = [hashlib.sha256(sample).digest()[:16] for sample in samples]
    return np.frombuffer(b"".join(digests), ROW_HASH)


def checked_vectors(value: object, where: str) -> NDArray[Any]:
    """Return an (n, d) array of finite floats; raise an error for invalid values.

    float32 and float64 are kept; float16 and integers become float32. The array returned is a
    read-only view, not a copy, where no conversion is needed.

    Raises
    ------
    InputError
        If the array is not two-dimensional, has no rows or columns, holds anything else than
        numbers, or holds NaN or infinite values.
    """
    array = as_array(value, where)
    if array.ndim != 2:
        raise InputError(
            f"{where}: embeddings must be a two-dimensional array, one row for each sample, "
            f"but this one has the shape {array.shape}"
        )
    if 0 in array.shape:
        raise InputError(f"{where}: embeddings of shape {array.shape} hold no values")
    array = _as_float(array, where)
    _check_finite(array, where)
    return read_only(array)


def as_array(value: object, where: str) -> NDArray[Any]:
    """Convert an array, a tensor, or a list of numbers to an array."""
    try:
        return as_numpy(value)
    except (TypeError, ValueError, RuntimeError) as error:
        raise InputError(f"{where}: cannot be read as an array: {error}") from error


def float_type(given: np.dtype[Any], where: str) -> np.dtype[Any]:
    """Return the type in which embeddings are held: float32 or float64.

    Raises
    ------
    InputError
        If it is no type of real numbers.
    """
    if given.hasobject:
        raise InputError(
            f"{where}: an array of Python objects (dtype {given}) is refused; "
            "embeddings must be numbers"
        )
    if given.kind == "f" and given.itemsize in (4, 8):
        return given.newbyteorder("=")
    if given.kind in "iu" or given == np.float16:
        return np.dtype(np.float32)
    raise InputError(
        f"{where}: embeddings must be float16, float32, float64 or integers, "
        f"but this array is {given}"
    )


def _as_float(array: NDArray[Any], where: str) -> NDArray[Any]:
    kind = float_type(array.dtype, where)
    if array.dtype == kind:
        return array
    take_room(kind.itemsize * array.size, where)
    return converted(array, kind)


def take_room(size: int, where: str) -> None:
    """Count the memory of an array made while reading, unless it will lie in a file.

    Raises
    ------
    InputError
        If it takes more memory than may be taken.
    """
    if lies_in_memory(size):
        budget().take(size, lambda problem: InputError(f"{where}: {problem}"))


def _check_finite(array: NDArray[Any], where: str) -> None:
    step = max(1, BLOCK // array.shape[1])
    blocks = range(0, len(array), step)
    bad = np.concatenate([not_finite(array[i : i + step]) + i for i in blocks])
    if bad.size:
        raise rows_not_finite(bad, len(array), where)


def rows_not_finite(bad: NDArray[np.intp], n: int, where: str) -> InputError:
    """Build the error for rows, counted from 0, of n that hold NaN or infinite values."""
    return InputError(
        f"{where}: NaN or infinite values in {bad.size:,} of {counted(n, 'row')}: "
        f"{numbered('row', (bad + 1).tolist())}"
    )


def not_finite(block: NDArray[Any]) -> NDArray[np.intp]:
    """Find the rows of a block that hold NaN or infinite values."""
    return np.flatnonzero(~np.isfinite(block).all(axis=1))


def read_only(array: NDArray[Any]) -> NDArray[Any]:
    """Return a read-only view of an array."""
    view = array.view(np.ndarray)
    view.flags.writeable = False
    return view


class SampleData(Protocol):
    """Samples of one kind in a fixed order, with rows counted from 0."""

    @property
    def kind(self) -> SampleKind:
        """The kind of the samples."""
        ...

    @property
    def noun(self) -> str:
        """The noun for one sample in messages."""
        ...

    def __len__(self) -> int: ...

    def take(self, rows: NDArray[np.intp]) -> Self:
        """Keep the given rows, in the given order."""
        ...

    def items(self, start: int, stop: int) -> Sequence[Any]:
        """Return the samples of some rows in the form that embedders take."""
        ...

    def hash(self, start: int, stop: int) -> str:
        """Hash some rows, independent of how they are stored."""
        ...

    def notes(self) -> tuple[str, ...]:
        """Report what a person must know about these samples."""
        ...


@runtime_checkable
class HasRowHashes(Protocol):
    """Samples that an embedder can take."""

    def row_hashes(self) -> NDArray[np.bytes_]:
        """Hash each sample, so that equal samples of any set have equal hashes."""
        ...


@dataclass(frozen=True, eq=False)
class TextData:
    """Texts in a column."""

    column: StringColumn
    kind: ClassVar[SampleKind] = "texts"
    noun: ClassVar[str] = "text"

    def __len__(self) -> int:
        return len(self.column)

    def take(self, rows: NDArray[np.intp]) -> Self:
        """Keep the given rows, in the given order."""
        return type(self)(self.column.take(rows))

    def items(self, start: int, stop: int) -> list[str]:
        """Return the texts of some rows as Python strings."""
        return self.column[start:stop].tolist()

    def hash(self, start: int, stop: int) -> str:
        """Hash the texts of some rows."""
        return hash_texts(self.column[start:stop])

    def row_hashes(self) -> NDArray[np.bytes_]:
        """Hash each text."""
        return hash_each(self.column.encoded())

    def notes(self) -> tuple[str, ...]:
        """Report empty texts."""
        return empty_note(self, (self.column.blank_rows() + 1).tolist())


@dataclass(frozen=True, eq=False)
class TokenData:
    """Lists of token ids, concatenated.

    Attributes
    ----------
    ids
        All ids, int32.
    ends
        Where each list begins and ends: int64 of shape (n + 1,), from 0 on.
    """

    ids: NDArray[np.int32]
    ends: NDArray[np.int64]
    kind: ClassVar[SampleKind] = "tokens"
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
        """Return the ids of some rows as int32 arrays, without copying them."""
        ends = self.ends[start : stop + 1].tolist()
        return [self.ids[first:last] for first, last in pairwise(ends)]

    def hash(self, start: int, stop: int) -> str:
        """Hash the ids of some rows."""
        ends = self.ends[start : stop + 1]
        return hash_tokens(self.ids[ends[0] : ends[-1]], ends - ends[0])

    def row_hashes(self) -> NDArray[np.bytes_]:
        """Hash each list of ids."""
        view = np.ascontiguousarray(self.ids, "<i4").view(np.uint8).data
        return hash_each(view[a:b] for a, b in pairwise((4 * self.ends).tolist()))

    def notes(self) -> tuple[str, ...]:
        """Report lists without ids."""
        return empty_note(self, (np.flatnonzero(np.diff(self.ends) == 0) + 1).tolist())


@dataclass(frozen=True, eq=False)
class VectorData:
    """Embeddings: an array of shape (n, d), float32 or float64, read-only."""

    array: NDArray[Any]
    kind: ClassVar[SampleKind] = "vectors"
    noun: ClassVar[str] = "vector"

    def __len__(self) -> int:
        return len(self.array)

    def take(self, rows: NDArray[np.intp]) -> Self:
        """Keep the given rows, in the given order."""
        return type(self)(read_only(taken(self.array, rows)))

    def items(self, start: int, stop: int) -> list[NDArray[Any]]:
        """Return some rows unchanged."""
        return list(self.array[start:stop])

    def hash(self, start: int, stop: int) -> str:
        """Hash some rows."""
        return hash_vectors(self.array[start:stop])

    def notes(self) -> tuple[str, ...]:
        """Report nothing, since any fault of an embedding is an error."""
        return ()


@dataclass(frozen=True, eq=False)
class EmbeddedData(VectorData):
    """Embeddings by an embedder: an array for each of its views, the main one first.

    Attributes
    ----------
    array
        The main view.
    views
        All views, by name, each of shape (n, d).
    signature, view_signature
        How they were made, as the embedder says it: in all views, and how each was pooled.
    embedding_notes
        What embedding them brought up.
    truncated, words, unread
        For each sample whether it was cut, how many words it has, and how many of them the embedder
        does not know, shape (n,); None where nobody knows.
    left_out
        Whether words that it does not know leave no trace in a vector.
    """

    views: Mapping[str, NDArray[Any]]
    signature: Mapping[str, str]
    view_signature: Mapping[str, str]
    embedding_notes: tuple[str, ...] = ()
    truncated: NDArray[np.bool_] | None = None
    words: NDArray[np.int32] | None = None
    unread: NDArray[np.int32] | None = None
    left_out: bool = False

    @classmethod
    def of(cls, made: Any, where: str) -> Self:
        """Take the output of ``calipers.embed``.

        Raises
        ------
        InputError
            If its views are not arrays of finite numbers, or differ in length.
        """
        views = {
            name: checked_vectors(array, f"{where}: view {name!r}")
            for name, array in made.views.items()
        }
        sizes = {name: len(array) for name, array in views.items()}
        if len(set(sizes.values())) != 1:
            raise InputError(
                f"{where}: all views of embeddings must have as many rows; found {sizes}"
            )
        main = next(iter(views.values()))
        notes, reading = tuple(made.notes), getattr(made, "reading", None)
        embedded = cls(
            main,
            views,
            dict(made.signature),
            dict(made.view_signature),
            notes,
            getattr(made, "truncated", None),
        )
        if reading is None or len(reading.words) != len(main):
            return embedded
        return replace(
            embedded, words=reading.words, unread=reading.unread, left_out=reading.left_out
        )

    def take(self, rows: NDArray[np.intp]) -> Self:
        """Keep the given rows of every view, in the given order."""
        views = {name: read_only(taken(array, rows)) for name, array in self.views.items()}
        return replace(
            self,
            array=next(iter(views.values())),
            views=views,
            truncated=None if self.truncated is None else self.truncated[rows],
            words=None if self.words is None else self.words[rows],
            unread=None if self.unread is None else self.unread[rows],
        )

    def hash(self, start: int, stop: int) -> str:
        """Hash some rows of every view."""
        return hash_hashes(hash_vectors(array[start:stop]) for array in self.views.values())


def empty_note(samples: SampleData, rows: list[int]) -> tuple[str, ...]:
    """Report which samples, counted from 1, are empty but kept."""
    if not rows:
        return ()
    of = f"{len(rows):,} of {counted(len(samples), samples.noun)}"
    verb = "is" if len(rows) == 1 else "are"
    return (f"{of} {verb} empty and kept ({numbered('sample', rows)})",)
