"""On real news of known topics: what is too rare or too common is named by its keywords."""

from __future__ import annotations

import csv
import re
from types import SimpleNamespace

import numpy as np
import pytest

import calipers
from extras import need

need("sentence_transformers")

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


@pytest.mark.slow
def test_sport_is_the_first_topic_that_a_system_of_world_news_misses(comparison, items):
    lacking = comparison["world"].explain().under_represented
    assert topic_of(lacking[0].keywords, items) == SPORTS
    assert lacking[0].uncovered > lacking[0].reference / 2


@pytest.mark.slow
def test_business_and_science_are_what_a_system_of_all_topics_invents(comparison, items):
    new = [topic_of(each.keywords, items) for each in comparison["all"].explain().over_represented]
    assert new[0] in (BUSINESS, SCIENCE)
    assert {BUSINESS, SCIENCE} <= set(new[:3])


CLASSES = {1: "summit", 2: "goal", 3: "profit", 4: "software"}


@pytest.fixture(scope="module")
def script(experiments):
    import explanations

    return explanations


def test_sets_are_disjoint_and_as_large_as_said(script):
    topics = {each: [f"{word} {i}" for i in range(100)] for each, word in CLASSES.items()}
    reference, generated = script.sets(topics, 80, np.random.default_rng(0))
    assert [len(reference), len(generated["Q1"]), len(generated["Q3"])] == [80, 60, 80]
    kinds = {name: {text.split()[0] for text in texts} for name, texts in generated.items()}
    assert kinds == {"Q1": {"summit"}, "Q3": set(CLASSES.values())}
    assert not set(reference) & {text for texts in generated.values() for text in texts}


def test_topics_are_named_by_their_words_alone(script):
    topics = {each: [f"the {word} {word}s news"] * 3 for each, word in CLASSES.items()}
    judge = script.Judge(topics)

    def name(*words):
        return judge.name(SimpleNamespace(keywords=words))

    assert name("goal", "goals", "news") == "Sports"
    assert name("software", "the", "softwares", "profit") == "Sci/Tech"
    assert name("unheard") == name() == "no words"
    assert sum(judge.votes(["profit", "the"]).values()) == pytest.approx(1)
