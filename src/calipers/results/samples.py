"""The samples behind a result: texts that are read when asked for, and vectors."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, Protocol

from numpy.typing import NDArray

if TYPE_CHECKING:
    from calipers.explain import Words


class Texts(Protocol):
    """Texts in order: a list of strings, or a set that makes them when asked."""

    def __len__(self) -> int: ...

    def __iter__(self) -> Iterator[str]: ...


@dataclass(frozen=True, eq=False)
class Samples:
    """The samples behind a summary.

    Attributes
    ----------
    texts
        The texts in order, or None where only embeddings were given.
    vectors
        Embeddings as compared before preprocessing, by view, each of shape ``(n, d)``.
    """

    texts: Texts | None
    vectors: Mapping[str, NDArray[Any]]

    @cached_property
    def listed(self) -> list[str] | None:
        """The texts, read once; None where there are none."""
        return None if self.texts is None else list(self.texts)

    @cached_property
    def words(self) -> Words | None:
        """The words of the texts, counted once for all explanations; None without texts."""
        from calipers.explain import Words

        return None if self.listed is None else Words.of(self.listed)
