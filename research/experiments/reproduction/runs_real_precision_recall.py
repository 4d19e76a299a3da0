"""Precision and recall of real models, as Le Bronnec et al. (ACL 2024) look at them.

Two small models continue stories and follow creative instructions; five chat models answer the
instructions of AlpacaEval, where all share their prompts and the scores hold these constant.
"""

from __future__ import annotations

import functools
import json
from collections.abc import Iterator

import numpy as np

import calipers
from ag_news import DATA
from calipers import text
from calipers.errors import InputError
from calipers.results import Comparison
from calipers.samples import SampleSet
from reproduction import real_models, runs_real_mauve
from reproduction.item import Line, Setting
from reproduction.real_models import GEMMA, SMOLLM2
from reproduction.runs_real_mauve import VIEWS, comparison, named, setting, title, values
from reproduction.verdicts import (
    Estimate,
    Row,
    compared,
    correlated,
    correlation,
    jackknife,
    order,
    shown,
    unrelated,
)

LLAMA, MISTRAL = "llama-2-70b-chat-hf", "Mistral-7B-Instruct-v0.2"
CHATS = (LLAMA, "llama-2-13b-chat-hf", "llama-2-7b-chat-hf", MISTRAL, "vicuna-13b-v1.5")
FAMILY = ("llama-2-7b-chat-hf", "llama-2-13b-chat-hf")
ANSWERS = 150


@functools.cache
def answers(system: str) -> SampleSet:
    """Published answers to the first instructions of AlpacaEval."""
    path = DATA / "alpaca_eval" / system / "model_outputs.json"
    if not path.is_file():
        raise InputError(f"there is no alpaca_eval/{system} in {DATA}")
    rows = json.loads(path.read_text("utf-8"))[:ANSWERS]
    return SampleSet.from_texts(
        [row["output"] for row in rows], name=system, prompts=[row["instruction"] for row in rows]
    )


@functools.cache
def beside(reference: str) -> Comparison:
    """The other chat models with one of them as the reference; prompts held constant."""
    return calipers.compare(
        answers(reference),
        {name: answers(name) for name in CHATS if name != reference},
        metrics="precision,recall",
        embedder="minilm",
        floor=False,
        threads=1,
    )


def pr_table_1_answers() -> Iterator[Line | Setting]:
    """The five families of chat models on AlpacaEval, by scores that know the prompts."""
    yield Setting(
        tuple(CHATS),
        "MiniLM",
        f"{ANSWERS} answers each",
        0,
        "published answers of AlpacaEval to the same instructions; scores given the prompts "
        "(residuals, answers to other prompts); intervals and paired differences: calipers "
        "compare, 95 %",
    )
    others = [name for name in CHATS if name != LLAMA]
    found = beside(LLAMA)
    for view in VIEWS:
        key = "" if view == "meaning" else "form."
        for score, paper in (("precision", ".94, .95"), ("recall", ".92, .96")):
            yield order(
                f"{score}, {view}: Llama-2 7B, 13B",
                f"{paper}: grows with size",
                compared(found, key + score, FAMILY),
            )
        yield order(
            f"recall, {view}: Mistral, Llama-2 13B",
            ".83, .96: Mistral covers less",
            compared(found, f"{key}recall", (MISTRAL, FAMILY[1])),
        )
        yield order(
            f"precision, {view}: Llama-2 13B, Mistral",
            ".95, .99: Mistral lies within",
            compared(found, f"{key}precision", (FAMILY[1], MISTRAL)),
        )
        for score in ("precision", "recall"):
            estimates = tuple(Estimate.of(found[name][key + score]) for name in others)
            yield shown(f"{score}, {view}: {', '.join(others)}", Row(estimates, {}))


def pr_figure_1() -> Iterator[Line | Setting]:
    """A base model and an instruction-tuned one continue stories: precision and recall."""
    yield setting()
    for decoding in ("ancestral", "top_p=0.9"):
        for view in VIEWS:
            for score, models in (
                ("precision", (GEMMA, SMOLLM2)),
                ("recall", (SMOLLM2, GEMMA)),
            ):
                told = ", ".join(title(model) for model in models)
                said = (
                    "the tuned model is more precise" if score == "precision" else "and covers less"
                )
                names = [named(model, decoding) for model in models]
                yield order(
                    f"{score}, {decoding}, {view}: {told}",
                    f"the tuned model {'is ' * (score == 'precision')}{said}",
                    compared(comparison(view), score, names),
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
        held = columns(view)
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
                f"precision and {other}, {view}",
                "none",
                _correlation(held["precision"], held[other]),
            )


def pr_figure_a5() -> Iterator[Line | Setting]:
    """F-scores of PRD beside precision and recall."""
    yield _of_systems()
    for view in VIEWS:
        held = columns(view)
        yield correlated(
            f"F8 and F1/8, {view}", "positive: strongly", held["F8"], held["F1/8"], kind="pearson"
        )
        for name in ("F1/8", "F8"):
            for side in ("precision", "recall"):
                paper = "positive: more than with recall" if side == "precision" else "positive"
                yield correlated(
                    f"{name} and {side}, {view}", paper, held[name], held[side], kind="pearson"
                )


def _of_systems() -> Setting:
    n = len(real_models.STORIES)
    return setting(more=f"{runs_real_mauve.COMPARED}; {SYSTEMS.format(n=n)}")


def _correlation(a: np.ndarray, b: np.ndarray) -> Estimate:
    return correlation(a, b, kind="pearson")


def pr_table_b1() -> Iterator[Line | Setting]:
    """Precision and recall by other embeddings beside MiniLM's by meaning."""
    yield _of_systems()
    people = real_models.cut(real_models.human())
    systems = {
        named(*each): real_models.cut(real_models.written(*each)) for each in real_models.STORIES
    }
    by_words = calipers.compare(
        people,
        systems,
        embedder="tfidf",
        metrics="precision,recall",
        level=None,
        floor=False,
        threads=1,
    )
    for score, paper in (("precision", "0.70 to 0.99"), ("recall", "0.67 to 0.99")):
        default = values(score, "meaning")
        form = values(score, "form")
        words = np.array([by_words[name][score].value for name in systems])
        for label, other in (("MiniLM by form", form), ("TF-IDF", words)):
            yield correlated(
                f"{score} by MiniLM by meaning, and by {label}",
                f"positive: {paper}",
                default,
                other,
                kind="pearson",
            )


def pr_table_b2() -> Iterator[Line | Setting]:
    """Tokens per word of both tokenizers on people's stories."""
    yield setting(
        more="all 500 stories by people, whole; intervals by leaving out blocks of stories",
        n="500 texts by people",
    )
    texts = real_models.stories()
    words = np.array([len(each.split()) for each in texts])
    for model in (GEMMA, SMOLLM2):
        tokens = np.array(real_models.token_counts(model, texts))
        found = jackknife(
            lambda kept, tokens=tokens: [tokens[kept].sum() / words[kept].sum()], len(texts)
        )
        yield shown(
            f"tokens per word, {title(model)} (the paper: Mistral 1.313, Pythia 1.183, Llama-2 "
            "1.360 on WebText)",
            found.estimates[0],
        )
