"""The passes of a sweep: scores of one system at every value, and the curves made from them.

The counts of k-NN balls are known for all k up to k_max after one pass over the distances. So a
sweep over k is one pass for each view and file. All others are a comparison of their own for each
view and value: of subsamples in random orders, of texts cut to a length and embedded anew, with a
number of cells and a start of k-means, or on a number of leading axes.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from calipers.catalogue.choosing import Choice, needs_of
from calipers.catalogue.settings import Settings
from calipers.commands.sweep.options import SweepOptions
from calipers.commands.sweep.result import Curve
from calipers.embedders import Embeddings
from calipers.estimate.knn.neighbourhoods import Neighbourhoods, neighbourhoods
from calipers.evaluate.approximate import search_of
from calipers.evaluate.scoring import fields_of_score, signature_fields
from calipers.evaluate.spaces import neighbour_rows, pair_of
from calipers.metrics.knn_support import (
    coverage_score,
    density_score,
    precision_score,
    recall_score,
)
from calipers.metrics.robust import clipped_coverage_score
from calipers.numeric.distances import Points
from calipers.progress import Advance
from calipers.score import Score, join_signature, signature
from calipers.uncertainty.search_quality import SearchQuality

BY_K: Mapping[str, Callable[[Neighbourhoods, int], Score]] = {
    "precision": precision_score,
    "recall": recall_score,
    "density": density_score,
    "coverage": coverage_score,
    "clipped_coverage": clipped_coverage_score,
}
"""The metrics that one pass over the distances gives for every k."""


@dataclass(frozen=True)
class SweepPlan:
    """The values of a sweep, in ascending order, and its options."""

    values: tuple[int, ...]
    options: SweepOptions

    @property
    def settings(self) -> Settings:
        """The options in the form that the metrics of a pair take."""
        return Settings.of(vars(self.options))

    @property
    def repeats(self) -> bool:
        """Whether every file is scored repeatedly, in random orders or from other starts."""
        return self.options.over in ("n", "buckets")

    def orders(self, files: int) -> int:
        """Return the number of replicates, equal for all files of a system."""
        return files * -(-self.options.seeds // files) if self.repeats else files

    def steps(self, files: int) -> int:
        """Return the number of passes over one system by one view."""
        return files if self.options.over == "k" else self.orders(files) * len(self.values)

    def settings_at(self, value: int, order: int) -> Settings:
        """Return the options at one value, for one replicate."""
        if self.options.over == "buckets":
            return replace(self.settings, buckets=value, seed=self.options.seed + order)
        if self.options.over == "axes":
            return replace(self.settings, dimensions=value)
        return self.settings


Stage = tuple[Embeddings, Sequence[Embeddings]]
"""The reference and the files of one system, as they are compared at one value."""


Rows = list[list[Score]]
"""Scores of one metric: for each replicate, one at every value."""


def score_replicates(
    stages: Sequence[Stage],
    view: str,
    metrics: Sequence[Choice],
    plan: SweepPlan,
    advance: Advance,
    searches: list[SearchQuality],
) -> dict[str, Rows]:
    """Score one system by one view at every value, for each of its replicates.

    There is a stage for each value where texts are cut to lengths, and one for all values
    otherwise. What approximate searches found, at the largest value, is added to `searches`.
    """
    sides = [
        (reference.views[view], [file.views[view] for file in files]) for reference, files in stages
    ]
    if plan.options.over == "k":
        return _over_k(*sides[0], metrics, plan, advance, searches)
    if plan.options.over == "n":
        return _over_n(*sides[0], metrics, plan, advance, searches)
    every = sides if len(sides) > 1 else sides * len(plan.values)
    return _over_settings(every, metrics, plan, advance, searches)


def _over_k(
    reference: Points,
    files: Sequence[Points],
    metrics: Sequence[Choice],
    plan: SweepPlan,
    advance: Advance,
    searches: list[SearchQuality],
) -> dict[str, Rows]:
    """Read all k from one pass for each file."""
    names = [metric.name for metric in metrics]
    rows: dict[str, Rows] = {name: [] for name in names}
    for file in files:
        sides, k = neighbour_rows(reference, file, plan.settings), plan.values[-1]
        near = neighbourhoods(
            *sides,
            k=k,
            ties=plan.options.ties,
            distance=plan.options.distance,
            threads=plan.options.threads,
        )
        scores = [{name: _without_rows(BY_K[name](near, k)) for name in names} for k in plan.values]
        quality = search_of(*sides, near, plan.settings, k)
        searches += [] if quality is None else [quality]
        for name in names:
            rows[name].append([score[name] for score in scores])
        advance(1)
    return rows


def _over_n(
    reference: Points,
    files: Sequence[Points],
    metrics: Sequence[Choice],
    plan: SweepPlan,
    advance: Advance,
    searches: list[SearchQuality],
) -> dict[str, Rows]:
    """Score nested subsamples in random orders; several files take the orders in turn."""
    count = plan.orders(len(files))
    rows: dict[str, Rows] = {metric.name: [[] for _ in range(count)] for metric in metrics}
    known: dict[object, dict[str, Score]] = {}
    for order in range(count):
        which = order % len(files)
        for n in plan.values:
            sides = reference, files[which]
            left, right = (subsample(len(x), n, seed=plan.options.seed, order=order) for x in sides)
            same = which, left.tobytes(), right.tobytes()  # as all samples are in any order
            if same not in known:
                known[same], quality = _score(
                    (reference[left], files[which][right]),
                    metrics,
                    plan.settings,
                    n == plan.values[-1],
                )
                searches += [] if quality is None else [quality]
            for metric in metrics:
                rows[metric.name][order].append(known[same][metric.name])
            advance(1)
    return rows


def _over_settings(
    sides: Sequence[tuple[Points, Sequence[Points]]],
    metrics: Sequence[Choice],
    plan: SweepPlan,
    advance: Advance,
    searches: list[SearchQuality],
) -> dict[str, Rows]:
    """Score all samples of every file at every value: each is a comparison of its own."""
    count = plan.orders(len(sides[0][1]))
    rows: dict[str, Rows] = {metric.name: [[] for _ in range(count)] for metric in metrics}
    for order in range(count):
        for value, (reference, files) in zip(plan.values, sides, strict=True):
            which, settings = order % len(files), plan.settings_at(value, order)
            last = value == plan.values[-1]
            scores, quality = _score((reference, files[which]), metrics, settings, last)
            searches += [] if quality is None else [quality]
            for metric in metrics:
                rows[metric.name][order].append(scores[metric.name])
            advance(1)
    return rows


def subsample(size: int, n: int, *, seed: int, order: int) -> NDArray[np.intp]:
    """Return n ascending rows of a set; the rows of a smaller n are among those of a larger.

    They depend on these numbers alone, so that sets of one size whose rows correspond (that
    continue the same prompts) still do.
    """
    return np.sort(np.random.default_rng([seed, order]).permutation(size)[:n])


def _score(
    sides: tuple[Points, Points], metrics: Sequence[Choice], settings: Settings, checked: bool
) -> tuple[dict[str, Score], SearchQuality | None]:
    """Score two sets of rows as a comparison of just these samples would.

    Beside the scores stands what an approximate search found, where that is `checked`.
    """
    needs = needs_of(choice.metric for choice in metrics)
    pair = pair_of(*sides, settings, needs, replicates=False)
    scores = {metric.name: _without_rows(metric.score(pair)) for metric in metrics}
    if not checked or "neighbourhoods" not in vars(pair):
        return scores, None
    near, k = pair.neighbourhoods, settings.k
    return scores, search_of(pair.reference, pair.generated, near, settings, k)


def _without_rows(score: Score) -> Score:
    """Drop the values for each sample: a sweep holds many scores."""
    return replace(score, per_sample=None)


def make_curve(
    metric: str,
    rows: Rows,
    view: str,
    plan: SweepPlan,
    *,
    reference: Embeddings,
    reference_hash: str,
    files: Sequence[Embeddings],
) -> Curve:
    """Combine the scores of one metric of a system into a curve."""
    scores = [score for row in rows for score in row]
    shared = signature_fields(reference, view, plan.settings, reference=reference_hash[:16])
    shared |= {"scope": "subsample"} if plan.options.over == "n" else {}
    return Curve(
        values=np.array(plan.values, np.int64),
        replicates=np.array([[score.value for score in row] for row in rows], np.float64),
        signature=join_signature(
            merge_signatures(score.signature for score in scores),
            signature(_own_fields(plan, len(files), len(rows))),
            signature(fields_of_score(metric, scores[0], shared, plan.settings)),
        ),
        range=scores[0].range,
        better=scores[0].better,
        reason=next((score.reason for score in scores if score.reason), None),
        tolerance=plan.options.tolerance,
    )


def _own_fields(plan: SweepPlan, files: int, orders: int) -> dict[str, object]:
    """What replicates are signed with: the files, and what was drawn again for each."""
    fields: dict[str, object] = {"over": plan.options.over, "files": files}
    if plan.options.over == "length":
        return fields | {"words": ",".join(map(str, plan.values))}
    if plan.repeats:
        return fields | {"orders" if plan.options.over == "n" else "starts": orders}
    return fields


def merge_signatures(lines: Iterable[str]) -> str:
    """Keep the parts that all signatures share, and list the values of those that vary.

    Parameters
    ----------
    lines
        Signatures ``key:value|key:value`` of one metric.

    Examples
    --------
    >>> merge_signatures(["metric:recall|k:1|n:9", "metric:recall|k:2|n:9"])
    'metric:recall|k:1..2|n:9'
    >>> merge_signatures(["k:4|n:100", "k:4|n:140"])
    'k:4|n:100,140'
    """
    pins: dict[str, dict[str, None]] = {}
    for line in dict.fromkeys(lines):
        for pin in line.split("|"):
            key, _, value = pin.partition(":")
            pins.setdefault(key, {})[value] = None
    return "|".join(f"{key}:{_values(list(values))}" for key, values in pins.items())


def _values(values: Sequence[str]) -> str:
    """Write a run of whole numbers without gaps by its ends."""
    if len(values) > 1 and all(value.isdecimal() for value in values):
        numbers = [int(value) for value in values]
        if all(right - left == 1 for left, right in pairwise(numbers)):
            return f"{values[0]}..{values[-1]}"
    return ",".join(values)
