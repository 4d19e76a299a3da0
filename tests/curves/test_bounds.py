import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from calipers.curves.bounds import (
    FRONTIER_INTEGRAL,
    bounded_divergence,
    oracle_bound,
    oracle_rate,
    statistical_bound,
    statistical_rate,
)
from calipers.curves.frontier import f_divergence
from calipers.errors import InputError
from calipers.estimate import Histograms, LikelihoodRatios

COVERED = (
    "frontier_integral",
    "jensen_shannon",
    "le_cam",
    "interpolated_kl=0.3",
    "interpolated_chi2=0.3",
    "skew_jensen_shannon=0.3",
)
HALF = [0.5, 0.5]


def exact(p, q, divergence):
    """D_f(P‖Q) of two known distributions, through their ratios."""
    with np.errstate(divide="ignore"):
        logs = np.log(p) - np.log(q)
    pair = LikelihoodRatios(logs[p > 0], logs[q > 0], p[p > 0], q[q > 0])
    return f_divergence(pair, divergence)


def mean_error(p, q, divergence, *, n, m, smoothing="none", trials=200):
    rng, divergence = np.random.default_rng(0), bounded_divergence(divergence)
    true = exact(p, q, divergence)
    pairs = zip(rng.multinomial(n, p, trials), rng.multinomial(m, q, trials), strict=True)
    found = [f_divergence(Histograms(*pair, smoothing=smoothing), divergence) for pair in pairs]
    return np.mean(np.abs(np.array(found) - true))


def test_equation_11_by_hand():
    # Frontier integral: C1 = 4, C0 = C2 = 1/2. n = 100, k = 25: √(k/n) + k/n = 1/2 + 1/4
    bound = statistical_bound("frontier_integral", n=100, k=25)
    assert bound.reference == pytest.approx((4 * math.log(100) + 0.5) * 0.75)
    assert bound.value == float(bound) == pytest.approx(2 * bound.reference)
    assert bound.most == 1
    assert not bound.informative


def test_equation_16_by_hand():
    # b = 1/2, n = 100, k = 25: (√2500 + 24) / 112.5, log(200 + 25)
    bound = statistical_bound("jensen_shannon", n=100, k=25, smoothing="krichevsky-trofimov")
    rest = max(math.log(2) / 2, 0.25)
    assert bound.generated == pytest.approx((0.5 * math.log(225) + rest) * 74 / 112.5)
    assert bound == statistical_bound("jensen_shannon", n=100, k=25, smoothing=0.5)


def test_equation_10_by_hand():
    # P = (1/2, 1/2), n = 4: α = 2·√(1/8), β = 2·(1/2)⁴·(1/2)·max(1, log 2) = 1/16
    bound = oracle_bound("le_cam", HALF, [1.0, 0.0], n=4)
    alpha = 2 * math.sqrt(1 / 8)
    assert bound.reference == pytest.approx((2 * math.log(4) + 0.5) * alpha + 2.5 / 16)
    # Q = (1, 0): α = √(1/4), and nothing can be missed
    assert bound.generated == pytest.approx((2 * math.log(4) + 0.5) * 0.5)
    rate = oracle_rate(HALF, [1.0, 0.0], n=4)
    assert rate == pytest.approx((alpha + 0.5) * math.log(4) + 1 / 16)


def test_equation_15_by_hand():
    # b = 1, n = 4, k = 2: n/(n + kb) = 2/3, bk/(n + bk) = 1/3, Σ|P − 1/2| = 0 and 1
    bound = oracle_bound("le_cam", HALF, [1.0, 0.0], n=4, smoothing="laplace")
    steep = 2 * math.log(6) + 0.5
    assert bound.reference == pytest.approx(steep * 2 / 3 * 2 * math.sqrt(1 / 8))
    assert bound.generated == pytest.approx(steep * (2 / 3 * 0.5 + 1 / 3))


def test_each_side_has_its_own_constants_and_size():
    bound = statistical_bound("interpolated_kl=0.5", n=100, k=25, m=400)
    # C1 = 1, C0* = log 2 − 1/2 < C2 = 1/2; C1* = 1/2, C0 = 1/2 > C2* = 1/8
    assert bound.reference == pytest.approx((math.log(100) + 0.5) * 0.75)
    assert bound.generated == pytest.approx((0.5 * math.log(400) + 0.5) * (0.25 + 0.0625))


def test_a_large_pseudo_count_keeps_the_logarithm_at_least_1():
    bound = statistical_bound("le_cam", n=3, k=1, smoothing=10.0)
    assert bound.reference == pytest.approx((2 * 1 + 0.5) * math.sqrt(3) / 13)


def test_rate_of_equation_12_by_hand():
    assert statistical_rate(n=100, k=25) == pytest.approx(0.75 * math.log(100))


def test_more_samples_halve_the_slope():
    few, many = (statistical_rate(n=n, k=10) / math.log(n) for n in (10**8, 10**10))
    assert math.log(few / many) / math.log(100) == pytest.approx(0.5, abs=1e-3)


@pytest.mark.parametrize("divergence", COVERED)
@pytest.mark.parametrize("smoothing", ["none", "krichevsky-trofimov", "laplace"])
def test_the_error_lies_below_both_bounds(divergence, smoothing):
    rng = np.random.default_rng(1)
    p, q = rng.dirichlet(np.full(40, 0.3)), 1 / np.arange(1, 41)
    q /= q.sum()
    sizes = {"n": 60, "m": 150}
    error = mean_error(p, q, divergence, **sizes, smoothing=smoothing)
    assert 0.001 < error < oracle_bound(divergence, p, q, **sizes, smoothing=smoothing).value
    assert error < statistical_bound(divergence, k=40, **sizes, smoothing=smoothing).value


def test_smoothing_lowers_the_bound_where_most_cells_are_rare():
    plain, smoothed = (
        statistical_bound("frontier_integral", n=1000, k=10_000, smoothing=smoothing).value
        for smoothing in ("none", "krichevsky-trofimov")
    )
    assert smoothed < plain / 3


@given(st.integers(3, 10**9), st.integers(1, 10**6), st.sampled_from(COVERED))
def test_the_oracle_knows_no_less_where_cells_are_equal_and_seen(n, k, divergence):
    cells = min(k, 200)
    n = max(n, 100 * cells)
    p = np.full(cells, 1 / cells)
    free, oracle = (
        statistical_bound(divergence, n=n, k=cells),
        oracle_bound(divergence, p, p, n=n),
    )
    assert oracle.value <= free.value * (1 + 1e-12)


@given(st.lists(st.floats(0.01, 1), min_size=2, max_size=30), st.integers(3, 10**6))
def test_rates_fall_with_n_for_every_distribution(weights, n):
    p = np.array(weights) / sum(weights)
    assert oracle_rate(p, p, n=100 * n) < oracle_rate(p, p, n=n) * 1.2
    assert oracle_rate(p, p[::-1], n=n) == pytest.approx(oracle_rate(p, p, n=n))


def test_the_oracle_can_exceed_the_free_bound_where_most_cells_are_rare():
    p = np.full(10_000, 1e-4)
    free = statistical_bound("interpolated_kl=0.0001", n=10_000, k=10_000)
    assert oracle_bound("interpolated_kl=0.0001", p, p, n=10_000).reference > free.reference


def test_huge_sizes_do_not_overflow():
    assert 0 < statistical_bound("le_cam", n=10**30, k=10**20, smoothing=0.5).value < 1


def test_the_frontier_integral_as_a_divergence_is_that_of_the_frontier():
    from calipers.curves.frontier import divergence_frontier

    pair = Histograms([5, 3, 0, 2], [1, 0, 4, 5])
    direct = f_divergence(pair, bounded_divergence("frontier_integral"))
    assert direct == pytest.approx(divergence_frontier(pair).integral(), abs=1e-12)
    assert FRONTIER_INTEGRAL(np.array([0.0]))[0] == 0.5


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"n": 2}, "n must be a whole number of at least 3; found 2"),
        ({"m": 0}, "m must be a whole number of at least 3; found 0"),
        ({"k": 0}, "k must be a whole number of at least 1; found 0"),
        ({"k": 2.5}, "k must be a whole number of at least 1; found 2.5"),
        ({"smoothing": "good-turing"}, "adds one constant to every count.*found 'good-turing'"),
        ({"smoothing": "laplac"}, "unknown smoothing 'laplac'; did you mean 'laplace'"),
        ({"smoothing": -1.0}, "a pseudo-count must be a number of at least 0; found -1"),
        ({"smoothing": float("nan")}, "a pseudo-count must be"),
        ({"smoothing": None}, "a pseudo-count must be a number of at least 0; found None"),
        ({"smoothing": True}, "a pseudo-count must be"),
    ],
)
def test_bad_settings_are_named(options, message):
    with pytest.raises(InputError, match=message):
        statistical_bound("le_cam", **({"n": 10, "k": 5} | options))


@pytest.mark.parametrize(
    ("reference", "generated", "message"),
    [
        ([0.5, 0.4], HALF, "reference must sum to 1; found 0.9"),
        (HALF, [1.5, -0.5], "generated must hold probabilities.*cell 2 has -0.5"),
        (HALF, [float("nan"), 1], "generated must hold probabilities.*cell 1 has nan"),
        ([[0.5, 0.5]], HALF, "reference must be a list.*shape"),
        ([], HALF, "reference must be a list"),
        ("ab", HALF, "reference must be a list of probabilities"),
        (HALF, [1.0], "over the same cells; found 2 and 1"),
    ],
)
def test_bad_distributions_are_named(reference, generated, message):
    with pytest.raises(InputError, match=message):
        oracle_bound("le_cam", reference, generated, n=10)
    with pytest.raises(InputError, match=message):
        oracle_rate(reference, generated, n=10)
