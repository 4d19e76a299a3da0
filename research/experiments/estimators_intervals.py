"""How often the intervals of scores read from likelihood ratios hold the expectation.

Two Gaussians in 8 dimensions, 400 samples each, whose means lie 1 or 4 standard deviations apart;
many worlds, each with a score and its 95 % interval. The mean score of all worlds stands for the
expectation.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from calipers.catalogue.choosing import choose, needs_of
from calipers.metrics.pair import Pair, Settings
from calipers.uncertainty.replicates import spreads
from calipers.uncertainty.spread import confidence_interval

KEYS = (
    "mauve:kde",
    "frontier_integral:kde",
    "mauve:gaussian",
    "frontier_integral:gaussian",
    "prd_f8:gaussian",
    "mauve:classifier",
    "frontier_integral:classifier",
    "prd_f8:classifier",
)
GAPS, SIZE, COLUMNS, FIRST = (1.0, 4.0), 400, 8, 1000


def table(worlds: int) -> Iterator[str]:
    """Coverage and relative length of the intervals, as Markdown, line by line."""
    yield "| means apart | score | mean | sd | standard error / sd | coverage |"
    yield "| --- " * 6 + "|"
    choices = choose(KEYS, ("rows",))
    for gap in GAPS:
        values: dict[str, list[float]] = {key: [] for key in KEYS}
        found: dict[str, list[tuple[float, float, float]]] = {key: [] for key in KEYS}
        for world in range(worlds):
            rng = np.random.default_rng(FIRST + world)
            reference, generated = (rng.standard_normal((SIZE, COLUMNS)) for _ in range(2))
            generated[:, 0] += gap
            needs = needs_of(choice.metric for choice in choices)
            pair = Pair(reference, generated, Settings(threads=1, seed=world), needs)
            for choice in choices:
                values[choice.name].append(choice.score(pair).value)
            moved = spreads(pair, choices)
            for choice in choices:
                spread = moved[choice.name]
                bounds = choice.metric.range_of(choice.options)
                ends = confidence_interval(values[choice.name][-1], spread, bounds=bounds)
                found[choice.name].append((*(ends or (np.nan, np.nan)), spread.standard_error))
        for key in KEYS:
            scores, (low, high, errors) = np.array(values[key]), np.array(found[key]).T
            covers = ((low <= scores.mean()) & (scores.mean() <= high)).mean()
            ratio = np.sqrt((errors**2).mean()) / scores.std()
            yield (
                f"| {gap:g} | {key} | {scores.mean():.3f} | {scores.std():.4f} | {ratio:.2f} "
                f"| {covers:.3f} |"
            )
