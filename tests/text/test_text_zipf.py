"""The Zipf coefficient."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from calipers.errors import InputError
from calipers.text import zipf_coefficient


def line(counts, top):
    from scipy.stats import linregress

    counts = sorted(counts, reverse=True)[:top]
    return -linregress(np.log(np.arange(1, len(counts) + 1)), np.log(counts)).slope


def zipf(texts, **options):
    return zipf_coefficient(texts, tokenizer="whitespace", **options)


def test_by_hand():
    # 8, 4, 2 at the ranks 1, 2, 4 would have slope -1; three words at 4, 1, 1:
    x, y = np.log([1, 2, 3]), np.log([4, 1, 1])
    slope = ((x - x.mean()) @ (y - y.mean())) / ((x - x.mean()) @ (x - x.mean()))
    assert zipf(["a a a", "a b", "c"]).value == pytest.approx(-slope, rel=1e-14)


def test_a_perfect_law_gives_its_exponent():
    counts = [3600 // rank**2 for rank in (1, 2, 3, 4, 5, 6)]
    assert zipf([" ".join(f"w{at} " * count for at, count in enumerate(counts))]).value == (
        pytest.approx(2, rel=1e-12)
    )


@settings(deadline=None)
@given(st.lists(st.integers(1, 30), min_size=2, max_size=40), st.integers(2, 50))
def test_equals_scipys_regression(counts, top):
    texts = [f"w{word} " * count for word, count in enumerate(counts)]
    assert zipf(texts, top=top).value == pytest.approx(line(counts, top), abs=1e-12)


def test_equals_scipy_on_many_words():
    rng = np.random.default_rng(1)
    words = rng.zipf(1.2, 60_000)
    texts = [" ".join(map(str, part)) for part in np.split(words, 100)]
    counts = Counter(words.tolist()).values()
    assert len(counts) > 5000
    assert zipf(texts).value == pytest.approx(line(counts, 5000), abs=1e-12)
    assert "top:5000" in zipf(texts).signature


def test_equal_frequencies_give_zero_exactly():
    score = zipf([" ".join(f"w{at}" for at in range(997))] * 3)
    assert score.value == 0
    assert np.copysign(1, score.value) == 1


@pytest.mark.parametrize(("texts", "found"), [([""], "none"), (["a a", "a"], "one")])
def test_fewer_than_two_words_have_no_line(texts, found):
    score = zipf(texts)
    assert np.isnan(score.value)
    assert score.reason == f"a line needs two different words; the texts have {found}"


def test_shuffling_words_over_texts_changes_nothing():
    words = ("a a a b b c d d d d " * 3).split()
    shuffled = np.random.default_rng(0).permutation(words)
    assert (
        zipf([" ".join(words)]).value
        == zipf([" ".join(shuffled[:7]), " ".join(shuffled[7:])]).value
    )


def test_top_must_leave_a_line():
    with pytest.raises(InputError, match="top must be a whole number of at least 2; found 1"):
        zipf(["a b"], top=1)
