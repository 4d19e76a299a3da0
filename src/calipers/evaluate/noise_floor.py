"""The noise floor of a comparison: two halves of the reference, and every system beside them.

Every split costs one comparison of half the size, and one more for each system. Parts are taken
from embeddings that exist, and compared each in a space of its own, as pairs are by default; where
a run shares one space (``shared=True``), its scores rest on other cells than their floors.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from calipers.catalogue.choosing import Choice, key, needs_of
from calipers.embed import Embeddings
from calipers.evaluate.embedding import Embedded
from calipers.evaluate.inputs import ComparisonInputs
from calipers.evaluate.scoring import by_name
from calipers.evaluate.spaces import pair_of
from calipers.metrics.pair import Pair, Settings
from calipers.numeric.blocks import Clusters
from calipers.numeric.validation import check_whole
from calipers.progress import Advance, Progress
from calipers.results import Comparison
from calipers.score import NoiseFloor, Score
from calipers.uncertainty.noise_floor import SPLITS, Split, floor_size, noise_floor, split_rows

Rows = NDArray[np.intp]

Values = list[dict[str, Score]]
"""Scores by key, for each split."""


@dataclass(frozen=True)
class Floors:
    """The noise floors of a run.

    Attributes
    ----------
    of
        By the name of the system, then by the key of the score. Scores by group, against a
        training set and of the texts themselves have none, nor has a score that is not finite in
        some split.
    warnings
        Why there are none, where halves are too small.
    """

    of: Mapping[str, Mapping[str, NoiseFloor]]
    warnings: tuple[str, ...] = ()


def measure_floors(
    inputs: ComparisonInputs,
    embedded: Embedded,
    choices: Sequence[Choice],
    settings: Settings,
    progress: Progress,
    *,
    splits: int = SPLITS,
    shown: Collection[str] | None = None,
) -> Floors:
    """Score halves of the reference against each other, and every system at the same size.

    The halves are shared by all systems of one size. A system of several files takes the splits in
    turn, another file for each. Of the settings all hold; cells that follow the number of samples
    (``buckets="auto"``) follow that of a half, on both sides of the comparison.

    Parameters
    ----------
    splits
        How often the reference is split, at least twice; more where a system has more files.
    shown
        Keys ``[view.]metric[:option…]`` of the scores to measure it for; None for all of them.

    Raises
    ------
    InputError
        If `splits` is below 2: one split has no spread.
    """
    check_whole("splits", splits, 2)
    count = max(splits, *(len(entry.files) for entry in inputs.systems))
    if shown is not None:
        choices = choices_for(shown, choices, tuple(embedded.reference.views))
    clusters = inputs.reference.clusters
    job = FloorJob(embedded.reference, tuple(choices), settings, count, clusters)
    systems = list(zip(inputs.systems, embedded.systems, strict=True))
    fit = [(entry, parts) for entry, parts in systems if job.size(parts) > settings.k]
    steps = count * (len({job.size(parts) for _, parts in fit}) + len(fit))
    with progress.task("Measuring the noise floor", steps) as advance:
        floors = {
            entry.name: job.floors(parts, advance, [file.clusters for file in entry.files])
            for entry, parts in fit
        }
    without = [(entry.name, parts) for entry, parts in systems if entry.name not in floors]
    return Floors(floors, _missing(job, without))


def add_floors(comparison: Comparison, floors: Floors) -> Comparison:
    """Put the floors beside the scores that they belong to."""
    systems = []
    for system in comparison.systems:
        own = floors.of.get(system.name, {})
        scores = {
            name: replace(score, floor=own[name]) if name in own else score
            for name, score in system.scores.items()
        }
        systems.append(replace(system, scores=scores))
    warnings = (*comparison.warnings, *floors.warnings)
    return replace(comparison, systems=tuple(systems), warnings=warnings)


@dataclass(frozen=True, eq=False)
class FloorJob:
    """What the floors of all systems share: the reference, and its halves once scored, by size."""

    reference: Embeddings
    choices: tuple[Choice, ...]
    settings: Settings
    splits: int
    clusters: Clusters | None = None
    halves: dict[int, Values] = field(default_factory=dict)

    @property
    def n(self) -> int:
        """Samples of the reference."""
        return length(self.reference)

    def size(self, parts: Sequence[Embeddings]) -> int:
        """Samples on each side, for one system."""
        return floor_size(self.n, min(map(length, parts)), self.clusters)

    def floors(
        self,
        parts: Sequence[Embeddings],
        advance: Advance,
        clusters: Sequence[Clusters | None],
    ) -> dict[str, NoiseFloor]:
        """Measure the floors of one system, with all its files and the clusters of each."""
        size, systems = self.size(parts), []
        halves = self.halves.setdefault(size, [])
        for split in range(self.splits):
            file, theirs = parts[split % len(parts)], clusters[split % len(parts)]
            rows = split_rows(
                self.n,
                length(file),
                size=size,
                seed=self.settings.seed,
                split=split,
                clusters=None
                if self.clusters is None or theirs is None
                else (self.clusters, theirs),
            )
            if len(halves) == split:
                halves.append(self._score(rows, self.reference, rows.second))
                advance(1)
            systems.append(self._score(rows, file, rows.generated))
            advance(1)
        return _floors(halves, systems, n=self.n, m=sum(map(length, parts)), size=size)

    def _score(self, split: Split, other: Embeddings, rows: Rows) -> dict[str, Score]:
        """Score rows of a set against the first half of a split."""
        settings = replace(self.settings, seed=split.seed)
        sides = (self.reference, split.first), (other, rows)
        return score_parts(*sides, self.choices, settings)


def _floors(halves: Values, systems: Values, **sizes: int) -> dict[str, NoiseFloor]:
    floors = {
        name: noise_floor(
            _column(halves, name),
            _column(systems, name),
            one_set=score.better == "closest",
            **sizes,
        )
        for name, score in halves[0].items()
    }
    return {name: floor for name, floor in floors.items() if floor is not None}


def _column(values: Values, name: str) -> NDArray[np.float64]:
    return np.array([scores[name].value for scores in values])


def _missing(job: FloorJob, systems: Sequence[tuple[str, Sequence[Embeddings]]]) -> tuple[str, ...]:
    """Say which systems have no floor, and why."""
    if not systems:
        return ()
    names, size, k = ", ".join(name for name, _ in systems), job.size(systems[0][1]), job.settings.k
    return (
        f"no noise floor for {names}: two halves of the {job.n} reference samples and as many "
        f"generated ones would be sets of {size}; k = {k} needs at least {k + 1}",
    )


def length(embeddings: Embeddings) -> int:
    """Count the rows of a set."""
    return len(next(iter(embeddings.views.values())))


class WithoutBlocks(Pair):
    """A pair whose estimates keep no replicates: nothing reads them from a part."""

    @cached_property
    def blocks(self) -> None:
        """No labels."""
        return None


def choices_for(
    shown: Collection[str], choices: Sequence[Choice], views: tuple[str, ...]
) -> list[Choice]:
    """Give the choices behind keys of scores, each for the views that the keys name."""
    return [
        replace(choice, view=view)
        for choice in choices
        for view in views
        if choice.view in (None, view) and key(view, choice.name, views) in shown
    ]


def score_parts(
    reference: tuple[Embeddings, Rows],
    generated: tuple[Embeddings, Rows],
    choices: Sequence[Choice],
    settings: Settings,
) -> dict[str, Score]:
    """Score some rows of both sets, in every view, as a comparison of just these would.

    Every part is projected and quantised by itself, whatever the space of the whole run.
    """
    (left, rows), (right, others) = reference, generated
    views = tuple(left.views)
    scored: dict[str, Score] = {}
    for view in views:
        of_view = by_name(choice for choice in choices if choice.view in (None, view))
        if not of_view:
            continue
        given = left.views[view][rows], right.views[view][others]
        needs = needs_of(choice.metric for choice in of_view)
        pair = pair_of(*given, settings, needs, WithoutBlocks)
        scores = {key(view, choice.name, views): choice.score(pair) for choice in of_view}
        scored |= {name: replace(score, per_sample=None) for name, score in scores.items()}
    return scored
