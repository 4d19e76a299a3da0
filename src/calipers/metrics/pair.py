"""A pair of sets with all its estimates, each computed once, on first access."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from calipers.catalogue.needs import CLIPPED_K, EVERYTHING, SPREAD, Needs
from calipers.catalogue.settings import Settings
from calipers.estimate.knn.balls import Supports
from calipers.estimate.knn.neighbourhoods import Neighbourhoods, neighbourhoods
from calipers.estimate.knn.strata import largest_stratum
from calipers.estimate.moments import Moments
from calipers.estimate.prompt_strata import Prompts
from calipers.lazy import lazily
from calipers.metrics.estimates import FEWEST_PROMPTS, Curves, Estimates, Quantise
from calipers.numeric.blocks import DEFAULT_BLOCKS, Blocks, Clusters
from calipers.numeric.distances import Points, Sides
from calipers.numeric.kept import content, kept

Rows = NDArray[np.bool_] | NDArray[np.intp]
Strata = tuple[NDArray[np.int64], NDArray[np.int64]]
Made = TypeVar("Made")


@dataclass(frozen=True, eq=False)
class Pair:
    """A reference and a generated set in the spaces of comparison, and the estimates on them.

    Neighbours are looked for among `reference` and `generated`. Whole distributions (cells,
    likelihood ratios, moments, kernels, transport) are compared on the rows that `project` gives.

    Attributes
    ----------
    reference, generated
        Rows among which neighbours are looked for, shapes ``(n, q)`` and ``(m, q)``.
    settings
        The choices that all metrics share.
    needs
        What the pass over the distances is to measure; less than everything takes less time, and
        the metrics that need more are then refused.
    quantised
        Gives the quantisation by a number of cells and of runs, where it is not of this pair alone.
    given
        Both sets as they were embedded, where the rows were scaled or projected.
    project
        Gives both sets where whole distributions are compared, when that is first asked for; None
        where it is where neighbours are looked for.
    clusters
        Which rows of each set belong together; None where all are independent.
    strata
        A number for every row of either set, such as its prompt: rows of one number are no
        neighbours of each other. None where all rows may be.
    prompts
        The number of the prompt that each row of either set answers; None where they share none.
    """

    reference: Points
    generated: Points
    settings: Settings
    needs: Needs = EVERYTHING
    quantised: Quantise | None = None
    given: Sides | None = None
    project: Callable[[], Sides] | None = None
    clusters: tuple[Clusters, Clusters] | None = None
    strata: Strata | None = None
    prompts: Prompts | None = None

    @property
    def sizes(self) -> dict[str, int]:
        """The number of rows of each set, by its name in signatures."""
        return {"n": len(self.reference), "m": len(self.generated)}

    @property
    def embedded(self) -> Sides:
        """Both sets before any projection."""
        return self.given or (self.reference, self.generated)

    @lazily
    def projected(self) -> Sides:
        """Both sets in the space in which whole distributions are compared."""
        return (self.reference, self.generated) if self.project is None else self.project()

    def part(self, ours: Rows, theirs: Rows, settings: Settings, needs: Needs) -> Pair:
        """Return some rows of both sets, in the spaces of this pair."""

        def cut(sides: Sides) -> Sides:
            return sides[0][ours], sides[1][theirs]

        rows = cut((self.reference, self.generated))
        given = None
        if self.given is not None:
            both = self.reference, self.generated
            alike = all(map(_same_memory, self.given, both))
            given = rows if alike else cut(self.given)
        return Pair(
            *rows,
            settings,
            needs,
            given=given,
            project=None if self.project is None else lambda: cut(self.projected),
            strata=None if self.strata is None else (self.strata[0][ours], self.strata[1][theirs]),
            prompts=None
            if self.prompts is None
            else (self.prompts[0][ours], self.prompts[1][theirs]),
        )

    @lazily
    def blocks(self) -> tuple[Blocks, Blocks] | None:
        """Labels for replicates, the same for all systems; None where sets are too small."""
        sizes = len(self.reference), len(self.generated)
        count = min((clusters.blocks for clusters in self.clusters or ()), default=DEFAULT_BLOCKS)
        if count == 0 or min(sizes) < DEFAULT_BLOCKS * (self.settings.k + 1):
            return None
        return self.cut(count)

    def cut(self, count: int) -> tuple[Blocks, Blocks]:
        """Divide both sets into so many blocks of whole clusters."""
        both = self.clusters or (None, None)
        left, right = (
            Blocks.of(len(rows), clusters, seed=self.settings.seed, count=count)
            for rows, clusters in zip((self.reference, self.generated), both, strict=True)
        )
        return left, right

    @property
    def labels(self) -> tuple[Blocks, Blocks]:
        """The labels for replicates, of sets known to be large enough.

        Raises
        ------
        ValueError
            If they are not.
        """
        if self.blocks is None:
            raise ValueError("sets this small have no blocks")
        return self.blocks

    @lazily
    def neighbourhoods(self) -> Neighbourhoods:
        """Which rows lie in which k-NN balls, from one pass for all metrics.

        Metrics whose own k the sets are too small for find nothing here; the others still score.
        """
        k, largest = self.settings.k, self.others
        return neighbourhoods(
            self.reference,
            self.generated,
            k=k,
            k_max=max(k, min(self.needs.k, largest)),
            ties=self.settings.ties,
            distance=self.settings.distance,
            supports=supports_of(self.needs, k, largest),
            blocks=self.blocks,
            strata=self.strata,
            threads=self.settings.threads,
        )

    @property
    def others(self) -> int:
        """Number of possible neighbours of every row in either set."""
        sizes = len(self.reference), len(self.generated)
        mates = (1, 1) if self.strata is None else map(largest_stratum, self.strata)
        return min(n - stratum_size for n, stratum_size in zip(sizes, mates, strict=True))

    @lazily
    def estimates(self) -> Estimates:
        """Histograms and likelihood ratios of the pair."""
        return Estimates(
            *self.projected,
            self.settings,
            self.blocks,
            self.quantised,
            self.dealt_prompts,
            near=(self.reference, self.generated),
            strata=self.strata,
        )

    @property
    def dealt_prompts(self) -> Prompts | None:
        """The prompts by which rows are divided into folds; None where they are too few."""
        prompts = self.prompts if self.strata is None else self.strata
        if prompts is None or min(len(np.unique(side)) for side in prompts) < FEWEST_PROMPTS:
            return None
        return prompts

    @lazily
    def curves(self) -> Curves:
        """Divergence frontiers and precision-recall curves of the pair."""
        return Curves(self.estimates)

    @lazily
    def moments(self) -> tuple[Moments, Moments]:
        """Mean and covariance of both sets."""
        left, right = self.projected

        def own() -> Moments:
            return Moments.of(left, precise=True)

        if self.settings.axes == "reference":  # the only ones that other pairs have too
            return kept(lambda: ("moments", content(left)), own), Moments.of(right, precise=True)
        return own(), Moments.of(right, precise=True)

    def once(self, name: str, make: Callable[[], Made]) -> Made:
        """Return a value that several metrics read, computed by the first of them."""
        if name not in self._made:
            self._made[name] = make()
        made: Made = self._made[name]
        return made

    @lazily
    def _made(self) -> dict[str, Any]:
        return {}


def _same_memory(one: Points, other: Points) -> bool:
    """Whether two arrays are the same numbers in the same place."""
    layout = one.shape == other.shape and one.strides == other.strides
    return layout and one.dtype == other.dtype and one.ctypes.data == other.ctypes.data


def supports_of(needs: Needs, k: int, largest: int) -> Supports:
    """Return the supports to measure, if the sets allow balls of up to `largest` neighbours."""
    return Supports(
        capped=CLIPPED_K if needs.capped and largest >= CLIPPED_K else None,
        smaller=k if needs.smaller else None,
        spread=SPREAD if needs.spread and largest >= SPREAD[0] else None,
        across=needs.across,
    )
