"""Corners of the curves and generators that their laws leave free."""

from decimal import Decimal, localcontext

import numpy as np
import pytest

from calipers.curves import (
    custom_divergence,
    divergence_frontier,
    f_divergence,
    find_divergence,
    precision_recall_curve,
)
from calipers.curves.divergences import half_chi2, half_kl
from calipers.curves.frontier import area_under, best_f_beta
from calipers.errors import InputError
from calipers.estimate import Histograms, LikelihoodRatios

T = np.geomspace(1e-3, 1e3, 61)
APART = Histograms([4, 0], [0, 7])


def test_an_infinite_constant_and_a_beta_of_zero_are_refused():
    frontier = divergence_frontier(Histograms([1, 2], [2, 1]))
    with pytest.raises(InputError, match="c must be above 0 and finite; found inf"):
        frontier.area(np.inf)
    for beta in (0, np.inf):
        with pytest.raises(InputError, match=f"beta must be above 0 and finite; found {beta}"):
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
    frontier = divergence_frontier(ratios, divergence="reverse_kl", grid=[0.3], points="own")
    r = np.exp(log_reference)
    shares = 0.3 + 0.7 / r
    assert frontier.reference_cost[0] == pytest.approx(max(0, np.mean(shares * np.log(shares))))


def test_both_limits_of_an_own_generator_count():
    hinge = custom_divergence(lambda t: np.maximum(t - 1, 0), at_zero=0, conjugate_at_zero=1)
    assert hinge.at_zero == pytest.approx(0.5)
    assert hinge.conjugate_at_zero == pytest.approx(0.5)
    assert f_divergence(APART, hinge) == pytest.approx(1)


def test_an_own_generator_must_be_zero_at_one():
    with pytest.raises(InputError, match=r"must be 0 at t = 1; found f\(1\) = 0.0001"):
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
@pytest.mark.parametrize("points", ["other", "own"])
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
