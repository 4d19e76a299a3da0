"""Level, power and intervals of the test against the reference where both answer the same prompts.

    python research/experiments/two_sample_prompts.py
    python research/experiments/two_sample_prompts.py --only level --worlds 1000
    python research/experiments/two_sample_prompts.py --only draws --sets seed0.jsonl seed1.jsonl

Worlds: a prompt is a Gaussian vector times its strength, an answer the prompt plus noise of 0.3 in
each of 16 directions; equal systems differ in nothing, others add a little to every answer. One
answer a prompt on either side, or five, or one against five; all prompts shared, or half of them.
Each case is tested within prompts, and as if all rows were independent ("rows"). Intervals: how
often those of the area under the ROC curve cover its mean over the worlds. Draws: sets of texts
that one model wrote for the same prompts.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable
from itertools import combinations

import numpy as np

import calipers
from calipers.metrics.classifier import read_classifier_auc
from calipers.metrics.pair import Pair, Settings
from calipers.uncertainty.classifier_auc import classifier_auc_spread
from calipers.uncertainty.spread import confidence_interval
from calipers.uncertainty.two_sample_classifier import classifier_test
from calipers.uncertainty.two_sample_mmd import mmd_test

ALPHA, PERMUTATIONS = 0.05, 199
NOISE, D = 0.3, 16

Rows = np.ndarray
World = tuple[Rows, Rows, tuple[Rows, Rows] | None]
Draw = Callable[[np.random.Generator], World]

TESTS = {
    "classifier": (classifier_test, True),
    "MMD": (mmd_test, True),
    "classifier, rows": (classifier_test, False),
    "MMD, rows": (mmd_test, False),
}


def prompted(
    prompts: int,
    answers: tuple[int, int],
    strength: float,
    *,
    shared: float = 1.0,
    shift: float = 0.0,
    d: int = D,
) -> Draw:
    """Answers to prompts of which both sides have a share."""

    def draw(rng: np.random.Generator) -> World:
        both = round(shared * prompts)
        ours = strength * rng.standard_normal((prompts, 1, d))
        others = strength * rng.standard_normal((prompts - both, 1, d))
        theirs = np.concatenate([ours[:both], others])
        sides = [
            (mean + NOISE * rng.standard_normal((prompts, count, d))).reshape(-1, d)
            for mean, count in zip((ours, theirs), answers, strict=True)
        ]
        rows = np.arange(prompts)
        numbers = rows, np.where(rows < both, rows, rows + prompts)
        first, second = (np.repeat(*each) for each in zip(numbers, answers, strict=True))
        return sides[0], sides[1] + shift, (first, second)

    return draw


def unprompted(n: int, m: int, d: int, shift: float) -> Draw:
    """Independent rows, the generated ones moved along one axis."""

    def draw(rng: np.random.Generator) -> World:
        x, y = rng.standard_normal((n, d)), rng.standard_normal((m, d))
        y[:, 0] += shift
        return x, y, None

    return draw


def cases(prompts: int, shift: float) -> dict[str, Draw]:
    return {
        f"strength {strength:g}, {a} and {b} answers, {'all' if share == 1 else 'half'} shared": (
            prompted(prompts, (a, b), strength, shared=share, shift=shift / np.sqrt(min(a, b)))
        )
        for strength in (0.0, 1.0, 3.0)
        for a, b in ((1, 1), (5, 5), (1, 5))
        for share in (1.0, 0.5)
    }


def rate(p_values: list[float]) -> str:
    hits = np.array(p_values) <= ALPHA + 1e-9
    return f"{hits.mean():.1%} ± {np.sqrt(hits.mean() * (1 - hits.mean()) / len(hits)):.1%}"


def table(title: str, draws: dict[str, Draw], worlds: int) -> None:
    """Print how often each test finds a difference in each case, as Markdown."""
    print(f"\n| {title}, {worlds:,} worlds | " + " | ".join(TESTS) + " |")
    print("| --- |" + " ---: |" * len(TESTS))
    for name, draw in draws.items():
        print(name, file=sys.stderr)
        found: dict[str, list[float]] = {test: [] for test in TESTS}
        for seed in range(worlds):
            x, y, prompts = draw(np.random.default_rng([11, seed]))
            for label, (test, within) in TESTS.items():
                known = prompts if within else None
                made = test(x, y, prompts=known, permutations=PERMUTATIONS, seed=seed, threads=1)
                found[label].append(made.p_value)
        print(f"| {name} | " + " | ".join(map(rate, found.values())) + " |", flush=True)


def intervals(worlds: int) -> None:
    """Print how often 95 % intervals of the area cover its mean."""
    draws = {
        "rows, n = m = 300, d = 30, equal": unprompted(300, 300, 30, 0.0),
        "rows, n = m = 300, d = 30, moved by 0.5": unprompted(300, 300, 30, 0.5),
        "rows, n = m = 300, d = 30, moved by 1.5": unprompted(300, 300, 30, 1.5),
        "rows, n = 200, m = 500, d = 100, moved by 0.7": unprompted(200, 500, 100, 0.7),
        "300 prompts, 1 and 1 answers, d = 64, equal": prompted(300, (1, 1), 1.0, d=64),
        "300 prompts, 1 and 1 answers, d = 64, moved": prompted(300, (1, 1), 1.0, shift=0.02, d=64),
        "100 prompts, 5 and 5 answers, moved": prompted(100, (5, 5), 1.0, shift=0.02),
        "300 prompts, 1 and 1 answers, half shared, moved": prompted(
            300, (1, 1), 1.0, shared=0.5, shift=0.05
        ),
    }
    print(f"\n| interval of the area, {worlds:,} worlds | mean | SD | mean SE | covers |")
    print("| --- |" + " ---: |" * 4)
    for name, draw in draws.items():
        print(name, file=sys.stderr)
        values, errors, ends = [], [], []
        for seed in range(worlds):
            x, y, prompts = draw(np.random.default_rng([12, seed]))
            pair = Pair(x, y, Settings(k=4, seed=seed, threads=1), prompts=prompts)
            value, spread = read_classifier_auc(pair, None).value, classifier_auc_spread(pair)
            values.append(value)
            errors.append(spread.standard_error)
            ends.append(confidence_interval(value, spread) or (value, value))
        mean = float(np.mean(values))
        covered = np.mean([low <= mean <= high for low, high in ends])
        error = float(np.sqrt(np.mean(np.square(errors))))
        print(
            f"| {name} | {mean:.3f} | {np.std(values):.3f} | {error:.3f} | {covered:.1%} |",
            flush=True,
        )


def draws_of_one_model(paths: list[str]) -> None:
    """Print what a comparison says of each two sets of texts that answer the same prompts."""
    print("\n| sets | view | AUC | p, classifier | p, MMD |\n| --- | --- | ---: | ---: | ---: |")
    sets = [calipers.read_samples(path) for path in paths]
    for first, second in combinations(sets, 2):
        found = calipers.compare(first, {"second": second}, metrics="precision", floor=False)
        tests = {test.score: test for test in found.tests if test.b == "reference"}
        for view, key in (("meaning", ""), ("form", "form.")):
            auc, mmd = tests[f"{key}classifier_auc"], tests[f"{key}mmd"]
            print(
                f"| {first.name}, {second.name} | {view} | {auc.difference:.3f} | "
                f"{auc.p_value:.3g} | {mmd.p_value:.3g} |",
                flush=True,
            )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--worlds", type=int, help="worlds per case (default: each table's own)")
    parser.add_argument("--only", choices=("level", "power", "intervals", "draws"))
    parser.add_argument("--sets", nargs="*", default=[], help="files of samples, for the draws")
    options = parser.parse_args()
    if options.worlds is not None and options.worlds < 1:
        parser.error("--worlds must be at least 1")
    if options.only in (None, "level"):
        table("level", cases(60, 0.0), options.worlds or 400)
    if options.only in (None, "power"):
        table("power", cases(60, 0.07), options.worlds or 100)
    if options.only in (None, "intervals"):
        intervals(options.worlds or 200)
    if options.sets:
        draws_of_one_model(options.sets)


if __name__ == "__main__":
    main()
