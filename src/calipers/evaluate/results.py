"""The last stage: from embeddings of every set to the comparison that a person reads."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial

import numpy as np

from calipers.catalogue.choosing import Choice
from calipers.embed import Embeddings
from calipers.evaluate.clusters import Both
from calipers.evaluate.confounders import ReferenceTexts, confounders
from calipers.evaluate.embedding import Embedded
from calipers.evaluate.groups import Labels, foreign_groups, labels, small_groups
from calipers.evaluate.inference import reference_tests
from calipers.evaluate.inputs import (
    ComparisonInputs,
    InputSet,
    InputSystem,
    summarise,
    trust_warnings,
)
from calipers.evaluate.intervals import Certainty, Spreads, correlations, with_intervals
from calipers.evaluate.scored import Scored, average
from calipers.evaluate.scoring import score_pair
from calipers.evaluate.shared import RunSpace
from calipers.evaluate.spaces import PairSpace, Space
from calipers.evaluate.train import score_copies, train_warnings
from calipers.metrics.pair import Settings
from calipers.numeric.blocks import Clusters
from calipers.progress import Progress
from calipers.results import Comparison, Samples, SetSummary, SystemResult
from calipers.results.system import Against
from calipers.score import Score


def score_systems(
    inputs: ComparisonInputs,
    embedded: Embedded,
    choices: Sequence[Choice],
    settings: Settings,
    progress: Progress,
    *,
    shared: bool = False,
    certainty: Certainty | None = None,
) -> tuple[Comparison, tuple[Spreads, ...]]:
    """Score every system, each in its own space or all in one that they share.

    Of the settings, only `k_max` is filled in here. Beside the comparison stands for every system
    how much its scores move; nothing without `certainty`.
    """
    about, train = _summaries(inputs, embedded)
    space: Space = PairSpace(embedded.reference)
    if shared:
        hashes = ["+".join(c.samples.content_hash for c in entry.files) for entry in inputs.systems]
        space = RunSpace.of(embedded, hashes, settings.projection, inputs.run_clusters)
    known = ReferenceTexts.of(inputs.reference.samples)
    samples = _samples(inputs.reference, embedded.reference)
    against = Against(samples, settings.k, settings.distance, settings.projection)
    job = Job(embedded, choices, settings, about, train, space, known, against, certainty)
    systems, every, k_max = [], [], 0
    steps = sum(len(entry.files) for entry in inputs.systems) + (train is not None)
    with progress.task("Scoring", steps) as advance:
        for entry, parts in zip(inputs.systems, embedded.systems, strict=True):
            scored = []
            for file, part in zip(entry.files, parts, strict=True):
                groups = labels(inputs.reference.samples, file.samples, inputs.group)
                scored.append(job.score(part, groups, _both(inputs.reference, file)))
                advance(1)
            result = average(scored)
            k_max = max(k_max, result.k_max)
            systems.append(job.result(entry, parts, result))
            every.append(result)
        baseline = job.baseline(inputs.reference.clusters)
        if train is not None:
            advance(1)
    told = reference_tests([(s.name, each.tests) for s, each in zip(systems, every, strict=True)])
    comparison = Comparison(
        reference=about,
        systems=tuple(systems),
        settings={"k_max": k_max or None},
        warnings=embedded.shared_notes,
        reference_samples=samples,
        reference_scores=baseline,
        train=train,
        tests=told,
    )
    return comparison, tuple(each.ranked_spreads for each in every)


@dataclass(frozen=True, eq=False)
class Job:
    """What the scoring of every file of every system shares."""

    embedded: Embedded
    choices: Sequence[Choice]
    settings: Settings
    reference: SetSummary
    train: SetSummary | None
    space: Space
    texts: ReferenceTexts
    against: Against
    certainty: Certainty | None = None

    def score(self, part: Embeddings, groups: Labels | None, clusters: Both | None) -> Scored:
        """Score one file against the reference, and against the training set."""
        scored = score_pair(
            self.embedded.reference,
            part,
            self.choices,
            self.settings,
            reference_hash=self.reference.content_hash,
            labels=groups,
            space=self.space,
            certainty=self.certainty,
            clusters=clusters,
        )
        return scored.merged(self.copies(part, None if clusters is None else clusters[1]))

    def copies(self, part: Embeddings, clusters: Clusters | None) -> Scored:
        """Hold one set against the training set; nothing where there is none."""
        if self.embedded.train is None or self.train is None:
            return Scored({}, {})
        return score_copies(
            self.embedded.train,
            part,
            self.choices,
            self.settings,
            train_hash=self.train.content_hash,
            clusters=clusters,
        )

    def baseline(self, clusters: Clusters | None) -> Mapping[str, Score]:
        """What the reference itself scores against the training set."""
        found = self.copies(self.embedded.reference, clusters)
        if self.certainty is None:
            return found.scores
        return with_intervals(found.scores, found.spreads, self.certainty.level)

    def result(
        self, entry: InputSystem, parts: Sequence[Embeddings], scored: Scored
    ) -> SystemResult:
        """Bring together what is known of one system."""
        summary = summarise(entry.files, name=entry.name, notes=self.embedded.own_notes(parts))
        several, scores = len(entry.files) > 1, scored.scores
        beside = confounders(
            self.texts, [file.samples for file in entry.files], (self.embedded.reference, parts)
        )
        if self.certainty is not None:
            scores = with_intervals(scores, scored.spreads, self.certainty.level)
        return SystemResult(
            summary=summary,
            scores=scores,
            curves=scored.curves,
            seeds=tuple(file.samples.source for file in entry.files) if several else (),
            samples=tuple(_samples(c, e) for c, e in zip(entry.files, parts, strict=True)),
            warnings=(
                *beside.warnings,
                *trust_warnings(self.reference, summary, self.settings.k),
                *foreign_groups(self.reference.groups, summary.groups),
                *small_groups(summary.groups),
                *scored.notes,
            ),
            neighbours=scored.neighbours,
            confounders=beside.to_dict(),
            curve_errors={
                name: np.sqrt(moved.sum(axis=0)) for name, moved in scored.curve_variances.items()
            },
            correlations=correlations(scored.spreads),
            against=self.against,
            compared=partial(self.space.rows, generated=parts[0]),
        )


def _summaries(
    inputs: ComparisonInputs, embedded: Embedded
) -> tuple[SetSummary, SetSummary | None]:
    """Describe the reference and the training set."""
    file, train = inputs.reference, inputs.train
    about = summarise(
        [file], name=file.samples.name, notes=embedded.own_notes([embedded.reference])
    )
    notes = (*about.warnings, *inputs.lost, *small_groups(about.groups))
    about = replace(about, warnings=notes)
    if train is None or embedded.train is None:
        return about, None
    known = summarise([train], name=train.samples.name, notes=embedded.own_notes([embedded.train]))
    return about, replace(known, warnings=(*known.warnings, *train_warnings(known, [about])))


def _both(reference: InputSet, file: InputSet) -> Both | None:
    """Which rows of a pair belong together; None where clusters were not asked for."""
    if reference.clusters is None or file.clusters is None:
        return None
    return reference.clusters, file.clusters


def _samples(file: InputSet, embeddings: Embeddings) -> Samples:
    return Samples(file.samples if file.samples.kind == "texts" else None, embeddings.views)
