"""Answers to the same prompts: do intervals over prompts cover, and do tests keep their level?

``python research/experiments/by_prompt.py`` prints the tables of docs/by_prompt.md; ``--worlds
400`` is what stands there.

A world has prompts whose answers lie about a place of their own, v = prompt + answer, both normal,
so that samples of a prompt are alike. The truth of a score is its mean over 5,000 prompts.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from calipers.estimate.moments import Moments
from calipers.metrics.conditional_vendi import vendi_within
from calipers.metrics.frechet import frechet_distance
from calipers.metrics.within_prompts import (
    distinct_k,
    similarity_across,
    similarity_between,
    similarity_classes,
    similarity_within,
)
from calipers.score import Score
from calipers.text.hamming import hamming_kernel, padded
from calipers.uncertainty.over_prompts import between_prompts, mean_over_prompts
from calipers.uncertainty.two_sample_classifier import classifier_test
from calipers.uncertainty.two_sample_mmd import mmd_test
from calipers.uncertainty.two_sample_prompts import gaussian_kernels, prompts_test

Floats = NDArray[np.float64]
D = 8
MANY = 5_000


def world(
    rng: np.random.Generator, prompts: int, samples: int, *, spread: Floats | float = 1.0
) -> tuple[Floats, NDArray[np.int64]]:
    """Answers about a place for each prompt; how widely differs from prompt to prompt."""
    places = rng.standard_normal((prompts, 1, D))
    width = np.exp(0.5 * rng.standard_normal((prompts, 1, 1))) * spread
    rows = places + width * rng.standard_normal((prompts, samples, D))
    return rows.reshape(-1, D), np.repeat(np.arange(prompts), samples)


SCORES: dict[str, Callable[[Floats, NDArray[np.int64]], Floats]] = {
    "distinct_k": lambda rows, at: distinct_k(similarity_classes(rows, at, threshold=0.8), at, k=5),
    "similarity": similarity_within,
    "vendi_within": vendi_within,
    "log Vendi": lambda rows, at: np.log(vendi_within(rows, at)),
}


def coverage(worlds: int) -> None:
    """How often 95 % intervals of means over prompts hold the truth, by rows and by prompts."""
    rng = np.random.default_rng(0)
    many = world(rng, MANY, 5)
    truth = {name: float(np.mean(score(*many))) for name, score in SCORES.items()}
    other = world(rng, MANY, 5)
    truth["across two systems"] = float(np.mean(similarity_across(*many, *other)))
    print(f"coverage of 95 % intervals, {worlds} worlds, 5 samples a prompt")
    print("score | 10 prompts | 50 prompts")
    found: dict[str, list[float]] = {name: [] for name in truth}
    for prompts in (10, 50):
        hits = dict.fromkeys(truth, 0)
        for _ in range(worlds):
            rows, at = world(rng, prompts, 5)
            values = {name: score(rows, at) for name, score in SCORES.items()}
            values["across two systems"] = similarity_across(rows, at, *world(rng, prompts, 5))
            for name, each in values.items():
                low, high = mean_over_prompts(each).interval or (np.nan, np.nan)
                hits[name] += low <= truth[name] <= high
        for name, count in hits.items():
            found[name].append(count / worlds)
    for name, shares in found.items():
        print(f"{name} | {' | '.join(f'{share:.3f}' for share in shares)}")


def frechet(worlds: int) -> None:
    """The same of the Fréchet distance of all rows, by the jackknife over prompts and over rows."""
    rng = np.random.default_rng(1)
    prompts, samples = 50, 10

    def draw() -> tuple[Floats, Floats]:
        return world(rng, prompts, samples)[0], world(rng, prompts, samples, spread=1.5)[0]

    expected = float(np.mean([frechet_distance(*draw()).value for _ in range(1000)]))
    hits = {"prompts": 0, "rows": 0}
    for _ in range(worlds):
        ours, theirs = draw()
        value = frechet_distance(ours, theirs).value
        for unit, size in (("prompts", samples), ("rows", 1)):
            error = np.hypot(*(_error(ours, theirs, side, size) for side in (0, 1)))
            reach = 2.0 * error
            hits[unit] += abs(value - expected) <= reach
    print(f"\nFréchet distance, {worlds} worlds, {prompts} prompts of {samples}: covers its mean")
    for unit, count in hits.items():
        print(f"jackknife over {unit} | {count / worlds:.3f}")


def _error(ours: Floats, theirs: Floats, side: int, size: int) -> float:
    """Standard error from one side: without each prompt, or without each tenth row."""
    sides = [Moments.of(ours, precise=True), Moments.of(theirs, precise=True)]
    rows = (ours, theirs)[side]
    step = size if size > 1 else 1
    starts = range(0, len(rows), step if size > 1 else 10)
    values = []
    for start in starts:
        left = list(sides)
        left[side] = sides[side].without(Moments.of(rows[start : start + step], precise=True))
        values.append(_distance(left[0], left[1]))
    units = len(rows) / step
    spread = np.var(values) * (units - 1)  # of a tenth of the rows where rows are left out
    return float(np.sqrt(spread))


def _distance(first: Moments, second: Moments) -> float:
    gap = first.mean - second.mean
    product = np.linalg.eigvals(first.covariance @ second.covariance)
    root = np.sqrt(np.clip(product.real, 0, None)).sum()
    return float(gap @ gap + np.trace(first.covariance + second.covariance) - 2 * root)


def tests(worlds: int) -> None:
    """How often the tests find a difference at 95 %: level, and power."""
    rng = np.random.default_rng(2)
    print(f"\nshare of {worlds} worlds in which the tests find a difference, 20 prompts, p <= 0.05")
    print("case | Gaussian | Hamming | Gaussian, labels permuted over all rows")
    cases = {"the same": (1.0, 0.0), "wider": (1.5, 0.0), "moved": (1.0, 0.8)}
    for case, (spread, moved) in cases.items():
        found = np.zeros(3)
        for number in range(worlds):
            places = rng.standard_normal((20, 1, D))
            ours = places + rng.standard_normal((20, 5, D))
            theirs = places + spread * rng.standard_normal((20, 5, D))
            theirs[:, :, 0] += moved
            parts = [np.concatenate(pair) for pair in zip(ours, theirs, strict=True)]
            kernels = gaussian_kernels(parts)
            assert kernels is not None
            words = [hamming_kernel(padded([_text(row) for row in part])) for part in parts]
            settings = {"permutations": 99, "seed": number}
            sizes = [(5, 5)] * 20
            found[0] += prompts_test(kernels, sizes, kernel="gaussian", **settings).p_value <= 0.05
            found[1] += prompts_test(words, sizes, kernel="hamming", **settings).p_value <= 0.05
            sides = ours.reshape(-1, D), theirs.reshape(-1, D)
            found[2] += mmd_test(*sides, threads=1, **settings).p_value <= 0.05
        print(f"{case} | {' | '.join(f'{share:.3f}' for share in found / worlds)}")


def one_each(worlds: int) -> None:
    """The same of the classifier, where each prompt has one answer of either system."""
    rng = np.random.default_rng(4)
    prompts = np.arange(100)
    print(f"\nshare of {worlds} worlds with p <= 0.05, 100 prompts, one answer of each system")
    print("case | classifier across prompts | classifier over all rows")
    cases = {"the same": (1.0, 0.0), "wider": (1.5, 0.0), "moved": (1.0, 0.5)}
    for case, (spread, moved) in cases.items():
        found = np.zeros(2)
        for number in range(worlds):
            places = 3 * rng.standard_normal((100, D))
            ours = places + rng.standard_normal((100, D))
            theirs = places + spread * rng.standard_normal((100, D))
            theirs[:, 0] += moved
            for place, known in enumerate(((prompts, prompts), None)):
                test = classifier_test(
                    ours, theirs, prompts=known, permutations=99, seed=number, threads=1
                )
                found[place] += test.p_value <= 0.05
        print(f"{case} | {' | '.join(f'{share:.3f}' for share in found / worlds)}")


def _text(row: Floats) -> str:
    """Letters for numbers, so that likely answers are the same text."""
    return "".join(chr(ord("m") + int(np.clip(np.round(2 * value), -9, 9))) for value in row)


def jackknife(worlds: int) -> None:
    """How often the jackknife over prompts holds the similarity between prompts, and contrast."""
    rng = np.random.default_rng(3)

    def measured(prompts: int) -> dict[str, Score]:
        rows, at = world(rng, prompts, 5)
        pairs, own = similarity_between(rows, at), similarity_within(rows, at)
        return {"between": between_prompts(pairs), "contrast": between_prompts(pairs, own)}

    truth = {name: score.value for name, score in measured(MANY).items()}
    print(f"\njackknife over prompts, {worlds} worlds, 50 prompts of 5")
    hits = dict.fromkeys(truth, 0)
    for _ in range(worlds):
        for name, score in measured(50).items():
            low, high = score.interval or (np.nan, np.nan)
            hits[name] += low <= truth[name] <= high
    for name, count in hits.items():
        print(f"{name} | {count / worlds:.3f}")


def main() -> None:
    """Print all tables."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--worlds", type=int, default=400)
    worlds = parser.parse_args().worlds
    coverage(worlds)
    jackknife(worlds)
    frechet(worlds)
    tests(worlds)
    one_each(worlds)


if __name__ == "__main__":
    main()
