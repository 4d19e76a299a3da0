"""The vectors behind a probe: of the texts and of each changed version, half by half."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from calipers.embed import Cache, Embedder, Embeddings, embed_samples
from calipers.progress import Progress
from calipers.samples import SampleSet

MOVED = 1e-4
"""A vector is another one where it differs by more than this share of its length."""

Rows = NDArray[np.intp]


@dataclass(frozen=True)
class Halves:
    """One random halving: rows of the reference, and rows that are changed and judged."""

    reference: Rows
    judged: Rows

    @classmethod
    def draw(cls, n: int, *, seed: int, halving: int) -> Halves:
        """Part n rows into two sides of one size; with an odd number one row stays out."""
        order = np.random.default_rng([seed, halving]).permutation(n)
        half = n // 2
        return cls(np.sort(order[:half]), np.sort(order[half : 2 * half]))


@dataclass(frozen=True, eq=False)
class Sides:
    """The vectors of one halving: of the reference half, and of each version of the other half."""

    reference: Embeddings
    versions: Mapping[str, Embeddings]


@dataclass(frozen=True, eq=False)
class Vectors:
    """Embeds the texts and their changed versions, each once where the embedder allows it.

    An embedder that is fitted to the reference is fitted to each reference half anew.

    Attributes
    ----------
    versions
        By name the sets that are judged, row by row the same texts; the first is unchanged.
    """

    model: Embedder
    versions: Mapping[str, SampleSet]
    cache: Cache | None
    progress: Progress

    def sides(self, halves: Halves) -> Sides:
        """Give the vectors of one halving."""
        unchanged = next(iter(self.versions))
        if not self.model.needs_fitting:
            whole = self._whole
            return Sides(
                _taken(whole[unchanged], halves.reference),
                {name: _taken(each, halves.judged) for name, each in whole.items()},
            )
        reference = self.versions[unchanged].take(halves.reference)
        model = self.model.fitted(reference)
        judged = {name: each.take(halves.judged) for name, each in self.versions.items()}
        return Sides(
            self._embed(reference, model),
            {name: self._embed(each, model) for name, each in judged.items()},
        )

    @cached_property
    def _whole(self) -> dict[str, Embeddings]:
        return {name: self._embed(each, self.model) for name, each in self.versions.items()}

    def _embed(self, samples: SampleSet, model: Embedder) -> Embeddings:
        return embed_samples(samples, model, cache=self.cache, progress=self.progress)


def moved_share(unchanged: Embeddings, changed: Embeddings, view: str, altered: Rows) -> float:
    """Tell for what share of the altered texts the vector is another one; NaN without any."""
    if not len(altered):
        return float("nan")
    before, after = (np.asarray(each.views[view][altered], float) for each in (unchanged, changed))
    scale = np.maximum(np.linalg.norm(before, axis=1), np.linalg.norm(after, axis=1))
    return float((np.linalg.norm(after - before, axis=1) > MOVED * scale).mean())


def _taken(embeddings: Embeddings, rows: Rows) -> Embeddings:
    views = {name: view[rows] for name, view in embeddings.views.items()}
    return replace(embeddings, views=views)
