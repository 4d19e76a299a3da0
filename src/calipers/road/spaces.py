"""Where rows are compared: in the space of each pair by itself, or in one for a whole run."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

from calipers.embed import Embeddings
from calipers.estimate.distances import Points
from calipers.estimate.preprocess import preprocess
from calipers.metrics.needs import Needs
from calipers.metrics.pair import Pair, Settings

PCA = 0.9


class Space(Protocol):
    """What brings a generated set and the reference to where they are compared."""

    @property
    def scope(self) -> str:
        """Whose rows the projection and the cells are made from, for signatures."""
        ...

    def pair(self, view: str, generated: Embeddings, settings: Settings, needs: Needs) -> Pair:
        """Give the pair of the reference and a generated set, by one view."""
        ...

    def rows(self, view: str, generated: Embeddings) -> tuple[Points, Points] | None:
        """Give both sets as they are compared; None where that follows from the two alone."""
        ...


@dataclass(frozen=True, eq=False)
class PairSpace:
    """Every pair is projected and quantised by itself: a system never changes another's score."""

    reference: Embeddings
    scope: str = "pair"

    def pair(self, view: str, generated: Embeddings, settings: Settings, needs: Needs) -> Pair:
        """Project the union of the two sets on its leading axes."""
        sides = self.reference.views[view], generated.views[view]
        rows = preprocess(*sides, norm="l2", pca=PCA, threads=settings.threads)
        return Pair(rows.reference, rows.generated, settings, needs, given=sides)

    def rows(self, view: str, generated: Embeddings) -> tuple[Points, Points] | None:
        """Nothing: the pair is projected again where its rows are needed."""
        return None
