import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.integrate import quad

from calipers.curves import divergence_frontier, precision_recall_curve
from calipers.curves.precision_recall import mean_curve
from calipers.errors import InputError
from calipers.estimate import Histograms

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
        (([0, 0], [1, 1]), "reference set must hold at least one sample"),
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
    with pytest.raises(InputError, match="unknown smoothing 'laplac'; did you mean 'laplace'"):
        pair.smoothed("laplac")
    with pytest.raises(InputError, match="c must be above 0 and finite; found 0"):
        divergence_frontier(pair).area(0)
    with pytest.raises(InputError, match="beta must be above 0 and finite; found -1"):
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
