"""How often intervals hold the expectation of the score, and how long they are."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np

from calibration_cases import NEWS, SPREAD, TOGETHER
from calibration_store import Record, Store, Task, record_of, seed_of
from calipers.catalogue.choosing import choose, find, needs_of
from calipers.evaluate.spaces import pair_of
from calipers.metrics.pair import Pair, Settings
from calipers.numeric.blocks import Clusters, cluster_sets
from calipers.uncertainty.replicates import spreads
from calipers.uncertainty.spread import Component, Spread, confidence_interval

KEPT = (
    *("precision", "recall", "density", "coverage", "mauve_star", "frontier_integral_star"),
    *("prd_f8", "frechet_distance", "mauve", "prd_f1_8"),
)
APPROXIMATE = (
    *("realism", "clipped_density", "clipped_coverage", "probabilistic_precision"),
    *("probabilistic_recall", "cover_precision", "cover_recall", "sphere_precision"),
    *("sphere_recall", "authenticity", "near_copies"),
)
REQUESTED = (
    *("classifier_auc", "classifier_accuracy", "energy_distance", "mmd:", "kid", "vendi", "rke"),
    *("sliced_wasserstein", "ot_quantised", "mauve:classifier", "mauve:gaussian", "mauve:kde"),
    *("prd_f8:classifier", "mauve:knn", "frontier_integral:knn", "prd_f8:knn", "topp", "topr"),
)
FRESH = 1_000_000
"""Number of the first world that tells the expectation and gets no interval."""
LEVEL, NORMAL = 0.95, 1.959964
Measures = dict[str, float]


def one_world(task: Task, *, metrics: Sequence[str]) -> Record:
    """The scores of one world, and their intervals unless it only tells the expectation."""
    _, case, n, world = task
    choices = choose(metrics, ("rows",))
    reference, generated = SPREAD[case](np.random.default_rng(seed_of(task)), n)
    settings = Settings(threads=1, seed=world)
    needs = needs_of(choice.metric for choice in choices)
    make = pair_of if case.startswith(NEWS) else Pair
    clusters = together(len(reference), len(generated), TOGETHER.get(case))
    pair = make(reference, generated, settings, needs, clusters=clusters)
    values = {choice.name: float(choice.score(pair).value) for choice in choices}
    if world >= FRESH:
        return record_of(task, values=values)
    found = spreads(pair, choices)
    moved = {name: [each.standard_error, each.freedom] for name, each in found.items()}
    return record_of(task, values=values, spreads=moved)


def together(n: int, m: int, each: int | None) -> tuple[Clusters, Clusters] | None:
    """Clusters of so many rows in turn, of either set its own."""
    if each is None:
        return None
    ours, theirs = ([(side, row // each) for row in range(size)] for side, size in ((0, n), (1, m)))
    reference, generated = cluster_sets([ours, theirs])
    return reference, generated


@dataclass(frozen=True)
class Kept(Spread):
    """A spread of which only the size and the degrees of freedom were kept."""

    components: tuple[Component, ...] = ()
    error: float = 0.0
    freedom: float = np.inf
    finite: bool = True

    @property
    def variance(self) -> float:
        return self.error**2


def ends(record: Record, name: str) -> tuple[float, float] | None:
    """The interval of a score in one world; None where there is none."""
    if name not in record["spreads"]:
        return None
    kept = Kept(error=record["spreads"][name][0], freedom=record["spreads"][name][1])
    choice = find(name)
    bounds = choice.metric.range_of(choice.options)
    return confidence_interval(record["values"][name], kept, level=LEVEL, bounds=bounds)


def measure(
    store: Store,
    part: str,
    metrics: Sequence[str],
    cases: Sequence[str],
    n: int,
    worlds: int,
    fresh: int,
) -> None:
    """Measure the cases at one size."""
    for case in cases:
        numbers = [*range(worlds), *range(FRESH, FRESH + fresh)]
        tasks = [(part, case, n, number) for number in numbers]
        store.measure(tasks, partial(one_world, metrics=metrics))


def measures(name: str, full: Sequence[Record], fresh: Sequence[Record]) -> Measures | None:
    """Coverage of the fresh worlds' mean, its error, and length over the oracle's."""
    own, other = (np.array([r["values"][name] for r in side]) for side in (full, fresh))
    both = [(record, ends(record, name)) for record in full]
    given = [(*each, record["spreads"][name][0]) for record, each in both if each is not None]
    if not given:
        return None
    low, high, errors = np.array(given).T
    mean, sd = np.nanmean(other), np.nanstd(np.r_[own, other], ddof=1)
    covers = float(np.mean((low <= mean) & (mean <= high)))
    return {
        "mean": float(mean),
        "sd": float(sd),
        "ratio": float(np.sqrt(np.mean(errors**2)) / sd) if sd else np.nan,
        "covers": covers,
        "error": doubt(covers, len(given)),
        "oracle": float(np.mean(np.abs(own - mean) <= NORMAL * sd)),
        "length": float(np.mean(high - low) / (2 * NORMAL * sd)) if sd else np.nan,
        "given": len(given) / len(full),
        "worlds": len(full),
    }


def doubt(share: float, count: int) -> float:
    """Standard error of a share, not 0 where it is 0 or 1."""
    middle = (share * count + 2) / (count + 4)
    return float(np.sqrt(middle * (1 - middle) / (count + 4)))
