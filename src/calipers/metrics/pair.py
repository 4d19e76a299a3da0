"""What the metrics of one pair of sets share: each estimate is made once, when first asked for."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from calipers.estimate.blocks import DEFAULT_BLOCKS, Blocks
from calipers.estimate.distances import Points
from calipers.estimate.moments import Moments
from calipers.estimate.neighbourhoods import Distance, Neighbourhoods, Ties, neighbourhoods
from calipers.estimate.quantise import Buckets, Quantisation, quantise
from calipers.metrics.frontiers import Mauve, mauve_scores
from calipers.metrics.needs import EVERYTHING, Needs
from calipers.metrics.prd import BUCKETS, RUNS, Prd, prd_scores
from calipers.metrics.topp import TopologicalPrecisionRecall, topological_scores
from calipers.score import signature


@dataclass(frozen=True)
class Settings:
    """The choices that the metrics of a comparison share.

    Attributes
    ----------
    k, ties
        Of the k-NN balls.
    distance
        Of all neighbourhoods: Euclidean or cosine.
    buckets, restarts
        Of the quantisation behind MAUVE and the frontier integral.
    c
        Scaling constant of MAUVE.
    seed
        Of k-means and of the block labels.
    threads
        Number of threads, None for all cores; no effect on counts.
    """

    k: int = 4
    ties: Ties = "closed"
    distance: Distance = "euclidean"
    buckets: Buckets = "auto"
    restarts: int = 5
    c: float = 5.0
    seed: int = 0
    threads: int | None = None


@dataclass(frozen=True, eq=False)
class Pair:
    """A reference and a generated set in the space of comparison, and the estimates on them.

    Attributes
    ----------
    reference, generated
        Preprocessed rows, shapes ``(n, q)`` and ``(m, q)``.
    settings
        The choices that all metrics share.
    needs
        What the pass over the distances is to measure; less than everything takes less time, and
        the metrics that need more are then refused.
    """

    reference: Points
    generated: Points
    settings: Settings
    needs: Needs = EVERYTHING

    @cached_property
    def blocks(self) -> tuple[Blocks, Blocks] | None:
        """Labels for replicates, the same for all systems; None where sets are too small."""
        sizes = len(self.reference), len(self.generated)
        if min(sizes) < DEFAULT_BLOCKS * (self.settings.k + 1):
            return None
        left, right = (Blocks.balanced(size, seed=self.settings.seed) for size in sizes)
        return left, right

    @cached_property
    def neighbourhoods(self) -> Neighbourhoods:
        """Who lies in whose k-NN balls, from one pass for all that is needed.

        Metrics whose own k the sets are too small for find nothing here; the others still score.
        """
        k, largest = self.settings.k, min(len(self.reference), len(self.generated)) - 1
        return neighbourhoods(
            self.reference,
            self.generated,
            k=k,
            k_max=max(k, min(self.needs.k, largest)),
            ties=self.settings.ties,
            distance=self.settings.distance,
            supports=self.needs.supports(k, largest),
            blocks=self.blocks,
            threads=self.settings.threads,
        )

    @cached_property
    def topology(self) -> TopologicalPrecisionRecall:
        """TopP and TopR."""
        return topological_scores(
            self.reference,
            self.generated,
            seed=self.settings.seed,
            threads=self.settings.threads,
        )

    @cached_property
    def mauve(self) -> Mauve:
        """MAUVE, frontier integral and the frontiers behind them."""
        cells = self._quantise(self.settings.buckets, self.settings.restarts)
        pins = signature({"seed": self.settings.seed})
        return mauve_scores(cells, c=self.settings.c, pins=pins)

    @cached_property
    def prd(self) -> Prd:
        """The averaged PRD curve and its F-scores."""
        cells = self._quantise(min(BUCKETS, len(self.reference) + len(self.generated)), RUNS)
        return prd_scores(cells, pins=signature({"seed": self.settings.seed}))

    @cached_property
    def moments(self) -> tuple[Moments, Moments]:
        """Mean and covariance of both sets."""
        left, right = self.reference.astype(np.float64), self.generated.astype(np.float64)
        return Moments.of(left), Moments.of(right)

    def _quantise(self, buckets: Buckets, restarts: int) -> Quantisation:
        return quantise(
            self.reference,
            self.generated,
            buckets=buckets,
            restarts=restarts,
            seed=self.settings.seed,
            blocks=self.blocks,
            threads=self.settings.threads,
        )
