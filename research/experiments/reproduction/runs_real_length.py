"""Scores of two real models' continuations over the length of the texts.

Figures 8, 17 and 22 of Pillutla et al. (JMLR 2023). Both sides are cut to a number of words, and
differences between lengths are over the same prompts.
"""

from __future__ import annotations

import functools
from collections.abc import Iterator

from calipers.catalogue.settings import Settings
from reproduction.item import Line, Setting
from reproduction.over_length import over_length
from reproduction.runs_real_mauve import MODELS, setting, title, vectors
from reproduction.verdicts import Row, falls, rises

LENGTHS = (25, 50, 75, 100, 125)
DECODINGS = {"ancestral": "ancestral", "top_p=0.9": "nucleus 0.9"}


@functools.cache
def lengths(model: str, decoding: str, view: str) -> dict[str, Row]:
    """Scores at every length, and their differences over the same prompts."""
    sides = [
        (vectors("", "", view, words), vectors(model, decoding, view, words)) for words in LENGTHS
    ]
    return over_length(sides, Settings(threads=1))


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
