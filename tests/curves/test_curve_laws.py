"""Laws of frontiers and precision-recall curves, and the corners that they leave free."""

from decimal import Decimal, localcontext

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.integrate import quad

from calipers.curves import (
    custom_divergence,
    divergence_frontier,
    f_divergence,
    find_divergence,
    precision_recall_curve,
)
from calipers.curves.divergences import half_chi2, half_kl
from calipers.curves.frontier import area_under, best_f_beta
from calipers.curves.precision_recall import curve_points, mean_curve
from calipers.errors import InputError
from calipers.estimate import Histograms, LikelihoodRatios

COUNTS = st.integers(2, 12).flatmap(
    lambda cells: st.tuples(
        *(
            st.lists(st.integers(0, 30), min_size=cells, max_size=cells).filter(any)
            for _ in range(2)
        )
    )
)


def histograms(pair, smoothing="none"):
    return Histograms(*pair, smoothing=smoothing)


def test_two_cells_by_hand():
    # P = (1/2, 1/2), Q = (1, 0). At λ = 1/2: α = min(1/4, 1) + min(1/4, 0) = 1/4, β = 1/2;
    # precision never exceeds what Q shares with P's support, recall never P's mass there.
    curve = precision_recall_curve(histograms(([1, 1], [2, 0])))
    slope = np.tan(np.linspace(1e-10, np.pi / 2 - 1e-10, 1001))
    np.testing.assert_allclose(curve.precision, np.minimum(slope / 2, 1), rtol=1e-12)
    assert curve.precision.max() == 1
    assert curve.recall.max() == 0.5
    # FI of the same: ½(p + q) − pq·log(p/q)/(p − q) in the shared cell, ½·p in the other
    shared = 0.75 - 0.5 * np.log(0.5) / (0.5 - 1)
    frontier = divergence_frontier(histograms(([1, 1], [2, 0])))
    assert frontier.integral() == pytest.approx(shared + 0.25)
    assert curve.max_precision == 1
    assert curve.max_recall == curve.total_variation == 0.5


@given(COUNTS)
def test_mauve_is_symmetric_and_within_bounds(pair):
    one = divergence_frontier(histograms(pair))
    two = divergence_frontier(histograms(pair[::-1]))
    assert 0 <= one.area() <= 1
    assert one.area() == pytest.approx(two.area(), abs=1e-9)
    assert 0 <= one.integral() <= 1
    assert one.integral() == pytest.approx(two.integral(), abs=1e-12)


@given(COUNTS, st.sampled_from(["none", "laplace", "krichevsky-trofimov"]))
def test_equal_sets_are_at_the_ends_of_the_ranges(pair, smoothing):
    same = histograms((pair[0], pair[0]), smoothing)
    frontier = divergence_frontier(same)
    assert frontier.area() == pytest.approx(1, abs=1e-12)
    assert frontier.integral() == pytest.approx(0, abs=1e-12)
    curve = precision_recall_curve(same)
    assert curve.f_beta(8) == pytest.approx(1, abs=1e-12)
    assert curve.f_beta(1 / 8) == pytest.approx(1, abs=1e-12)


@given(COUNTS)
def test_swapping_the_sides_swaps_precision_and_recall(pair):
    one, two = (
        precision_recall_curve(histograms(pair)),
        precision_recall_curve(histograms(pair[::-1])),
    )
    np.testing.assert_allclose(one.precision, two.recall[::-1], atol=1e-9)
    assert one.f_beta(8) == pytest.approx(two.f_beta(1 / 8), abs=1e-9)


@given(COUNTS)
def test_order_of_cells_does_not_matter(pair):
    order = np.random.default_rng(0).permutation(len(pair[0]))
    moved = tuple(np.array(side)[order] for side in pair)
    one, two = divergence_frontier(histograms(pair)), divergence_frontier(histograms(moved))
    assert one.area() == pytest.approx(two.area(), abs=1e-9)


@given(COUNTS)
def test_larger_c_lowers_mauve(pair):
    frontier = divergence_frontier(histograms(pair))
    assert frontier.area(1) + 1e-12 >= frontier.area(5) >= frontier.area(20) - 1e-12


@pytest.mark.parametrize("pair", [([5, 1, 4], [2, 6, 2]), ([3, 0, 7], [1, 9, 0])])
def test_frontier_integral_equals_quadrature(pair):
    p, q = histograms(pair).probabilities

    def kl(x, r):
        return np.sum(x[x > 0] * np.log(x[x > 0] / r[x > 0]))

    def cost(weight):
        mixture = weight * p + (1 - weight) * q
        return 2 * (weight * kl(p, mixture) + (1 - weight) * kl(q, mixture))

    expected, _ = quad(cost, 0, 1, epsabs=1e-12)
    assert divergence_frontier(histograms(pair)).integral() == pytest.approx(expected, abs=1e-9)


def test_disjoint_supports():
    apart = histograms(([4, 0], [0, 4]))
    assert divergence_frontier(apart).integral() == pytest.approx(1, abs=1e-12)
    assert precision_recall_curve(apart).f_beta(8) == 0


def test_curves_are_averaged_angle_by_angle():
    one, two = (precision_recall_curve(histograms(p)) for p in (([1, 1], [1, 1]), ([1, 0], [0, 1])))
    mean = mean_curve([one, two])
    np.testing.assert_allclose(mean.precision, one.precision / 2)
    np.testing.assert_allclose(mean.recall, one.recall / 2)
    assert (mean.max_precision, mean.max_recall, mean.total_variation) == (0.5, 0.5, 0.5)


@given(st.lists(COUNTS, min_size=1, max_size=5), st.integers(1, 40))
def test_curves_traced_at_once_are_those_traced_one_by_one(pairs, angles):
    cells = max(len(p) for p, _ in pairs)
    filled = [[side + [0] * (cells - len(side)) for side in pair] for pair in pairs]
    found = [histograms(pair, "laplace") for pair in filled]
    curves = [precision_recall_curve(one, angles=angles) for one in found]
    expected = [np.stack([curve.precision, curve.recall], axis=1) for curve in curves]
    assert np.array_equal(curve_points(found, angles=angles), expected)


def test_smoothing_does_not_reach_the_pr_curve():
    pair = ([9, 0, 1], [0, 9, 1])
    one = precision_recall_curve(histograms(pair))
    two = precision_recall_curve(histograms(pair, "krichevsky-trofimov"))
    np.testing.assert_array_equal(one.precision, two.precision)


@pytest.mark.parametrize(
    ("pair", "words"),
    [
        (([1, -1], [1, 1]), "reference set must not be negative"),
        (([1, 1], [0.5, 1]), "generated set must be whole numbers"),
        (([0, 0], [1, 1]), "reference set .*at least one sample"),
        (([1, 1, 1], [1, 1]), "same cells; found 3 and 2"),
        (([1, np.nan], [1, 1]), "reference set must be finite"),
        (([[1, 1]], [1, 1]), "a list of counts"),
        ((["a"], [1]), "reference set must be numbers"),
        (([[1, 2], [3]], [1, 2]), "reference set cannot be read"),
        ((np.ma.masked_equal([1, 2], 2), [1, 2]), "must have no masked values"),
    ],
)
def test_bad_histograms(pair, words):
    with pytest.raises(InputError, match=words):
        histograms(pair)


def test_bad_options():
    pair = histograms(([1, 2], [2, 1]))
    with pytest.raises(InputError, match=r"smoothing 'laplac'.*'laplace'"):
        pair.smoothed("laplac")
    with pytest.raises(InputError, match=r"c must be above 0 .* 0"):
        divergence_frontier(pair).area(0)
    with pytest.raises(InputError, match=r"beta must be above 0 .* -1"):
        precision_recall_curve(pair).f_beta(-1)


def test_the_frontier_says_which_side_pays():
    # Q lies inside P: it costs little where the mixture is P (weight near 1), P does not
    frontier = divergence_frontier(histograms(([1, 1], [2, 0])))
    assert frontier.weights[0] < 0.001 < 0.999 < frontier.weights[-1]
    assert frontier.generated_cost[-1] == pytest.approx(np.log(2), abs=1e-4)
    assert frontier.generated_cost[0] == pytest.approx(0, abs=1e-4)
    assert frontier.reference_cost[-1] == pytest.approx(0, abs=1e-4)
    assert frontier.reference_cost[0] > 5


def test_smoothing_adds_its_constant_to_every_cell():
    counts = ([3, 1, 0], [0, 4, 4])
    for smoothing, expected in (
        ("none", [0.75, 0.25, 0]),
        ("laplace", [4 / 7, 2 / 7, 1 / 7]),
        ("krichevsky-trofimov", [3.5 / 5.5, 1.5 / 5.5, 0.5 / 5.5]),
    ):
        p, q = histograms(counts, smoothing).probabilities
        np.testing.assert_allclose(p, expected)
        assert q.sum() == pytest.approx(1)


T = np.geomspace(1e-3, 1e3, 61)
APART = Histograms([4, 0], [0, 7])


def test_an_infinite_constant_and_a_beta_of_zero_are_refused():
    frontier = divergence_frontier(Histograms([1, 2], [2, 1]))
    with pytest.raises(InputError, match=r"c must be above 0 .* inf"):
        frontier.area(np.inf)
    for beta in (0, np.inf):
        with pytest.raises(InputError, match=f"beta must be above 0 .* {beta}"):
            frontier.f_beta(beta)


def test_an_extreme_beta_leaves_one_of_the_two():
    precision, recall = np.array([0.2, 0.9]), np.array([0.7, 0.4])
    assert best_f_beta(precision, recall, 1e200) == pytest.approx(0.7)
    assert best_f_beta(precision, recall, 1e-200) == pytest.approx(0.9)


def test_an_f_score_may_be_tiny():
    assert best_f_beta(np.array([0.0, 1e-5]), np.array([0.0, 1e-5]), 1) == pytest.approx(1e-5)


def test_the_area_of_a_curve_that_turns_back_by_hand():
    # In the order of x: (0, 1), (½, 0), (1, ½), so ¼ + ⅛; of y: (½, 0), (1, ½), (0, 1), so ⅜ + ¼
    points = np.array([[0.0, 1.0], [1.0, 0.5], [0.5, 0.0]])
    assert area_under(points) == pytest.approx((0.375 + 0.625) / 2)


def test_the_named_divergences_as_the_literature_writes_them():
    written = {
        "kl": T * np.log(T),
        "reverse_kl": -np.log(T),
        "chi2": (T - 1) ** 2,
        "total_variation": np.abs(T - 1) / 2,
        "interpolated_kl=0.3": T * np.log(T / (0.3 * T + 0.7)),
    }
    for name, expected in written.items():
        np.testing.assert_allclose(find_divergence(name).written()(T), expected, atol=1e-12)


@pytest.mark.parametrize("name", ["kl", "reverse_kl", "interpolated_kl=0.3"])
def test_what_is_made_from_a_divergence_is_written_alike(name):
    f = find_divergence(name)
    plain, turned = f.written(), f.conjugate().written()
    np.testing.assert_allclose(turned(T), T * plain(1 / T), rtol=1e-9, atol=1e-9)
    assert (turned.at_zero, turned.conjugate_at_zero) == (plain.conjugate_at_zero, plain.at_zero)
    mixture = 0.2 * T + 0.8
    mixed = f.interpolated(0.2).written()
    np.testing.assert_allclose(mixed(T), mixture * plain(T / mixture), rtol=1e-9, atol=1e-9)


def test_the_limits_of_written_generators():
    plain = find_divergence("kl").written()
    assert (plain.at_zero, plain.conjugate_at_zero) == (0, np.inf)
    plain = find_divergence("reverse_kl").written()
    assert (plain.at_zero, plain.conjugate_at_zero) == (np.inf, 0)


def test_own_points_write_the_reverse_divergence_as_a_mean_of_logarithms():
    # −log(p / r) over Q is what D_f(P‖R) of the reverse KL is: over the own points, −(r / p)·log
    log_reference, log_generated = np.array([0.4, -0.1, 1.0]), np.array([-0.7, 0.2])
    ratios = LikelihoodRatios(log_reference, log_generated)
    frontier = divergence_frontier(ratios, divergence="reverse_kl", grid=[0.3], points="own_side")
    r = np.exp(log_reference)
    shares = 0.3 + 0.7 / r
    assert frontier.reference_cost[0] == pytest.approx(max(0, np.mean(shares * np.log(shares))))


def test_both_limits_of_an_own_generator_count():
    hinge = custom_divergence(lambda t: np.maximum(t - 1, 0), at_zero=0, conjugate_at_zero=1)
    assert hinge.at_zero == pytest.approx(0.5)
    assert hinge.conjugate_at_zero == pytest.approx(0.5)
    assert f_divergence(APART, hinge) == pytest.approx(1)


def test_an_own_generator_must_be_zero_at_one():
    with pytest.raises(InputError, match=r"t = 1.*f\(1\) = 0.0001"):
        custom_divergence(lambda t: (t - 1) ** 2 + 1e-4, at_zero=1, conjugate_at_zero=np.inf)


@pytest.mark.parametrize("limits", [(-np.inf, 1.0), (1.0, -np.inf)])
def test_an_own_generator_has_no_limit_of_minus_infinity(limits):
    with pytest.raises(InputError, match="must be numbers or ∞; found"):
        custom_divergence(lambda t: (t - 1) ** 2, at_zero=limits[0], conjugate_at_zero=limits[1])


def test_the_worst_place_of_an_own_generator_is_named():
    def f(t):
        notch = 1e-3 * (np.abs(np.log(t / 0.1)) < 0.02) + 0.1 * (np.abs(np.log(t / 20)) < 0.02)
        return np.abs(t - 1) * (1 + notch)

    with pytest.raises(InputError, match=r"convex; at t = (19|20)\.\d+ it lies"):
        custom_divergence(f, at_zero=1, conjugate_at_zero=1)


def test_weights_of_a_frontier_are_put_in_order():
    pair = Histograms([5, 1, 4], [2, 6, 2])
    one, two = (divergence_frontier(pair, grid=grid) for grid in ([0.8, 0.1, 0.4], [0.1, 0.4, 0.8]))
    assert one.weights.tolist() == [0.1, 0.4, 0.8]
    np.testing.assert_array_equal(one.reference_cost, two.reference_cost)
    assert one.area() == two.area()


@pytest.mark.parametrize("t", [0.3, 0.94, 0.951, 0.97, 1.001, 1.03, 1.049, 1.06, 40.0])
def test_halves_have_their_digits_near_one(t):
    with localcontext() as context:
        context.prec = 60
        exact = Decimal(t)
        s = exact - 1
        log = exact.ln()
        kl = exact * log / s**2 - exact / s + exact / 2 - s / 3
        chi2 = -2 * exact**2 * log / s**2 + 3 + 2 / s + 2 * s / 3
    assert half_kl(np.array([t]))[0] == pytest.approx(float(kl), abs=1e-14 * (1 + t))
    assert half_chi2(np.array([t]))[0] == pytest.approx(float(chi2), abs=1e-14 * (1 + t))


def test_a_tiny_weight_keeps_its_digits():
    # Q apart from P: D(Q‖R_λ) = −log(1 − λ)
    for weight in (1e-6, 1e-12):
        frontier = divergence_frontier(APART, grid=[weight])
        assert frontier.generated_cost[0] == pytest.approx(-np.log1p(-weight), rel=1e-9, abs=0)


@pytest.mark.parametrize("name", ["kl", "chi2", "interpolated_kl=0.3", "squared_hellinger"])
@pytest.mark.parametrize("points", ["both_sides", "other_side", "own_side"])
def test_the_integral_of_estimated_ratios_is_that_of_its_frontier(name, points):
    ratios = LikelihoodRatios([1.2, 0.1, 2.0, -0.3], [-1.5, 0.4, -0.8])
    nodes, shares = np.polynomial.legendre.leggauss(60)
    frontier = divergence_frontier(ratios, divergence=name, grid=(nodes + 1) / 2, points=points)
    w = frontier.weights
    costs = w * frontier.reference_cost + (1 - w) * frontier.generated_cost
    assert (costs > 0).all()
    assert frontier.integral() == pytest.approx(shares @ costs, abs=1e-6)


def test_five_is_the_constant_everywhere():
    frontier = divergence_frontier(Histograms([5, 1, 4], [2, 6, 2]))
    assert frontier.area() == frontier.area(5)
    np.testing.assert_array_equal(frontier.points(), frontier.points(5))
    assert frontier.f_beta(2) == frontier.f_beta(2, c=5)


def test_the_total_variation_of_the_curve_by_hand():
    pair = Histograms([9, 1, 0], [1, 2, 7])
    curve = precision_recall_curve(pair)
    assert curve.total_variation == pytest.approx(0.8)  # ½(0.8 + 0.1 + 0.7)
    assert curve.total_variation == pytest.approx(f_divergence(pair, "total_variation"))
    hidden = precision_recall_curve(LikelihoodRatios([0.5], [-0.5], positive=True))
    assert np.isnan([hidden.max_precision, hidden.max_recall]).all()


@pytest.mark.parametrize("weight", [0.1, 0.3, 0.7])
def test_rounding_makes_no_generator_negative(weight):
    t = np.concatenate([np.linspace(1 - 1e-6, 1 + 1e-6, 2001), np.linspace(0.999, 1.001, 2001)])
    assert (find_divergence(f"skew_jensen_shannon={weight}")(t) >= 0).all()


def test_rounding_takes_no_curve_out_of_the_unit_square():
    rng = np.random.default_rng(0)
    for _ in range(40):
        counts = rng.integers(1, 50, (2, 30))
        for pair in (Histograms(*counts), Histograms(counts[0], counts[0])):
            curve = precision_recall_curve(pair)
            assert curve.precision.max() <= 1
            assert curve.recall.max() <= 1
