"""What metrics ask of the one pass over the distances, so that it measures no more than that."""

from __future__ import annotations

from dataclasses import dataclass

from calipers.estimate.knn.balls import Supports
from calipers.metrics.robust import CLIPPED_K, COVER_FACTOR, COVER_K, SPREAD


@dataclass(frozen=True)
class Needs:
    """What metrics ask for beyond the balls of the k that they all share.

    Attributes
    ----------
    k
        Neighbours of balls whose k the metric fixes itself; 0 for none.
    capped, smaller, spread
        Whether a metric reads this one of the further supports.
    """

    k: int = 0
    capped: bool = False
    smaller: bool = False
    spread: bool = False

    def __or__(self, other: Needs) -> Needs:
        return Needs(
            max(self.k, other.k),
            self.capped or other.capped,
            self.smaller or other.smaller,
            self.spread or other.spread,
        )

    def supports(self, k: int, largest: int) -> Supports:
        """The supports to measure where sets allow balls of at most `largest` neighbours."""
        return Supports(
            capped=CLIPPED_K if self.capped and largest >= CLIPPED_K else None,
            smaller=k if self.smaller else None,
            spread=SPREAD if self.spread and largest >= SPREAD[0] else None,
        )


NOTHING = Needs()
CLIPPED = Needs(CLIPPED_K, capped=True)
CLIPPED_COVERAGE = Needs(CLIPPED_K)
COVER = Needs(COVER_K * COVER_FACTOR)
PROBABILISTIC = Needs(SPREAD[0], spread=True)
REALISM = Needs(smaller=True)
EVERYTHING = CLIPPED | COVER | PROBABILISTIC | REALISM
