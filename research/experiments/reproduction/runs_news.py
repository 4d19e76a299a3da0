"""The experiments on topics, on AG News, and on stories by people and two models."""

from __future__ import annotations

import functools
import json
from collections.abc import Iterator

import numpy as np

from ag_news import BUSINESS, DATA, SCIENCE, SPORTS, WORLD, embedded, news, systems
from calipers import metrics
from calipers.errors import InputError
from reproduction import continued
from reproduction.item import Line, falls, rises, trend

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


def pr_figure_2() -> Iterator[Line]:
    """The paper's own topics and texts: MAUVE beside precision and recall."""
    reference, sets = _topics()
    mauve = [metrics.mauve(reference, sets[name]).mauve.value for name in NAMES]
    found = [metrics.precision_recall(reference, sets[name]) for name in NAMES]
    precision = [each.precision.value for each in found]
    recall = [each.recall.value for each in found]
    near = abs(mauve[0] - mauve[2]) < 0.25 * abs(mauve[1] - max(mauve[0], mauve[2]))
    yield trend(
        "MAUVE of Q1, Q2, Q3; Q1 and Q3 a quarter as far apart as from Q2",
        "Q1 and Q3 almost identical, relatively to Q2",
        mauve,
        near,
    )
    yield trend(
        "precision", "Q3 lacks quality", precision, precision[2] < min(precision[:2]) - 0.05
    )
    yield trend("recall", "Q1 lacks diversity", recall, recall[0] < min(recall[1:]) - 0.02)


def pr_figure_a3() -> Iterator[Line]:
    """The curves of Q1 and Q3 mirrored in the diagonal, and how far apart they lie."""
    reference, sets = _topics()
    prd = {name: metrics.prd(reference, sets[name]).curve for name in NAMES}
    ends = {name: (curve.f_beta(1 / 8), curve.f_beta(8)) for name, curve in prd.items()}
    low = [ends[NAMES[0]][1], ends[NAMES[2]][1]]
    high = [ends[NAMES[0]][0], ends[NAMES[2]][0]]
    yield trend("PR-curve, F8 of Q1 and Q3", "Q1 lacks diversity", low, low[0] < low[1] - 0.1)
    yield trend("PR-curve, F1/8 of Q1 and Q3", "Q3 lacks quality", high, high[1] < high[0] - 0.1)
    frontiers = [metrics.mauve(reference, sets[name]).frontier for name in NAMES]
    for beta, label in ((8, "F8"), (1 / 8, "F1/8")):
        both = [frontiers[place].f_beta(beta) for place in (0, 2)]
        wrong = both[0] > both[1] if beta == 8 else both[1] > both[0]
        yield trend(
            f"MAUVE's frontier, {label} of Q1 and Q3", "struggles to distinguish them", both, wrong
        )


def pr_figure_a4() -> Iterator[Line]:
    """One to four topics against World and Sports: both pairs of F-scores."""
    vectors, rows = _news()
    rng = np.random.default_rng(0)
    shuffled = {topic: rng.permutation(rows[topic]) for topic in TOPICS}
    reference = vectors[np.concatenate([shuffled[topic][:950] for topic in (WORLD, SPORTS)])]
    found = []
    for count in (1, 2, 3, 4):
        chosen = [shuffled[topic][950:][: 948 // count] for topic in TOPICS[:count]]
        generated = vectors[np.concatenate(chosen)]
        prd, frontier = (
            metrics.prd(reference, generated),
            metrics.mauve(reference, generated).frontier,
        )
        found.append((prd.f8.value, prd.f1_8.value, frontier.f_beta(8), frontier.f_beta(1 / 8)))
    f8, f1_8, other_8, other_1_8 = (list(column) for column in zip(*found, strict=True))
    yield trend(
        "PRD F8, 1 to 4 topics",
        "low where a topic is missing, then high",
        f8,
        f8[0] < min(f8[1:]) - 0.1,
    )
    yield trend(
        "PRD F1/8, 1 to 4 topics",
        "falls with invented topics",
        f1_8,
        falls(f1_8, slack=0.03) and f1_8[3] < f1_8[1] - 0.1,
    )
    yield trend(
        "frontier F8, 1 to 4 topics",
        "does not identify the lack of recall",
        other_8,
        not other_8[0] < min(other_8[1:]) - 0.1,
    )
    yield trend("frontier F1/8, 1 to 4 topics", "", other_1_8, None)


def prd_figure_5_right() -> Iterator[Line]:
    """All four topics as the reference, one to four of them generated."""
    vectors, rows = _news()
    rng = np.random.default_rng(0)
    shuffled = {topic: rng.permutation(rows[topic]) for topic in TOPICS}
    reference = vectors[np.concatenate([shuffled[topic][:500] for topic in TOPICS])]
    f8 = []
    for count in (1, 2, 3, 4):
        chosen = [shuffled[topic][500:][: 1200 // count] for topic in TOPICS[:count]]
        f8.append(metrics.prd(reference, vectors[np.concatenate(chosen)]).f8.value)
    yield trend("F8, 1 to 4 topics", "recall rises with each class", f8, rises(f8))


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


def pr_figure_1() -> Iterator[Line]:
    """GPT-2 XL (1.5B) and GPT-NeoX (20B) on WritingPrompts, 500 stories each."""
    stories = _stories()
    found = [
        metrics.precision_recall(stories["human"], stories[name])
        for name in ("gpt2-xl", "gpt-neox-20b")
    ]
    recall = [each.recall.value for each in found]
    precision = [each.precision.value for each in found]
    yield trend(
        "recall of GPT-2 XL and GPT-NeoX", "larger models are more diverse", recall, rises(recall)
    )
    yield trend("precision", "", precision, None)


def pr_table_1() -> Iterator[Line]:
    """The overlap of the two models' stories, from either side."""
    stories = _stories()
    first, second = stories["gpt2-xl"], stories["gpt-neox-20b"]
    forth = metrics.precision_recall(first, second)
    back = metrics.precision_recall(second, first)
    yield trend(
        "GPT-NeoX by GPT-2 XL: precision, recall",
        "",
        [forth.precision.value, forth.recall.value],
        None,
    )
    swapped = forth.precision.value == back.recall.value
    swapped &= forth.recall.value == back.precision.value
    yield trend(
        "GPT-2 XL by GPT-NeoX: precision, recall",
        "the same two, swapped",
        [back.precision.value, back.recall.value],
        swapped,
    )
    own = metrics.precision_recall(first, first)
    yield trend(
        "a model by itself",
        "1.00, 1.00",
        [own.precision.value, own.recall.value],
        own.precision.value == own.recall.value == 1,
        digits=2,
    )
