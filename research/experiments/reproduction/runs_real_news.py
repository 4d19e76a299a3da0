"""Decoding on two real language models, which continue news: more texts than stories, and shorter.

The lines are those of :mod:`reproduction.runs_real_mauve` and
:mod:`reproduction.runs_real_precision_recall`, with 400 prompts and more values of p, τ and K.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from calipers import text
from reproduction import real_models, runs_real_mauve, runs_real_precision_recall
from reproduction.item import Line, Setting
from reproduction.real_models import NEWS, NUCLEI, SMOLLM2, TOP_K, TYPICAL
from reproduction.runs_real_mauve import VIEWS, decodings, lines_of_table_7, setting, told_of
from reproduction.runs_real_precision_recall import lines_of_figure_7a
from reproduction.verdicts import best, compared, falls, order, rises, shown


def mauve_table_5() -> Iterator[Line | Setting]:
    """MAUVE* and four metrics of words, of three decodings."""
    return runs_real_mauve.table_5(NEWS)


def mauve_table_5_perplexity() -> Iterator[Line | Setting]:
    """The difference of generation perplexity from people's, by both scorers."""
    return runs_real_mauve.table_5_perplexity(NEWS)


def mauve_table_15() -> Iterator[Line | Setting]:
    """Scores of people's texts under the distributions of three decoders."""
    return runs_real_mauve.table_15(NEWS)


def pr_figure_1() -> Iterator[Line | Setting]:
    """A base model and an instruction-tuned one: precision and recall."""
    return runs_real_precision_recall.figure_1(NEWS)


def pr_figure_7a() -> Iterator[Line | Setting]:
    """Correlations of precision, recall and MAUVE* with Self-BLEU and Distinct-4 over decodings."""
    names = ("greedy", *NUCLEI, *TYPICAL, *TOP_K, "ancestral")
    yield setting(
        SMOLLM2,
        corpus=NEWS,
        more=f"{told_of(NEWS)}; the systems are one model by {len(names)} decodings, which are not "
        "drawn at random",
    )
    texts = [
        real_models.cut(real_models.written(SMOLLM2, name, NEWS), NEWS.words) for name in names
    ]
    by_words = {
        "Self-BLEU": np.array([text.self_bleu(each, threads=1).value for each in texts]),
        "Distinct-4": np.array([text.distinct(each, order=4).value for each in texts]),
    }
    for view in VIEWS:
        found = decodings(view, NEWS)
        by_vectors = {
            called: np.array([found[name][score].value for name in names])
            for called, score in (
                ("precision", "precision"),
                ("recall", "recall"),
                ("MAUVE*", "mauve_star"),
            )
        }
        yield from lines_of_figure_7a(view, by_vectors | by_words)


def mauve_table_7() -> Iterator[Line | Setting]:
    """Locally typical sampling beside the nucleus, and MAUVE* by τ, p and K."""
    yield setting(SMOLLM2, corpus=NEWS)
    nuclei, typical = (*NUCLEI, "ancestral"), (*TYPICAL, "ancestral")
    for view in VIEWS:
        found = decodings(view, NEWS)
        yield shown(
            f"MAUVE*, {view}: τ = {_told(typical)} (the paper: .862 at 0.2, .950 at 0.95)",
            compared(found, "mauve_star", typical),
        )
        yield from lines_of_table_7(view, found)
        yield shown(
            f"MAUVE*, {view}: greedy and p = {_told(nuclei)}",
            compared(found, "mauve_star", ("greedy", *nuclei)),
        )
        yield best(
            f"MAUVE*, {view}: p = {_told(NUCLEI[1:])}, 1",
            "best at p = 0.95",
            compared(found, "mauve_star", nuclei[1:]),
            NUCLEI[1:].index("top_p=0.95"),
        )
        yield shown(
            f"MAUVE*, {view}: K = {_told(TOP_K)}, all tokens",
            compared(found, "mauve_star", (*TOP_K, "ancestral")),
        )
        for one, other, told in (
            ("top_k=10", "top_k=100", "K = 10, 100"),
            ("ancestral", "top_k=1000", "all tokens, K = 1,000"),
        ):
            yield order(
                f"MAUVE*, {view}: {told}",
                "best at K from 100 to 1,000",
                compared(found, "mauve_star", (one, other)),
            )


def mauve_figure_17() -> Iterator[Line | Setting]:
    """Precision and recall by p of the nucleus."""
    yield from runs_real_mauve.figure_17(NEWS)
    nuclei = (*NUCLEI[1:], "ancestral")
    for view in VIEWS:
        found = decodings(view, NEWS)
        for score, line, said in (("precision", rises, "rises"), ("recall", falls, "falls")):
            yield line(
                f"{score}, SmolLM2, {view}: p = {_told(nuclei)}",
                f"{said} with p",
                compared(found, score, nuclei),
            )


def _told(decodings: tuple[str, ...]) -> str:
    """The values of a parameter; ancestral sampling is that at 1."""
    return ", ".join("1" if each == "ancestral" else each.partition("=")[2] for each in decodings)
