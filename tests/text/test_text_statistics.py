"""What all statistics of one set have in common."""

from __future__ import annotations

from functools import partial

import numpy as np
import pytest

from calipers import text
from calipers.errors import InputError
from calipers.text.tokens import tokenise

EVERY = {
    "distinct": text.distinct,
    "distinct per sample": partial(text.distinct, order=2, per="sample"),
    "adjusted": text.expectation_adjusted_distinct,
    "mattr": partial(text.moving_average_ttr, window=5),
    "zipf": text.zipf_coefficient,
    "repetition": text.repetition_frequency,
    "rep_n": text.rep_n,
    "self_repetition": text.self_repetition,
    "non_termination": text.non_termination,
    "non_termination by limit": partial(text.non_termination, limit=4),
    "vocabulary": text.vocabulary_size,
    "mean": text.mean_length,
    "median": text.median_length,
    "spread": partial(text.length_spread, unit="words"),
    "gzip": lambda texts, tokenizer=None: text.compression_ratio(texts),
    "zstd": lambda texts, tokenizer=None: text.compression_ratio(texts, codec="zstd"),
}
PROSE = [
    "It was the best of times, it was the worst of times.",
    "It was the age of wisdom, it was the age of foolishness!",
    "",
    "short",
    "这是 最好 的 时代 ， 这是 最坏 的 时代 。",
    "🎉 🎉 🎉 🎉 🎉",
    "a \ud800 lone surrogate stands here",
]


@pytest.fixture(params=sorted(EVERY))
def statistic(request):
    return EVERY[request.param]


@pytest.fixture(params=sorted(set(EVERY) - {"gzip", "zstd"}))
def unordered(request):
    return EVERY[request.param]


def test_a_score_is_closest_signed_and_within_its_range(statistic):
    score = statistic(PROSE)
    low, high = score.range
    assert low <= score.value <= high
    assert score.better == "closest"
    assert score.reason is None
    assert f"n:{len(PROSE)}" in score.signature
    assert score.per_sample is None or score.per_sample.shape == (len(PROSE),)


def test_the_order_of_the_texts_does_not_matter(unordered):
    order = np.random.default_rng(0).permutation(len(PROSE))
    one, two = unordered(PROSE), unordered([PROSE[row] for row in order])
    assert two.value == pytest.approx(one.value, rel=1e-14)
    assert one.signature == two.signature
    if one.per_sample is not None:
        np.testing.assert_allclose(two.per_sample, one.per_sample[order], rtol=1e-14)


def test_a_corpus_gives_the_same_as_its_texts(statistic):
    (corpus,) = tokenise(PROSE)
    one, two = statistic(corpus), statistic(PROSE)
    assert one.value == two.value
    assert one.signature == two.signature


@pytest.mark.parametrize("texts", [["word"], [""], ["", " "], ["same text here now"] * 3])
def test_degenerate_sets_give_a_number_or_a_reason(statistic, texts):
    score = statistic(texts)
    assert np.isfinite(score.value) == (score.reason is None)


@pytest.mark.parametrize(
    ("texts", "message"),
    [
        ([], "texts must hold at least one text; found none"),
        (["a", None], "texts must hold strings only; row 2 is None"),
        (["a", b"b"], "row 2 is b'b', of type bytes"),
        ("a text", "texts must be a list of strings; found a single string"),
    ],
)
def test_bad_texts(statistic, texts, message):
    with pytest.raises(InputError, match=message):
        statistic(texts)


def test_an_unknown_tokenizer():
    with pytest.raises(
        InputError, match="unknown tokenizer 'whitespac'; did you mean 'whitespace'"
    ):
        text.distinct(["a"], tokenizer="whitespac")
