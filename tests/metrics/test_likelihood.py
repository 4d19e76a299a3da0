"""Likelihoods: counts by hand on three words, formulas at high precision, and laws."""

from __future__ import annotations

import math

import mpmath
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from calipers.metrics import likelihood

# Three words a, b, c of probability 1/2, 1/4, 1/4: texts "a b", "c c c", and one without tokens
LOGS = np.log([1 / 2, 1 / 4, 1 / 4, 1 / 4, 1 / 4])
STARTS = np.array([0, 2, 5, 5])

chances = st.lists(st.floats(1e-6, 1), min_size=1, max_size=30).map(np.array)
shares = st.lists(st.floats(0, 1), min_size=1, max_size=30).map(np.array)


def test_by_hand():
    assert likelihood.perplexity(LOGS) == pytest.approx(2 ** (9 / 5))
    by_text = likelihood.perplexity_by_text(LOGS, STARTS)
    assert by_text[:2] == pytest.approx([2**1.5, 4])
    assert np.isnan(by_text[2])
    assert likelihood.perplexity(LOGS, units=3) == pytest.approx(8)
    assert likelihood.bits_per_byte(LOGS, 18) == pytest.approx(0.5)
    assert likelihood.sums_by_text(LOGS, STARTS) / np.log(2) == pytest.approx([-3, -6, 0])


def test_nothing_scored_is_not_a_number():
    none = np.zeros(0)
    assert math.isnan(likelihood.perplexity(none))
    assert math.isnan(likelihood.perplexity(LOGS, units=0))
    assert math.isnan(likelihood.bits_per_byte(LOGS, 0))
    assert math.isnan(likelihood.epsilon_perplexity(none, 3))
    assert math.isnan(likelihood.epsilon_perplexity(np.ones(1), 0))
    assert np.isnan(likelihood.unigram_entropy(none.astype(np.int32), np.zeros(2, np.int64))).all()


def test_what_cannot_be_is_infinitely_perplexing():
    assert likelihood.perplexity(np.array([0.0, -np.inf])) == np.inf


def entropy(counts):
    shares = [mpmath.mpf(c) / sum(counts) for c in counts]
    return -sum(share * mpmath.log(share) for share in shares)


def test_the_entropy_of_a_text():
    tokens = np.array([4, 4, 4, 4, 0, 1, 2, 0, 7], np.int32)
    found = likelihood.unigram_entropy(tokens, np.array([0, 4, 8, 9, 9]))
    assert found[:3] == pytest.approx([0, float(entropy([2, 1, 1])), 0], abs=1e-15)
    assert np.isnan(found[3])


@given(chances)
def test_equal_to_formulas_at_high_precision(q):
    with mpmath.workdps(60):
        exact = [mpmath.mpf(float(each)) for each in q]
        vocabulary, epsilon = 50, mpmath.mpf("0.0625")
        mean = mpmath.fsum(mpmath.log((p + epsilon) / (1 + epsilon * vocabulary)) for p in exact)
        expected = float(mpmath.exp(-mean / len(exact)))
        assert likelihood.epsilon_perplexity(q, 50, 0.0625) == pytest.approx(expected, rel=1e-12)
        nll = mpmath.fsum(-mpmath.log(p) for p in exact) / len(exact)
        assert likelihood.perplexity(np.log(q)) == pytest.approx(float(mpmath.exp(nll)), rel=1e-12)


@given(st.lists(st.floats(0, 1), min_size=3, max_size=3).filter(lambda w: sum(w) > 1e-3))
def test_divergence_and_score_are_those_of_whole_distributions(weights):
    q = np.array(weights) / sum(weights)
    with mpmath.workdps(60):
        exact = [mpmath.mpf(float(each)) for each in q]
        for token in range(3):
            written = [mpmath.mpf(each == token) for each in range(3)]
            mean = [(a + b) / 2 for a, b in zip(exact, written, strict=True)]

            def kl(p, mean=mean):
                pairs = zip(p, mean, strict=True)
                return mpmath.fsum(a * mpmath.log(a / b) for a, b in pairs if a > 0)

            expected = float((kl(exact) + kl(written)) / 2)
            found = likelihood.jensen_shannon(q[token : token + 1])[0]
            assert found == pytest.approx(expected, abs=1e-12)
            squares = sum(each**2 for each in exact)
            expected = float(exact[token] + (1 - squares) / 2)
            squares = np.array([(q**2).sum()])
            found = likelihood.sparsemax_scores(q[token : token + 1], squares)[0]
            assert found == pytest.approx(expected, abs=1e-12)
            # 1 minus half the squared distance to the token that was written
            distance = sum((a - b) ** 2 for a, b in zip(exact, written, strict=True))
            assert found == pytest.approx(1 - float(distance) / 2, abs=1e-12)


@given(shares, st.integers(1, 1000))
def test_the_best_epsilon_beats_every_other(q, vocabulary):
    best = likelihood.epsilon_perplexity(q, vocabulary)
    assert best <= vocabulary * (1 + 1e-9)
    for epsilon in (1e-9, 1e-4, 0.01, 1 / vocabulary, 1.0, 1e6):
        assert best <= likelihood.epsilon_perplexity(q, vocabulary, epsilon) * (1 + 1e-9)


@given(chances)
def test_without_truncation_the_best_epsilon_is_no_worse_than_none(q):
    best = likelihood.epsilon_perplexity(q, 20)
    assert best <= likelihood.perplexity(np.log(q)) * (1 + 1e-9)


@given(chances, st.randoms())
def test_the_order_of_tokens_moves_nothing(q, random):
    order = list(range(len(q)))
    random.shuffle(order)
    assert likelihood.perplexity(np.log(q[order])) == pytest.approx(
        likelihood.perplexity(np.log(q))
    )
    found, moved = (likelihood.epsilon_perplexity(each, 9) for each in (q, q[order]))
    assert found == pytest.approx(moved)


@given(chances)
def test_a_set_twice_has_the_same_perplexity(q):
    logs = np.log(q)
    assert likelihood.perplexity(np.tile(logs, 2)) == pytest.approx(likelihood.perplexity(logs))


@given(st.lists(st.lists(st.integers(0, 5), max_size=12), min_size=1, max_size=6))
def test_entropy_lies_between_its_bounds(texts):
    starts = np.cumsum([0, *map(len, texts)])
    tokens = np.array([token for text in texts for token in text], np.int32)
    for text, found in zip(texts, likelihood.unigram_entropy(tokens, starts), strict=True):
        if text:
            counts = [text.count(word) for word in {*text}]
            assert found == pytest.approx(float(entropy(counts)), abs=1e-12)
            assert 0 <= found <= math.log(len(text)) + 1e-12
        else:
            assert np.isnan(found)
