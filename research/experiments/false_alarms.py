"""How often a callback warns of a collapse where nothing changes, and how small a fall it sees.

``python research/experiments/false_alarms.py`` simulates runs of 20 evaluations. In each a
reference of 300 vectors is drawn once, and 200 generated ones for every evaluation, from the same
distribution. In other runs, half as many, the eleventh evaluation and the twelfth, which is the
last, lack a part of the modes. See docs/training.md.
"""

from __future__ import annotations

import argparse
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from calipers import Reference
from calipers.integrations.training import Monitor, TrainingEvaluation

EVALUATIONS, CHANGE = 20, 10
RULES: dict[str, dict[str, Any]] = {
    "best": {"patience": 1},
    "best, patience 2": {"patience": 2},
    "first": {"against": "first", "patience": 1},
}
Draw = Callable[[int, int, np.random.Generator], NDArray[np.float64]]


def normal(n: int, _: int, rng: np.random.Generator) -> NDArray[np.float64]:
    """One normal distribution in 16 dimensions, of which no part can be left out."""
    return rng.standard_normal((n, 16))


def mixture(n: int, modes: int, rng: np.random.Generator) -> NDArray[np.float64]:
    """So many of ten modes in 16 dimensions, fixed places with noise."""
    places = np.random.default_rng(0).standard_normal((10, 16)) * 1.5
    return places[rng.integers(0, modes, n)] + rng.standard_normal((n, 16))


def run(draw: Draw, modes: int, rng: np.random.Generator) -> list[TrainingEvaluation]:
    """Evaluate what is drawn, 20 times where nothing changes."""
    monitor = Monitor(
        Reference(draw(300, 10, rng)), ["recall"], options={"threads": 1, "normalise": "none"}
    )
    for step in range(EVALUATIONS if modes == 10 else CHANGE + 2):
        monitor.evaluate(step, draw(200, 10 if step < CHANGE else modes, rng))
    return monitor.evaluations


def decided(evaluations: list[TrainingEvaluation], **rule: Any) -> list[bool]:
    """What another rule says of the same evaluations."""
    monitor = Monitor(Reference(np.zeros((100, 1))), **rule)
    return [monitor.decide(each.step, each.scores).collapsed for each in evaluations]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=60)
    parser.add_argument("--only", help="the world of this name")
    parser.add_argument(
        "--first-seed", type=int, default=0, help="other runs than those of the page"
    )
    asked = parser.parse_args()
    runs = asked.runs
    print(f"{'world':14} {'recall':>6} {'after':>6}  {'rule':18} {'before':>7} {'at once':>8}")
    cases = [("normal", normal, 10)] + [(f"{m} of 10 modes", mixture, m) for m in (10, 9, 7)]
    for name, draw, modes in cases:
        if asked.only not in (None, name):
            continue
        every = []
        for seed in range(
            asked.first_seed, asked.first_seed + (runs if modes == 10 else runs // 2)
        ):
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                every.append(run(draw, modes, np.random.default_rng(seed)))
        recall = np.array([[each.measured.value for each in own] for own in every]).mean(axis=0)
        means = f"{recall[:CHANGE].mean():6.2f} {recall[CHANGE:].mean():6.2f}"
        for rule, options in RULES.items():
            found = np.array([decided(own, **options) for own in every])
            unchanged = modes == 10
            early = found if unchanged else found[:, :CHANGE]
            within = CHANGE + options["patience"]
            seen = "" if unchanged else f"{found[:, CHANGE:within].any(axis=1).mean():8.3f}"
            print(f"{name:14} {means}  {rule:18} {early.any(axis=1).mean():7.3f} {seen:>8}")


if __name__ == "__main__":
    main()
