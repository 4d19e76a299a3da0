"""Error bounds: their constants, terms, rates and corners."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from calipers.curves import DIVERGENCES, Divergence, custom_divergence
from calipers.curves.bounds import (
    FRONTIER_INTEGRAL,
    REFUSED,
    TABLE,
    ErrorBound,
    bounded_divergence,
    expected_missing_mass,
    missing_information,
    missing_mass,
    oracle_bound,
    oracle_rate,
    quantisation_bound,
    recommended_cells,
    smoothing_bias,
    smoothness_constants,
    spread,
    statistical_bound,
    statistical_rate,
    total_bound,
)
from calipers.curves.divergences import KL, LE_CAM, interpolated_kl
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
        ({"n": 2}, "n .*at least 3.* 2"),
        ({"m": 0}, "m .*at least 3.* 0"),
        ({"k": 0}, "k .*at least 1.* 0"),
        ({"k": 2.5}, "k .*at least 1.* 2.5"),
        ({"smoothing": "good-turing"}, "adds one constant.* 'good-turing'"),
        ({"smoothing": "laplac"}, "smoothing 'laplac'.*'laplace'"),
        ({"smoothing": -1.0}, "a pseudo-count .*number of at least 0.* -1"),
        ({"smoothing": float("nan")}, "a pseudo-count must be"),
        ({"smoothing": None}, "a pseudo-count .*number of at least 0.* None"),
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
        (HALF, [1.5, -0.5], "generated .*probabilities.*cell 2 has -0.5"),
        (HALF, [float("nan"), 1], "generated .*probabilities.*cell 1 has nan"),
        ([[0.5, 0.5]], HALF, "reference must be a list.*shape"),
        ([], HALF, "reference must be a list"),
        ("ab", HALF, "reference .*list of probabilities"),
        (HALF, [1.0], "over the same cells; found 2 and 1"),
    ],
)
def test_bad_distributions_are_named(reference, generated, message):
    with pytest.raises(InputError, match=message):
        oracle_bound("le_cam", reference, generated, n=10)
    with pytest.raises(InputError, match=message):
        oracle_rate(reference, generated, n=10)


MIXTURES = (0.1, 0.3, 0.5, 0.9)
WEIGHTED = ("interpolated_kl", "interpolated_chi2", "skew_jensen_shannon")
COVERED_WEIGHTS = [
    "frontier_integral",
    "jensen_shannon",
    "le_cam",
    *(f"{kind}={weight}" for kind in WEIGHTED for weight in MIXTURES),
]


def sides(name):
    """f with C0, C1, C2 and the limit f*(0), then f* with its own."""
    f, c = bounded_divergence(name), smoothness_constants(name)
    return (
        (f, c.at_zero, c.slope, c.curvature, c.conjugate_at_zero),
        (f.conjugate(), c.conjugate_at_zero, c.conjugate_slope, c.conjugate_curvature, c.at_zero),
    )


def first(f, t):
    """f'(t), by central differences at two relative steps, extrapolated."""

    def rough(h):
        return (f(t * (1 + h)) - f(t * (1 - h))) / (2 * h * t)

    return (4 * rough(5e-4) - rough(1e-3)) / 3


def second(f, t):
    def rough(h):
        return (f(t * (1 + h)) - 2 * f(t) + f(t * (1 - h))) / (h * t) ** 2

    return (4 * rough(1e-3) - rough(2e-3)) / 3


@pytest.mark.parametrize("name", COVERED_WEIGHTS)
def test_limits_are_those_of_the_generator(name):
    for f, at_zero, *_ in sides(name):
        assert f.at_zero == pytest.approx(at_zero, rel=1e-12)
        assert f(np.array([1e-12]))[0] == pytest.approx(at_zero, rel=1e-6, abs=1e-9)


@pytest.mark.parametrize("name", COVERED_WEIGHTS)
def test_slopes_stay_below_their_constant(name):
    t = np.geomspace(1e-8, 1 - 1e-6, 2000)
    for f, _, slope, *_ in sides(name):
        assert np.all(np.abs(first(f, t)) <= slope * np.maximum(1, -np.log(t)) * (1 + 1e-4))


@pytest.mark.parametrize("name", COVERED_WEIGHTS)
def test_curvatures_reach_their_constant_and_do_not_pass_it(name):
    t = np.geomspace(1e-4, 1e4, 4001)
    for f, _, _, curvature, _ in sides(name):
        found = np.max(t * second(f, t) / 2)
        assert found == pytest.approx(curvature, rel=2e-3)


@pytest.mark.parametrize("name", COVERED_WEIGHTS)
def test_an_error_of_a_probability_costs_no_more_than_the_constants_say(name):
    # Lemma 20, on which both theorems rest, for ψ(p, q) = q·f(p/q)
    grid = np.concatenate([[0], np.geomspace(1e-8, 1, 40)])
    p, less, q = (axis.ravel() for axis in np.meshgrid(grid, grid, grid))
    p, less, q = (axis[p > less] for axis in (p, less, q))
    for f, _, slope, curvature, beyond in sides(name):

        def cost(mass, f=f, beyond=beyond):
            ratio = np.divide(mass, q, out=np.ones_like(mass), where=q > 0)
            return np.where(q > 0, q * f(ratio), beyond * mass)

        most = slope * np.maximum(1, -np.log(p)) + max(beyond, curvature)
        assert np.all(np.abs(cost(p) - cost(less)) <= most * (p - less) * (1 + 1e-9))


def test_the_slope_of_the_frontier_integral_could_be_1():
    f = bounded_divergence("frontier_integral")
    t = np.geomspace(1e-8, 1 - 1e-6, 2000)
    assert np.max(np.abs(first(f, t)) / np.maximum(1, -np.log(t))) < 1


def test_interpolated_chi2_at_one_half_is_le_cam():
    assert smoothness_constants("interpolated_chi2=0.5") == smoothness_constants("le_cam")


def test_a_divergence_may_be_given_itself():
    found = smoothness_constants(interpolated_kl(0.25))
    assert found == smoothness_constants("interpolated_kl=0.25")
    assert found.most == pytest.approx(0.75 + np.log(4) - 0.75)


@pytest.mark.parametrize(
    ("name", "reason"),
    [
        ("kl", "reference has mass and the generated set none"),
        ("reverse_kl", "generated set has mass and the reference none"),
        ("chi2", "reference has mass and the generated set none"),
        ("squared_hellinger", "steeper than any multiple of log 1/t"),
        ("total_variation", "corner at 1"),
    ],
)
def test_divergences_without_a_bound_are_refused_with_the_reason(name, reason):
    for divergence in (name, DIVERGENCES[name]):
        with pytest.raises(InputError, match=f"not cover {name}: .*{reason}"):
            smoothness_constants(divergence)


def test_every_divergence_is_either_covered_or_refused():
    assert {*TABLE, *REFUSED} == {"frontier_integral", *DIVERGENCES, *WEIGHTED}


@pytest.mark.parametrize(
    ("divergence", "message"),
    [
        ("frontier_integrl", "divergence 'frontier_integrl'.*'frontier_int"),
        ("frontier_integral=0.3", "'frontier_integral' takes no weight"),
        ("interpolated_kl", "takes a weight in \\(0, 1\\)"),
        ("interpolated_kl=1", "between 0 and 1"),
        (KL.interpolated(0.3), "constants of a divergence.* 'kl|0.3'"),
        (Divergence("le_cam", KL.generator, 1.0, np.inf), "constants.*found 'le_cam'"),
    ],
)
def test_others_are_refused(divergence, message):
    with pytest.raises(InputError, match=message):
        smoothness_constants(divergence)


def test_a_persons_own_function_is_refused():
    own = custom_divergence(lambda t: (t - 1) ** 2 / (t + 3), at_zero=1 / 3, conjugate_at_zero=1)
    with pytest.raises(InputError, match=r"divergence.*'custom'"):
        smoothness_constants(own)


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
        (lambda: quantisation_bound("le_cam", k=1), "k .*at least 2"),
        (lambda: recommended_cells(0), "n .*at least 1.* 0"),
        (lambda: recommended_cells(5, 1.5), "m must be a whole number"),
        (lambda: expected_missing_mass([0.2], n=3), "distribution .*1.* 0.2"),
        (lambda: expected_missing_mass([1.0], n=0), "n .*at least 1"),
        (lambda: total_bound("kl", n=10, k=4), "do not cover kl"),
    ],
)
def test_bad_input_is_named(call, message):
    with pytest.raises(InputError, match=message):
        call()


def test_the_curvature_of_the_conjugate_rules_where_it_is_larger():
    # λ = 0.05: C1* = 0.95² / 0.05, C0 = 0.95 < C2* = 0.95 / 0.4
    bound = statistical_bound("interpolated_kl=0.05", n=100, k=25)
    assert bound.generated == pytest.approx((18.05 * math.log(100) + 2.375) * 0.75)
    # C1 = 1, C0* = log 20 − 0.95 > C2 = 1/2
    assert bound.reference == pytest.approx((math.log(100) + math.log(20) - 0.95) * 0.75)


@pytest.mark.parametrize(
    ("parts", "informative"),
    [((0.3, 0.3, 0.3), True), ((0.5, 0.5, 0.0), False), ((0.5, 0.4, 0.3), False)],
)
def test_a_bound_says_something_only_below_the_largest_value(parts, informative):
    assert ErrorBound(*parts, most=1.0).informative is informative


def test_a_pseudo_count_of_zero_is_none_and_an_infinite_one_is_refused():
    zero = statistical_bound("le_cam", n=50, k=4, smoothing=0)
    assert zero == statistical_bound("le_cam", n=50, k=4, smoothing="none")
    with pytest.raises(InputError, match=r"pseudo-count .*at least 0; .*inf"):
        statistical_bound("le_cam", n=50, k=4, smoothing=math.inf)


def test_a_probability_above_one_by_rounding_is_one():
    assert expected_missing_mass([1 + 1e-10], n=3) == 0
    assert np.isfinite(oracle_bound("le_cam", [1 + 1e-10, 0.0], [0.5, 0.5], n=5).value)


@pytest.mark.parametrize("last", [0.501, 0.499])
def test_probabilities_must_sum_to_one_closely(last):
    with pytest.raises(InputError, match="distribution must sum to 1; found"):
        expected_missing_mass([0.5, last], n=3)


def test_a_generator_under_another_ones_name_is_refused_even_if_it_is_close():
    near = Divergence("le_cam", lambda t: 1.02 * LE_CAM.generator(t), 0.51, 0.51)
    with pytest.raises(InputError, match="constants of a divergence"):
        smoothness_constants(near)
    same = Divergence("le_cam", lambda t: LE_CAM.generator(t) * 1.0, 0.5, 0.5)
    assert smoothness_constants(same) == smoothness_constants("le_cam")


def test_missing_mass_is_a_share_of_the_own_side():
    found = missing_mass(Histograms([3, 1, 0, 1], [0, 7, 1, 2]))
    assert (found.reference, found.generated) == (0.4, 0.1)
