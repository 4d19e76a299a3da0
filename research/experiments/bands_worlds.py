"""Worlds whose curves and scores are measured with their bands and ellipses."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

import calipers
from calibration_intervals import FRESH
from calibration_store import Record, Task, record_of, seed_of
from calibration_worlds import Rows, single

LEVEL, DIMENSIONS = 0.95, 6
PAIRS = (("precision", "recall"), ("density", "coverage"), ("prd_f8", "prd_f1_8"))
SCORES = tuple(name for pair in PAIRS for name in pair)
METRICS = (*SCORES, "mauve", "mauve_star")
ANGLES, WEIGHTS = (50, 200, 350, 500, 650, 800, 950), (2, 12, 22)
KEPT = {"prd": (ANGLES, (0, 1)), "frontier": (WEIGHTS, (1, 2)), "frontier_star": (WEIGHTS, (1, 2))}
"""By curve which points and which columns of them are kept."""


def shift(rng: np.random.Generator, n: int) -> tuple[Rows, Rows]:
    """A Gaussian, and a narrower one moved along all axes."""
    x, y = rng.standard_normal((2, n, DIMENSIONS))
    return single(x), single(0.8 * y + 0.35)


def modes(rng: np.random.Generator, n: int) -> tuple[Rows, Rows]:
    """Four clusters, and three of them a little narrower."""
    x, y = rng.standard_normal((2, n, DIMENSIONS))
    middles = 2.5 * np.eye(4, DIMENSIONS)
    return single(x + middles[rng.integers(4, size=n)]), single(
        0.9 * y + middles[rng.integers(3, size=n)]
    )


CASES: dict[str, Callable[[np.random.Generator, int], tuple[Rows, Rows]]] = {
    "shift": shift,
    "modes": modes,
}


def one_world(task: Task) -> Record:
    """Curves and scores of one world, with their errors unless it only tells the expectation."""
    _, case, n, world = task
    reference, generated = CASES[case](np.random.default_rng(seed_of(task)), n)
    level = None if world >= FRESH else LEVEL
    comparison = calipers.compare(
        reference,
        {"system": generated},
        metrics=METRICS,
        normalise="l2",
        level=level,
        floor=False,
        seed=world,
        threads=1,
    )
    (system,) = comparison
    record = record_of(
        task,
        curves={name: kept(name, system.curves[name]) for name in KEPT},
        scores=[system.scores[name].value for name in SCORES],
    )
    if level is None:
        return record
    errors = {name: kept(name, system.curve_errors[name]) for name in KEPT}
    found = [system.scores[name].standard_error for name in SCORES]
    together = [system.correlations.get("|".join(pair)) for pair in PAIRS]
    return {**record, "errors": errors, "score_errors": found, "correlations": together}


def kept(name: str, curve: np.ndarray) -> list[list[float]]:
    """The points and columns of a curve that the tables show."""
    points, columns = KEPT[name]
    return curve[np.ix_(points, columns)].tolist()
