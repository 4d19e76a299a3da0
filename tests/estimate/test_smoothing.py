import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from calipers.catalogue.estimation import SMOOTHING
from calipers.errors import InputError
from calipers.estimate.histograms import check_smoothing, probabilities

COUNTS = st.lists(st.integers(0, 12), min_size=1, max_size=30).filter(any)


@pytest.mark.parametrize(
    ("smoothing", "weights"),
    [
        ("none", [0, 0, 1, 1, 1, 2, 7]),
        ("laplace", [1, 1, 2, 2, 2, 3, 8]),
        ("krichevsky-trofimov", [0.5, 0.5, 1.5, 1.5, 1.5, 2.5, 7.5]),
        ("braess-sauer", [0.5, 0.5, 2, 2, 2, 2.75, 7.75]),
        # φ_0 = 2, φ_1 = 3, φ_2 = 1, φ_3 = 0: a cell not seen weighs (3 + 1)·1/2, one seen once
        # (1 + 1)·2/3 unless 1 > φ_2, which it is not; seen twice 2 > φ_3
        ("good-turing", [2, 2, 4 / 3, 4 / 3, 4 / 3, 2, 7]),
    ],
)
def test_weights_by_hand(smoothing, weights):
    counts = np.array([0, 0, 1, 1, 1, 2, 7])
    np.testing.assert_allclose(
        probabilities(counts, smoothing), np.divide(weights, np.sum(weights))
    )


@pytest.mark.parametrize("smoothing", SMOOTHING.words)
@given(COUNTS)
def test_probabilities_are_shares_and_follow_the_cells(smoothing, counts):
    counts = np.array(counts)
    shares = probabilities(counts, smoothing)
    assert shares.sum() == pytest.approx(1)
    assert (shares >= 0).all()
    assert smoothing == "none" or (shares > 0).all()
    order = np.random.default_rng(0).permutation(len(counts))
    np.testing.assert_allclose(probabilities(counts[order], smoothing), shares[order])


@given(COUNTS)
def test_good_turing_as_it_is_defined(counts):
    seen = {t: counts.count(t) for t in range(14)}
    weights = [t if t > seen[t + 1] else (seen[t + 1] + 1) * (t + 1) / seen[t] for t in counts]
    expected = np.divide(weights, np.sum(weights))
    np.testing.assert_allclose(probabilities(np.array(counts), "good-turing"), expected)


def test_misspelt_smoothing():
    with pytest.raises(InputError, match="unknown smoothing 'good_turing'; did you mean 'good-tur"):
        check_smoothing("good_turing")
