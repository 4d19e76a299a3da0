"""The known-answer cases on real embeddings: what is drawn, and what the right answer is.

Every case draws a reference and a generated set of raw vectors for each of its points.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from ag_news import SPORTS, WORLD
from preprocessing_texts import CHANGED, SOURCES, News

Rows = np.ndarray
Rng = np.random.Generator
Sets = tuple[Rows, Rows]
TOPICS = (1, 2, 3, 4)
STORIES_N = 250
TOPIC_N = 600
PAIR_N = 500


@dataclass(frozen=True)
class Case:
    """A series of pairs of sets with a known answer.

    Attributes
    ----------
    name, tells
        Its short name, and what is drawn.
    points
        What the columns stand for.
    draw
        (point, generator) → reference and generated set.
    """

    name: str
    tells: str
    points: tuple[str, ...]
    draw: Callable[[int, Rng], Sets]


def cases(news: News, stories: dict[str, Rows]) -> list[Case]:
    """Every case by one view."""
    shares = (0.0, 0.25, 0.5, 0.75, 1.0)
    percent = tuple(f"{share:.0%}" for share in shares)
    different = (1_000, 300, 100, 50, 20)
    return [
        Case(
            "repeats",
            "held-out news, n = m = 1,000, by the number of different texts",
            tuple(f"{count:,}" for count in different),
            lambda i, rng: _repeats(news, different[i], rng),
        ),
        Case(
            "near repeats",
            f"held-out news, n = m = 1,000, a share of it near copies of {SOURCES} other items",
            percent,
            lambda i, rng: _mixed(news, news.repeats, shares[i], rng),
        ),
        Case(
            "near copies",
            "held-out news, n = m = 500, a share of it near copies of reference items",
            percent,
            lambda i, rng: _copies(news, shares[i], rng),
        ),
        Case(
            "mix chain",
            "held-out news, n = m = 1,000, a share of it from a word-level Markov chain",
            percent,
            lambda i, rng: _mixed(news, news.chain, shares[i], rng),
        ),
        Case(
            "mix GPT-2 XL",
            "human stories, n = m = 250, a share of them by GPT-2 XL",
            percent,
            lambda i, rng: _stories(stories, "gpt2-xl", shares[i], rng),
        ),
        Case(
            "mix GPT-NeoX",
            "human stories, n = m = 250, a share of them by GPT-NeoX 20B",
            percent,
            lambda i, rng: _stories(stories, "gpt-neox", shares[i], rng),
        ),
        Case(
            "drop topics",
            "news, n = m = 600; the reference has 4 topics, the generated set so many",
            ("4", "3", "2", "1"),
            lambda i, rng: _topics(news, 4 - i, rng),
        ),
        Case(
            "truncate",
            "held-out news, n = m = 500, texts cut to their first words",
            ("whole", "half", "quarter"),
            lambda i, rng: _cut(news, i, rng),
        ),
        Case(
            "invent topics",
            "news, n = m = 600; World and Sports against so many topics",
            ("2", "3", "4"),
            lambda i, rng: _invented(news, 2 + i, rng),
        ),
    ]


PAPER_POINTS = ("Q1 World", "Q2 World, Sports", "three topics", "Q3 four topics")
PAPER_QUALITY = (1.0, 1.0, 2 / 3, 0.5)
PAPER_DIVERSITY = (0.5, 1.0, 1.0, 1.0)


def paper(news: News) -> Case:
    """Section 5.2 and figure A.4 of paper 000: topics are added to the generated set."""

    def draw(i: int, rng: Rng) -> Sets:
        known = {topic: rng.permutation(np.flatnonzero(news.labels == topic)) for topic in TOPICS}
        half = len(known[WORLD]) // 2
        reference = np.r_[known[WORLD][:half], known[SPORTS][:half]]
        names = TOPICS[: i + 1]
        generated = np.concatenate([known[t][half:][: half // len(names)] for t in names])
        return news.items[reference], news.items[generated]

    return Case("paper", "topics are added to the generated set", PAPER_POINTS, draw)


def _pick(rows: Rows, count: int, rng: Rng) -> Rows:
    return rng.permutation(rows)[:count]


def _repeats(news: News, different: int, rng: Rng, *, n: int = 1_000) -> Sets:
    reference, human = _pick(news.reference, n, rng), _pick(news.system, different, rng)
    return news.items[reference], news.items[np.resize(human, n)]


def repeats(news: News, different: int, n: int) -> Callable[[Rng], Sets]:
    """Pairs of n news items, of which the generated set has so many different ones."""
    return lambda rng: _repeats(news, different, rng, n=n)


def _mixed(news: News, worse: Rows, share: float, rng: Rng) -> Sets:
    n = len(worse)
    count = round(share * n)
    reference, human = _pick(news.reference, n, rng), _pick(news.system[CHANGED:], n, rng)
    bad = rng.permutation(worse)[:count]
    return news.items[reference], np.concatenate([bad, news.items[human[count:]]])


def _copies(news: News, share: float, rng: Rng) -> Sets:
    places = rng.permutation(CHANGED)[:PAIR_N]
    count = round(share * PAIR_N)
    human = _pick(news.system, PAIR_N, rng)[count:]
    generated = np.concatenate([news.copies[places[:count]], news.items[human]])
    return news.items[news.reference[places]], generated


def _stories(stories: dict[str, Rows], model: str, share: float, rng: Rng) -> Sets:
    rows = rng.permutation(len(stories["human"]))
    ours, theirs = rows[:STORIES_N], rows[STORIES_N : 2 * STORIES_N]
    count = round(share * STORIES_N)
    generated = [stories[model][theirs[:count]], stories["human"][theirs[count:]]]
    return stories["human"][ours], np.concatenate(generated)


def _of_topics(news: News, among: Rows, topics: tuple[int, ...], count: int, rng: Rng) -> Rows:
    each = count // len(topics)
    chosen = [_pick(among[news.labels[among] == topic], each, rng) for topic in topics]
    return news.items[np.concatenate(chosen)]


def _topics(news: News, left: int, rng: Rng) -> Sets:
    reference = _of_topics(news, news.reference, TOPICS, TOPIC_N, rng)
    return reference, _of_topics(news, news.system, TOPICS[:left], TOPIC_N, rng)


def _invented(news: News, held: int, rng: Rng) -> Sets:
    reference = _of_topics(news, news.reference, TOPICS[:2], TOPIC_N, rng)
    return reference, _of_topics(news, news.system, TOPICS[:held], TOPIC_N, rng)


def missing(rows: Rows) -> Rows:
    """Which reference rows of *drop topics* belong to the first topic that is dropped."""
    mask = np.zeros(len(rows), bool)
    mask[-TOPIC_N // 4 :] = True
    return mask


def _cut(news: News, step: int, rng: Rng) -> Sets:
    places = rng.permutation(CHANGED)[:PAIR_N]
    reference = news.items[_pick(news.reference, PAIR_N, rng)]
    return reference, (news.items[news.system], news.half, news.quarter)[step][places]
