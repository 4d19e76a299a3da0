"""The experiment judges topics by their words, and its sets do not overlap."""

import sys
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

EXPERIMENTS = Path(__file__).resolve().parents[2] / "experiments"
CLASSES = {1: "summit", 2: "goal", 3: "profit", 4: "software"}


@pytest.fixture(scope="module")
def script():
    sys.path.insert(0, str(EXPERIMENTS))
    try:
        import explanations

        yield explanations
    finally:
        sys.path.remove(str(EXPERIMENTS))


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
        return judge.name(SimpleNamespace(words=words))

    assert name("goal", "goals", "news") == "Sports"
    assert name("software", "the", "softwares", "profit") == "Sci/Tech"
    assert name("unheard") == name() == "no words"
    assert sum(judge.votes(["profit", "the"]).values()) == pytest.approx(1)
