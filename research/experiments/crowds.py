"""How often intervals of Bradley-Terry scores hold the truth, of simulated crowds of raters.

    python research/experiments/crowds.py
    python research/experiments/crowds.py --crowds 1000 --json crowds.json

Thirty raters judge 600 pairs of nine systems, whose true scores are the "human-like" ones of
Pillutla et al. (JMLR 2023, table 18). All raters of a crowd are alike, or they differ: in how
sharply they tell systems apart, in how far they prefer the side shown first, in what they like (a
score of their own for every system), in all of this, or in all of this with few raters giving most
answers. Nothing here is data of people.

Each crowd is scored by three methods: the plain fit, which takes all judgements for independent;
the same with errors clustered by rater; and the fit with effects of raters. For each the table
holds how often the 95 % intervals of scores, and of differences of two scores, hold the truth, that
of the system covered least, and how long the intervals are, over those of the plain fit (the median
of all crowds). A second table holds the first two methods where as many pairs are judged by fewer
raters, or by more. In a third 200 items have three ratings each, and each item log odds of its own
around those of its two systems; it holds errors clustered by rater, and by rater and item.

Two truths are held against them. That of the crowd is the score that the plain fit would give if
endlessly many raters of this kind answered endlessly often; that of the typical rater is the score
which their judgements were drawn from. They are the same where all raters are alike.
"""

from __future__ import annotations

import argparse
import json
import math
from collections.abc import Callable
from dataclasses import asdict, dataclass, replace
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from calipers.errors import InputError
from calipers.uncertainty.bradley_terry import ScoreDifference, fit_bradley_terry
from calipers.uncertainty.clustered import clustered_covariance, crossed_covariance
from calipers.uncertainty.preferences import Preferences
from calipers.uncertainty.rated_pairs import RatedPairs
from calipers.uncertainty.rater_effects import fit_rater_effects

Array = NDArray[np.float64]
Places = NDArray[np.int64]

HUMAN_LIKE = {
    "human": 47.251,
    "xl nucleus": 15.664,
    "xl sampling": 8.966,
    "large nucleus": 12.553,
    "large sampling": -6.935,
    "medium nucleus": -3.429,
    "medium sampling": -30.769,
    "small nucleus": -15.783,
    "small sampling": -27.518,
}
"""Table 18, column "Human-like"."""

NAMES = tuple(HUMAN_LIKE)
TRUTH = np.array(list(HUMAN_LIKE.values())) / 100
TRUTH -= TRUTH.mean()
N = len(NAMES)

RATERS = 30
PAIRS = 600
RATINGS = 3
"""Of each item, where items are rated more than once."""

TIES = 0.2
"""Davidson's ν of the typical rater: two equal systems tie 1 time in 11."""

MANY = 200_000
"""Raters drawn for the truth of a crowd."""


@dataclass(frozen=True)
class Crowd:
    """How raters differ: standard deviations in log odds, and the mean side bias."""

    name: str
    discrimination: float = 0.0
    side: float = 0.0
    side_mean: float = 0.0
    tie: float = 0.0
    taste: float = 0.0
    uneven: bool = False
    item: float = 0.0


CROWDS = (
    Crowd("alike"),
    Crowd("discrimination", discrimination=0.5),
    Crowd("side bias", side=0.5, side_mean=0.5),
    Crowd("tastes", taste=0.5),
    Crowd("all of these", 0.5, 0.5, 0.5, 0.5, 0.5),
    Crowd("all, uneven", 0.5, 0.5, 0.5, 0.5, 0.5, uneven=True),
)


@dataclass(frozen=True)
class Drawn:
    """Raters of a crowd: discrimination, side bias, log tie parameter, scores of their own."""

    sharp: Array
    side: Array
    tie: Array
    liked: Array


@dataclass(frozen=True)
class Row:
    """What one method makes of one kind of crowd, by one truth."""

    crowd: str
    item: float
    raters: int
    method: str
    truth: str
    scores: float
    scores_error: float
    least: float
    differences: float
    length: float
    crowds: int
    without_a_fit: int


def draw_raters(rng: np.random.Generator, crowd: Crowd, count: int) -> Drawn:
    """Draw raters, each with tastes around the true scores."""
    return Drawn(
        sharp=np.exp(crowd.discrimination * rng.standard_normal(count)),
        side=crowd.side_mean + crowd.side * rng.standard_normal(count),
        tie=math.log(TIES) + crowd.tie * rng.standard_normal(count),
        liked=TRUTH + crowd.taste * rng.standard_normal((count, N)),
    )


def chances(
    raters: Drawn, rater: Places, i: Places, j: Places, first: Places, item: Array | float = 0.0
) -> Array:
    """Chances of a win of i, a tie and a loss, shape ``(rows, 3)``; items add to the log odds."""
    gap = raters.liked[rater, i] - raters.liked[rater, j] + item
    odds = raters.sharp[rater] * gap + raters.side[rater] * first
    weights = np.exp(np.column_stack([odds / 2, raters.tie[rater], -odds / 2]))
    return weights / weights.sum(axis=1, keepdims=True)


def draw_pairs(rng: np.random.Generator, crowd: Crowd, raters: int, pairs: int) -> RatedPairs:
    """Draw judgements: every two systems as often, dealt to the raters at random."""
    above, below = np.triu_indices(N, 1)
    dealt = rng.permutation(np.resize(np.arange(len(above)), pairs))
    i, j = above[dealt], below[dealt]
    rater = np.arange(pairs) % raters
    if crowd.uneven:
        # A few give most answers, as on a market of workers
        share = rng.pareto(1.2, raters) + 0.2
        rater = rng.choice(raters, pairs, p=share / share.sum())
    first = rng.choice([-1, 1], pairs)
    drawn = draw_raters(rng, crowd, raters)
    below_win = chances(drawn, rater, i, j, first).cumsum(axis=1)
    place = (rng.random(pairs)[:, None] > below_win).sum(axis=1).clip(max=2)
    nobody = np.full(pairs, -1)
    people = tuple(f"rater {number}" for number in range(raters))
    return RatedPairs(NAMES, people, (), i, j, 1 - place, rater, first, nobody, np.zeros_like(i))


def draw_rated_items(
    rng: np.random.Generator, crowd: Crowd, raters: int, pairs: int, ratings: int = RATINGS
) -> RatedPairs:
    """Draw judgements of items that several raters see, each item dealt to raters at random."""
    items = pairs // ratings
    above, below = np.triu_indices(N, 1)
    dealt = rng.permutation(np.resize(np.arange(len(above)), items)).repeat(ratings)
    item = np.arange(items).repeat(ratings)
    rater = rng.random((items, raters)).argsort(axis=1)[:, :ratings].ravel()
    odds = (crowd.item * rng.standard_normal(items))[item]
    first = rng.choice([-1, 1], len(item))
    drawn = draw_raters(rng, crowd, raters)
    i, j = above[dealt], below[dealt]
    below_win = chances(drawn, rater, i, j, first, odds).cumsum(axis=1)
    place = (rng.random(len(item))[:, None] > below_win).sum(axis=1).clip(max=2)
    people = tuple(f"rater {number}" for number in range(raters))
    texts = tuple(f"item {number}" for number in range(items))
    return RatedPairs(NAMES, people, texts, i, j, 1 - place, rater, first, item, np.zeros_like(i))


def truth_of(crowd: Crowd, many: int = MANY) -> Array:
    """Give the scores that the plain fit would come to, were there no end of raters."""
    rng = np.random.default_rng(18)
    raters = draw_raters(rng, crowd, many)
    wins, ties = np.zeros((2, N, N))
    rater = np.arange(many)
    item = crowd.item * rng.standard_normal(many)
    for i in range(N):
        for j in range(i):
            at = (np.full(many, i), np.full(many, j))
            both = [chances(raters, rater, *at, np.full(many, side), item) for side in (-1, 1)]
            won, tied, lost = np.mean(both, axis=(0, 1))
            wins[i, j], wins[j, i] = won, lost
            ties[i, j] = ties[j, i] = tied
    return fit_bradley_terry(Preferences(NAMES, wins * many, ties * many)).scores


@dataclass(frozen=True)
class Found:
    """Intervals of one method: of the scores ``(n, 2)``, and of the difference of every two."""

    intervals: Array
    difference: Callable[[int, int], ScoreDifference]


def fits(pairs: RatedPairs, methods: tuple[str, ...]) -> dict[str, Found]:
    """Fit one crowd by some methods."""
    plain = fit_bradley_terry(pairs.preferences)
    clustered = clustered_covariance(plain, pairs)
    found = {
        "plain": Found(plain.intervals, plain.difference),
        "clustered": Found(clustered.intervals, clustered.difference),
    }
    if "effects" in methods:
        effects = fit_rater_effects(pairs)
        found["effects"] = Found(effects.intervals, effects.difference)
    if "rater and item" in methods:
        both = crossed_covariance(plain, pairs)
        found["rater and item"] = Found(both.intervals, both.difference)
    return found


METHODS = ("plain", "clustered", "effects")
OTHER_RATERS = (2, 3, 5, 10, 100)

ITEM_SPREADS = (0.0, 0.5, 1.0)
ITEM_RATERS = (30, 10, 3)
ITEM_METHODS = ("plain", "clustered", "rater and item")


def measure(
    crowd: Crowd,
    crowds: int,
    raters: int,
    pairs: int,
    seed: int,
    methods: tuple[str, ...] = METHODS,
) -> list[Row]:
    """Draw many crowds of one kind, and count how often intervals hold either truth."""
    truths = {"crowd": truth_of(crowd), "typical rater": TRUTH * 100}
    held = {(m, t): np.zeros((0, N)) for m in methods for t in truths}
    apart: dict[tuple[str, str], list[float]] = {key: [] for key in held}
    length: dict[str, list[float]] = {m: [] for m in methods}
    without = 0
    draw = draw_rated_items if "rater and item" in methods else draw_pairs
    for number in range(crowds):
        rng = np.random.default_rng([seed, number])
        try:
            found = fits(draw(rng, crowd, raters, pairs), methods)
        except InputError:
            without += 1
            continue
        for method, fit in found.items():
            low, high = fit.intervals.T
            length[method].append(float((high - low).mean()))
            differences = [
                (i, j, *fit.difference(i, j).interval) for i in range(N) for j in range(i)
            ]
            for name, truth in truths.items():
                inside = (low <= truth) & (truth <= high)
                held[method, name] = np.vstack([held[method, name], inside])
                within = [a <= truth[i] - truth[j] <= b for i, j, a, b in differences]
                apart[method, name].append(float(np.mean(within)))
    rows = []
    for (method, name), inside in held.items():
        by_crowd = inside.mean(axis=1)
        rows.append(
            Row(
                crowd=crowd.name,
                item=crowd.item,
                raters=raters,
                method=method,
                truth=name,
                scores=float(inside.mean()),
                scores_error=float(by_crowd.std(ddof=1) / math.sqrt(len(by_crowd))),
                least=float(inside.mean(axis=0).min()),
                differences=float(np.mean(apart[method, name])),
                length=float(np.median(length[method]) / np.median(length["plain"])),
                crowds=len(by_crowd),
                without_a_fit=without,
            )
        )
    return rows


def table(rows: list[Row]) -> str:
    """Lay out the rows: a line for each crowd and method, both truths beside one another."""
    lines = [
        "| crowd | method | scores (crowd) | differences | least | scores (typical rater) "
        "| differences | length |",
        "| --- | --- | --- | --- | --- | --- | --- | --- |",
    ]
    typical = {(row.crowd, row.method): row for row in rows if row.truth != "crowd"}
    for row in rows:
        if row.truth == "crowd":
            other = typical[row.crowd, row.method]
            lines.append(
                f"| {row.crowd} | {row.method} | {row.scores:.1%} ± {row.scores_error:.1%} "
                f"| {row.differences:.1%} | {row.least:.1%} | {other.scores:.1%} "
                f"| {other.differences:.1%} | {row.length:.2f} |"
            )
    return "\n".join(lines)


def table_of_raters(rows: list[Row]) -> str:
    """Lay out how often scores are held, by the number of raters."""
    lines = ["| crowd | raters | plain | clustered | length |", "| --- | --- | --- | --- | --- |"]
    of_crowd = [row for row in rows if row.truth == "crowd"]
    plain = [row for row in of_crowd if row.method == "plain"]
    clustered = [row for row in of_crowd if row.method == "clustered"]
    for one, other in zip(plain, clustered, strict=True):
        lines.append(
            f"| {one.crowd} | {one.raters} | {one.scores:.1%} | {other.scores:.1%} "
            f"| {other.length:.2f} |"
        )
    return "\n".join(lines)


def table_of_items(rows: list[Row]) -> str:
    """Lay out how often scores are held, by how far items differ."""
    lines = [
        "| crowd | raters | items apart | plain | by rater | by rater and item | lengths |",
        "| --- | --- | --- | --- | --- | --- | --- |",
    ]
    of_crowd = [row for row in rows if row.truth == "crowd"]
    by_method = ([row for row in of_crowd if row.method == method] for method in ITEM_METHODS)
    for plain, clustered, both in zip(*by_method, strict=True):
        lines.append(
            f"| {plain.crowd} | {plain.raters} | {plain.item:.1f} | {plain.scores:.1%} "
            f"| {clustered.scores:.1%} | {both.scores:.1%} "
            f"| {clustered.length:.2f}, {both.length:.2f} |"
        )
    return "\n".join(lines)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--crowds", type=int, default=200, help="of each kind")
    parser.add_argument("--raters", type=int, default=RATERS)
    parser.add_argument("--pairs", type=int, default=PAIRS)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--json", type=Path, help="write the numbers here too")
    asked = parser.parse_args()
    rows, others, items = [], [], []
    for crowd in CROWDS:
        rows += measure(crowd, asked.crowds, asked.raters, asked.pairs, asked.seed)
        for raters in OTHER_RATERS if crowd.name in ("alike", "all of these") else ():
            others += measure(
                crowd, asked.crowds, raters, asked.pairs, asked.seed, ("plain", "clustered")
            )
        for raters in ITEM_RATERS if crowd.name in ("alike", "all of these") else ():
            for spread in ITEM_SPREADS:
                differ = replace(crowd, item=spread)
                items += measure(
                    differ, asked.crowds, raters, asked.pairs, asked.seed, ITEM_METHODS
                )
        print(f"{crowd.name}: done", flush=True)
    print()
    print(table(rows))
    print()
    print(table_of_raters(others))
    print()
    print(table_of_items(items))
    if asked.json:
        asked.json.write_text(json.dumps([asdict(row) for row in rows + others + items], indent=1))


if __name__ == "__main__":
    main()
