"""The noise floor: scores of two halves of the reference, and of systems at the same size.

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
from calipers.catalogue.settings import Settings
from calipers.embedders import Embeddings
from calipers.estimate.knn.strata import largest_stratum
from calipers.evaluate.embedding import Embedded
from calipers.evaluate.given_prompts import GivenPrompts
from calipers.evaluate.inputs import ComparisonInputs
from calipers.evaluate.scoring import SMALL, Rows, choices_for, is_given_prompts, score_rows
from calipers.evaluate.spaces import part_of
from calipers.metrics.pair import Strata
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
    """Score halves of the reference against each other, and every system at their size.

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
        cluster_key = None if clusters is None else (content(clusters.numbers), clusters.blocks)
        keys = tuple(choice.key for choice in choices)
        return "halves", keys, replace(settings, threads=None), count, cluster_key

    scored: dict[Hashable, Values] = kept(key, dict)
    halves = ReferenceHalves(embedded.reference, tuple(choices), settings, count, clusters, scored)
    systems = [
        (system, files, SystemAnswers(files, [file.clusters for file in system.files], given))
        for system, files, given in zip(
            inputs.systems, embedded.systems, embedded.prompts, strict=True
        )
    ]
    fit = [(system, answers) for system, _, answers in systems if halves.fits(answers)]
    steps = count * (len({halves.kind(answers) for _, answers in fit}) + len(fit))
    with progress.task("Measuring the noise floor", steps) as advance:
        floors = {system.name: halves.floors(answers, advance) for system, answers in fit}
    without = [(system.name, files) for system, files, _ in systems if system.name not in floors]
    return Floors(floors, _missing(halves, without))


def add_floors(comparison: Comparison, floors: Floors) -> Comparison:
    """Add the floors to their scores."""
    systems = []
    for system in comparison.systems:
        of_system = floors.of.get(system.name, {})
        scores = {
            name: replace(score, floor=of_system[name]) if name in of_system else score
            for name, score in system.scores.items()
        }
        systems.append(replace(system, scores=scores))
    warnings = (*comparison.warnings, *floors.warnings)
    return replace(comparison, systems=tuple(systems), warnings=warnings)


@dataclass(frozen=True, eq=False)
class SystemAnswers:
    """The files of one system, the clusters of their rows, and their shared prompts."""

    files: Sequence[Embeddings]
    clusters: Sequence[Clusters | None]
    given: Sequence[GivenPrompts | None]

    @property
    def shared(self) -> GivenPrompts | None:
        """The prompts of the first file, for checks that concern all files."""
        return self.given[0]


@dataclass(frozen=True, eq=False)
class ReferenceHalves:
    """The reference and scores of its halves by size, shared by the floors of all systems."""

    reference: Embeddings
    choices: tuple[Choice, ...]
    settings: Settings
    splits: int
    clusters: Clusters | None = None
    scored: dict[Hashable, Values] = field(default_factory=dict)

    def size(self, files: Sequence[Embeddings], given: GivenPrompts | None = None) -> int:
        """Return the samples on each side, for one system."""
        clusters = self.clusters
        if clusters is None and given is not None:
            clusters = given.clusters[0]
        return floor_size(len(self.reference), min(map(len, files)), clusters)

    def fits(self, answers: SystemAnswers) -> bool:
        """Whether halves are large enough for k neighbours."""
        size, given = self.size(answers.files, answers.shared), answers.shared
        mates = 1 if given is None else max(map(largest_stratum, given.strata))
        return size - mates >= self.settings.k

    def kind(self, answers: SystemAnswers) -> Hashable:
        """What the halves of the reference depend on besides their number."""
        keys = [None if given is None else given.key for given in answers.given]
        return self.size(answers.files, answers.shared), tuple(dict.fromkeys(keys))

    def floors(self, answers: SystemAnswers, advance: Advance) -> dict[str, NoiseFloor]:
        """Measure the floors of one system, with all its files.

        Of rows that answer the same prompts, those of one prompt lie in one half.
        """
        size, beside, files = self.size(answers.files, answers.shared), [], answers.files
        kind = self.kind(answers)
        known = self.scored.get(kind)
        halves: Values = []

        def rows_of(split: int) -> Split:
            place = split % len(files)
            ours, theirs, given = self.clusters, answers.clusters[place], answers.given[place]
            together = None if ours is None or theirs is None else (ours, theirs)
            if together is None and given is not None:
                together = given.clusters
            return split_rows(
                len(self.reference),
                len(files[place]),
                size=size,
                seed=self.settings.seed,
                split=split,
                clusters=together,
            )

        def score(split: int) -> Values:
            place, rows = split % len(files), rows_of(split)
            reference, file, given = self.reference, files[place], answers.given[place]
            strata = None
            if given is not None:
                reference, file = given.embeddings(reference, file, self.settings)
                strata = given.strata
            others = [(file, rows.generated, strata)]
            if known is None:
                reference_strata = None if strata is None else (strata[0], strata[0])
                others.append((reference, rows.second, reference_strata))
            return [self._score((reference, rows.first), rows, *o, abreast, given) for o in others]

        abreast = size <= SMALL
        threads = self.settings.threads
        with workers(threads) if abreast else nullcontext(Workers.alone()) as pool:
            for scores in pool.map(score, range(self.splits)):
                beside.append(scores[0])
                halves.extend(scores[1:])
                advance(len(scores))
        halves = self.scored.setdefault(kind, halves if known is None else known)
        return _floors(halves, beside, n=len(self.reference), m=sum(map(len, files)), size=size)

    def _score(
        self,
        first: tuple[Embeddings, Rows],
        split: Split,
        other: Embeddings,
        rows: Rows,
        strata: Strata | None,
        alone: bool,
        given: GivenPrompts | None,
    ) -> dict[str, Score]:
        """Score rows of a set against the first half of a split, on one thread or on all."""
        threads = 1 if alone else self.settings.threads
        settings = self.settings if given is None else given.settings(self.settings)
        settings = replace(settings, seed=split.seed, threads=threads, restarts=RESTARTS)
        choices = [one for one in self.choices if given is None or is_given_prompts(one)]
        return score_rows(first, (other, rows), choices, settings, pair=part_of, strata=strata)


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
