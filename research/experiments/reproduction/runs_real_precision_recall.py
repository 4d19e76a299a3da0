"""Precision and recall of real models, as Le Bronnec et al. (ACL 2024) look at them.

Two small models continue stories, and what people wrote is the reference.
"""

from __future__ import annotations

import functools
from collections.abc import Iterator, Mapping

import numpy as np

from calipers import text
from reproduction import real_models
from reproduction.item import Line, Setting
from reproduction.real_models import GEMMA, SMOLLM2, STORY, Corpus
from reproduction.runs_real_mauve import (
    VIEWS,
    comparison,
    named,
    setting,
    title,
    told_of,
    values,
)
from reproduction.verdicts import (
    Estimate,
    compared,
    correlated,
    correlation,
    order,
    unrelated,
)


def pr_figure_1() -> Iterator[Line | Setting]:
    """A base model and an instruction-tuned one continue stories: precision and recall."""
    return figure_1(STORY)


def figure_1(corpus: Corpus) -> Iterator[Line | Setting]:
    """Figure 1 by the continuations of any corpus."""
    yield setting(corpus=corpus)
    for decoding in ("ancestral", "top_p=0.9"):
        for view in VIEWS:
            for score, models in (
                ("precision", (GEMMA, SMOLLM2)),
                ("recall", (SMOLLM2, GEMMA)),
            ):
                told = ", ".join(title(model) for model in models)
                said = "is more precise" if score == "precision" else "covers less"
                names = [named(model, decoding) for model in models]
                yield order(
                    f"{score}, {decoding}, {view}: {told}",
                    f"the tuned model {said}",
                    compared(comparison(view, corpus), score, names),
                )


@functools.cache
def columns(view: str = "meaning") -> dict[str, np.ndarray]:
    """Scores of all systems, one value for each."""
    texts = [real_models.cut(real_models.written(*each)) for each in real_models.STORIES]
    return {
        "precision": values("precision", view),
        "recall": values("recall", view),
        "MAUVE*": values("mauve_star", view),
        "Self-BLEU": np.array([text.self_bleu(each, threads=1).value for each in texts]),
        "Distinct-4": np.array([text.distinct(each, order=4).value for each in texts]),
        "F8": values("prd_f8", view),
        "F1/8": values("prd_f1_8", view),
    }


SYSTEMS = "the systems are {n}: two models by several decodings, which are not drawn at random"


def pr_figure_7a() -> Iterator[Line | Setting]:
    """Correlations of precision, recall and MAUVE* with Self-BLEU and Distinct-4."""
    yield _of_systems()
    for view in VIEWS:
        yield from lines_of_figure_7a(view, columns(view))


def lines_of_figure_7a(view: str, held: Mapping[str, np.ndarray]) -> Iterator[Line]:
    """What the paper says of figure 7a, by the scores of some systems in one view."""
    for first, second, paper in (
        ("recall", "Self-BLEU", "negative"),
        ("recall", "Distinct-4", "positive"),
        ("precision", "MAUVE*", "positive"),
    ):
        yield correlated(
            f"{first} and {second}, {view}", paper, held[first], held[second], kind="pearson"
        )
    for other in ("Self-BLEU", "Distinct-4"):
        yield unrelated(
            f"precision and {other}, {view}", "none", _correlation(held["precision"], held[other])
        )


def pr_figure_a5() -> Iterator[Line | Setting]:
    """F-scores of PRD beside precision and recall."""
    yield _of_systems()
    for view in VIEWS:
        held = columns(view)
        yield correlated(
            f"F8 and F1/8, {view}", "positive", held["F8"], held["F1/8"], kind="pearson"
        )
        for name in ("F1/8", "F8"):
            for side in ("precision", "recall"):
                yield correlated(
                    f"{name} and {side}, {view}", "positive", held[name], held[side], kind="pearson"
                )


def _of_systems() -> Setting:
    n = len(real_models.STORIES)
    return setting(more=f"{told_of(STORY)}; {SYSTEMS.format(n=n)}")


def _correlation(a: np.ndarray, b: np.ndarray) -> Estimate:
    return correlation(a, b, kind="pearson")
