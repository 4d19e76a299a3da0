"""Tests of which topics are under- or over-represented in a generated set.

Two halves of one reference have different shares of every topic, too. So each topic is tested: does
its share differ by more than chance brings? Cells and topics are made of both sets together, and no
step of it looks at which set a row is of. If both sets have one distribution, every way to deal the
rows of a topic to the sets is therefore equally likely, whatever the topics are, and Fisher's exact
test holds although topics were found in the same data. Where rows come in clusters, whole clusters
are permuted instead. p-values are corrected over the topics by Holm's method.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from calipers.explain.evidence import Evidence
from calipers.explain.model import Region, Topic
from calipers.explain.topics import Division
from calipers.uncertainty.holm import holm
from calipers.uncertainty.proportions import (
    PERMUTATIONS,
    clustered_p_values,
    effective_counts,
    exact_p_value,
    ratio_interval,
)

FINE = 10
"""How many times finer than the strictest threshold of Holm p-values of permutations are."""


def tested(
    evidence: Evidence,
    division: Division,
    regions: Sequence[Region],
    places: Sequence[int],
    *,
    level: float,
    seed: int,
) -> tuple[Topic, ...]:
    """Test the shares of topics in both sets.

    Parameters
    ----------
    evidence, division
        What was measured, and the topic of every row.
    regions, places
        All topics as regions, and the place of each in the division.
    level
        Of confidence.
    seed
        Of the permutations of clusters.
    """
    p_values = _p_values(evidence, division, level, seed)
    adjusted, alpha = holm(p_values), round(1 - level, 12)
    made = []
    for region, place in zip(regions, places, strict=True):
        shares = region.reference / evidence.n, region.generated / evidence.m
        counts = _counts(evidence, division, place)
        made.append(
            Topic(
                **vars(region),
                reference_share=shares[0],
                generated_share=shares[1],
                ratio=shares[1] / shares[0] if shares[0] else None,
                interval=ratio_interval(*counts, level=level),
                p_value=float(p_values[place]),
                adjusted_p_value=float(adjusted[place]),
                significant=bool(adjusted[place] < alpha),
            )
        )
    return tuple(made)


def _p_values(
    evidence: Evidence, division: Division, level: float, seed: int
) -> NDArray[np.float64]:
    clusters = evidence.clusters
    if clusters is None:
        reference, generated = (counts.tolist() for counts in division.counts)
        pairs = zip(generated, reference, strict=True)
        return np.array([exact_p_value(x, evidence.m, y, evidence.n) for x, y in pairs])
    needed = int(FINE * len(division) / (1 - level))
    return clustered_p_values(
        (np.asarray(division.generated), clusters[1]),
        (np.asarray(division.reference), clusters[0]),
        categories=len(division),
        permutations=max(PERMUTATIONS, needed),
        seed=seed,
    )


def _counts(evidence: Evidence, division: Division, place: int) -> tuple[float, ...]:
    """Rows in a topic and all rows, of the generated set and of the reference."""
    sides = division.generated == place, division.reference == place
    if evidence.clusters is None:
        return tuple(float(count) for side in sides for count in (side.sum(), len(side)))
    pairs = zip(sides, reversed(evidence.clusters), strict=True)
    return tuple(labels for side, count in pairs for labels in effective_counts(side, count))
