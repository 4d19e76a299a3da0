"""What becomes of Bradley-Terry scores where judgements tie: four fits under two models of ties.

    python research/experiments/ties.py
    python research/experiments/ties.py --worlds 200 --systems 4 --json ties.json

Judgements are drawn from Davidson's model (1970) and from that of Rao and Kupper (1967), with 0 to
50 % ties among 3 to 8 systems whose true scores stand evenly from 120 to -120. Each drawing is
fitted by both models, by half a win for each tie, and without ties. The tables hold the slope of
the fitted scores over the true ones (1 is no bias), what becomes of the score -120, and how often
the 95 % intervals of the scores hold the truth, on average and of the system covered least; the
first table averages over numbers of systems and designs.

The two models have different scales. Where Davidson's scores differ by d, the odds of being
preferred, among the judgements that prefer one, are exp(d); where those of Rao and Kupper do, these
odds are larger. So what needs no model is compared too: the slope of the fitted log odds of a
preference over the true ones, over all pairs ("odds").
"""

from __future__ import annotations

import argparse
import json
import math
from collections.abc import Callable
from dataclasses import asdict, dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import brentq
from scipy.special import expit, ndtri

from calipers.errors import InputError
from calipers.uncertainty.bradley_terry import fit_bradley_terry
from calipers.uncertainty.preferences import Preferences

Array = NDArray[np.float64]
Fit = tuple[Array, Array, Array]
"""Scores, their standard errors, and the log odds of a preference for every two."""

SCALE = 100.0
FARTHEST = 120.0
SHARES = (0.0, 0.1, 0.3, 0.5)
SYSTEMS = (3, 5, 8)
JUDGEMENTS = 60
"""Of a pair where the design is balanced, and on average where it is not."""

UNEVEN = (0.2, 0.5, 2.3)
"""How often pairs are judged where the design is not balanced, in turn, beside JUDGEMENTS."""

Z = float(ndtri(0.975))


@dataclass(frozen=True)
class Row:
    """What one fit makes of one case."""

    drawn_from: str
    ties: float
    systems: int
    design: str
    fitted: str
    slope: float
    slope_error: float
    lowest: float
    odds_slope: float
    coverage: float
    least_covered: float
    worlds: int
    without_a_fit: int


def davidson(d: Array, parameter: float) -> tuple[Array, Array]:
    """Chances of a win and of a tie at log odds d, by Davidson's ν."""
    total = np.exp(d / 2) + np.exp(-d / 2) + parameter
    return np.exp(d / 2) / total, parameter / total


def log_odds(model: str, d: Array, parameter: float) -> Array:
    """Log odds of being preferred, where one is, at a difference d of the scores."""
    if model == "Davidson":
        return d
    return np.logaddexp(0, parameter + d) - np.logaddexp(0, parameter - d)


def rao_kupper(d: Array, parameter: float) -> tuple[Array, Array]:
    """Chances of a win and of a tie at log odds d, by the threshold of Rao and Kupper."""
    won, lost = expit(d - parameter), expit(-d - parameter)
    return won, np.clip(1 - won - lost, 0, 1)


MODELS: dict[str, Callable[[Array, float], tuple[Array, Array]]] = {
    "Davidson": davidson,
    "Rao-Kupper": rao_kupper,
}


def design_of(name: str, n: int) -> NDArray[np.int64]:
    """How often each pair is judged: shape (n, n), above the diagonal."""
    i, j = np.triu_indices(n, 1)
    often = np.ones(len(i)) if name == "balanced" else np.resize(UNEVEN, len(i))
    found = np.zeros((n, n), dtype=np.int64)
    found[i, j] = np.rint(JUDGEMENTS * often)
    return found


def parameter_for(model: str, share: float, truth: Array, played: NDArray[np.int64]) -> float:
    """Give the tie parameter under which so many of all judgements are ties."""
    d = np.subtract.outer(truth, truth) / SCALE

    def excess(parameter: float) -> float:
        return float((played * MODELS[model](d, parameter)[1]).sum() / played.sum()) - share

    return float(brentq(excess, 0, 50)) if share else 0.0


def draw(
    rng: np.random.Generator, model: str, parameter: float, truth: Array, played: NDArray[np.int64]
) -> Preferences:
    """Draw every judgement of a design."""
    n = len(truth)
    won, tie = MODELS[model](np.subtract.outer(truth, truth) / SCALE, parameter)
    wins, ties = np.zeros((n, n)), np.zeros((n, n))
    for i, j in zip(*np.triu_indices(n, 1), strict=True):
        chances = [won[i, j], tie[i, j], max(0.0, 1 - won[i, j] - tie[i, j])]
        wins[i, j], ties[i, j], wins[j, i] = rng.multinomial(played[i, j], chances)
    return Preferences(tuple(f"s{i}" for i in range(n)), wins, ties + ties.T)


def fit_rao_kupper(judged: Preferences) -> Fit:
    """Fit the model of Rao and Kupper by Newton's method: scores and their standard errors.

    A win is log σ(d - κ), a tie log σ(d + κ) + log σ(κ - d) + log(1 - exp(-2κ)), which is concave.
    """
    n, tied = len(judged.names), judged.ties.sum() / 2
    if not tied:
        found = fit_bradley_terry(judged, ties="half")
        return found.scores, found.standard_errors, np.subtract.outer(found.scores, found.scores)
    i, j = np.nonzero(~np.eye(n, dtype=bool))
    apart = np.eye(n)[i] - np.eye(n)[j]
    rows = np.vstack([np.column_stack([apart, np.full(len(i), sign)]) for sign in (-1.0, 1.0)])
    counts = np.concatenate([judged.wins[i, j], judged.ties[i, j]])
    flat = np.zeros((n + 1, n + 1))
    flat[:n, :n] = 1 / n

    def height(point: Array) -> float:
        if point[n] <= 0:
            return -math.inf
        return float(
            -counts @ np.logaddexp(0, -rows @ point) + tied * np.log(-np.expm1(-2 * point[n]))
        )

    def information(point: Array) -> Array:
        chances = expit(rows @ point)
        found = rows.T @ ((counts * chances * (1 - chances))[:, None] * rows) + flat
        found[n, n] += tied / math.sinh(point[n]) ** 2
        return found

    point = np.append(np.zeros(n), 0.5)
    for _ in range(100):
        gradient = rows.T @ (counts * expit(-rows @ point))
        gradient[n] += 2 * tied / math.expm1(2 * point[n])
        move, step = np.linalg.solve(information(point), gradient), 1.0
        while height(point + step * move) < height(point) - 1e-9 and step > 1e-9:
            step /= 2
        point = point + step * move
        if np.abs(move).max() < 1e-9:
            break
    covariance = np.linalg.inv(information(point))[:n, :n] - 1 / n
    scores = point[:n] - point[:n].mean()
    odds = log_odds("Rao-Kupper", np.subtract.outer(scores, scores), point[n])
    return scores * SCALE, np.sqrt(covariance.diagonal()) * SCALE, odds * SCALE


def fit_ours(ties: str) -> Callable[[Preferences], Fit]:
    """A fit of the library's, with this treatment of ties."""

    def fit(judged: Preferences) -> Fit:
        found = fit_bradley_terry(judged, ties=ties, scale=SCALE)
        return found.scores, found.standard_errors, np.subtract.outer(found.scores, found.scores)

    return fit


FITS: dict[str, Callable[[Preferences], Fit]] = {
    "Davidson": fit_ours("davidson"),
    "Rao-Kupper": fit_rao_kupper,
    "half": fit_ours("half"),
    "drop": fit_ours("drop"),
}


def one_case(model: str, share: float, n: int, design: str, *, worlds: int, seed: int) -> list[Row]:
    """Draw the judgements of one case so many times, and fit each drawing every way."""
    truth, played = np.linspace(FARTHEST, -FARTHEST, n), design_of(design, n)
    parameter = parameter_for(model, share, truth, played)
    key = [seed, list(MODELS).index(model), round(100 * share), n, design == "balanced"]
    rng = np.random.default_rng(key)
    scores: dict[str, list[Array]] = {name: [] for name in FITS}
    held: dict[str, list[Array]] = {name: [] for name in FITS}
    odds: dict[str, list[float]] = {name: [] for name in FITS}
    ideal = log_odds(model, np.subtract.outer(truth, truth) / SCALE, parameter).ravel() * SCALE
    for _ in range(worlds):
        judged = draw(rng, model, parameter, truth, played)
        for name, fit in FITS.items():
            try:
                found, errors, fitted = fit(judged)
            except InputError:
                continue
            scores[name].append(found)
            odds[name].append(float(fitted.ravel() @ ideal / (ideal @ ideal)))
            held[name].append(np.abs(found - truth) <= Z * errors)
    rows = []
    for name, all_found in scores.items():
        slopes = np.array(all_found) @ truth / (truth @ truth)
        covered = np.mean(held[name], axis=0)
        rows.append(
            Row(
                model,
                share,
                n,
                design,
                name,
                float(slopes.mean()),
                float(slopes.std(ddof=1) / math.sqrt(len(slopes))),
                float(np.mean(all_found, axis=0)[-1]),
                float(np.mean(odds[name])),
                float(covered.mean()),
                float(covered.min()),
                len(all_found),
                worlds - len(all_found),
            )
        )
    return rows


def table(rows: list[Row], cell: Callable[[Row], str]) -> str:
    """Write a cell for every fit, a line for each case."""
    lines = [
        "| drawn from | ties | systems | design | " + " | ".join(FITS) + " |",
        "| --- | ---: | ---: | --- |" + " --- |" * len(FITS),
    ]
    cases: dict[tuple[str, float, int, str], list[str]] = {}
    for row in rows:
        case = (row.drawn_from, row.ties, row.systems, row.design)
        cases.setdefault(case, []).append(cell(row))
    for (model, share, n, design), cells in cases.items():
        lines.append(f"| {model} | {share:.0%} | {n} | {design} | " + " | ".join(cells) + " |")
    return "\n".join(lines)


def summary(rows: list[Row]) -> str:
    """Average the cases of each model and share of ties; coverage also of the worst system."""
    lines = [
        "| drawn from | ties | fitted | slope | -120 becomes | odds | coverage | least covered |",
        "| --- | ---: | --- | ---: | ---: | ---: | ---: | ---: |",
    ]
    cases: dict[tuple[str, float, str], list[Row]] = {}
    for row in rows:
        cases.setdefault((row.drawn_from, row.ties, row.fitted), []).append(row)
    for (model, share, fitted), group in cases.items():
        means = np.mean([(r.slope, r.lowest, r.odds_slope, r.coverage) for r in group], axis=0)
        least = min(row.least_covered for row in group)
        lines.append(
            f"| {model} | {share:.0%} | {fitted} | {means[0]:.2f} | {means[1]:.0f} | "
            f"{means[2]:.2f} | {means[3]:.1%} | {least:.1%} |"
        )
    return "\n".join(lines)


def main(arguments: list[str] | None = None) -> None:
    """Draw, fit, print the table, keep the numbers."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--worlds", type=int, default=1000, help="drawings of each case")
    parser.add_argument("--systems", type=int, nargs="+", default=list(SYSTEMS))
    parser.add_argument("--shares", type=float, nargs="+", default=list(SHARES), help="of ties")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--json", type=Path, help="where all numbers go")
    given = parser.parse_args(arguments)
    rows = [
        row
        for model in MODELS
        for share in given.shares
        for n in given.systems
        for design in ("balanced", "uneven")
        for row in one_case(model, share, n, design, worlds=given.worlds, seed=given.seed)
    ]
    print(f"Averages over the cases below; {given.worlds:,} worlds of each\n")
    print(summary(rows))
    print("\nSlope over the true scores, what becomes of -120, coverage\n")
    print(table(rows, lambda r: f"{r.slope:.2f}, {r.lowest:.0f}, {r.coverage:.1%}"))
    print("\nSlope of the fitted over the true log odds of a preference\n")
    print(table(rows, lambda r: f"{r.odds_slope:.2f}"))
    refused = sum(row.without_a_fit for row in rows)
    print(f"\n{refused:,} of {len(rows) * given.worlds:,} fits had no finite scores")
    if given.json:
        given.json.write_text(json.dumps([asdict(row) for row in rows], indent=1) + "\n")


if __name__ == "__main__":
    main()
