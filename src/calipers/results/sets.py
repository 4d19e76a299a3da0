"""The sets of samples of a result: summary, texts and vectors."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, Protocol

from numpy.typing import NDArray

from calipers.brief import Brief
from calipers.results.reading import SetReading
from calipers.serialise import Plain

if TYPE_CHECKING:
    from calipers.explain import WordCounts
    from calipers.results.pictures import Pictures
    from calipers.samples.labels import LogIds


@dataclass(frozen=True)
class SetSummary(Plain):
    """Facts on a set of samples to be read before its scores.

    Attributes
    ----------
    name, source
        Its name and its source.
    n, n_given
        Samples that were compared, and samples that were given.
    words
        ``{"mean", "median"}`` of the words of a text; None for embeddings.
    word_unit
        The unit: ``"words"``, ``"characters"`` of scripts without spaces, or ``"words or
        characters"`` of mixed ones.
    content_hash
        SHA-256 of the samples that were compared, hexadecimal.
    warnings
        Notes from reading the set.
    groups
        Samples of each group that were compared, by label, over all files of a system; None where
        no groups were asked for, or the set has none.
    clusters
        Of how many clusters the samples of a file are, where those were asked for; else None.
    field
        The field of the rows in which the samples stood, asked for or found; None where the file
        has no fields, or files of a system differ.
    reading
        What the embedder read of it: words and texts that it does not know, texts that it cut; None
        where nothing was embedded, or where that is unknown.
    """

    name: str
    source: str
    n: int
    n_given: int
    words: Mapping[str, float] | None
    content_hash: str
    warnings: tuple[str, ...] = ()
    groups: Mapping[str, int] | None = None
    clusters: int | None = None
    field: str | None = None
    reading: SetReading | None = None
    word_unit: str = "words"

    _optional = ("warnings", "groups", "clusters", "field", "reading", "word_unit")

    def _outline(self) -> Mapping[str, Any]:
        data = super()._outline()
        return {name: value for name, value in data.items() if name != "warnings"}


class Texts(Protocol):
    """Texts in order: a list of strings, or a set that reads them on demand."""

    def __len__(self) -> int: ...

    def __iter__(self) -> Iterator[str]: ...


@dataclass(frozen=True, eq=False)
class Samples(Brief):
    """The samples of a summarised set.

    Attributes
    ----------
    texts
        The texts in order, or None where only embeddings were given.
    vectors
        Embeddings as compared before preprocessing, by view, each of shape ``(n, d)``.
    clusters
        The cluster of every sample, shape ``(n,)``, numbered over all sets of the run; None where
        none were asked for.
    log_ids
        The id and epoch of every sample, where they were read from a log of inspect; else None.
    pictures
        Thumbnails of the samples, where they are images; else None.
    """

    texts: Texts | None
    vectors: Mapping[str, NDArray[Any]]
    clusters: NDArray[Any] | None = None
    log_ids: LogIds | None = None
    pictures: Pictures | None = None

    @cached_property
    def files(self) -> Sequence[str] | None:
        """The image file of each sample; None where unknown."""
        return None if self.pictures is None else self.pictures.files

    @cached_property
    def listed(self) -> list[str] | None:
        """The texts, read once; None where there are none."""
        return None if self.texts is None else list(self.texts)

    @cached_property
    def words(self) -> WordCounts | None:
        """The words of the texts, counted once; None without texts."""
        from calipers.explain import WordCounts

        return None if self.listed is None else WordCounts.of(self.listed)
