"""Spaces of comparison: the rows as they are, or projections of a pair or of a whole run.

A :class:`Space` gives the :class:`~calipers.metrics.pair.Pair` of the reference and a generated
set: :class:`PairSpace` one of its own, :class:`RunSpace` one that all systems of a run share.

Rows are scaled to length one (``normalise="l2"``) or left as they are (``"none"``), and neighbours
are looked for among them. Whole distributions are compared on the principal axes of the union that
keep 90 % of its variance, or on those of the reference (``axes="reference"``). With
``projection="union"`` neighbours are looked for there too, as in paper 000; where texts repeat, the
axes then follow the repeats, and precision falls although every text is as good as before
(docs/experiments.md).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field, replace
from functools import cached_property
from hashlib import sha256
from itertools import pairwise
from typing import TYPE_CHECKING, Protocol

import numpy as np

from calipers.catalogue.estimation import EstimationOptions
from calipers.catalogue.needs import Needs
from calipers.catalogue.settings import Buckets, Projection, Settings
from calipers.embedders import Embeddings
from calipers.estimate.axes import on_reference_axes, preprocess
from calipers.estimate.products import products_on
from calipers.estimate.quantise import Quantisation
from calipers.estimate.sample_odds import SampleOdds
from calipers.evaluate.embedding import Embedded
from calipers.evaluate.labels import PairClusters, RunClusters
from calipers.lazy import lazily
from calipers.metrics.estimates import Estimates
from calipers.metrics.pair import Pair, Strata
from calipers.numeric.blocks import DEFAULT_BLOCKS, Blocks, Clusters
from calipers.numeric.distances import Points, Sides

if TYPE_CHECKING:
    from calipers.estimate.classifier import Classification, Model
    from calipers.estimate.likelihood_ratios import LikelihoodRatios
    from calipers.estimate.shared_cells import SharedSpace

PCA = 0.9
"""Share of the variance of the union that the principal axes keep."""


class Space(Protocol):
    """Projects a generated set and the reference into the space of their comparison."""

    @property
    def scope(self) -> str:
        """Which rows determine the projection and the cells, for signatures."""
        ...

    def pair(
        self,
        view: str,
        generated: Embeddings,
        settings: Settings,
        needs: Needs,
        clusters: PairClusters | None = None,
    ) -> Pair:
        """Return the pair of the reference and a generated set in one view."""
        ...

    def rows(self, view: str, generated: Embeddings) -> Sides | None:
        """Return both sets in the space of neighbours; None where that follows from the two."""
        ...


@dataclass(frozen=True, eq=False)
class PairSpace:
    """A projection and cells for each pair, so that a system never changes another's score.

    Without `replicates` pairs keep none, and no more neighbours than scores need.
    """

    reference: Embeddings
    scope: str = "pair"
    replicates: bool = True

    def pair(
        self,
        view: str,
        generated: Embeddings,
        settings: Settings,
        needs: Needs,
        clusters: PairClusters | None = None,
    ) -> Pair:
        """Return the pair of the two sets alone."""
        given = self.reference.views[view], generated.views[view]
        return pair_of(*given, settings, needs, clusters=clusters, replicates=self.replicates)

    def rows(self, view: str, generated: Embeddings) -> Sides | None:
        """Return None: the rows are computed again where they are needed."""
        return None


def pair_of(
    reference: Points,
    generated: Points,
    settings: Settings,
    needs: Needs,
    *,
    clusters: PairClusters | None = None,
    strata: Strata | None = None,
    replicates: bool = True,
) -> Pair:
    """Project two sets of embeddings into the spaces of neighbours and of distributions.

    The projection is made when a metric first needs it. Rows of one stratum are no neighbours.
    Without `replicates` the estimates keep none, which saves time where nothing reads them.
    """
    given = reference, generated
    kind = Pair if replicates else _WithoutBlocks

    def project() -> Sides:
        return _prepared(given, PCA, settings)

    if settings.projection == "union":
        rows, elsewhere = project(), None
    else:
        rows, elsewhere = _prepared(given, None, settings), project
    return kind(
        *rows,
        settings,
        needs,
        given=given,
        project=elsewhere,
        clusters=clusters,
        strata=strata,
    )


def neighbour_rows(reference: Points, generated: Points, settings: Settings) -> Sides:
    """Project two sets of embeddings into the space of neighbours only."""
    pca = PCA if settings.projection == "union" else None
    return _prepared((reference, generated), pca, settings)


def _prepared(given: Sides, pca: float | None, settings: Settings) -> Sides:
    norm, threads = settings.normalise, settings.threads
    with _made_here(settings.projection):
        if pca is not None and settings.axes == "reference":
            rows = on_reference_axes(*given, norm=norm, pca=pca, threads=threads)
        else:
            rows = preprocess(*given, norm=norm, pca=pca, threads=threads)
    return rows.reference, rows.generated


def _made_here(projection: Projection) -> AbstractContextManager[None]:
    """Project on the processor where neighbours are counted there: coordinates round alike."""
    return products_on(None) if projection == "union" else nullcontext()


class _WithoutBlocks(Pair):
    """A pair whose estimates keep no replicates."""

    @lazily
    def blocks(self) -> None:
        """No labels."""
        return


def part_of(
    reference: Points,
    generated: Points,
    settings: Settings,
    needs: Needs,
    *,
    strata: Strata | None = None,
) -> Pair:
    """Project parts of two sets into the spaces of neighbours and of distributions.

    Nothing keeps replicates, and cells are made among the rows where neighbours are looked for:
    the axes of a part would be fitted to few rows, and to those that are compared. What does not
    count cells is measured on the axes of the parts, as for whole sets.
    """
    given = reference, generated
    if settings.projection == "union":
        return pair_of(reference, generated, settings, needs, strata=strata, replicates=False)
    rows = _prepared(given, None, settings)

    def project() -> Sides:
        return _prepared(given, PCA, settings)

    return _Part(*rows, settings, needs, given=given, project=project, strata=strata)


class _Part(_WithoutBlocks):
    """A pair of parts, whose cells are made among rows that are not projected."""

    @lazily
    def estimates(self) -> Estimates:
        """Cells of the rows, and likelihood ratios on the axes of the pair."""

        def on_axes() -> Estimates:
            return Estimates(
                *self.projected,
                self.settings,
                prompts=self.dealt_prompts,
                near=(self.reference, self.generated),
                strata=self.strata,
            )

        return _CellsOfRows(self.reference, self.generated, self.settings, on_axes=on_axes)


@dataclass(frozen=True, eq=False)
class _CellsOfRows(Estimates):
    """The estimates of rows that are not projected; `on_axes` gives what is not made of cells."""

    on_axes: Callable[[], Estimates] = field(kw_only=True)

    def ratios(self, estimator: str) -> LikelihoodRatios:
        """Likelihood ratios on the axes."""
        return self._on_axes.ratios(estimator)

    def odds(self, options: EstimationOptions) -> SampleOdds:
        """The odds of the samples, by rows on the axes or among those where neighbours are."""
        return self._on_axes.odds(options)

    def classification(self, model: Model) -> Classification:
        """What a classifier says of the rows on the axes."""
        return self._on_axes.classification(model)

    @lazily
    def _on_axes(self) -> Estimates:
        return self.on_axes()


# One space for a whole run -----------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class RunSpace:
    """One projection and one set of cells for all systems of a run.

    They are made with weight ½ on the reference and ½ divided over the systems, the files of a
    system together, so adding a system changes the scores of the others. The order in which they
    were named changes none: they stand in the order of their hashes, which `scope` pins.
    """

    embedded: Embedded
    scope: str
    settings: Settings
    clusters: RunClusters | None = None

    @classmethod
    def of(
        cls,
        embedded: Embedded,
        hashes: Sequence[str],
        settings: Settings,
        clusters: RunClusters | None = None,
    ) -> RunSpace:
        """Make the space from the systems in the order of the hashes of their samples."""
        order = sorted(range(len(hashes)), key=hashes.__getitem__)
        if clusters is not None:
            clusters = clusters[0], tuple(clusters[1][place] for place in order)
        systems = tuple(embedded.systems[place] for place in order)
        every = sha256("|".join(hashes[place] for place in order).encode()).hexdigest()
        scope = f"run({every[:16]})"
        return cls(replace(embedded, systems=systems), scope, settings, clusters)

    @cached_property
    def views(self) -> dict[str, _SharedView]:
        """What all sets share in each view, computed on first access."""
        views = self.embedded.reference.views
        return {
            view: _SharedView(self.embedded, view, self.settings, self.clusters) for view in views
        }

    def pair(
        self,
        view: str,
        generated: Embeddings,
        settings: Settings,
        needs: Needs,
        clusters: PairClusters | None = None,
    ) -> Pair:
        """Return both sets in the shared projection, counted over the shared cells."""
        shared, (system, file) = self.views[view], self._place(generated)

        def quantised(buckets: Buckets, restarts: int) -> Quantisation:
            return _of_file(
                shared.counted(buckets, restarts)[system],
                file,
                shared.spans(system),
                shared.blocks,
            )

        def project() -> Sides:
            return self._projected(view, generated)

        given = self.embedded.reference.views[view], generated.views[view]
        if self.settings.projection == "union":
            return Pair(*project(), settings, needs, quantised, given, clusters=clusters)
        rows = neighbour_rows(*given, settings)
        return Pair(*rows, settings, needs, quantised, given, project, clusters)

    def rows(self, view: str, generated: Embeddings) -> Sides | None:
        """Return both sets in the shared projection, if neighbours are searched there."""
        return self._projected(view, generated) if self.settings.projection == "union" else None

    def _projected(self, view: str, generated: Embeddings) -> Sides:
        """Both sets in the shared projection."""
        shared, (system, file) = self.views[view], self._place(generated)
        return shared.space.reference, shared.space.systems[system][shared.spans(system)[file]]

    def _place(self, generated: Embeddings) -> tuple[int, int]:
        """Which file of which system these are."""
        return next(
            (system, file)
            for system, files in enumerate(self.embedded.systems)
            for file, embeddings in enumerate(files)
            if embeddings is generated
        )


@dataclass(frozen=True, eq=False)
class _SharedView:
    """The rows of all sets by one view, and what was counted over them."""

    embedded: Embedded
    view: str
    settings: Settings
    clusters: RunClusters | None = None

    @property
    def blocks(self) -> int:
        """Into how many blocks every file is cut, whether it has intervals or not."""
        return (0 if self.clusters is None else self.clusters[0].blocks) or DEFAULT_BLOCKS

    @cached_property
    def space(self) -> SharedSpace:
        """All sets on the leading axes of their weighted union, the files of a system in a row."""
        from calipers.estimate.shared_cells import shared_space

        systems = [
            np.concatenate([file.views[self.view] for file in files])
            for files in self.embedded.systems
        ]
        reference = self.embedded.reference.views[self.view]
        with _made_here(self.settings.projection):
            return shared_space(reference, systems, norm=self.settings.normalise, pca=PCA)

    def spans(self, system: int) -> list[slice]:
        """Where the rows of each file of a system lie among its rows."""
        sizes = [len(file.views[self.view]) for file in self.embedded.systems[system]]
        ends = np.cumsum([0, *sizes]).tolist()
        return [slice(start, end) for start, end in pairwise(ends)]

    def counted(self, buckets: Buckets, restarts: int) -> tuple[Quantisation, ...]:
        """Count every system over shared cells, its files as blocks of rows; once for each cut."""
        from calipers.estimate.shared_cells import shared_quantise

        asked = (buckets, restarts)
        if asked not in self._counted:
            self._counted[asked] = shared_quantise(
                self.space.reference,
                self.space.systems,
                buckets=buckets,
                restarts=restarts,
                seed=self.settings.seed,
                blocks=self._blocks(self.settings.seed),
                threads=self.settings.threads,
            )
        return self._counted[asked]

    def _blocks(self, seed: int) -> tuple[Blocks, list[Blocks]]:
        """The block of every row, those of each file of a system after those of the one before."""

        def cut(size: int, clusters: Clusters | None) -> Blocks:
            return Blocks.of(size, clusters, seed=seed, count=self.blocks)

        systems = []
        for system in range(len(self.embedded.systems)):
            spans = self.spans(system)
            none: Sequence[Clusters | None] = [None] * len(spans)
            known = none if self.clusters is None else self.clusters[1][system]
            labels = [
                file * self.blocks + cut(span.stop - span.start, clusters).labels
                for file, (span, clusters) in enumerate(zip(spans, known, strict=True))
            ]
            systems.append(Blocks(np.concatenate(labels), len(spans) * self.blocks))
        reference = None if self.clusters is None else self.clusters[0]
        return cut(len(self.space.reference), reference), systems

    @cached_property
    def _counted(self) -> dict[tuple[Buckets, int], tuple[Quantisation, ...]]:
        return {}


def _of_file(
    cells: Quantisation, file: int, spans: Sequence[slice], blocks: int = DEFAULT_BLOCKS
) -> Quantisation:
    """The cells of a system, with the counts of one of its files, each cut into so many blocks."""
    runs = []
    file_blocks = slice(file * blocks, (file + 1) * blocks)
    for run in cells.runs:
        if run.generated_blocks is None:
            raise ValueError("cells must be counted by block of each file")
        counts = run.generated_blocks[file_blocks]
        runs.append(replace(run, generated=counts.sum(axis=0), generated_blocks=counts))
    reference, generated = cells.labels
    return replace(cells, runs=tuple(runs), labels=(reference, generated[spans[file]]))
