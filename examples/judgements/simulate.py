"""Make the judgements of this folder. They are SIMULATED: nobody, and no model, judged these pairs.

A crowd of 54 and a judge compare nine settings of GPT-2 and human text, by the Bradley-Terry
scores that people gave them in table 18 of Pillutla et al. (JMLR 2023). The answers of that crowd
are published by the authors (research/experiments/mauve_judgements.py reads their file); those here
are drawn at random, so that the example needs no file of others:

    python examples/judgements/simulate.py

Where scores differ by 100 d, a win, a tie and a loss have chances in the ratio exp(z/2) : 0.5 :
exp(-z/2) (Davidson 1970). z is d times how well the rater discriminates, with a push towards the
text that stands first, and with what the two texts of the item are like, which all raters see.
Answers of one rater to the three questions of an item go together. Three of the crowd answer at
random and fast. The judge discriminates better than people, has tastes of its own, and is drawn to
the first text.
"""

from __future__ import annotations

import csv
from collections.abc import Mapping
from dataclasses import dataclass, field
from itertools import combinations
from pathlib import Path

import numpy as np
from scipy.stats import norm

from calipers.judgements.items import content_id
from calipers.judgements.judgement import FAILED_CHECKS, TOO_FAST, PairJudgement
from calipers.judgements.tables import write_judgements

HERE = Path(__file__).parent
SEED = 18
HUMAN = {"human_like": 47.251, "interesting": 25.503, "sensible": 43.229}
"""Of human text in table 18; those of the settings stand in examples/rankings/webtext_human.csv."""

PEOPLE = 54
CARELESS = (10, 22, 37)
ITEMS_PER_PAIR, RATINGS_PER_ITEM = 30, 3
"""Together 90 judgements of each of 36 pairs, as in the paper."""

JUDGED, REPEATED = 10, 36
"""Items of each pair that the judge sees, and items that it answers twice in either order."""

TIES = 0.5
ITEM_SPREAD = 0.6
TASTE = 0.15
LEAST_SECONDS = 25.0


@dataclass(frozen=True)
class Rater:
    """How someone answers: discrimination, push towards the first text, agreement with itself."""

    name: str
    kind: str
    discrimination: float
    side: float
    careless: bool = False
    steady: float = 0.0
    tastes: Mapping[str, np.ndarray] = field(default_factory=dict)


def scores() -> tuple[list[str], np.ndarray]:
    """Names, and their scores by the three questions, shape (9, 3)."""
    with (HERE.parent / "rankings" / "webtext_human.csv").open(newline="") as file:
        rows = list(csv.DictReader(file))
    names = ["human", *(row["system"] for row in rows)]
    return names, np.array([[float(row[q]) for q in HUMAN] for row in (HUMAN, *rows)])


def answers(rater: Rater, z: np.ndarray, u: np.ndarray) -> dict[str, int]:
    """Turn log odds of b against a, and uniform numbers, into steps 1 to 5 for each question."""
    if rater.careless:
        z = np.zeros(3)
    weights = np.stack([np.exp(-z / 2), np.full(3, TIES), np.exp(z / 2)])
    a, tie, b = weights / weights.sum(axis=0)
    steps = np.select([u < a / 2, u < a, u < a + tie, u < a + tie + b / 2], [1, 2, 3, 4], 5)
    return dict(zip(HUMAN, map(int, steps), strict=True))


class Study:
    """The items, and what raters answer to them."""

    def __init__(self, rng: np.random.Generator) -> None:
        self.rng = rng
        names, table = scores()
        pairs = [
            (i, j) for i, j in combinations(range(len(names)), 2) for _ in range(ITEMS_PER_PAIR)
        ]
        self.items = []
        for number, (i, j) in enumerate(pairs):
            a, b = sorted((names[i], names[j]))
            differ = (table[names.index(b)] - table[names.index(a)]) / 100
            found = rng.normal(0, ITEM_SPREAD, 3) * 0.6 + rng.normal(0, ITEM_SPREAD) * 0.8
            self.items.append((content_id("simulated", a, b, str(number)), a, b, differ, found))

    def ask(
        self, rater: Rater, place: int, first: str, own: np.ndarray, **more: object
    ) -> PairJudgement:
        """Answer an item; `own` is the chance that stays when the rater is asked again."""
        item, a, b, differ, found = self.items[place]
        side = rater.side if first == "b" else -rater.side
        liked = rater.tastes.get(b, 0.0) - rater.tastes.get(a, 0.0)
        z = rater.discrimination * (differ + found + liked) + side
        shared = self.rng.normal() * 0.7 + self.rng.normal(size=3) * np.sqrt(1 - 0.7**2)
        u = norm.cdf(rater.steady * own + np.sqrt(1 - rater.steady**2) * shared)
        return PairJudgement(
            item, a, b, answers(rater, z, u), rater.name, rater.kind, first, **more
        )  # type: ignore[arg-type]


def crowd(study: Study) -> list[PairJudgement]:
    """Each item by three of them."""
    rng = study.rng
    raters = [
        Rater(
            f"simulated-{number + 1:02}",
            "person",
            float(np.exp(rng.normal(0, 0.35))),
            float(rng.normal(0.1, 0.15)),
            careless=number in CARELESS,
        )
        for number in range(PEOPLE)
    ]
    rows = []
    for round_ in range(RATINGS_PER_ITEM):
        for turn, place in enumerate(rng.permutation(len(study.items)).tolist()):
            # Rounds differ by their remainder, so nobody has an item twice
            rater = raters[(place + round_ * 17) % PEOPLE]
            low = 6 if rater.careless else 28
            seconds = round(low + float(rng.lognormal(1.2 if rater.careless else 3.2, 0.6)), 1)
            flags = (TOO_FAST,) * (seconds < LEAST_SECONDS) + (FAILED_CHECKS,) * rater.careless
            more = {"flags": flags, "checks": "1/4" if rater.careless else "4/4"}
            first = "a" if rng.random() < 0.5 else "b"
            rows.append(
                (turn, study.ask(rater, place, first, np.zeros(3), seconds=seconds, **more))
            )
    return [row for _, row in sorted(rows, key=lambda each: (each[1].rater, each[0]))]


def judge(study: Study) -> list[PairJudgement]:
    """Every item in either order, and some again: sharper than people, drawn to the first text."""
    rng = study.rng
    tastes = {name: rng.normal(0, TASTE, 3) for name in scores()[0]}
    rater = Rater("simulated-judge", "model", 2.0, 0.8, steady=0.8, tastes=tastes)
    places = [place for place in range(len(study.items)) if place % ITEMS_PER_PAIR < JUDGED]
    own = rng.normal(size=(len(study.items), 3))
    again = set(rng.choice(places, REPEATED, replace=False).tolist())
    return [
        study.ask(rater, place, first, own[place], repeat=repeat)
        for place in places
        for repeat in range(2 if place in again else 1)
        for first in ("a", "b")
    ]


if __name__ == "__main__":
    made = Study(np.random.default_rng(SEED))
    write_judgements(HERE / "simulated_people.csv", crowd(made), questions=tuple(HUMAN))
    write_judgements(HERE / "simulated_judge.csv", judge(made), questions=tuple(HUMAN))
