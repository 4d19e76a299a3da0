"""A region in words and samples: what is said of every cell and every topic."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from calipers.explain.division import Division
from calipers.explain.evidence import Evidence
from calipers.explain.parts import Direction, Region, Sample
from calipers.explain.space import NearMeans, Space

MEDOIDS = 3
MISSED = 5


class Describer:
    """Describes the regions of one division.

    Parameters
    ----------
    evidence, space, division
        What was measured, where the rows lie, and how they are divided.
    outside
        Generated rows outside the reference's support, or None.
    """

    def __init__(
        self,
        evidence: Evidence,
        space: Space,
        division: Division,
        outside: NDArray[np.intp] | None,
    ) -> None:
        self._evidence, self._division = evidence, division
        self._score = float(division.contributions.sum())
        self._counts = division.counts
        covered = evidence.neighbours.get("covered")
        missed = None if covered is None else ~np.asarray(covered, bool)
        sides = (space.reference, division.reference), (space.generated, division.generated)
        self._middles = [NearMeans(*side, len(division)) for side in sides]
        self._missed = None if missed is None else NearMeans(*sides[0], len(division), missed)
        self._outside = None
        if outside is not None:
            self._outside = np.bincount(division.generated[outside], minlength=len(division))

    def region(self, place: int, words: tuple[str, ...]) -> Region:
        """Describe one region."""
        division, (reference, generated) = self._division, self._middles
        contribution = float(division.contributions[place])
        return Region(
            words=words,
            reference=int(self._counts[0][place]),
            generated=int(self._counts[1][place]),
            expected=float(division.expected[place]),
            produced=float(division.produced[place]),
            contribution=contribution,
            share=contribution / self._score if self._score > 0 else float("nan"),
            direction=direction(*self._counts, place),
            uncovered=None if self._missed is None else self._missed.size(place),
            outside=None if self._outside is None else int(self._outside[place]),
            cells=division.cells[place],
            reference_medoids=_samples(self._evidence.reference_texts, reference, place, MEDOIDS),
            generated_medoids=_samples(self._evidence.generated_texts, generated, place, MEDOIDS),
            missed_samples=_samples(self._evidence.reference_texts, self._missed, place, MISSED),
        )


def direction(reference: NDArray[Any], generated: NDArray[Any], place: int) -> Direction:
    """Whether the generated set has more or less of a region than the reference, by raw shares."""
    expected = int(reference[place]) * int(generated.sum())
    produced = int(generated[place]) * int(reference.sum())
    if produced == expected:
        return "even"
    return "over" if produced > expected else "under"


def _samples(
    texts: Sequence[str] | None, near: NearMeans | None, place: int, count: int
) -> tuple[Sample, ...]:
    rows = [] if near is None else near.of(place, count)
    return tuple(Sample(row, None if texts is None else texts[row]) for row in rows)
