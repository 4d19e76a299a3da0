"""Explain the gap between one generated set and the reference by samples and topics."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from calipers.errors import InputError
from calipers.explain.evidence import DistanceSpace, Evidence, NearMeans
from calipers.explain.model import Copy, Direction, Explanation, Neighbour, Outlier, Region, Sample
from calipers.explain.representation import tested
from calipers.explain.topics import Division, coarser, division_of
from calipers.explain.words import Keywords

TOPICS = 12
LIMIT = 50
LEVEL = 0.95
NEAREST, MEDOIDS, UNCOVERED = 3, 3, 5
PICTURED_MEDOIDS, PICTURED_UNCOVERED, BEST = 8, 8, 8
"""Of images, of which a person sees many at a glance."""


def explain_pair(
    evidence: Evidence,
    *,
    view: str,
    topics: int = TOPICS,
    limit: int = LIMIT,
    level: float = LEVEL,
    seed: int = 0,
) -> Explanation:
    """Find the samples and topics that cause the gap between a generated set and the reference.

    Parameters
    ----------
    evidence
        The vectors, texts and measurements of one pair in one view.
    view
        Its name.
    topics
        Number of regions into which cells are merged, from 1 to the number of cells.
    limit
        Number of samples outside the support, near copies and cells to list, at least 1; all
        of them are counted.
    level
        Confidence level, between 0 and 1, of the tests of topics and of the intervals of their
        ratios.
    seed
        Seed of the permutations in the tests of topics, where rows come in clusters.

    Returns
    -------
    Explanation
        What the evidence supports; `notes` lists what it does not.

    Raises
    ------
    InputError
        If the evidence does not fit together, or a parameter is out of its range.

    Examples
    --------
    >>> import numpy as np
    >>> reference, generated = np.eye(2)[[0, 0, 0, 1]], np.eye(2)[[0, 0, 0, 0]]
    >>> evidence = Evidence(
    ...     reference, generated, reference_cells=reference[:, 1].astype(int),
    ...     generated_cells=generated[:, 1].astype(int), k=1,
    ... )
    >>> found = explain_pair(evidence, view="meaning", topics=2)
    >>> [(topic.reference_share, topic.generated_share) for topic in found.topics]
    [(0.25, 0.0), (0.75, 1.0)]
    """
    for name, value in (("topics", topics), ("limit", limit)):
        if type(value) is not int or value < 1:
            raise InputError(f"{name} must be a whole number of at least 1; found {value!r}")
    if not 0 < level < 1:
        raise InputError(f"level must be between 0 and 1; found {level!r}")
    space = DistanceSpace.of(evidence)
    outside, copied, cells = rows_outside(evidence), rows_copied(evidence), division_of(evidence)
    merged = None if cells is None else coarser(cells, space, topics)
    described, places = _regions(evidence, space, outside, merged, cells, limit)
    tested_topics = (
        ()
        if merged is None
        else tested(evidence, merged, described[0], places, level=level, seed=seed)
    )
    covered = evidence.neighbours.get("covered")
    return Explanation(
        view=view,
        n=evidence.n,
        m=evidence.m,
        k=evidence.k,
        score=None if cells is None else float(cells.contributions.sum()),
        topics=tested_topics,
        cells=described[1],
        outside=tuple(outlier(evidence, space, row) for row in _first(outside, limit)),
        outside_count=None if outside is None else len(outside),
        uncovered_count=None if covered is None else int(np.sum(~np.asarray(covered, bool))),
        copies=tuple(copy_of(evidence, row) for row in _first(copied, limit)),
        copies_count=None if copied is None else len(copied),
        notes=tuple(_notes(evidence)),
        level=level,
        best=tuple(outlier(evidence, space, row) for row in rows_best(evidence)[:BEST]),
        train_copies=tuple(_copies_of_training(evidence, limit)),
        train_copies_count=None if evidence.trained is None else evidence.trained.copied,
    )


def _regions(
    evidence: Evidence,
    space: DistanceSpace,
    outside: NDArray[np.intp] | None,
    topics: Division | None,
    cells: Division | None,
    limit: int,
) -> tuple[tuple[tuple[Region, ...], ...], list[int]]:
    """Describe all topics and the first cells, the largest contribution first; places of topics."""
    if topics is None or cells is None:
        return ((), ()), []
    counted = evidence.words()
    naming = counted and Keywords(*counted, (topics.reference, topics.generated))
    regions = []
    for division, shown in ((topics, len(topics)), (cells, limit)):
        places = division.worst_first[:shown].tolist()
        describer = Describer(evidence, space, division, outside)
        words = _keywords(naming, division, places)
        regions.append(tuple(map(describer.region, places, words)))
    return tuple(regions), topics.worst_first.tolist()


def _keywords(
    naming: Keywords | None, division: Division, places: list[int]
) -> list[tuple[str, ...]]:
    """Of each region the words that the side with more of it uses."""
    if naming is None:
        return [()] * len(places)
    counts = division.counts
    sides = {place: int(direction(*counts, place) == "over") for place in places}
    return naming.of((division.reference, division.generated), len(division), sides)


def _first(rows: NDArray[Any] | None, limit: int) -> list[int]:
    return [] if rows is None else rows[:limit].tolist()


def _notes(evidence: Evidence) -> Iterator[str]:
    lie = evidence.neighbours
    if evidence.reference_cells is None or evidence.generated_cells is None:
        yield (
            "no topics: the sets were not divided into cells; ask for a metric that does so, such "
            "as mauve or frontier_integral"
        )
    elif not evidence.has_words and not evidence.pictured:
        yield "topics have no keywords: the samples are not texts"
    if evidence.clusters is not None and evidence.reference_cells is not None:
        sizes = [len(np.unique(labels)) for labels in evidence.clusters]
        yield (
            f"topics were tested by permuting whole clusters: {sizes[0]} in the reference, "
            f"{sizes[1]} in the generated set"
        )
    if "reference_first_k" not in lie:
        yield (
            "no samples outside the support: neighbourhoods were not measured; ask for a metric "
            "of theirs, such as precision"
        )
    elif evidence.realism is None:
        yield "samples outside are sorted by distance alone, since realism was not measured"
    if "covered" not in lie:
        yield "no uncovered samples: coverage was not measured"
    if "copied" not in lie:
        yield "no near copies: near_copies was not measured"


# ------------------------------------------------------------------ regions


class Describer:
    """Describes the regions of one partition.

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
        space: DistanceSpace,
        division: Division,
        outside: NDArray[np.intp] | None,
    ) -> None:
        self._evidence, self._division = evidence, division
        self._score = float(division.contributions.sum())
        self._counts = division.counts
        covered = evidence.neighbours.get("covered")
        uncovered = None if covered is None else ~np.asarray(covered, bool)
        sides = (space.reference, division.reference), (space.generated, division.generated)
        self._middles = [NearMeans(*side, len(division)) for side in sides]
        self._uncovered = (
            None if uncovered is None else NearMeans(*sides[0], len(division), uncovered)
        )
        self._outside = None
        if outside is not None:
            self._outside = np.bincount(division.generated[outside], minlength=len(division))

    def region(self, place: int, keywords: tuple[str, ...]) -> Region:
        """Describe one region."""
        evidence, division, (reference, generated) = self._evidence, self._division, self._middles
        medoids = PICTURED_MEDOIDS if evidence.pictured else MEDOIDS
        uncovered = PICTURED_UNCOVERED if evidence.pictured else UNCOVERED
        contribution = float(division.contributions[place])
        return Region(
            keywords=keywords,
            reference=int(self._counts[0][place]),
            generated=int(self._counts[1][place]),
            expected=float(division.expected[place]),
            produced=float(division.produced[place]),
            contribution=contribution,
            share=contribution / self._score if self._score > 0 else float("nan"),
            direction=direction(*self._counts, place),
            uncovered=None if self._uncovered is None else self._uncovered.size(place),
            outside=None if self._outside is None else int(self._outside[place]),
            cells=division.cells[place],
            reference_medoids=_samples(evidence.reference_sample, reference, place, medoids),
            generated_medoids=_samples(evidence.generated_sample, generated, place, medoids),
            uncovered_samples=_samples(
                evidence.reference_sample, self._uncovered, place, uncovered
            ),
        )


def direction(reference: NDArray[Any], generated: NDArray[Any], place: int) -> Direction:
    """Tell whether the generated set has a larger or smaller share of a region."""
    expected = int(reference[place]) * int(generated.sum())
    produced = int(generated[place]) * int(reference.sum())
    if produced == expected:
        return "even"
    return "over" if produced > expected else "under"


def _samples(
    named: Callable[[int], dict[str, Any]], near: NearMeans | None, place: int, count: int
) -> tuple[Sample, ...]:
    rows = [] if near is None else near.of(place, count)
    return tuple(Sample(**named(row)) for row in rows)


# ------------------------------------------------------------------ single samples


def rows_outside(evidence: Evidence) -> NDArray[np.intp] | None:
    """Return generated rows outside all k-NN balls of the reference, worst first, or None.

    By realism where it was measured, else by the distance to the nearest reference sample: both
    tell how far a sample lies from all that is known, the first in units of how dense the
    reference is there.
    """
    first = evidence.neighbours.get("reference_first_k")
    if first is None:
        return None
    rows = np.flatnonzero(np.asarray(first) > evidence.k)
    if evidence.realism is not None:
        return rows[np.argsort(np.asarray(evidence.realism)[rows], kind="stable")]
    far = evidence.neighbours.get("reference_distance")
    return rows if far is None else rows[np.argsort(-np.asarray(far)[rows], kind="stable")]


def rows_best(evidence: Evidence) -> list[int]:
    """Return generated rows deepest inside the reference's support, highest realism first.

    Near copies are left out, since being equal to a reference sample is no quality. Only of images:
    a person sees at a glance what is good in them.
    """
    first, realism = evidence.neighbours.get("reference_first_k"), evidence.realism
    if not evidence.pictured or first is None or realism is None:
        return []
    inside = np.asarray(first) <= evidence.k
    if "copied" in evidence.neighbours:
        inside &= ~np.asarray(evidence.neighbours["copied"], bool)
    rows = np.flatnonzero(inside)
    order: list[int] = rows[np.argsort(-np.asarray(realism)[rows], kind="stable")].tolist()
    return order


def outlier(evidence: Evidence, space: DistanceSpace, row: int) -> Outlier:
    """Return a generated sample outside the support, with its nearest reference samples."""
    realism = None if evidence.realism is None else float(evidence.realism[row])
    first = int(evidence.neighbours["reference_first_k"][row])
    near = tuple(_nearest(evidence, space, row))
    named = evidence.generated_sample(row)
    return Outlier(**named, realism=realism, first_k=first, nearest=near)


def _nearest(evidence: Evidence, space: DistanceSpace, row: int) -> list[Neighbour]:
    """The nearest as it was stored, the others by looking at all."""
    far = space.to_reference(row)
    order = np.argsort(far, kind="stable")[: NEAREST + 1].tolist()
    stored = evidence.neighbours.get("nearest_reference")
    if stored is not None:
        first = int(stored[row])
        order = [first, *(other for other in order if other != first)]
        known = evidence.neighbours.get("reference_distance")
        far[first] = far[first] if known is None else known[row]
    return [
        Neighbour(**evidence.reference_sample(other), distance=float(far[other]))
        for other in order[:NEAREST]
    ]


def rows_copied(evidence: Evidence) -> NDArray[np.intp] | None:
    """Return generated rows that are near copies, closest first; None if not measured."""
    copied, far = (evidence.neighbours.get(name) for name in ("copied", "reference_distance"))
    if copied is None or far is None or "nearest_reference" not in evidence.neighbours:
        return None
    rows = np.flatnonzero(np.asarray(copied, bool))
    return rows[np.argsort(np.asarray(far)[rows], kind="stable")]


def copy_of(evidence: Evidence, row: int) -> Copy:
    """Return a near copy, with the reference sample that it is close to."""
    source = int(evidence.neighbours["nearest_reference"][row])
    far = float(evidence.neighbours["reference_distance"][row])
    known = Sample(**evidence.reference_sample(source))
    return Copy(**evidence.generated_sample(row), distance=far, source=known)


def _copies_of_training(evidence: Evidence, limit: int) -> Iterator[Copy]:
    """Near copies of the training set, closest first, each with its source."""
    trained = evidence.trained
    if trained is None:
        return
    closest = np.argsort(trained.distance, kind="stable")[: min(limit, trained.copied)]
    for row in closest.tolist():
        source = int(trained.nearest[row])
        file = None if trained.files is None else trained.files[source]
        named = evidence.generated_sample(row)
        yield Copy(**named, distance=float(trained.distance[row]), source=Sample(source, file=file))
