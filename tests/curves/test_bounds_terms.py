import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from calipers.curves.bounds import (
    bounded_divergence,
    expected_missing_mass,
    missing_information,
    missing_mass,
    quantisation_bound,
    recommended_cells,
    smoothing_bias,
    spread,
    statistical_bound,
    total_bound,
)
from calipers.errors import InputError
from calipers.estimate import Histograms

WEIGHTS = st.lists(st.floats(1e-6, 1), min_size=1, max_size=40)


def normalised(weights):
    return np.array(weights) / np.sum(weights)


def test_missing_mass_by_hand():
    # reference: 5 samples, 2 alone in their cell; generated: 5 samples, 1 alone
    found = missing_mass(Histograms([3, 1, 0, 1], [0, 2, 2, 1]))
    assert (found.reference, found.generated) == (0.4, 0.2)
    assert (found.empty_cells, found.cells, found.empty_share) == (2, 4, 0.5)


@given(st.lists(st.tuples(st.integers(0, 3), st.integers(0, 3)), min_size=1, max_size=20))
def test_missing_mass_agrees_with_the_histograms_and_ignores_smoothing(cells):
    p, q = np.array(cells).T
    p[0], q[-1] = p[0] + 1, q[-1] + 1
    pair = Histograms(p, q)
    found = missing_mass(pair)
    assert found.empty_share == np.mean((pair.reference == 0) | (pair.generated == 0))
    assert found == missing_mass(pair.smoothed("good-turing"))
    assert 0 <= found.reference <= 1


def test_goods_estimate_is_right_on_average():
    rng = np.random.default_rng(0)
    p = normalised(1 / np.arange(1, 201))
    counts = rng.multinomial(100, p, 2000)
    estimates = [missing_mass(Histograms(each, [1] * 200)).reference for each in counts]
    missed = ((counts == 0) * p).sum(axis=1)
    assert expected_missing_mass(p, n=100) == pytest.approx(missed.mean(), rel=0.01)
    assert np.mean(estimates) == pytest.approx(expected_missing_mass(p, n=99), rel=0.01)


def test_expected_missing_mass_by_hand():
    assert expected_missing_mass([0.5, 0.5], n=3) == pytest.approx(1 / 8)
    assert expected_missing_mass([1.0, 0.0], n=3) == 0


@given(WEIGHTS, st.integers(3, 10**6))
def test_terms_stay_below_what_the_lemmas_say(weights, n):
    p, k = normalised(weights), len(weights)
    assert spread(p, n) <= np.sqrt(k / n) * (1 + 1e-12)  # lemma 21
    assert expected_missing_mass(p, n=n) <= k / n  # lemma 22
    assert missing_information(p, n) <= k * np.log(n) / n * (1 + 1e-12)
    assert smoothing_bias(p, n, 0.5) <= 0.5 * 2 * (k - 1) / (n + 0.5 * k) + 1e-12  # lemma 24


def test_missing_information_is_what_samples_miss():
    rng = np.random.default_rng(0)
    p = normalised(1 / np.arange(1, 101) ** 2)
    missed = (rng.multinomial(50, p, 4000) == 0) @ (p * np.maximum(1, -np.log(p)))
    assert missing_information(p, 50) == pytest.approx(missed.mean(), rel=0.02)


def test_total_error_of_smoothed_shares_stays_below_its_terms():
    rng = np.random.default_rng(0)
    p, n, b = normalised(rng.random(30) ** 4), 40, 0.5
    shares = (rng.multinomial(n, p, 2000) + b) / (n + 30 * b)
    moved = n / (n + 30 * b) * spread(p, n) + smoothing_bias(p, n, b)
    assert np.abs(shares - p).sum(axis=1).mean() < moved


@pytest.mark.parametrize("name", ["frontier_integral", "total_variation", "squared_hellinger"])
@pytest.mark.parametrize("k", [2, 10, 40])
def test_level_sets_lose_no_more_than_the_bound(name, k):
    # Proposition 13 by its own construction: cut f over [0, f(0)], then f* over [0, f*(0)]
    rng = np.random.default_rng(k)
    p, q = rng.dirichlet(np.full(3000, 0.2)), rng.dirichlet(np.full(3000, 0.2))
    f = bounded_divergence(name)
    low, half = p <= q, k // 2
    level = np.where(
        low,
        half * f(np.divide(p, q, out=np.ones_like(p), where=low)) / f.at_zero,
        half
        * f.conjugate()(np.divide(q, p, out=np.ones_like(p), where=~low))
        / f.conjugate_at_zero,
    )
    cell = np.minimum(level.astype(int), half - 1) + half * low
    coarse_p, coarse_q = (np.bincount(cell, side, minlength=2 * half) for side in (p, q))
    used = coarse_p + coarse_q > 0

    def total(p, q):
        ratio = np.divide(p, q, out=np.ones_like(p), where=q > 0)
        return np.sum(np.where(q > 0, q * f(ratio), f.conjugate_at_zero * p))

    lost = total(p, q) - total(coarse_p[used], coarse_q[used])
    assert -1e-12 < lost < quantisation_bound(name, k=k)


def test_quantisation_bound_by_hand():
    assert quantisation_bound("frontier_integral", k=2) == 1
    assert quantisation_bound("frontier_integral", k=101) == 1 / 50
    assert quantisation_bound("jensen_shannon", k=4) == pytest.approx(np.log(2) / 2)


def test_total_bound_is_the_sum_of_both():
    total = total_bound("frontier_integral", n=1000, k=10, m=500, smoothing=0.5)
    statistical = statistical_bound("frontier_integral", n=1000, k=10, m=500, smoothing=0.5)
    assert total.quantisation == 0.2
    assert total.value == pytest.approx(statistical.value + 0.2)


def test_cells_grow_with_the_cube_root():
    assert [recommended_cells(n) for n in (1, 8, 1000, 10**6)] == [2, 2, 10, 100]
    assert recommended_cells(10**6, 1000) == recommended_cells(1000, 10**6) == 10


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: quantisation_bound("kl", k=4), r"kl has no bound: f\*\(0\) is infinite"),
        (lambda: quantisation_bound("reverse_kl", k=4), r"no bound: f\(0\) is infinite"),
        (lambda: quantisation_bound("le_cam", k=1), "k must be a whole number of at least 2"),
        (lambda: recommended_cells(0), "n must be a whole number of at least 1; found 0"),
        (lambda: recommended_cells(5, 1.5), "m must be a whole number"),
        (lambda: expected_missing_mass([0.2], n=3), "distribution must sum to 1; found 0.2"),
        (lambda: expected_missing_mass([1.0], n=0), "n must be a whole number of at least 1"),
        (lambda: total_bound("kl", n=10, k=4), "do not cover kl"),
    ],
)
def test_bad_input_is_named(call, message):
    with pytest.raises(InputError, match=message):
        call()
