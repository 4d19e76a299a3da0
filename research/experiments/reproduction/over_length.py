"""Scores over the length of the texts: both sides cut to ever more words, over the same prompts.

As `calipers compare` has it, which keeps the cells of MAUVE where it leaves out blocks of prompts:
clustered anew, starts of k-means would pass for noise. The Fréchet distance has no cells, and is
measured again without each of ten blocks.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from calipers import metrics
from calipers.catalogue.choosing import choose, needs_of
from calipers.catalogue.settings import Settings
from calipers.evaluate.intervals import with_intervals
from calipers.evaluate.spaces import pair_of
from calipers.uncertainty.differences import differences
from calipers.uncertainty.replicates import spreads
from reproduction.verdicts import LEVEL, Estimate, Row, jackknife

CHOICES = choose(("mauve_star", "precision", "recall"), ("meaning",))
NEEDS = needs_of(choice.metric for choice in CHOICES)
Sides = tuple[np.ndarray, np.ndarray]


def over_length(sides: Sequence[Sides], settings: Settings) -> dict[str, Row]:
    """MAUVE*, precision, recall and the Fréchet distance at every length, and their differences.

    Parameters
    ----------
    sides
        For every length the vectors of both sets, row by row of the same prompts.
    settings
        Of the metrics.
    """
    pairs = [pair_of(*both, settings, NEEDS) for both in sides]
    moved = [spreads(pair, CHOICES) for pair in pairs]
    made = [
        with_intervals({choice.name: choice.score(pair) for choice in CHOICES}, spread, LEVEL)
        for pair, spread in zip(pairs, moved, strict=True)
    ]
    values = [{name: score.value for name, score in scores.items()} for scores in made]
    tests = differences(values, moved, prompts=[0] * len(sides), level=LEVEL)
    found = {}
    for choice in CHOICES:
        gaps = {
            (test.first, test.second): Estimate(test.value, test.interval, test.p_value).negative()
            for test in tests
            if test.score == choice.name
        }
        found[choice.name] = Row(tuple(Estimate.of(each[choice.name]) for each in made), gaps)

    def distances(kept: np.ndarray) -> list[float]:
        return [metrics.frechet_distance(x[kept], y[kept]).value for x, y in sides]

    found["frechet_distance"] = jackknife(distances, len(sides[0][0]), blocks=10)
    return found
