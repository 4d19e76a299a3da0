"""The noise floor of a comparison: two halves of the reference, and every system beside them.

Every split costs one comparison of half the size, and one more for each system. Parts are taken
from embeddings that exist, and compared each in a space of its own, as pairs are by default; where
a run shares one space (``shared=True``), its scores rest on other cells than their floors.
"""

from __future__ import annotations

from collections.abc import Collection, Hashable, Mapping, Sequence
from contextlib import nullcontext
from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import NDArray

from calipers.catalogue.choosing import Choice
from calipers.embed import Embeddings
from calipers.evaluate.embedding import Embedded
from calipers.evaluate.inputs import ComparisonInputs
from calipers.evaluate.scoring import SMALL, Rows, choices_for, score_rows
from calipers.evaluate.spaces import part_of
from calipers.metrics.pair import Settings
from calipers.numeric.blocks import Clusters
from calipers.numeric.kept import content, kept
from calipers.numeric.threads import Workers, workers
from calipers.numeric.validation import check_whole
from calipers.progress import Advance, Progress
from calipers.results import Comparison
from calipers.score import NoiseFloor, Score
from calipers.uncertainty.noise_floor import SPLITS, Split, floor_size, noise_floor, split_rows

RESTARTS = 2
"""Starts of k-means for each number."""

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
    count = max(splits, *(len(system.files) for system in inputs.systems))
    if shown is not None:
        choices = choices_for(shown, choices, tuple(embedded.reference.views))
    clusters = inputs.reference.clusters

    def key() -> Hashable:
        own = None if clusters is None else (content(clusters.numbers), clusters.blocks)
        keys = tuple(choice.key for choice in choices)
        return "halves", keys, replace(settings, threads=None), count, own

    scored: dict[int, Values] = kept(key, dict)
    halves = ReferenceHalves(embedded.reference, tuple(choices), settings, count, clusters, scored)
    systems = list(zip(inputs.systems, embedded.systems, strict=True))
    fit = [(system, files) for system, files in systems if halves.size(files) > settings.k]
    steps = count * (len({halves.size(files) for _, files in fit}) + len(fit))
    with progress.task("Measuring the noise floor", steps) as advance:
        floors = {
            system.name: halves.floors(files, advance, [file.clusters for file in system.files])
            for system, files in fit
        }
    without = [(system.name, files) for system, files in systems if system.name not in floors]
    return Floors(floors, _missing(halves, without))


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
class ReferenceHalves:
    """What the floors of all systems share: the reference, and its halves once scored, by size."""

    reference: Embeddings
    choices: tuple[Choice, ...]
    settings: Settings
    splits: int
    clusters: Clusters | None = None
    scored: dict[int, Values] = field(default_factory=dict)

    def size(self, files: Sequence[Embeddings]) -> int:
        """Samples on each side, for one system."""
        return floor_size(len(self.reference), min(map(len, files)), self.clusters)

    def floors(
        self,
        files: Sequence[Embeddings],
        advance: Advance,
        clusters: Sequence[Clusters | None],
    ) -> dict[str, NoiseFloor]:
        """Measure the floors of one system, with all its files and the clusters of each."""
        size, beside = self.size(files), []
        known = self.scored.get(size)
        halves: Values = []

        def rows_of(split: int) -> Split:
            file, theirs = files[split % len(files)], clusters[split % len(files)]
            return split_rows(
                len(self.reference),
                len(file),
                size=size,
                seed=self.settings.seed,
                split=split,
                clusters=None
                if self.clusters is None or theirs is None
                else (self.clusters, theirs),
            )

        def score(split: int) -> Values:
            rows, file = rows_of(split), files[split % len(files)]
            others = [(file, rows.generated)]
            if known is None:
                others.append((self.reference, rows.second))
            return [self._score(rows, *other, abreast) for other in others]

        abreast = size <= SMALL
        threads = self.settings.threads
        with workers(threads) if abreast else nullcontext(Workers.alone()) as pool:
            for scores in pool.map(score, range(self.splits)):
                beside.append(scores[0])
                halves.extend(scores[1:])
                advance(len(scores))
        halves = self.scored.setdefault(size, halves if known is None else known)
        return _floors(halves, beside, n=len(self.reference), m=sum(map(len, files)), size=size)

    def _score(self, split: Split, other: Embeddings, rows: Rows, alone: bool) -> dict[str, Score]:
        """Score rows of a set against the first half of a split, on one thread or on all."""
        threads = 1 if alone else self.settings.threads
        settings = replace(self.settings, seed=split.seed, threads=threads, restarts=RESTARTS)
        sides = (self.reference, split.first), (other, rows)
        return score_rows(*sides, self.choices, settings, pair=part_of)


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


def _missing(
    halves: ReferenceHalves, systems: Sequence[tuple[str, Sequence[Embeddings]]]
) -> tuple[str, ...]:
    """Say which systems have no floor, and why."""
    if not systems:
        return ()
    names, k = ", ".join(name for name, _ in systems), halves.settings.k
    return (
        f"no noise floor for {names}: two halves of the {len(halves.reference)} reference samples "
        f"and as many generated ones would be sets of {halves.size(systems[0][1])}; k = {k} needs "
        f"at least {k + 1}",
    )
