"""Word Mover's Distance of token embeddings: by hand, against POT and the assignment problem."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import linear_sum_assignment

from calipers.errors import InputError
from calipers.metrics import mover_score
from calipers.metrics.mover_score import mover_distance, ngrams
from extras import need

need("ot")

ROOT = np.sqrt(2)


def unit(rows):
    rows = np.asarray(rows, np.float32)
    return rows / np.linalg.norm(rows, axis=1, keepdims=True)


def test_one_word_that_is_missing_by_hand():
    # Masses (1/2, 1/2) on x and y are moved to (1) on x: half goes nowhere, half goes √2
    found = mover_score([[[2.0, 0.0], [0.0, 1.0]]], [[[1.0, 0.0]]])
    assert found.value == pytest.approx(1 / (1 + ROOT / 2))
    # With weights 3 and 1 a quarter moves
    found = mover_score([[[2.0, 0.0], [0.0, 1.0]]], [[[1.0, 0.0]]], text_weights=[[3.0, 1.0]])
    assert found.value == pytest.approx(1 / (1 + ROOT / 4))


def test_pairs_of_tokens_by_hand():
    # Of x, y, x the pairs both lie at (1/2, 1/2); that of x, x at (1, 0): all moves by √½
    found = mover_score([[[1.0, 0], [0, 1.0], [1.0, 0]]], [[[1.0, 0], [1.0, 0]]], n=2)
    assert found.value == pytest.approx(1 / (1 + np.sqrt(0.5)))
    points, masses = ngrams(unit([[1, 0], [0, 1], [1, 0]]), np.array([1.0, 3.0, 0.0]), 2)
    np.testing.assert_allclose(points, [[0.25, 0.75]])
    np.testing.assert_allclose(masses, [1])


@pytest.mark.parametrize("n", [1, 2, 3])
def test_the_cost_is_that_of_pot(n):
    import ot

    rng = np.random.default_rng(n)
    for _ in range(10):
        sides = [unit(rng.standard_normal((size, 5))) for size in rng.integers(2, 9, 2)]
        weights = [rng.random(len(side)) for side in sides]
        (x, p), (y, q) = (ngrams(*pair, n) for pair in zip(sides, weights, strict=True))
        expected = ot.emd2(p, q, ot.dist(x, y, metric="euclidean"))
        found = mover_distance(sides[0], weights[0], sides[1], weights[1], n=n)
        assert found == pytest.approx(expected, rel=1e-6)


@settings(max_examples=20, deadline=None)
@given(st.integers(1, 6), st.integers(0, 2**20))
def test_of_equally_many_tokens_it_is_an_assignment(size, seed):
    x, y = (unit(side) for side in np.random.default_rng(seed).standard_normal((2, size, 4)))
    costs = np.linalg.norm(x[:, None].astype(float) - y[None].astype(float), axis=2)
    expected = costs[linear_sum_assignment(costs)].mean()
    even = np.ones(size)
    assert mover_distance(x, even, y, even) == pytest.approx(expected, rel=1e-6)
    assert mover_distance(y, even, x, even) == pytest.approx(expected, rel=1e-6)
    turned = np.random.default_rng(seed).permutation(size)
    assert mover_distance(x, even, x[turned], even) == pytest.approx(0, abs=1e-6)


def test_a_repeated_word_cannot_be_matched_with_all():
    # Greedy matching finds x in the text for x of the reference; here y still has to be moved
    reference = [[1.0, 0.0], [0.0, 1.0]]
    assert mover_score([reference], [reference]).value == 1
    assert mover_score([[[1.0, 0.0]] * 4], [reference]).value == pytest.approx(1 / (1 + ROOT / 2))


def test_what_has_no_weight_has_no_value():
    one = [[1.0, 0.0]]
    found = mover_score([one, one], [one, one], text_weights=[[1.0], [0.0]])
    assert found.value == 1
    assert np.isnan(found.per_sample[1])
    assert "undefined:1" in found.signature.split("|")
    none = mover_score([one], [one], text_weights=[[0.0]])
    assert np.isnan(none.value)
    assert none.reason == "no pair has a token that counts on both sides"


def test_bad_input_is_refused():
    with pytest.raises(InputError, match="equally many"):
        mover_score([[[1.0]]], [])
    with pytest.raises(InputError, match="row 1: the tokens of a text"):
        mover_score([[[1.0, 0.0]]], [[[1.0]]])
    with pytest.raises(InputError, match="n must be"):
        mover_score([[[1.0]]], [[[1.0]]], n=0)
