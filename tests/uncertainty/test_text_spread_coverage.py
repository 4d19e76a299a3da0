"""Intervals of text statistics hold the mean over fresh worlds: words drawn with topics."""

from __future__ import annotations

import numpy as np
import pytest

from calipers.text.catalogue import find_text
from calipers.text.tokens import tokenise
from calipers.uncertainty.spread import confidence_interval
from calipers.uncertainty.text_replicates import TextSpreads

KEYS = (
    "mean_length", "vocabulary_size", "zipf_coefficient", "distinct:n=2", "self_bleu",
    "compression", "self_repetition:n=3", "novelty:n=3", "longest_copied_span",
    "corpus_match_bleu",
)  # fmt: skip
WORLDS, N = 90, 200


def drawn(rng, n):
    """Texts of 5 to 40 words, from one of six topics that share half of their words."""
    chances = 1 / np.arange(1, 401)
    texts = []
    for topic in rng.integers(0, 6, n):
        words = rng.choice(400, rng.integers(5, 41), p=chances / chances.sum())
        texts.append(" ".join(f"w{w}" if w % 2 else f"t{topic}w{w}" for w in words))
    return texts


@pytest.fixture(scope="module")
def worlds():
    """For each key the values and the intervals."""
    rng = np.random.default_rng(0)
    values, ends = {key: [] for key in KEYS}, {key: [] for key in KEYS}
    for world in range(WORLDS):
        generated, reference = tokenise(drawn(rng, N), drawn(rng, N), tokenizer="whitespace")
        spreads = TextSpreads(reference, seed=world, threads=1)
        for key in KEYS:
            choice = find_text(key)
            score = choice.score(generated, reference, threads=1)
            spread = spreads.of(choice, generated, score)
            values[key].append(score.value)
            ends[key].append(confidence_interval(score.value, spread, bounds=score.range))
    return {key: (np.array(values[key]), np.array(ends[key])) for key in KEYS}


@pytest.mark.parametrize("key", KEYS)
def test_intervals_cover(key, worlds):
    """Of 90 intervals at 95 %, fewer than 78 hold the mean once in a thousand runs."""
    values, ends = worlds[key]
    held = (ends[:, 0] <= values.mean()) & (values.mean() <= ends[:, 1])
    assert held.sum() >= 78


@pytest.mark.parametrize("key", KEYS)
def test_intervals_are_no_longer_than_need_be(key, worlds):
    values, ends = worlds[key]
    oracle = 2 * 2.093 * values.std(ddof=1)
    assert np.mean(ends[:, 1] - ends[:, 0]) < 2 * oracle
