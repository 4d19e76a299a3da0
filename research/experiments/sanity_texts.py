"""The sanity checks on real embeddings: news and stories with known faults, by both views.

What is drawn is that of :mod:`preprocessing_cases`; the rows are brought to where `compare` looks
for neighbours.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

import preprocessing_cases as known
from calipers.metrics import preprocess
from preprocessing_texts import SOURCES, News, news_by_view, stories_by_view
from sanity_demands import Check, Demand, both, each
from sanity_draws import Pair, Rng
from sanity_metrics import COPYING, DIVERSITY, FIDELITY, NOVELTY
from sanity_rules import falls, follows, near, never_rises, stays

SHARES = (0.0, 0.25, 0.5, 0.75, 1.0)
FEW = 0.1
"""How far a share may move that rests on 20 texts: its standard deviation is 0.06 for one draw."""


@dataclass(frozen=True)
class Texts:
    """News and stories by view, and where their neighbours are looked for."""

    news: Mapping[str, News] = field(default_factory=dict)
    stories: Mapping[str, Mapping[str, np.ndarray]] = field(default_factory=dict)
    projection: str = "none"

    @classmethod
    def read(cls, folder: Path, projection: str) -> Texts:
        return cls(news_by_view(folder), stories_by_view(folder), projection)

    def case(self, name: str) -> Callable[[str, object, Rng, int], Pair]:
        """The sets of a case by its name; a check's point is the place of the case's point."""

        def draw(view: str, point: object, rng: Rng, _: int) -> Pair:
            made = known.cases(self.news[view], dict(self.stories[view]))
            (case,) = (each for each in made if each.name == name)
            sets = case.draw(case.points.index(str(point)), rng)
            rows = preprocess(*sets, pca=0.9 if self.projection == "union" else None)
            return rows.reference, rows.generated

        return draw


def text_checks(texts: Texts) -> tuple[Check, ...]:
    """Every check on texts, in the order of the table."""
    views = tuple(texts.news)
    percent = tuple(f"{share:.0%}" for share in SHARES)
    worse = {
        FIDELITY: Demand("more and more of the samples are worse", falls(0.2)),
        DIVERSITY: Demand("worse samples reach no more of the reference", never_rises()),
    }
    good = "samples are as good as before"
    less = "less and less of the reference is reached"
    return (
        Check(
            "repeat",
            "1,000 held-out news items, of which so many are different",
            texts.case("repeats"),
            views,
            ("1,000", "300", "100", "50", "20"),
            each((f"{good}, if they repeat", stays(FEW)), (less, falls(0.2))),
        ),
        Check(
            "near-repeat",
            f"1,000 held-out news items, a share of them near copies of {SOURCES} others",
            texts.case("near repeats"),
            views[:1],  # words that are doubled or swapped cost form
            percent,
            each((f"{good}, if they nearly repeat", stays(FEW)), (less, falls(0.2))),
        ),
        Check(
            "near-copy",
            "500 held-out news items, a share of them near copies of reference items",
            texts.case("near copies"),
            views,
            percent,
            both("copies are as good and as varied as fresh samples", stays())
            | {
                NOVELTY: Demand("copies are not new", falls(0.2)),
                COPYING: Demand("the score is the share of copies", follows(SHARES)),
            },
        ),
        Check(
            "mix-chain",
            "1,000 held-out news items, a share of them from a word-level Markov chain",
            texts.case("mix chain"),
            views,
            percent,
            worse,
        ),
        Check(
            "mix-gpt2",
            "250 human stories, a share of them by GPT-2 XL",
            texts.case("mix GPT-2 XL"),
            views,
            percent,
            worse,
        ),
        Check(
            "drop",
            "600 held-out news items of 4 to 1 of the reference's 4 topics",
            texts.case("drop topics"),
            views,
            ("4", "3", "2", "1"),
            each((good, stays()), (less, falls(0.2, half=0.05))),
        ),
        Check(
            "invent",
            "600 held-out news items of 2 to 4 topics, of which the reference has 2",
            texts.case("invent topics"),
            views,
            ("2", "3", "4"),
            each(
                ("more and more samples lie where nothing real is", falls(0.2)),
                ("all of the reference is still reached", stays()),
            ),
        ),
        Check(
            "truncate",
            "500 held-out news items, cut to half and to a quarter of their words",
            texts.case("truncate"),
            views,
            ("whole", "half", "quarter"),
            both("cut texts are no better and no more varied", never_rises())
            | {COPYING: Demand("cut texts are no copies", near(0))},
        ),
    )
