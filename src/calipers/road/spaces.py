"""Where rows are compared: in the space of each pair by itself, or in one for a whole run."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, Protocol

from calipers.embed import Embeddings
from calipers.estimate.preprocess import preprocess
from calipers.metrics.needs import Needs
from calipers.metrics.pair import Pair, Settings

PCA = 0.9

Scope = Literal["pair", "run"]


class Space(Protocol):
    """What brings a generated set and the reference to where they are compared."""

    @property
    def scope(self) -> Scope:
        """Whose rows the projection and the cells are made from."""
        ...

    def pair(self, view: str, generated: Embeddings, settings: Settings, needs: Needs) -> Pair:
        """Give the pair of the reference and a generated set, by one view."""
        ...


@dataclass(frozen=True, eq=False)
class PairSpace:
    """Every pair is projected and quantised by itself: a system never changes another's score."""

    reference: Embeddings
    scope: Scope = "pair"

    def pair(self, view: str, generated: Embeddings, settings: Settings, needs: Needs) -> Pair:
        """Project the union of the two sets on its leading axes."""
        rows = preprocess(self.reference.views[view], generated.views[view], norm="l2", pca=PCA)
        return Pair(rows.reference, rows.generated, settings, needs)
