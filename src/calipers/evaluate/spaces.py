"""Where two sets are compared: among rows as they are, in a space of the pair, or of a whole run.

Neighbours are looked for among rows of length one, as they are. Whole distributions are compared
on the principal axes of the union that keep 90 % of its variance. With ``projection="union"``
neighbours are looked for there too, as in paper 000; where texts repeat, the axes then follow the
repeats, and precision falls although every text is as good as before (docs/experiments.md).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol, TypeVar

from calipers.catalogue.needs import Needs
from calipers.embed import Embeddings
from calipers.estimate.axes import Projection, preprocess
from calipers.evaluate.clusters import Both
from calipers.metrics.pair import Pair, Settings, Sides
from calipers.numeric.distances import Points

PCA = 0.9

SomePair = TypeVar("SomePair", bound=Pair)


class Space(Protocol):
    """What brings a generated set and the reference to where they are compared."""

    @property
    def scope(self) -> str:
        """Whose rows the projection and the cells are made from, for signatures."""
        ...

    def pair(
        self,
        view: str,
        generated: Embeddings,
        settings: Settings,
        needs: Needs,
        clusters: Both | None = None,
    ) -> Pair:
        """Give the pair of the reference and a generated set, by one view."""
        ...

    def rows(self, view: str, generated: Embeddings) -> Sides | None:
        """Give both sets as neighbours are looked for; None where that follows from the two."""
        ...


@dataclass(frozen=True, eq=False)
class PairSpace:
    """Every pair is projected and quantised by itself: a system never changes another's score."""

    reference: Embeddings
    scope: str = "pair"

    def pair(
        self,
        view: str,
        generated: Embeddings,
        settings: Settings,
        needs: Needs,
        clusters: Both | None = None,
    ) -> Pair:
        """Compare the two sets by themselves."""
        given = self.reference.views[view], generated.views[view]
        return pair_of(*given, settings, needs, clusters=clusters)

    def rows(self, view: str, generated: Embeddings) -> Sides | None:
        """Nothing: the rows are made again where they are needed."""
        return None


def pair_of(
    reference: Points,
    generated: Points,
    settings: Settings,
    needs: Needs,
    kind: type[SomePair] = Pair,  # type: ignore[assignment]
    *,
    clusters: Both | None = None,
) -> SomePair:
    """Bring two sets of embeddings to where their neighbours and their distributions are compared.

    The projection is made when a metric first needs it.
    """
    given = reference, generated

    def project() -> Sides:
        return _prepared(given, PCA, settings.threads)

    if settings.projection == "union":
        return kind(*project(), settings, needs, given=given, clusters=clusters)
    rows = _prepared(given, None, settings.threads)
    return kind(*rows, settings, needs, given=given, project=project, clusters=clusters)


def neighbour_rows(
    reference: Points, generated: Points, projection: Projection, threads: int | None = None
) -> Sides:
    """Bring two sets of embeddings to where neighbours are looked for, and only there."""
    return _prepared((reference, generated), PCA if projection == "union" else None, threads)


def _prepared(given: Sides, pca: float | None, threads: int | None) -> Sides:
    rows = preprocess(*given, norm="l2", pca=pca, threads=threads)
    return rows.reference, rows.generated
