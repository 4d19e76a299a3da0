"""From how far on an estimator no longer tells which of two systems is nearer.

Skewed clouds in 5 dimensions, 300 samples each: the reference, a system whose mean lies some way
off, and one that lies half a standard deviation farther. Counted is how often MAUVE ranks them
rightly, by how many samples the nearer one shares with the reference by that estimator.
"""

from __future__ import annotations

import warnings
from collections import defaultdict
from collections.abc import Iterator
from itertools import pairwise

import numpy as np

from calipers import divergence_frontier
from calipers.estimate import gaussian_ratios, kde_ratios
from calipers.estimate.classifier import classify

SIZE, COLUMNS, STEP = 300, 5, 0.5
GAPS = (1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 8.0)
EDGES = (0, 1, 3, 10, 30, 300)
ESTIMATORS = {
    "kde": (lambda x, y: kde_ratios(x, y, threads=1), 10.0),
    "classifier": (lambda x, y: classify(x, y, dimensions=10, threads=1).ratios, 2.5),
    "gaussian": (lambda x, y: gaussian_ratios(x, y, draws=5_000), 1.0),
}


def table(worlds: int) -> Iterator[str]:
    """How often the nearer system ranks first, by the samples it shares, as Markdown."""
    right: dict[tuple[str, int], list[bool]] = defaultdict(list)
    for world in range(worlds):
        rng = np.random.default_rng(world)
        for gap in GAPS:
            reference = skewed(rng, 0.0)
            systems = [skewed(rng, gap), skewed(rng, gap + STEP)]
            for name, (estimate, c) in ESTIMATORS.items():
                with warnings.catch_warnings():
                    warnings.simplefilter("ignore", UserWarning)
                    near, far = (estimate(reference, rows) for rows in systems)
                place = int(np.searchsorted(EDGES, near.shared * SIZE, side="right"))
                areas = (divergence_frontier(each).area(c) for each in (near, far))
                right[name, place].append(next(areas) > next(areas))
    bins = [f"{low} to {high}" for low, high in pairwise(EDGES)]
    yield "| samples shared | " + " | ".join(bins) + " |"
    yield "| --- " * (len(bins) + 1) + "|"
    for name in ESTIMATORS:
        found = (right[name, place] for place in range(1, len(EDGES)))
        cells = (f"{np.mean(each):.2f} of {len(each)}" if each else "–" for each in found)
        yield f"| {name} | " + " | ".join(cells) + " |"


def skewed(rng: np.random.Generator, gap: float) -> np.ndarray:
    """Rows whose columns are skewed, moved along the first."""
    rows = rng.standard_normal((SIZE, COLUMNS))
    rows += 0.5 * rows**2
    rows[:, 0] += gap
    return rows
