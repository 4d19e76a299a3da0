"""How often intervals of mean ratings hold the truth, of simulated crowds of raters.

    python research/experiments/crowds_ratings.py
    python research/experiments/crowds_ratings.py --crowds 1000

Raters rate the texts of four systems, 30 texts of each and three ratings of each text. A rating is
the sum of normal draws, in units of their noise: of the rater (severity, standard deviation 0.5),
of the rater for this system (taste, 0.3), of the text, and of nothing else (1). The true mean of
each system is 0. Held against it are the intervals that take all ratings for independent, those
from clusters of raters, and those from clusters of raters and of texts; with their length over that
of the first (the median of all crowds). Nothing here is data of people.
"""

from __future__ import annotations

import argparse
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from calipers.uncertainty.rated_means import rated_means

SYSTEMS = 4
TEXTS = 30
RATINGS = 3
SEVERITY = 0.5
TASTE = 0.3

RATERS = (30, 10, 3)
SPREADS = (0.0, 0.5, 1.0)
METHODS = ("plain", "by rater", "by rater and item")


@dataclass(frozen=True)
class Row:
    """How often intervals hold the truth, and their length, by method."""

    raters: int
    spread: float
    held: dict[str, float]
    length: dict[str, float]


@dataclass(frozen=True)
class Rated:
    """Ratings in columns."""

    system: NDArray[np.int64]
    item: NDArray[np.int64]
    rater: NDArray[np.int64]
    rating: NDArray[np.float64]


def draw(rng: np.random.Generator, raters: int, spread: float) -> Rated:
    """Draw the ratings of one crowd, each text dealt to raters at random."""
    texts = SYSTEMS * TEXTS
    item = np.arange(texts).repeat(RATINGS)
    system = item // TEXTS
    rater = rng.random((texts, raters)).argsort(axis=1)[:, :RATINGS].ravel()
    severity = SEVERITY * rng.standard_normal(raters)
    taste = TASTE * rng.standard_normal((raters, SYSTEMS))
    text = spread * rng.standard_normal(texts)
    noise = rng.standard_normal(len(item))
    return Rated(system, item, rater, severity[rater] + taste[rater, system] + text[item] + noise)


def measure(raters: int, spread: float, crowds: int, seed: int) -> Row:
    """Draw many crowds, and count how often each method's intervals hold 0."""
    held: dict[str, list[float]] = {method: [] for method in METHODS}
    length: dict[str, list[float]] = {method: [] for method in METHODS}
    for number in range(crowds):
        drawn = draw(np.random.default_rng([seed, number]), raters, spread)
        names = [f"system {number}" for number in drawn.system]
        ways = ([np.arange(len(names))], [drawn.rater], [drawn.rater, drawn.item])
        for method, clusters in zip(METHODS, ways, strict=True):
            low, high = rated_means(names, drawn.rating, *clusters).intervals.T
            held[method].append(float(((low <= 0) & (high >= 0)).mean()))
            length[method].append(float((high - low).mean()))
    plain = float(np.median(length["plain"]))
    return Row(
        raters,
        spread,
        {method: float(np.mean(found)) for method, found in held.items()},
        {method: float(np.median(found)) / plain for method, found in length.items()},
    )


def table(rows: list[Row]) -> str:
    """Lay out a line for each number of raters and spread of texts."""
    lines = [
        "| raters | items apart | plain | by rater | by rater and item | lengths |",
        "| --- | --- | --- | --- | --- | --- |",
    ]
    lines += [
        f"| {row.raters} | {row.spread:.1f} | {' | '.join(f'{row.held[m]:.1%}' for m in METHODS)} "
        f"| {', '.join(f'{row.length[m]:.2f}' for m in METHODS[1:])} |"
        for row in rows
    ]
    return "\n".join(lines)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--crowds", type=int, default=500, help="of each kind")
    parser.add_argument("--seed", type=int, default=0)
    asked = parser.parse_args()
    print(
        table(
            [
                measure(raters, spread, asked.crowds, asked.seed)
                for raters in RATERS
                for spread in SPREADS
            ]
        )
    )


if __name__ == "__main__":
    main()
