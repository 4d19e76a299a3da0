"""Frontiers of all divergences, from both kinds of estimate, and what each cell adds."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.integrate import quad

from calipers.catalogue.estimation import SMOOTHING
from calipers.curves import (
    DIVERGENCES,
    contributions,
    custom_divergence,
    divergence_frontier,
    f_divergence,
    find_divergence,
    precision_recall_curve,
)
from calipers.errors import InputError
from calipers.estimate import Histograms, LikelihoodRatios

FINITE = [
    "kl",
    "chi2",
    "jensen_shannon",
    "le_cam",
    "squared_hellinger",
    "total_variation",
    "interpolated_kl=0.3",
    "interpolated_chi2=0.6",
    "skew_jensen_shannon=0.8",
]
every = pytest.mark.parametrize("name", FINITE)
SIDE = st.lists(st.integers(0, 40), min_size=5, max_size=5).filter(any)
LOGS = st.lists(st.floats(-8, 8), min_size=1, max_size=12)


@every
@settings(max_examples=25)
@given(SIDE, SIDE)
def test_properties_six_to_eight(name, p, q):
    f = find_divergence(name)
    one = divergence_frontier(Histograms(p, q), divergence=f)
    two = divergence_frontier(Histograms(q, p), divergence=f)
    assert 0 <= one.area() <= 1
    assert one.area() == pytest.approx(two.area(), abs=1e-9)
    assert one.integral() == pytest.approx(two.integral(), abs=1e-9)
    assert one.midpoint() == pytest.approx(two.midpoint(), abs=1e-12)
    # Property 7(c): 4∫ λ·f*(λ) dλ + ⅔·f(0), with λ·f*(λ) = λ²·f(1/λ)
    most = 4 * quad(lambda w: w * w * f(np.array([1 / w]))[0], 0, 1)[0] + 2 / 3 * f.at_zero
    assert 0 <= one.integral() <= most + 1e-9
    assert 0 <= one.midpoint() <= (f.at_zero + f(np.array([2.0]))[0]) / 2 + 1e-12


@every
def test_disjoint_supports_reach_the_upper_bounds(name):
    f = find_divergence(name)
    frontier = divergence_frontier(Histograms([4, 0], [0, 7]), divergence=f)
    most = 4 * quad(lambda w: w * w * f(np.array([1 / w]))[0], 0, 1)[0] + 2 / 3 * f.at_zero
    assert frontier.integral() == pytest.approx(most, rel=1e-9)
    assert frontier.midpoint() == pytest.approx((f.at_zero + f(np.array([2.0]))[0]) / 2)


@every
def test_equal_sets_and_a_single_cell(name):
    for counts in ([3, 0, 9], [5]):
        frontier = divergence_frontier(Histograms(counts, counts), divergence=name)
        assert frontier.area() == pytest.approx(1, abs=1e-12)
        assert frontier.integral() == pytest.approx(0, abs=1e-15)
        assert frontier.midpoint() == pytest.approx(0, abs=1e-15)


@every
@settings(max_examples=25)
@given(SIDE, SIDE)
def test_each_point_is_the_divergence_from_the_mixture(name, p, q):
    f, pair = find_divergence(name), Histograms(p, q, smoothing="krichevsky-trofimov")
    frontier = divergence_frontier(pair, divergence=f, grid=[0.2, 0.5])
    shares = pair.probabilities
    for index, weight in enumerate((0.2, 0.5)):
        mixture = weight * shares[0] + (1 - weight) * shares[1]
        for side, cost in zip(
            shares, (frontier.reference_cost, frontier.generated_cost), strict=True
        ):
            assert cost[index] == pytest.approx(np.sum(mixture * f(side / mixture)), abs=1e-12)


@every
@settings(max_examples=25)
@given(SIDE, SIDE)
def test_the_integral_equals_quadrature_over_the_frontier(name, p, q):
    pair = Histograms(p, q)
    frontier = divergence_frontier(pair, divergence=name)

    def cost(weight):
        each = divergence_frontier(pair, divergence=name, grid=[weight])
        return 2 * float(weight * each.reference_cost[0] + (1 - weight) * each.generated_cost[0])

    nodes, weights = np.polynomial.legendre.leggauss(40)
    expected = sum(w / 2 * cost((x + 1) / 2) for x, w in zip(nodes, weights, strict=True))
    assert frontier.integral() == pytest.approx(expected, abs=2e-4)


@pytest.mark.parametrize("name", ["kl", "chi2"])
def test_closed_integrals_equal_adaptive_quadrature(name):
    pair = Histograms([5, 1, 4, 0, 900], [2, 6, 0, 3, 1])

    def cost(weight):
        each = divergence_frontier(pair, divergence=name, grid=[weight])
        return 2 * float(weight * each.reference_cost[0] + (1 - weight) * each.generated_cost[0])

    expected, _ = quad(cost, 0, 1, epsabs=1e-13, epsrel=1e-12, limit=400)
    found = divergence_frontier(pair, divergence=name).integral()
    assert found == pytest.approx(expected, abs=1e-9)


def test_midpoints_that_have_names():
    pair = Histograms([5, 1, 4, 0], [2, 6, 2, 3])
    kl, chi2 = (divergence_frontier(pair, divergence=name) for name in ("kl", "chi2"))
    assert kl.midpoint() == pytest.approx(f_divergence(pair, "jensen_shannon"))
    assert chi2.midpoint() == pytest.approx(f_divergence(pair, "le_cam"))
    assert chi2.integral() == pytest.approx(2 * kl.integral())


@every
@settings(max_examples=25)
@given(SIDE, SIDE)
def test_histograms_do_not_care_whose_points_are_averaged(name, p, q):
    pair = Histograms(p, q)
    other, own = (
        divergence_frontier(pair, divergence=name, points=x) for x in ("other_side", "own_side")
    )
    for side in ("reference_cost", "generated_cost"):
        expected = getattr(other, side)
        np.testing.assert_allclose(getattr(own, side), expected, rtol=1e-8, atol=1e-10)
    assert own.integral() == pytest.approx(other.integral(), rel=1e-9, abs=1e-11)
    assert own.midpoint() == pytest.approx(other.midpoint(), abs=1e-12)


@settings(max_examples=25)
@given(LOGS, LOGS)
def test_equation_25_averages_over_the_other_side(reference, generated):
    ratios = LikelihoodRatios(reference, generated)
    frontier = divergence_frontier(ratios, grid=[0.3], points="other_side")
    t = np.exp(generated)
    mixture = 0.3 * t + 0.7
    expected = np.mean(mixture * (t / mixture * np.log(t / mixture) - t / mixture + 1))
    assert frontier.reference_cost[0] == pytest.approx(expected, abs=1e-12 * (1 + t.max()))
    u = np.exp(-np.array(reference))
    mixture = 0.7 * u + 0.3
    expected = np.mean(mixture * (u / mixture * np.log(u / mixture) - u / mixture + 1))
    assert frontier.generated_cost[0] == pytest.approx(expected, abs=1e-12 * (1 + u.max()))


def test_an_average_over_both_sides_by_hand():
    # p/q is 2 at the reference samples 1 and 2, and ½ at the generated one
    ratios = LikelihoodRatios.of([2.0, 2.0], [0.5])
    two, half = 2 * np.log(2) - 1, 0.5 * np.log(0.5) + 0.5  # t log t − t + 1
    assert f_divergence(ratios, "kl") == pytest.approx(two / 3 + half / 1.5)
    # |t − 1| / 2 is ½ and ¼
    assert f_divergence(ratios, "total_variation") == pytest.approx(0.5 / 3 + 0.25 / 1.5)
    assert ratios.shared == pytest.approx(1 - 1 / 3)


def test_sets_that_share_nothing_reach_the_bounds_over_both_sides_alone():
    """No generated sample is likely under P: over the other side half of the range is all."""
    apart = LikelihoodRatios([50.0] * 4, [-50.0] * 3)
    both = divergence_frontier(apart)
    assert both.integral() == pytest.approx(1)
    assert both.midpoint() == pytest.approx(np.log(2))
    paper = divergence_frontier(apart, points="other_side")
    assert paper.integral() == pytest.approx(2 / 3)
    assert paper.midpoint() == pytest.approx(0.5)
    assert both.area() < 0.01 < 0.04 < paper.area()


def test_one_ratio_that_is_far_off_moves_an_average_over_both_sides_within_its_range():
    """A generated sample at which p/q is estimated as e¹²."""
    off = LikelihoodRatios([3.0] * 9, [-3.0] * 8 + [12.0])
    assert divergence_frontier(off, points="other_side").integral() > 1000
    assert 0.5 < divergence_frontier(off).integral() <= 1


@every
@settings(max_examples=25)
@given(LOGS, LOGS)
def test_over_both_sides_no_summary_leaves_its_range(name, reference, generated):
    f = find_divergence(name)
    frontier = divergence_frontier(LikelihoodRatios(reference, generated), divergence=f)
    assert (frontier.reference_cost >= 0).all()
    assert (frontier.generated_cost >= 0).all()
    most = 4 * quad(lambda w: w * w * f(np.array([1 / w]))[0], 0, 1)[0] + 2 / 3 * f.at_zero
    assert 0 <= frontier.integral() <= most + 1e-9
    assert 0 <= frontier.midpoint() <= (f.at_zero + f(np.array([2.0]))[0]) / 2 + 1e-9
    swapped = LikelihoodRatios(-np.array(generated), -np.array(reference))
    turned = divergence_frontier(swapped, divergence=f)
    assert turned.integral() == pytest.approx(frontier.integral(), abs=1e-9)
    assert turned.area() == pytest.approx(frontier.area(), abs=1e-9)


@every
@settings(max_examples=25)
@given(SIDE, SIDE)
def test_over_true_ratios_both_sides_are_the_divergence(name, p, q):
    """Cells as weighted samples, whose ratios are known."""
    pair = Histograms(p, q)
    known = divergence_frontier(pair.ratios, divergence=name)
    exact = divergence_frontier(pair, divergence=name)
    for side in ("reference_cost", "generated_cost"):
        np.testing.assert_allclose(
            getattr(known, side), getattr(exact, side), rtol=1e-8, atol=1e-10
        )
    assert known.integral() == pytest.approx(exact.integral(), rel=1e-9, abs=1e-11)
    assert f_divergence(pair.ratios, name) == pytest.approx(f_divergence(pair, name), abs=1e-9)


@settings(max_examples=25)
@given(SIDE, SIDE)
def test_over_true_ratios_both_sides_are_the_precision_recall_curve(p, q):
    pair = Histograms(p, q)
    known, exact = precision_recall_curve(pair.ratios), precision_recall_curve(pair)
    np.testing.assert_allclose(known.precision, exact.precision, atol=1e-9)
    np.testing.assert_allclose(known.recall, exact.recall, atol=1e-9)
    assert known.total_variation == pytest.approx(exact.total_variation, abs=1e-9)


@settings(max_examples=25)
@given(LOGS, LOGS)
def test_section_7_3_3_averages_logarithms_over_the_own_side(reference, generated):
    ratios = LikelihoodRatios(reference, generated)
    frontier = divergence_frontier(ratios, grid=[0.3], points="own_side")
    # log p(x)/(0.3·p(x) + 0.7·q(x)) at the reference, log q(x')/(0.3·p + 0.7·q) at the generated
    r, s = np.exp(reference), np.exp(generated)
    assert frontier.reference_cost[0] == pytest.approx(
        max(0, -np.mean(np.log(0.3 + 0.7 / r))), abs=1e-9
    )
    assert frontier.generated_cost[0] == pytest.approx(
        max(0, -np.mean(np.log(0.3 * s + 0.7))), abs=1e-9
    )


@every
@settings(max_examples=25)
@given(LOGS, LOGS)
def test_every_frontier_falls_from_end_to_end(name, reference, generated):
    frontier = divergence_frontier(LikelihoodRatios(reference, generated), divergence=name)
    size = 1 + np.exp(8)
    assert (np.diff(frontier.reference_cost) <= 1e-12 * size).all()
    assert (np.diff(frontier.generated_cost) >= -1e-12 * size).all()


def test_ratios_of_cells_and_cells_give_the_same():
    pair = Histograms([3, 1, 0, 4], [0, 2, 2, 4])
    # The same as plain samples: each cell's ratio as often as it has samples
    with np.errstate(divide="ignore"):
        logs = np.log(pair.reference / 8) - np.log(pair.generated / 8)
    ratios = LikelihoodRatios(np.repeat(logs, pair.reference), np.repeat(logs, pair.generated))
    for name in ("kl", "chi2", "squared_hellinger"):
        one, two = (divergence_frontier(x, divergence=name) for x in (pair, ratios))
        assert one.area() == pytest.approx(two.area(), abs=1e-12)
        assert one.integral() == pytest.approx(two.integral(), abs=1e-12)
    one, two = precision_recall_curve(pair), precision_recall_curve(ratios)
    np.testing.assert_allclose(one.precision, two.precision, atol=1e-12)
    np.testing.assert_allclose(one.recall, two.recall, atol=1e-12)
    assert (one.max_precision, one.max_recall) == (0.75, 0.625)
    assert (two.max_precision, two.max_recall) == (0.75, 0.625)


def test_a_frontier_that_is_infinite_is_refused_by_name():
    with pytest.raises(InputError, match=r"reverse_kl .*25.00% of the generated"):
        divergence_frontier(Histograms([4, 0], [3, 1]), divergence="reverse_kl")
    with pytest.raises(InputError, match=r"reverse_kl .*50.00% of the reference"):
        divergence_frontier(Histograms([2, 2], [4, 0]), divergence="reverse_kl")
    smoothed = Histograms([4, 0], [3, 1], smoothing="laplace")
    assert np.isfinite(divergence_frontier(smoothed, divergence="reverse_kl").area())


def test_f_scores_of_the_frontier():
    frontier = divergence_frontier(Histograms([5, 1, 4], [2, 6, 2]))
    x, y = np.exp(-2 * frontier.generated_cost), np.exp(-2 * frontier.reference_cost)
    for beta in (8, 1 / 8):
        expected = np.max((1 + beta**2) * x * y / (beta**2 * x + y))
        assert frontier.f_beta(beta, c=2) == pytest.approx(expected)
    equal = divergence_frontier(Histograms([1, 1], [2, 2]))
    assert equal.f_beta(8) == equal.f_beta(1 / 8) == 1


def test_own_generators_have_frontiers():
    own = custom_divergence(lambda t: t * np.log(t), at_zero=0, conjugate_at_zero=np.inf)
    pair = Histograms([5, 1, 4, 0], [2, 6, 2, 3])
    one, two = divergence_frontier(pair), divergence_frontier(pair, divergence=own)
    assert one.area() == pytest.approx(two.area(), abs=1e-9)
    assert one.integral() == pytest.approx(two.integral(), abs=1e-9)


def test_extreme_ratios_stay_finite():
    ratios = LikelihoodRatios([-900.0, 2000.0, np.inf], [900.0, -2000.0, -np.inf])
    for name in FINITE:
        frontier = divergence_frontier(ratios, divergence=name)
        assert 0 <= frontier.area() <= 1
        assert not np.isnan(frontier.integral())
    curve = precision_recall_curve(ratios)
    assert np.isfinite(curve.precision).all()
    assert curve.max_precision == pytest.approx(2 / 3)


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"grid": 0}, "grid .*at least 1"),
        ({"grid": 2.5}, "grid must be a whole number"),
        ({"grid": []}, "grid must hold mixture weights"),
        ({"grid": ["a"]}, "grid must hold mixture weights"),
        ({"grid": [0.1, 1.0]}, "between 0 and 1.* 1"),
        ({"points": "both"}, "unknown value for points 'both'"),
        ({"divergence": "kll"}, "did you mean 'kl'"),
    ],
)
def test_bad_frontier_options(options, words):
    with pytest.raises(InputError, match=words):
        divergence_frontier(Histograms([1, 2], [2, 1]), **options)


def test_weights_near_the_ends_of_the_grid():
    frontier = divergence_frontier(Histograms([1, 2], [2, 1]), grid=[1e-17, 0.5])
    assert frontier.generated_cost[0] == pytest.approx(0, abs=1e-15)


@pytest.mark.parametrize("given", [5, np.int64(5), np.float32(5)])
def test_numbers_of_any_kind(given):
    pair = Histograms([1, 2], [2, 1])
    assert divergence_frontier(pair).area(given) == divergence_frontier(pair).area(5.0)
    curve = precision_recall_curve(pair)
    assert curve.f_beta(given) == curve.f_beta(5.0)


@pytest.mark.parametrize("given", [None, "5", -1, np.inf, 10**400])
def test_what_is_no_scaling_constant(given):
    with pytest.raises(InputError, match="c must be above 0 and finite; found"):
        divergence_frontier(Histograms([1, 2], [2, 1])).area(given)
    with pytest.raises(InputError, match="beta must be above 0"):
        precision_recall_curve(Histograms([1, 2], [2, 1])).f_beta(given)


def test_disjoint_supports_have_no_precision():
    pair = Histograms([0] * 6 + [7, 1, 1, 7, 7, 8], [6, 6, 2, 4, 2, 6] + [0] * 6)
    curve = precision_recall_curve(pair)
    assert curve.max_precision == curve.max_recall == 0


WEIGHTED = ("interpolated_kl=0.3", "interpolated_chi2=0.6", "skew_jensen_shannon=0.8")
NAMES = (*DIVERGENCES, *WEIGHTED)
FINITE_COSTS = tuple(name for name in NAMES if name != "reverse_kl")
COUNTS = st.lists(st.integers(0, 30), min_size=6, max_size=6).filter(any)
smoothed = pytest.mark.parametrize("smoothing", SMOOTHING.words)


def test_worked_by_hand():
    # f̃(t) = (t + 1)/2 − t·log t/(t − 1) for KL; f̃(0) = ½, and t·f̃(1/t) → ½ for p alone
    found = contributions(Histograms([4, 4, 2, 0], [4, 2, 0, 4]))
    two = 0.2 * (1.5 - 2 * np.log(2))  # p = 0.4, q = 0.2
    assert found == pytest.approx([0.0, two, 0.1, 0.2], abs=1e-14)


def test_disjoint_sets_split_the_largest_value_by_their_mass():
    assert contributions(Histograms([1, 3, 0], [0, 0, 5])).tolist() == pytest.approx(
        [0.125, 0.375, 0.5]
    )


@smoothed
@pytest.mark.parametrize("name", FINITE_COSTS)
@settings(max_examples=8)
@given(p=COUNTS, q=COUNTS)
def test_they_add_up_to_the_frontier_integral(name, smoothing, p, q):
    histograms = Histograms(p, q, smoothing=smoothing)
    found = contributions(histograms, name)
    whole = divergence_frontier(histograms, divergence=name).integral()
    assert found.dtype == np.float64
    assert found.shape == (6,)
    assert (found >= 0).all()
    assert found.sum() == pytest.approx(whole, rel=1e-12, abs=1e-13)


@pytest.mark.parametrize("smoothing", [each for each in SMOOTHING.words if each != "none"])
def test_a_divergence_with_infinite_ends_needs_smoothing_alone(smoothing):
    histograms = Histograms([9, 0, 3], [1, 5, 0], smoothing=smoothing)
    whole = divergence_frontier(histograms, divergence="reverse_kl").integral()
    assert contributions(histograms, "reverse_kl").sum() == pytest.approx(whole, rel=1e-12)


@pytest.mark.parametrize("name", FINITE_COSTS)
@settings(max_examples=10)
@given(p=COUNTS, q=COUNTS)
def test_swapping_the_sets_changes_nothing(name, p, q):
    one, two = contributions(Histograms(p, q), name), contributions(Histograms(q, p), name)
    assert one == pytest.approx(two, abs=1e-15)


@smoothed
@pytest.mark.parametrize("name", FINITE_COSTS)
def test_cells_of_equal_share_add_nothing(name, smoothing):
    histograms = Histograms([3, 0, 7, 1], [3, 0, 7, 1], smoothing=smoothing)
    assert contributions(histograms, name) == pytest.approx(np.zeros(4), abs=1e-15)


@given(COUNTS, COUNTS, st.permutations(range(6)))
def test_they_follow_the_order_of_the_cells(p, q, order):
    plain = contributions(Histograms(p, q))
    turned = contributions(Histograms(np.array(p)[order], np.array(q)[order]))
    assert turned == pytest.approx(plain[order], abs=1e-15)


def test_a_divergence_of_ones_own():
    own = custom_divergence(
        lambda t: (t - 1) ** 2 / (t + 1), at_zero=1.0, conjugate_at_zero=1.0, name="triangle"
    )
    histograms = Histograms([5, 0, 2], [1, 4, 2])
    whole = divergence_frontier(histograms, divergence=own).integral()
    assert contributions(histograms, own).sum() == pytest.approx(whole, rel=1e-12)


def test_refusals_say_why():
    with pytest.raises(InputError, match=r"divergence 'kll'.*'kl'"):
        contributions(Histograms([1], [1]), "kll")
    with pytest.raises(InputError, match=r"reverse_kl .*50.00% of the generated"):
        contributions(Histograms([1, 0], [1, 1]), "reverse_kl")
    with pytest.raises(InputError, match=r"Histograms.*LikelihoodRatios"):
        contributions(LikelihoodRatios([0.0], [0.0]))
