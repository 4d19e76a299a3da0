"""On real news of known topics: what is missed and what is invented is named by its words."""

from __future__ import annotations

import csv
import re

import pytest

import calipers

pytest.importorskip("sentence_transformers")

WORLD, SPORTS, BUSINESS, SCIENCE = "1234"
SIZE = 500


@pytest.fixture(scope="module")
def items(data_folder):
    found = {topic: [] for topic in (WORLD, SPORTS, BUSINESS, SCIENCE)}
    with (data_folder / "ag_news" / "test.csv").open(encoding="utf-8", newline="") as file:
        for topic, title, description in csv.reader(file):
            found[topic].append(f"{title}. {description}")
    return found


@pytest.fixture(scope="module")
def comparison(items, tmp_path_factory):
    def mixed(start, *topics):
        part = SIZE // len(topics)
        return [text for topic in topics for text in items[topic][start : start + part]]

    systems = {
        "world": mixed(900, WORLD),
        "all": mixed(900, WORLD, SPORTS, BUSINESS, SCIENCE),
    }
    return calipers.compare(
        mixed(0, WORLD, SPORTS),
        systems,
        metrics=["mauve_star", "coverage"],
        level=None,
        floor=False,
        cache_dir=tmp_path_factory.mktemp("vectors"),
    )


def topic_of(words, items):
    """The topic whose items use the words most, each word having one vote."""
    used = {
        topic: [set(re.findall(r"\w+", text.casefold())) for text in texts]
        for topic, texts in items.items()
    }
    votes = dict.fromkeys(items, 0.0)
    for word in words:
        counts = {topic: sum(word in text for text in texts) for topic, texts in used.items()}
        for topic, count in counts.items():
            votes[topic] += count / max(1, sum(counts.values()))
    return max(votes, key=votes.__getitem__)


def test_sport_is_the_first_topic_that_a_system_of_world_news_misses(comparison, items):
    missed = comparison["world"].explain().missed
    assert topic_of(missed[0].words, items) == SPORTS
    assert missed[0].uncovered > missed[0].reference / 2


def test_business_and_science_are_what_a_system_of_all_topics_invents(comparison, items):
    invented = [topic_of(each.words, items) for each in comparison["all"].explain().invented]
    assert invented[0] in (BUSINESS, SCIENCE)
    assert {BUSINESS, SCIENCE} <= set(invented[:3])
