"""Scores of two real models' continuations over the length of the texts.

Figures 8, 17 and 22 of Pillutla et al. (JMLR 2023). Both sides are cut to a number of words, and
differences between lengths are over the same prompts.
"""

from __future__ import annotations

import functools
from collections.abc import Iterator

import numpy as np

from calipers import metrics
from calipers.catalogue.choosing import choose, needs_of
from calipers.catalogue.settings import Settings
from calipers.evaluate.intervals import with_intervals
from calipers.evaluate.spaces import pair_of
from calipers.uncertainty.differences import differences
from calipers.uncertainty.replicates import spreads
from reproduction.item import Line, Setting
from reproduction.runs_real_mauve import MODELS, setting, title, vectors
from reproduction.verdicts import LEVEL, Estimate, Row, falls, jackknife, rises

LENGTHS = (25, 50, 75, 100)
DECODINGS = {"ancestral": "ancestral", "top_p=0.9": "nucleus 0.9"}


SETTINGS = Settings(threads=1)
CHOICES = choose(("mauve_star", "precision", "recall"), ("meaning",))
NEEDS = needs_of(choice.metric for choice in CHOICES)


@functools.cache
def lengths(model: str, decoding: str, view: str) -> dict[str, Row]:
    """Scores at every length, and their differences over the same prompts.

    As `calipers compare` has it, which keeps the cells where it leaves out blocks of prompts; the
    Fréchet distance is measured again without each of ten blocks.
    """
    sides = [
        (vectors("", "", view, words), vectors(model, decoding, view, words)) for words in LENGTHS
    ]
    pairs = [pair_of(*both, SETTINGS, NEEDS) for both in sides]
    moved = [spreads(pair, CHOICES) for pair in pairs]
    made = [
        with_intervals({choice.name: choice.score(pair) for choice in CHOICES}, spread, LEVEL)
        for pair, spread in zip(pairs, moved, strict=True)
    ]
    values = [{name: score.value for name, score in scores.items()} for scores in made]
    tests = differences(values, moved, prompts=[0] * len(sides), level=LEVEL)
    found = {}
    for choice in CHOICES:
        gaps = {
            (test.first, test.second): Estimate(test.value, test.interval, test.p_value).negative()
            for test in tests
            if test.score == choice.name
        }
        found[choice.name] = Row(tuple(Estimate.of(each[choice.name]) for each in made), gaps)

    def distances(kept: np.ndarray) -> list[float]:
        return [metrics.frechet_distance(x[kept], y[kept]).value for x, y in sides]

    found["frechet_distance"] = jackknife(distances, len(sides[0][0]), blocks=10)
    return found


def mauve_figure_8() -> Iterator[Line | Setting]:
    """MAUVE*, the Fréchet distance, precision and recall of texts cut ever shorter."""
    told = ", ".join(map(str, LENGTHS))
    yield setting(
        more="continuations of the first 20 words of WritingPrompts stories, both sides cut to "
        f"{told} words; intervals as calipers compare has them, prompts paired, of the Fréchet "
        "distance by leaving out each of ten blocks of prompts"
    )
    for model in MODELS:
        for decoding, called in DECODINGS.items():
            found = lengths(model, decoding, "meaning")
            about = f"{title(model)}, {called}"
            yield falls(f"MAUVE*, {about}", "falls with length", found["mauve_star"])
            distance = found["frechet_distance"]
            yield falls(f"Fréchet distance, {about}", "falls with length: a fault", distance)
            yield rises(f"precision, {about}", "rises with length", found["precision"])
            yield falls(f"recall, {about}", "falls with length", found["recall"])
