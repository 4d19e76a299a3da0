"""How often the intervals of `calipers rank` hold the correlation of the true scores.

    python research/experiments/rank_correlations.py
    python research/experiments/rank_correlations.py --worlds 100 --systems 8 --json worlds.json

Systems are drawn whose strengths (standard deviation 60 on the scale of the scores) and values of a
metric (1) have a known correlation. Every two systems are judged so often, by Davidson's model with
about a fifth of ties; the fit gives the scores, and the metric is measured with or without an error
of its own. The table holds how often two intervals hold what they are about:

- *fixed*: the correlation of these systems' true strengths and true values;
- *drawn*: that of all systems that could have been drawn; beside it, *Fisher*, the interval that
  takes the fitted scores for true.

In brackets stands how long an interval is on average.
"""

from __future__ import annotations

import argparse
import json
import math
from dataclasses import asdict, dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from calipers.errors import InputError
from calipers.uncertainty.bradley_terry import BradleyTerry, fit_bradley_terry
from calipers.uncertainty.correlation import (
    Correlation,
    draw_errors,
    interval_of_errors,
    pearson,
    spearman,
    widened,
)
from calipers.uncertainty.preferences import Preferences

Array = NDArray[np.float64]
Interval = tuple[float, float]

SPREAD = 60.0
TIE_PARAMETER = 0.6
CORRELATIONS = (0.0, 0.6, 0.9, 1.0)
SYSTEMS = (5, 8, 15, 30)
JUDGEMENTS = (10, 40)
ERRORS = (0.0, 0.2)
KINDS = {"spearman": spearman, "pearson": pearson}
CLOSE = 1e-9


@dataclass(frozen=True)
class Row:
    """How often the intervals hold their aim in one case; lengths are means."""

    kind: str
    systems: int
    judgements: int
    metric_error: float
    correlation: float
    fixed: float
    fixed_length: float
    drawn: float
    drawn_length: float
    fisher: float
    fisher_length: float
    worlds: int
    drawn_worlds: int


def judge(rng: np.random.Generator, strengths: Array, often: int) -> BradleyTerry | None:
    """Draw judgements of every pair and fit them; None where no finite scores fit best."""
    n = len(strengths)
    i, j = np.triu_indices(n, 1)
    half = (strengths[i] - strengths[j]) / 200
    weights = np.column_stack([np.exp(half), np.full(len(i), TIE_PARAMETER), np.exp(-half)])
    drawn = rng.multinomial(often, weights / weights.sum(axis=1, keepdims=True))
    wins, ties = np.zeros((n, n)), np.zeros((n, n))
    wins[i, j], ties[i, j], wins[j, i] = drawn.T
    try:
        return fit_bradley_terry(Preferences(tuple(map(str, range(n))), wins, ties + ties.T))
    except InputError:
        return None


def population(kind: str, correlation: float) -> float:
    """What the correlation of ever more systems comes to."""
    return 6 / math.pi * math.asin(correlation / 2) if kind == "spearman" else correlation


def holds(interval: Interval, aim: float) -> bool:
    """Whether an interval holds a value, rounding aside."""
    return interval[0] - CLOSE <= aim <= interval[1] + CLOSE


def one_case(
    n: int, often: int, error: float, correlation: float, *, worlds: int, seed: int
) -> list[Row]:
    """Draw systems and judgements so many times, and see what the intervals hold."""
    rng = np.random.default_rng([seed, n, often, round(100 * error), round(100 * correlation)])
    hits: dict[tuple[str, str], list[tuple[bool, float]]] = {
        (kind, name): [] for kind in KINDS for name in ("fixed", "drawn", "fisher")
    }
    for world in range(worlds):
        strengths = rng.standard_normal(n)
        values = correlation * strengths
        values += math.sqrt(1 - correlation**2) * rng.standard_normal(n)
        fit = judge(rng, SPREAD * strengths, often)
        measured = values + error * rng.standard_normal(n)
        if fit is None:
            continue
        scores = fit.scores + draw_errors(fit.covariance, seed=2 * world)
        moved = measured + draw_errors(np.eye(n) * error**2, seed=2 * world + 1)
        for kind, measure in KINDS.items():
            found: Correlation = measure(measured, fit.scores)
            aim = measure(values, strengths).value
            fixed = interval_of_errors(kind, found.value, moved, scores)
            wide = widened(found.value, found.interval, fixed)
            aims = {"fixed": aim, "drawn": population(kind, correlation)}
            for name, interval in {"fixed": fixed, "drawn": wide, "fisher": found.interval}.items():
                if interval is not None:
                    held = holds(interval, aims.get(name, aims["drawn"]))
                    hits[kind, name].append((held, interval[1] - interval[0]))
    rows = []
    for kind in KINDS:
        means = {
            name: np.mean(hits[kind, name], axis=0).tolist()
            for name in ("fixed", "drawn", "fisher")
        }
        rows.append(
            Row(
                kind,
                n,
                often,
                error,
                correlation,
                *means["fixed"],
                *means["drawn"],
                *means["fisher"],
                len(hits[kind, "fixed"]),
                len(hits[kind, "drawn"]),
            )
        )
    return rows


def table(rows: list[Row]) -> str:
    """Write a line for each case, both correlations beside each other."""
    names = ("fixed", "drawn", "Fisher")
    lines = [
        "| systems | judgements of a pair | metric's error | correlation | "
        + " | ".join(f"{kind.capitalize()}, {name}" for kind in KINDS for name in names)
        + " |",
        "| ---: | ---: | ---: | ---: |" + " ---: |" * (len(KINDS) * len(names)),
    ]
    cases: dict[tuple[float, ...], list[str]] = {}
    for row in rows:
        case = (row.systems, row.judgements, row.metric_error, row.correlation)
        cases.setdefault(case, []).extend(
            f"{getattr(row, name):.1%} ({getattr(row, f'{name}_length'):.2f})"
            for name in ("fixed", "drawn", "fisher")
        )
    for case, cells in cases.items():
        lines.append("| " + " | ".join([*(f"{value:g}" for value in case), *cells]) + " |")
    return "\n".join(lines)


def summary(rows: list[Row]) -> str:
    """Average the cases of each true correlation: coverage, the least of a case, mean length."""
    lines = [
        "| kind | correlation | fixed | drawn | Fisher |",
        "| --- | ---: | ---: | ---: | ---: |",
    ]
    for kind in KINDS:
        for correlation in CORRELATIONS:
            cases = [row for row in rows if (row.kind, row.correlation) == (kind, correlation)]
            cells = []
            for name in ("fixed", "drawn", "fisher"):
                rates = [getattr(row, name) for row in cases]
                lengths = [getattr(row, f"{name}_length") for row in cases]
                cells.append(f"{np.mean(rates):.1%}, {min(rates):.1%} ({np.mean(lengths):.2f})")
            lines.append(f"| {kind} | {correlation:g} | " + " | ".join(cells) + " |")
    return "\n".join(lines)


def main(arguments: list[str] | None = None) -> None:
    """Draw, fit, print the table, keep the numbers."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--worlds", type=int, default=400, help="drawings of each case")
    parser.add_argument("--systems", type=int, nargs="+", default=list(SYSTEMS))
    parser.add_argument("--judgements", type=int, nargs="+", default=list(JUDGEMENTS))
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--json", type=Path, help="where all numbers go")
    given = parser.parse_args(arguments)
    rows = [
        row
        for n in given.systems
        for often in given.judgements
        for error in ERRORS
        for correlation in CORRELATIONS
        for row in one_case(n, often, error, correlation, worlds=given.worlds, seed=given.seed)
    ]
    print(
        f"How often 95 % intervals hold their aim, and their mean length; {given.worlds:,} worlds\n"
    )
    print(table(rows))
    print("\nThe same on average over all cases, then in the case covered least\n")
    print(summary(rows))
    if given.json:
        given.json.write_text(json.dumps([asdict(row) for row in rows], indent=1) + "\n")


if __name__ == "__main__":
    main()
