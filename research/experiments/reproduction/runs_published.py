"""What can be computed again from the numbers that the papers print."""

from __future__ import annotations

import csv
import math
from collections.abc import Iterator
from itertools import combinations
from pathlib import Path

import numpy as np

import calipers
from calipers.uncertainty.correlation import spearman
from reproduction.item import Line
from reproduction.verdicts import Estimate, correlated, exact, fact, shown, sign

FOLDER = Path(__file__).resolve().parents[3] / "examples" / "rankings"
SCORES, HUMAN = FOLDER / "webtext_scores.csv", FOLDER / "webtext_human.csv"
METRICS = ("gen_ppl", "zipf", "rep", "distinct_4", "self_bleu", "mauve_star")
TABLE_4 = {
    "human_like": ("0.810", "0.762", "-0.500", "0.738", "0.500", "0.857"),
    "interesting": ("0.643", "0.405", "-0.571", "0.524", "0.262", "0.714"),
    "sensible": ("0.738", "0.643", "-0.476", "0.595", "0.452", "0.762"),
}
HUMANS = {"human_like": 47.251, "interesting": 25.503, "sensible": 43.229}
"""Bradley-Terry scores of human text, table 18."""

NEWS = {
    # Gen. PPL, Zipf, REP, Distinct-4, Self-BLEU, discriminator's accuracy, MAUVE*: table 13
    "base sampling": (37.505, 0.942, 0.002, 0.882, 0.419, 99.925, 0.754),
    "base greedy": (1.413, 1.038, 0.518, 0.081, 0.548, 100.0, 0.012),
    "base nucleus": (23.064, 0.974, 0.006, 0.847, 0.462, 99.950, 0.764),
    "large sampling": (27.796, 0.946, 0.002, 0.878, 0.429, 99.450, 0.836),
    "large greedy": (1.575, 1.012, 0.366, 0.124, 0.504, 100.0, 0.013),
    "large nucleus": (20.792, 0.962, 0.002, 0.859, 0.450, 98.475, 0.800),
    "mega sampling": (22.656, 0.950, 0.001, 0.879, 0.427, 97.300, 0.847),
    "mega greedy": (1.796, 1.003, 0.316, 0.176, 0.500, 100.0, 0.013),
    "mega nucleus": (14.834, 0.972, 0.003, 0.848, 0.469, 88.675, 0.852),
}
NEWS_HUMAN = (15.356, 0.956, 0.002, 0.842, 0.473)
NEWS_PRINTED = ("0.468", "0.595", "-0.792", "0.653", "0.516", "0.956")
STORIES = {
    "sampling": (38.983, 1.066, 0.001, 0.833, 0.518, 78.098, 0.929),
    "nucleus 0.9": (15.433, 1.201, 0.006, 0.719, 0.637, 75.150, 0.914),
    "nucleus 0.92": (17.422, 1.179, 0.004, 0.742, 0.620, 71.979, 0.926),
    "nucleus 0.95": (21.599, 1.147, 0.003, 0.775, 0.589, 68.586, 0.940),
    "top-50": (13.735, 1.293, 0.002, 0.706, 0.664, 83.549, 0.886),
    "top-100": (16.527, 1.252, 0.001, 0.743, 0.631, 78.150, 0.913),
    "top-500": (23.833, 1.153, 0.001, 0.794, 0.576, 69.680, 0.942),
    "greedy": (1.739, 1.362, 0.988, 0.101, 0.742, 99.712, 0.013),
}
STORIES_HUMAN = (19.704, 1.101, 0.001, 0.783, 0.571)
STORIES_PRINTED = ("0.690", "0.762", "0.190", "0.833", "0.905", "0.905")

TABLE_8 = (
    ("small sampling", 0.589, 0.655, 5.4),
    ("small greedy", 0.008, 0.019, 37.3),
    ("small nucleus", 0.878, 0.906, 3.6),
    ("medium sampling", 0.373, 0.446, 7.7),
    ("medium greedy", 0.012, 0.024, 31.4),
    ("medium nucleus", 0.915, 0.936, 2.9),
    ("large sampling", 0.845, 0.878, 3.0),
    ("large greedy", 0.012, 0.026, 31.1),
    ("large nucleus", 0.936, 0.952, 2.7),
    ("xl sampling", 0.882, 0.908, 2.8),
    ("xl greedy", 0.016, 0.033, 28.8),
    ("xl nucleus", 0.940, 0.955, 2.3),
)
"""MAUVE without and with Krichevsky-Trofimov smoothing, and the share of empty bins in percent."""


def mauve_table_4_web() -> Iterator[Line]:
    """The worst-case rank correlations of six metrics with three human judgements."""
    ranking = calipers.rank(str(SCORES), truth=str(HUMAN), reference="human")
    kept = ranking.to_dict()
    for truth, printed in TABLE_4.items():
        for metric, paper in zip(METRICS, printed, strict=True):
            yield exact(f"{metric} and {truth}", paper, _worst(kept, truth, metric))


def _worst(kept: dict, truth: str, metric: str) -> float:  # type: ignore[type-arg]
    return float(kept["truths"][truth]["metrics"][metric]["worst"])


def mauve_table_4_news() -> Iterator[Line]:
    """Spearman's correlation of the metrics with the accuracy of a discriminator, from table 13.

    Not all of the paper's systems are printed; the interval is that of systems drawn from many.
    """
    for metric, paper, values, truth in _beside_accuracy(NEWS, NEWS_HUMAN, NEWS_PRINTED):
        yield correlated(f"{metric} and the discriminator", paper, values, truth)


def mauve_table_4_stories() -> Iterator[Line]:
    """The same for stories, from table 14."""
    for metric, paper, values, truth in _beside_accuracy(STORIES, STORIES_HUMAN, STORIES_PRINTED):
        yield exact(f"{metric} and the discriminator", paper, spearman(values, truth).value)


def _beside_accuracy(
    rows: dict[str, tuple[float, ...]], human: tuple[float, ...], printed: tuple[str, ...]
) -> Iterator[tuple[str, str, np.ndarray, np.ndarray]]:
    """For every metric its printed correlation, and both columns of it."""
    table = np.array(list(rows.values()))
    near = [-np.abs(table[:, i] - human[i]) for i in range(5)]
    for metric, paper, values in zip(METRICS, printed, [*near, table[:, 6]], strict=True):
        yield metric, paper, values, -table[:, 5]


def _table(path: Path) -> list[dict[str, str]]:
    with path.open(newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))


def mauve_table_5() -> Iterator[Line]:
    """On which pairs of models MAUVE* and the human judgement disagree."""
    human = {row["system"]: float(row["human_like"]) for row in _table(HUMAN)}
    mauve = {
        row["system"]: float(row["mean"])
        for row in _table(SCORES)
        if row["metric"] == "mauve_star" and row["system"] in human
    }
    pairs = [
        f"{a} and {b}"
        for a, b in combinations(human, 2)
        if (human[a] - human[b]) * (mauve[a] - mauve[b]) < 0
    ]
    said = "xl sampling and medium nucleus; large sampling and small nucleus"
    yield fact(
        "pairs of 28 on which they disagree", said, "; ".join(pairs), "; ".join(pairs) == said
    )


def mauve_table_8() -> Iterator[Line]:
    """The rank correlation of both columns, and of either with the share of empty bins."""
    plain, smoothed, empty = np.array([row[1:] for row in TABLE_8]).T
    yield exact(
        "Spearman of MAUVE without and with smoothing", "1.00", spearman(plain, smoothed).value
    )
    said = "positive: more empty bins, larger gap"
    yield correlated(
        "Spearman of MAUVE* and the share of filled bins", said, -empty, smoothed, own=True
    )


def mauve_table_9() -> Iterator[Line]:
    """The column of MAUVE* against the three axes, which follows from tables 5 and 18."""
    kept = calipers.rank(str(SCORES), truth=str(HUMAN), reference="human").to_dict()
    for truth in TABLE_4:
        yield exact(f"MAUVE* and {truth}", TABLE_4[truth][-1], _worst(kept, truth, "mauve_star"))


def mauve_table_18() -> Iterator[Line]:
    """Bradley-Terry scores: their mean, the chances of winning, and how the axes correlate."""
    rows = _table(HUMAN)
    columns = {
        axis: np.array([HUMANS[axis], *(float(row[axis]) for row in rows)]) for axis in HUMANS
    }
    for axis, scores in columns.items():
        mean = float(scores.mean())
        told = f"{mean + 0.0:.3f}".replace("-0.000", "0.000")
        yield fact(f"mean of {axis}", "0.000", told, abs(mean) < 5e-4)
    scores = {row["system"]: float(row["human_like"]) for row in rows}
    wins = {name: _chance(HUMANS["human_like"], value) for name, value in scores.items()}
    yield exact("people win against xl nucleus", "0.578", wins["xl nucleus"])
    yield exact("people win against small nucleus", "0.679", wins["small nucleus"])
    yield shown("people win against small sampling", [wins["small sampling"]])
    for (a, b), paper in {
        ("human_like", "interesting"): "0.917",
        ("human_like", "sensible"): "0.917",
        ("interesting", "sensible"): "0.967",
    }.items():
        found = spearman(columns[a], columns[b]).value
        yield exact(f"Spearman of {a} and {b}, nine sources", paper, found)


def _chance(winner: float, loser: float) -> float:
    return 1 / (1 + math.exp(-(winner - loser) / 100))


TABLE_1A = {"Llama-2 13B": (0.95, 0.01, 0.96, 0.01), "Llama-2 7B": (0.94, 0.01, 0.92, 0.01)}
MISTRAL_BY_LLAMA, LLAMA_BY_MISTRAL = (0.99, 0.01, 0.83, 0.08), (0.82, 0.07, 0.98, 0.01)


def pr_table_1_swap() -> Iterator[Line]:
    """Precision of A by B is recall of B by A: both halves of the table hold one such pair."""
    precision, sd_p, recall, sd_r = MISTRAL_BY_LLAMA
    other_precision, sd_other_p, other_recall, sd_other_r = LLAMA_BY_MISTRAL
    yield _swapped(
        "Mistral's precision by Llama-2 70B, and the reverse recall",
        (precision, sd_p),
        (other_recall, sd_other_r),
    )
    yield _swapped(
        "Mistral's recall by Llama-2 70B, and the reverse precision",
        (recall, sd_r),
        (other_precision, sd_other_p),
    )
    for place, name in ((0, "precision"), (2, "recall")):
        small, large = (TABLE_1A[size] for size in ("Llama-2 7B", "Llama-2 13B"))
        step = large[place] - small[place]
        error = math.hypot(small[place + 1], large[place + 1])
        ours = Estimate(step, (step - REACH * error, step + REACH * error))
        yield sign(f"{name} grows from 7B to 13B", "yes", ours, direction=1, own=True, digits=2)


REACH = 1.96
"""Standard deviations that a printed one is multiplied by for an interval."""


def _swapped(what: str, one: tuple[float, float], other: tuple[float, float]) -> Line:
    """Two printed numbers that are one, each with its printed deviation."""
    gap, error = one[0] - other[0], math.hypot(one[1], other[1])
    ours = Estimate(other[0], (other[0] - REACH * error, other[0] + REACH * error))
    within = abs(gap) <= REACH * error + 1e-9
    return fact(what, f"{one[0]:.2f} ± {one[1]:.2f}", ours.told(2), within)
