"""The experiments on topics, on AG News, and on stories by people and two models."""

from __future__ import annotations

import functools
import json
from collections.abc import Iterator, Sequence

import numpy as np

import calipers
from ag_news import BUSINESS, DATA, SCIENCE, SPORTS, WORLD, embedded, news, systems
from calipers import metrics
from calipers.errors import InputError
from calipers.results import Comparison
from reproduction import continued
from reproduction.item import Line, Setting, numbers
from reproduction.verdicts import (
    Estimate,
    Row,
    below,
    compared,
    fact,
    falls,
    order,
    rises,
    shown,
    sign,
    trials,
)

NAMES = ("Q1 only World", "Q2 World, Sports", "Q3 all four topics")
TOPICS = (WORLD, SPORTS, BUSINESS, SCIENCE)
Rows = np.ndarray


@functools.cache
def _news() -> tuple[Rows, dict[int, list[int]]]:
    if not (DATA / "ag_news" / "test.csv").is_file():
        raise InputError(f"there is no ag_news/test.csv in {DATA}; set CALIPERS_DATA to its folder")
    vectors, rows = embedded(news(DATA))
    return vectors["meaning"], rows


@functools.cache
def _topics() -> tuple[Rows, dict[str, Rows]]:
    vectors, rows = _news()
    reference, generated = systems(rows, np.random.default_rng(0))
    return vectors[reference], {name: vectors[chosen] for name, chosen in generated.items()}


MINILM = "MiniLM, by meaning"
COMPARED = "intervals and differences: calipers compare, 95 %"


@functools.cache
def _compared() -> Comparison:
    """The three sets against the reference, with intervals and the tests between them."""
    reference, sets = _topics()
    return calipers.compare(
        reference, sets, metrics="mauve,precision,recall,prd_f8,prd_f1_8", floor=False, threads=1
    )


def pr_figure_2() -> Iterator[Line | Setting]:
    """The paper's own topics and texts: MAUVE beside precision and recall."""
    yield Setting((), MINILM, "1,900 and 948 to 950", 0, COMPARED)
    first, second, third = NAMES
    row = compared(_compared(), "mauve", (first, third, second))
    apart, to_second = row.gaps[0, 1], row.gaps[1, 2]
    yield shown("MAUVE of Q1, Q3, Q2", row)
    yield _nearer("MAUVE: Q3 to Q2, less Q1 to Q3", to_second, apart)
    yield order(
        "precision of Q3, Q1", "Q3 lacks quality", _pair("precision", third, first), own=True
    )
    yield order(
        "precision of Q3, Q2", "Q3 lacks quality", _pair("precision", third, second), own=True
    )
    yield order("recall of Q1, Q3", "Q1 lacks diversity", _pair("recall", first, third), own=True)
    yield order("recall of Q1, Q2", "Q1 lacks diversity", _pair("recall", first, second), own=True)


def _pair(score: str, low: str, high: str) -> Row:
    return compared(_compared(), score, (low, high))


def _nearer(what: str, far: Estimate, near: Estimate) -> Line:
    """By how much one difference is larger than another, in size, as if they were independent.

    They share a system, which makes the interval too long rather than too short.
    """
    assert far.interval is not None
    assert near.interval is not None
    reach = sum(each.interval[1] - each.value for each in (far, near) if each.interval)
    value = abs(far.value) - abs(near.value)
    ours = Estimate(value, (value - reach, value + reach))
    said = "positive: Q1 and Q3 are alike, relatively to Q2"
    return sign(what, said, ours, direction=1, own=True)


DRAWS = 6


@functools.cache
def _curves() -> Rows:
    """F8 and F1/8 of both curves for Q1 and Q3 over draws, shape (draws, 2 sets, 4)."""
    vectors, rows = _news()
    found = []
    for draw in range(DRAWS):
        reference, generated = systems(rows, np.random.default_rng(draw))
        row = []
        for name in (NAMES[0], NAMES[2]):
            real, made = vectors[reference], vectors[generated[name]]
            curve = metrics.prd(real, made, runs=3).curve
            frontier = metrics.mauve(real, made, restarts=1).frontier
            row.append([each.f_beta(beta) for each in (curve, frontier) for beta in (8, 1 / 8)])
        found.append(row)
    return np.array(found)


def pr_figure_a3() -> Iterator[Line | Setting]:
    """The curves of Q1 and Q3, and how far apart they lie."""
    yield Setting((), MINILM, f"1,900 and 948 to 950, {DRAWS} draws", 0)
    found = _curves()
    yield order("PR-curve, F8 of Q1 and Q3", "Q1 lacks diversity", trials(found[:, :, 0]), own=True)
    yield order(
        "PR-curve, F1/8 of Q3 and Q1", "Q3 lacks quality", trials(found[:, ::-1, 1]), own=True
    )
    for place, label, said in (
        (2, "F8", "struggles to distinguish them: less apart than the PR-curve has them"),
        (3, "F1/8", "the same"),
    ):
        gaps = np.abs(found[:, 1] - found[:, 0])
        yield shown(f"MAUVE's frontier, {label} of Q1 and Q3", trials(found[:, :, place]))
        ours = Estimate.mean(gaps[:, place] - gaps[:, place - 2])
        told = f"{label}: difference of Q1 and Q3 by MAUVE's frontier less that by the PR-curve"
        yield sign(told, said, ours, direction=-1, own=True)


def _draws(topics: Sequence[int], first: int, size: int) -> Iterator[tuple[Rows, list[Rows]]]:
    """Draw `first` items of each of some topics as the reference, and `size` others of one to four.

    Both are vectors; the generated sets are of the first topic, of the first two, and so on.
    """
    vectors, rows = _news()
    for draw in range(DRAWS):
        rng = np.random.default_rng(draw)
        shuffled = {topic: rng.permutation(rows[topic]) for topic in TOPICS}
        reference = vectors[np.concatenate([shuffled[topic][:first] for topic in topics])]
        generated = [
            [shuffled[topic][first:][: size // count] for topic in TOPICS[:count]]
            for count in (1, 2, 3, 4)
        ]
        yield reference, [vectors[np.concatenate(chosen)] for chosen in generated]


def pr_figure_a4() -> Iterator[Line | Setting]:
    """One to four topics against World and Sports: both pairs of F-scores."""
    yield Setting((), MINILM, f"1,900 and 948, {DRAWS} draws", 0)
    found = []
    for reference, sets in _draws((WORLD, SPORTS), 950, 948):
        row = []
        for generated in sets:
            prd = metrics.prd(reference, generated, runs=3)
            frontier = metrics.mauve(reference, generated, restarts=1).frontier
            row.append((prd.f8.value, prd.f1_8.value, frontier.f_beta(8), frontier.f_beta(1 / 8)))
        found.append(row)
    values = np.array(found)
    said = "low where a topic is missing, then high"
    yield below("PRD F8, 1 topic, and 2, 3, 4", said, trials(values[:, :, 0]), own=True)
    told = "falls with invented topics"
    yield falls("PRD F1/8, 2 to 4 topics", told, trials(values[:, 1:, 1]), own=True)
    gains = values[:, 1:, :].min(axis=1) - values[:, 0, :]
    yield sign(
        "frontier F8: gained from 1 topic to the least of 2 to 4, less what PRD F8 gains",
        "does not identify the lack of recall: gains less",
        Estimate.mean(gains[:, 2] - gains[:, 0]),
        direction=-1,
        own=True,
    )
    yield shown("frontier F8, 1 to 4 topics", trials(values[:, :, 2]))
    yield shown("frontier F1/8, 1 to 4 topics", trials(values[:, :, 3]))


def prd_figure_5_right() -> Iterator[Line | Setting]:
    """All four topics as the reference, one to four of them generated."""
    yield Setting((), MINILM, f"2,000 and 1,200, {DRAWS} draws", 0)
    f8 = [
        [metrics.prd(reference, generated, runs=3).f8.value for generated in sets]
        for reference, sets in _draws(TOPICS, 500, 1200)
    ]
    yield rises("F8, 1 to 4 topics", "recall rises with each class", trials(f8))


@functools.cache
def _stories() -> dict[str, Rows]:
    folder = DATA / "writing_prompts"
    if not folder.is_dir():
        raise InputError(f"there is no writing_prompts/ in {DATA}; set CALIPERS_DATA to its folder")
    found = {}
    for name in ("human", "gpt2-xl", "gpt-neox-20b"):
        lines = (folder / f"{name}.jsonl").read_text("utf-8").splitlines()
        found[name] = continued.embed([json.loads(line)["text"] for line in lines])
    return found


STORIES = ("gpt2-xl", "gpt-neox-20b")
WRITTEN = Setting(
    ("GPT-2 XL (1.5B) and GPT-NeoX (20B), stories as published",),
    MINILM,
    "500 stories each, by people, GPT-2 XL and GPT-NeoX",
    0,
    COMPARED,
)


def pr_figure_1() -> Iterator[Line | Setting]:
    """GPT-2 XL (1.5B) and GPT-NeoX (20B) on WritingPrompts, 500 stories each."""
    yield WRITTEN
    stories = _stories()
    found = calipers.compare(
        stories["human"],
        {name: stories[name] for name in STORIES},
        metrics="precision,recall",
        floor=False,
        threads=1,
    )
    recall = compared(found, "recall", STORIES)
    yield rises("recall of GPT-2 XL and GPT-NeoX", "larger models are more diverse", recall)
    yield shown("precision", compared(found, "precision", STORIES))


def pr_table_1() -> Iterator[Line | Setting]:
    """The overlap of the two models' stories, from either side."""
    yield WRITTEN
    stories = _stories()
    first, second = stories["gpt2-xl"], stories["gpt-neox-20b"]
    forth = metrics.precision_recall(first, second)
    back = metrics.precision_recall(second, first)
    here = (forth.precision.value, forth.recall.value)
    there = (back.precision.value, back.recall.value)
    yield shown("GPT-NeoX by GPT-2 XL: precision, recall", here)
    told = "GPT-2 XL by GPT-NeoX: precision, recall"
    yield fact(told, "the same two, swapped", numbers(there), here == there[::-1])
    own = metrics.precision_recall(first, first)
    alone = (own.precision.value, own.recall.value)
    yield fact("a model by itself", "1.00, 1.00", numbers(alone, 2), alone == (1.0, 1.0))
