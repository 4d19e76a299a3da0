"""Score every system from the embeddings of all sets, and assemble the comparison."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import nullcontext
from dataclasses import dataclass, replace
from functools import cached_property, partial
from itertools import chain, islice

import numpy as np

from calipers.catalogue.choosing import Choice
from calipers.catalogue.settings import Settings
from calipers.embedders import Embeddings
from calipers.evaluate.approximate import search_caution
from calipers.evaluate.cautions.confounders import ReferenceTexts, confounders
from calipers.evaluate.cautions.far_rows import measure_outliers
from calipers.evaluate.embedding import Embedded
from calipers.evaluate.given_prompts import GivenPrompts, unaddressed
from calipers.evaluate.inference import reference_tests
from calipers.evaluate.inputs import (
    ComparisonInputs,
    InputSet,
    InputSystem,
    empty_cautions,
    quotes_cautions,
    read_of,
    summarise,
    trust_cautions,
)
from calipers.evaluate.intervals import (
    FEWEST_PERMUTATIONS,
    TESTS,
    Spreads,
    correlations,
    permutations_for,
    with_intervals,
)
from calipers.evaluate.labels import group_cautions, pair_clusters, pair_groups, small_groups
from calipers.evaluate.scoring import (
    SMALL,
    Scored,
    average,
    by_view,
    merge,
    score_view,
    undefined,
)
from calipers.evaluate.shared_prompts import SharedPrompts
from calipers.evaluate.spaces import PairSpace, RunSpace, Space
from calipers.evaluate.training_set import score_copies, train_warnings
from calipers.explain.pair import LEVEL
from calipers.numeric.blocks import Clusters
from calipers.numeric.distances import Sides
from calipers.numeric.kept import kept
from calipers.numeric.threads import Workers, workers
from calipers.options.comparison import CompareOptions
from calipers.progress import Advance, Silent
from calipers.results import Comparison, Samples, SetSummary, SystemResult
from calipers.results.caution import Caution, sentences, worst_first
from calipers.results.pictures import Pictures, pictures_of
from calipers.results.prompts import PromptOverlap
from calipers.results.reading import SideReadings, too_little, unread_cautions
from calipers.results.system import Against
from calipers.score import Score


def score_systems(
    inputs: ComparisonInputs,
    embedded: Embedded,
    choices: Sequence[Choice],
    shown: Collection[str],
    options: CompareOptions,
) -> tuple[Comparison, tuple[Spreads, ...]]:
    """Score every system, each in its own space or all in one that they share.

    Only the scores that are shown get intervals, by their keys. Of the settings, only `k_max` is
    filled in here. Returns beside the comparison how much the scores of every system move; nothing
    without a level of confidence.
    """
    run, progress = Run(inputs, embedded, choices, shown, options), options.progress or Silent()
    steps = len(run.views) * sum(map(len, embedded.systems)) + (embedded.train is not None)
    with progress.task("Scoring", steps) as advance:
        scored = run.score(advance)
        systems = tuple(
            run.result(*of_system)
            for of_system in zip(
                inputs.systems, embedded.systems, embedded.prompts, scored, strict=True
            )
        )
        reference_scores = run.reference_scores()
        if embedded.train is not None:
            advance(1)
    comparison = Comparison(
        reference=run.reference,
        systems=systems,
        settings={"k_max": max(of_system.k_max for of_system in scored) or None},
        warnings=embedded.shared_notes,
        cautions=tuple(quotes_cautions(inputs.reference.samples, "reference: ")),
        reference_samples=run.against.samples,
        reference_scores=reference_scores,
        train=run.train,
        tests=reference_tests(
            {
                system.name: of_system.tests
                for system, of_system in zip(systems, scored, strict=True)
            }
        ),
    )
    return comparison, tuple(of_system.ranked_spreads for of_system in scored)


@dataclass(frozen=True, eq=False)
class Run:
    """The state shared while every file of every system is scored."""

    inputs: ComparisonInputs
    embedded: Embedded
    choices: Sequence[Choice]
    shown: Collection[str]
    options: CompareOptions

    @cached_property
    def settings(self) -> Settings:
        """The options in the form that the metrics of a pair take."""
        return Settings.of(vars(self.options))

    @cached_property
    def permutations(self) -> int:
        """Number of permutations in each test against the reference."""
        if self.options.level is None:
            return FEWEST_PERMUTATIONS
        tests = len(TESTS) * len(self.embedded.reference.views) * len(self.inputs.systems)
        n, *others = map(len, self.inputs.sets)
        return permutations_for(tests, self.options.level, rows=n + max(others))

    @cached_property
    def space(self) -> Space:
        """The space in which pairs are compared."""
        if not self.options.shared:
            replicates = self.options.level is not None
            return PairSpace(self.embedded.reference, replicates=replicates)
        hashes = [
            "+".join(file.samples.content_hash for file in system.files)
            for system in self.inputs.systems
        ]
        return RunSpace.of(self.embedded, hashes, self.settings, self.inputs.run_clusters)

    @cached_property
    def reference(self) -> SetSummary:
        """Summary of the reference."""
        embeddings = [self.embedded.reference]
        notes, file = self.embedded.own_notes(embeddings), self.inputs.reference
        about = summarise([file], name=file.samples.name, notes=notes, embeddings=embeddings)
        warnings = (*about.warnings, *self.inputs.lost, *small_groups(about.groups))
        return replace(about, warnings=warnings)

    @cached_property
    def train(self) -> SetSummary | None:
        """Summary of the training set, if there is one."""
        file, embeddings = self.inputs.train, self.embedded.train
        if file is None or embeddings is None:
            return None
        notes = self.embedded.own_notes([embeddings])
        about = summarise([file], name=file.samples.name, notes=notes, embeddings=[embeddings])
        return replace(about, warnings=(*about.warnings, *train_warnings(about, self.reference)))

    @cached_property
    def texts(self) -> ReferenceTexts:
        """The reference's texts, read once for all systems."""
        samples = self.inputs.reference.samples
        return kept(lambda: ("texts", samples.content_hash), lambda: ReferenceTexts.of(samples))

    @cached_property
    def against(self) -> Against:
        """The reference, and how systems are compared with it."""
        samples = _samples(self.inputs.reference, self.embedded.reference)
        return Against(samples, self.settings, self.options.level or LEVEL, self._trained_on)

    @property
    def _trained_on(self) -> Pictures | None:
        """The pictures of the training set, where there is one of images."""
        return None if self.inputs.train is None else pictures_of(self.inputs.train.samples)

    @cached_property
    def views(self) -> list[tuple[str, list[Choice]]]:
        """The metrics of each view."""
        return list(by_view(self.choices, self.embedded.reference.views))

    def score(self, advance: Advance) -> list[Scored]:
        """Score every file of every system against the reference and the training set.

        Small sets are scored side by side, a view of a file on a thread; large ones have all
        threads, one after another, so that no more than one of them takes memory.
        """
        abreast = max(map(len, self.inputs.sets)) <= SMALL and not self.options.shared
        settings = replace(self.settings, threads=1) if abreast else self.settings

        def score(
            job: tuple[InputSet, Embeddings, GivenPrompts | None, str, list[Choice]],
        ) -> Scored:
            return self._score(*job, settings)

        sides = zip(self.inputs.systems, self.embedded.systems, self.embedded.prompts, strict=True)
        jobs = (
            (file, rows, given, view, wanted)
            for system, embeddings, prompts in sides
            for file, rows, given in zip(system.files, embeddings, prompts, strict=True)
            for view, wanted in self.views
        )
        with workers(self.settings.threads) if abreast else nullcontext(Workers.alone()) as pool:
            views = _counted(pool.map(score, jobs), advance)
            return [
                self._as_read(
                    average(
                        [
                            merge(
                                [*islice(views, len(self.views)), self._copies(rows, file.clusters)]
                            )
                            for file, rows in zip(system.files, embeddings, strict=True)
                        ]
                    ),
                    embeddings,
                )
                for system, embeddings in zip(
                    self.inputs.systems, self.embedded.systems, strict=True
                )
            ]

    @property
    def embedder(self) -> str:
        """Name of the embedder in messages."""
        return self.embedded.reference.signature.get("embedder", "the embedder")

    def sides(self, embeddings: Sequence[Embeddings]) -> SideReadings:
        """Return how much was read of a system and of the reference."""
        return (("its", read_of(embeddings)), ("the reference's", self.reference.reading))

    def withheld(self, embeddings: Sequence[Embeddings]) -> str | None:
        """Explain why a system cannot be compared: too little of it or the reference was read."""
        return too_little(self.embedder, self.sides(embeddings))

    def _as_read(self, scored: Scored, embeddings: Sequence[Embeddings]) -> Scored:
        """Return scores as they are, or none where too little was read for them."""
        reason = self.withheld(embeddings)
        if reason is not None:
            return undefined(scored, reason)
        if self.train is None or self.train.reading is None:
            return scored
        reason = too_little(self.embedder, [("the training set's", self.train.reading)])
        return scored if reason is None else undefined(scored, reason, only=":train")

    def _score(
        self,
        file: InputSet,
        embeddings: Embeddings,
        given: GivenPrompts | None,
        view: str,
        choices: Sequence[Choice],
        settings: Settings,
    ) -> Scored:
        """Score one file against the reference in one view."""
        reference, refit = self.inputs.reference, self.embedded.refit
        tested = None
        if refit is not None and self.options.level is not None:
            tested = refit(reference.samples, file.samples)
        return score_view(
            self.embedded.reference,
            embeddings,
            view,
            choices,
            settings,
            reference_hash=self.reference.content_hash,
            groups=pair_groups(reference.samples, file.samples, self.inputs.group),
            clusters=pair_clusters(reference, file),
            shared=file.shared,
            space=self.space,
            level=self.options.level,
            moving=self.shown,
            permutations=self.permutations,
            given=given,
            refitted=tested,
        )

    def reference_scores(self) -> Mapping[str, Score]:
        """Scores of the reference itself against the training set."""
        reference = self.embedded.reference
        scored = self._as_read(self._copies(reference, self.inputs.reference.clusters), [reference])
        return with_intervals(scored.scores, scored.spreads, self.options.level)

    def _copies(self, embeddings: Embeddings, clusters: Clusters | None) -> Scored:
        """Hold one set against the training set; nothing where there is none."""
        if self.embedded.train is None or self.train is None:
            return Scored({})
        return score_copies(
            self.embedded.train,
            embeddings,
            self.choices,
            self.settings,
            train_hash=self.train.content_hash,
            clusters=clusters,
        )

    def result(
        self,
        system: InputSystem,
        embeddings: Sequence[Embeddings],
        prompts: Sequence[GivenPrompts | None],
        scored: Scored,
    ) -> SystemResult:
        """Assemble the result of one system."""
        files, notes = system.files, self.embedded.own_notes(embeddings)
        summary = summarise(files, name=system.name, notes=notes, embeddings=embeddings)
        withheld = self.withheld(embeddings)
        differences = confounders(
            self.texts, [file.samples for file in files], (self.embedded.reference, embeddings)
        )
        sides = self.sides(embeddings)
        cautions = (
            *unread_cautions(self.embedder, sides),
            *differences.cautions,
            *self._outliers(embeddings),
            *trust_cautions(self.reference, summary, self.settings.k, same=differences.same),
            *group_cautions(self.reference.groups, summary.groups),
            *(
                search_caution([search], key.rpartition(".")[0])
                for key, search in scored.searches.items()
            ),
            *unaddressed(prompts),
            *(Caution("ratios", remark.brief, remark.text) for remark in scored.remarks),
        )
        noted = (
            *empty_cautions(self.inputs.reference.samples, files),
            *chain.from_iterable(quotes_cautions(file.samples) for file in files),
        )
        return SystemResult(
            summary=summary,
            scores=with_intervals(scored.scores, scored.spreads, self.options.level),
            curves=scored.curves,
            seeds=system.seeds,
            samples=tuple(map(_samples, files, embeddings)),
            warnings=sentences(cautions),
            cautions=worst_first((*cautions, *noted)),
            neighbours=scored.neighbours,
            confounders=differences.to_dict(),
            curve_errors={
                name: np.sqrt(variances.sum(axis=0))
                for name, variances in scored.curve_variances.items()
            },
            correlations=correlations(scored.spreads),
            spreads=scored.spreads,
            prompts=_overlap(files[0].shared, prompts[0]),
            against=self.against,
            compared=partial(self._compared, generated=embeddings[0], given=prompts[0]),
            withheld=withheld,
            is_reference=differences.same,
        )

    def _outliers(self, embeddings: Sequence[Embeddings]) -> Iterator[Caution]:
        """Say by which view a few rows outweigh all others, where rows are taken as they are."""
        if self.settings.normalise != "none":
            return
        for view, rows in self.embedded.reference.views.items():
            outliers = (measure_outliers(rows, file.views[view]) for file in embeddings)
            yield from (far.caution() for far in list(filter(None, outliers))[:1])

    def _compared(
        self, view: str, generated: Embeddings, given: GivenPrompts | None
    ) -> Sides | None:
        """Return both sets where their neighbours were looked for; None where nothing was done."""
        if given is None:
            return self.space.rows(view, generated)
        rows = self.embedded.reference.views[view], generated.views[view]
        return given.sides(view, rows, self.settings)


def _overlap(shared: SharedPrompts | None, given: GivenPrompts | None) -> PromptOverlap | None:
    """Tell how far a set and the reference share prompts, and how they are held constant."""
    if shared is None or given is None:
        return None if shared is None else shared.overlap()
    return replace(
        shared.overlap(),
        scored=given.signature,
        explained=dict(given.explained) or None,
        addressed=given.addressed,
    )


def _counted(scored: Iterable[Scored], advance: Advance) -> Iterator[Scored]:
    """Pass on what was scored, and count it."""
    for one in scored:
        advance(1)
        yield one


def _samples(file: InputSet, embeddings: Embeddings) -> Samples:
    texts = file.samples if file.samples.kind == "texts" else None
    clusters = None if file.clusters is None else file.clusters.numbers
    pictures = pictures_of(file.samples)
    return Samples(texts, embeddings.views, clusters, file.samples.log_ids, pictures)
