"""What metrics need from the one pass over the distances, so that it measures nothing else."""

from __future__ import annotations

from dataclasses import dataclass

CLIPPED_K = 5
"""Neighbours of the balls of clipped density and coverage."""

COVER_K, COVER_FACTOR = 3, 3
"""Samples that make a cover, and how many times as many neighbours its ball has."""

SPREAD = (4, 1.2)
"""Neighbours and factor of the one radius of probabilistic precision and recall."""


@dataclass(frozen=True)
class Needs:
    """What metrics need beyond the k-NN balls that they all share.

    Attributes
    ----------
    k
        Neighbours of balls whose k the metric fixes itself; 0 for none.
    capped, smaller, spread, across
        Whether a metric reads this one of the further supports.
    """

    k: int = 0
    capped: bool = False
    smaller: bool = False
    spread: bool = False
    across: bool = False

    @property
    def every_pair(self) -> bool:
        """Whether all pairs count, however distant, which a search for neighbours cannot serve."""
        return self.smaller or self.spread

    def __or__(self, other: Needs) -> Needs:
        return Needs(
            max(self.k, other.k),
            self.capped or other.capped,
            self.smaller or other.smaller,
            self.spread or other.spread,
            self.across or other.across,
        )


NOTHING = Needs()
CLIPPED = Needs(CLIPPED_K, capped=True)
CLIPPED_COVERAGE = Needs(CLIPPED_K)
COVER = Needs(COVER_K * COVER_FACTOR)
PROBABILISTIC = Needs(SPREAD[0], spread=True)
REALISM = Needs(smaller=True)
ACROSS = Needs(across=True)
EVERYTHING = CLIPPED | COVER | PROBABILISTIC | REALISM | ACROSS
