"""The passes of a sweep: scores of one system at every value, one row for each replicate.

The counts of k-NN balls are known for all k up to k_max after one pass over the distances. So a
sweep over k is one pass for each view and file; a sweep over the number of samples is a comparison
of its own for each view, order and size.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from calipers.catalogue.choosing import Choice, needs_of
from calipers.embed import Embeddings
from calipers.estimate.axes import Projection
from calipers.estimate.knn.balls import Distance
from calipers.estimate.knn.neighbourhoods import Ties, neighbourhoods
from calipers.evaluate.spaces import neighbour_rows, pair_of
from calipers.evaluate.sweep_metrics import BY_K
from calipers.metrics.pair import Pair, Settings
from calipers.numeric.distances import Points
from calipers.progress import Advance
from calipers.results.sweep import Over
from calipers.score import Score


@dataclass(frozen=True)
class Plan:
    """The choices that all passes share.

    Attributes
    ----------
    over, values
        What is swept, and its values, ascending.
    k
        Neighbours that span a ball, where the number of samples is swept.
    ties, distance, projection
        Of the balls, and where they are.
    seed, seeds
        Of the random orders of samples, and how many there are at least.
    tolerance
        How far from its end a mean may lie on a plateau.
    threads
        Number of threads, None for all cores.
    """

    over: Over
    values: tuple[int, ...]
    k: int
    ties: Ties
    distance: Distance
    projection: Projection
    seed: int
    seeds: int
    tolerance: float
    threads: int | None

    @property
    def settings(self) -> Settings:
        """The same choices as the metrics of a pair take them."""
        return Settings(
            k=self.k,
            ties=self.ties,
            distance=self.distance,
            projection=self.projection,
            seed=self.seed,
            threads=self.threads,
        )

    def orders(self, files: int) -> int:
        """Give the number of random orders: equally many for each file of a system."""
        return files * -(-self.seeds // files)

    def steps(self, files: int) -> int:
        """Give the number of passes over one system by one view."""
        return files if self.over == "k" else self.orders(files) * len(self.values)


Rows = list[list[Score]]
"""Scores of one metric: for each replicate, one at every value."""


def score_replicates(
    reference: Embeddings,
    files: Sequence[Embeddings],
    view: str,
    metrics: Sequence[Choice],
    plan: Plan,
    advance: Advance,
) -> dict[str, Rows]:
    """Score one system by one view at every value, for each of its replicates."""
    left, rights = reference.views[view], [file.views[view] for file in files]
    over = _over_k if plan.over == "k" else _over_n
    return over(left, rights, metrics, plan, advance)


def _over_k(
    reference: Points,
    files: Sequence[Points],
    metrics: Sequence[Choice],
    plan: Plan,
    advance: Advance,
) -> dict[str, Rows]:
    """Read all k from one pass for each file."""
    names = [metric.name for metric in metrics]
    found: dict[str, Rows] = {name: [] for name in names}
    for file in files:
        near = neighbourhoods(
            *neighbour_rows(reference, file, plan.projection, plan.threads),
            k=plan.values[-1],
            ties=plan.ties,
            distance=plan.distance,
            threads=plan.threads,
        )
        scores = [{name: _without_rows(BY_K[name](near, k)) for name in names} for k in plan.values]
        for name in names:
            found[name].append([score[name] for score in scores])
        advance(1)
    return found


def _over_n(
    reference: Points,
    files: Sequence[Points],
    metrics: Sequence[Choice],
    plan: Plan,
    advance: Advance,
) -> dict[str, Rows]:
    """Score nested subsamples in random orders; several files take the orders in turn."""
    count = plan.orders(len(files))
    found: dict[str, Rows] = {metric.name: [[] for _ in range(count)] for metric in metrics}
    known: dict[object, dict[str, Score]] = {}
    for order in range(count):
        which = order % len(files)
        for n in plan.values:
            sides = reference, files[which]
            left, right = (subsample(len(x), n, seed=plan.seed, order=order) for x in sides)
            same = which, left.tobytes(), right.tobytes()  # as all samples are in any order
            if same not in known:
                known[same] = _score(reference[left], files[which][right], metrics, plan)
            for metric in metrics:
                found[metric.name][order].append(known[same][metric.name])
            advance(1)
    return found


def subsample(size: int, n: int, *, seed: int, order: int) -> NDArray[np.intp]:
    """Give n rows of a set, ascending; those of a smaller n are among those of a larger.

    They depend on these numbers alone, so that sets of one size whose rows correspond (that
    continue the same prompts) still do.
    """
    return np.sort(np.random.default_rng([seed, order]).permutation(size)[:n])


def _score(
    reference: Points, generated: Points, metrics: Sequence[Choice], plan: Plan
) -> dict[str, Score]:
    """Score one subsample as a comparison of just these samples would."""
    needs = needs_of(choice.metric for choice in metrics)
    pair = pair_of(reference, generated, plan.settings, needs, _Unblocked)
    return {metric.name: _without_rows(metric.score(pair)) for metric in metrics}


class _Unblocked(Pair):
    """A pair whose estimates keep no replicates: a sweep does not read them."""

    @cached_property
    def blocks(self) -> None:
        """No labels."""
        return None


def _without_rows(score: Score) -> Score:
    """Drop the values for each sample: a sweep holds many scores."""
    return replace(score, per_sample=None)
