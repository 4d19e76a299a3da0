"""The catalogue hands its options on, and reads each score from its own part."""

from types import SimpleNamespace

import numpy as np
import pytest

from calipers import text
from calipers.catalogue.choosing import find_text
from calipers.catalogue.texts import TEXT_METRICS
from calipers.score import Score
from calipers.text.tokens import tokenise

WORDS = ["the", "a", "cat", "dog", "sun", "moon", "sat", "ran", "on", "mat", "and", "again", "."]


def written(seed):
    rng = np.random.default_rng(seed)
    return [" ".join(rng.choice(WORDS, rng.integers(8, 25))) for _ in range(30)]


GENERATED, REFERENCE, TRAIN = tokenise(*map(written, range(3)), tokenizer="whitespace")


def others():
    """Each option of each metric by another value than the default."""
    for metric in TEXT_METRICS.values():
        if metric.name.startswith("bert_score"):
            continue
        for option in metric.options:
            for value in option.words[1:] or (min(option.default + 1, option.most),):
                yield find_text(f"{metric.name}:{option.written(value)}").key


@pytest.mark.parametrize("key", sorted(set(others())))
def test_every_option_reaches_the_signature(key):
    given, usual = (
        find_text(each).score(GENERATED, REFERENCE, train=TRAIN, threads=1).signature
        for each in (key, key.partition(":")[0])
    )
    assert given != usual


@pytest.fixture(scope="module")
def strings():
    return text.string_scores(GENERATED, REFERENCE, threads=1)


@pytest.mark.parametrize("part", ["mauve", "precision", "recall", "density", "coverage"])
def test_each_string_score_is_read_from_its_own_part(part, strings):
    found = find_text(f"string_{part}").score(GENERATED, REFERENCE, threads=1)
    assert found.value == getattr(strings, part).value
    assert found.signature == getattr(strings, part).signature


@pytest.mark.parametrize("part", ["precision", "recall", "f1"])
@pytest.mark.parametrize(("option", "idf"), [("", False), (":idf", True)])
def test_each_bert_score_is_read_from_its_own_part(part, option, idf, monkeypatch):
    def made(texts, references, *, idf):
        parts = ("precision", "recall", "f1")
        return SimpleNamespace(**{each: Score(0.5, signature=f"{each}|{idf}") for each in parts})

    monkeypatch.setattr("calipers.text.bertscore.bert_score", made)
    sides = tokenise(["a b"], ["a c"], tokenizer="whitespace")
    assert find_text(f"bert_score_{part}{option}").score(*sides).signature == f"{part}|{idf}"
