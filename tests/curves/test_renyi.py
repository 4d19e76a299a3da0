"""Rényi frontiers: by hand, against brute force, and what they are at their ends."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import minimize

from calipers.curves import divergence_frontier, precision_recall_curve, renyi_frontier
from calipers.errors import InputError
from calipers.estimate import Histograms, LikelihoodRatios

COUNTS = st.lists(st.integers(0, 9), min_size=4, max_size=4).filter(any)
ORDERS = (0.5, 1.0, 2.0, 7.0, math.inf)
KINDS = ("exclusive", "inclusive")
every = pytest.mark.parametrize(("order", "kind"), [(o, k) for o in ORDERS for k in KINDS])


def divergence(a, b, order):
    """D_α(A‖B) of two histograms, as it is written."""
    a, b = np.asarray(a, float), np.asarray(b, float)
    there = a > 0
    if (b[there] == 0).any() and order >= 1:
        return math.inf
    a, b = a[there], b[there]
    if order == 1:
        return float(np.sum(a * np.log(a / b)))
    if math.isinf(order):
        return float(np.log(np.max(a / b)))
    with np.errstate(divide="ignore"):
        return float(np.log(np.sum(a**order * b ** (1 - order))) / (order - 1))


def test_two_cells_by_hand():
    # P = (1/2, 1/2), Q = (1, 0). For α > 1 only the first cell is in both, so R = (1, 0):
    # precision exp(-0) = 1, recall exp(-log 2) = 1/2, at every slope.
    half = Histograms([1, 1], [2, 0])
    for order in (2.0, 5.0):
        frontier = renyi_frontier(half, order=order)
        np.testing.assert_allclose(frontier.precision, 1)
        np.testing.assert_allclose(frontier.recall, 0.5)
        assert frontier.area() == pytest.approx(0.5)
        assert frontier.f_beta(1) == pytest.approx(2 / 3)
    # Inclusive of order 2: R = (√(λ/4 + 1 - λ), √λ/2) / Z, precision Σ q²/r to the power -1
    frontier = renyi_frontier(half, order=2, kind="inclusive", angles=1)
    weight = 1 / (1 + np.tan(1e-3) ** 2)
    r = np.array([np.sqrt(weight / 4 + 1 - weight), np.sqrt(weight / 4)])
    r /= r.sum()
    assert frontier.precision[0] == pytest.approx(r[0])
    assert frontier.recall[0] == pytest.approx(1 / np.sum(0.25 / r))


@every
def test_points_are_the_divergences_of_a_distribution(order, kind):
    p, q = np.array([5, 1, 4, 2]) / 12, np.array([1, 3, 3, 3]) / 10
    frontier = renyi_frontier(Histograms([5, 1, 4, 2], [1, 3, 3, 3]), order=order, kind=kind)
    for place in (20, 100, 180):
        found = frontier.precision[place], frontier.recall[place]

        def costs(free):
            r = np.exp([*free, 0.0])
            r /= r.sum()
            pairs = ((r, q), (r, p)) if kind == "exclusive" else ((q, r), (p, r))
            return [divergence(one, other, order) for one, other in pairs]

        # No other distribution has both a higher precision and a higher recall
        goal = -np.log(np.array(found))

        def worse(free, goal=goal, costs=costs):
            return max(np.array(costs(free)) - goal)

        start = np.log(np.sqrt(p * q))
        best = minimize(
            worse,
            (start - start[-1])[:-1],
            method="Nelder-Mead",
            options={"maxiter": 4000, "xatol": 1e-9, "fatol": 1e-11},
        )
        assert best.fun > -1e-4
        if order < math.inf:  # where the search has slopes to follow, it finds the point itself
            assert best.fun == pytest.approx(0, abs=2e-4)


@settings(max_examples=40)
@given(COUNTS, COUNTS)
def test_at_infinity_it_is_the_precision_recall_curve(p, q):
    pair = Histograms(p, q)
    frontier = renyi_frontier(pair, order=math.inf)
    curve = precision_recall_curve(pair, angles=1001)
    p, q = pair.probabilities
    for precision, recall in zip(frontier.precision, frontier.recall, strict=True):
        if precision == 0:  # nothing is in both
            assert recall == curve.precision.max() == 0
            continue
        slope = precision / recall
        assert precision == pytest.approx(np.minimum(slope * p, q).sum(), abs=1e-9)
    assert frontier.area() == pytest.approx(curve.area(), abs=0.02)


@settings(max_examples=40)
@given(COUNTS, COUNTS)
def test_inclusive_of_order_one_is_the_divergence_frontier_of_kl(p, q):
    pair = Histograms(p, q)
    weights = 1 / (1 + np.tan(np.linspace(1e-3, np.pi / 2 - 1e-3, 201)))
    frontier = renyi_frontier(pair, order=1, kind="inclusive")
    kl = divergence_frontier(pair, grid=weights)
    np.testing.assert_allclose(frontier.precision[::-1], np.exp(-kl.generated_cost), atol=1e-9)
    np.testing.assert_allclose(frontier.recall[::-1], np.exp(-kl.reference_cost), atol=1e-9)


@settings(max_examples=25)
@given(COUNTS, COUNTS, st.sampled_from(ORDERS), st.sampled_from(KINDS))
def test_laws(p, q, order, kind):
    one = renyi_frontier(Histograms(p, q), order=order, kind=kind)
    two = renyi_frontier(Histograms(q, p), order=order, kind=kind)
    for values in (one.precision, one.recall):
        assert ((values >= 0) & (values <= 1)).all()
    assert (np.diff(one.precision) >= -1e-9).all()
    assert (np.diff(one.recall) <= 1e-9).all()
    assert one.f_beta(8) == pytest.approx(two.f_beta(1 / 8), abs=1e-9)
    same = renyi_frontier(Histograms(p, p), order=order, kind=kind)
    assert same.area() == pytest.approx(1, abs=1e-9)


@pytest.mark.parametrize("order", [1.5, 2.0, 4.0])
def test_its_ends_are_the_shares_that_the_other_set_reaches(order):
    pair = Histograms([3, 0, 4, 3], [2, 5, 3, 0])
    curve = precision_recall_curve(pair)
    frontier = renyi_frontier(pair, order=order)
    assert frontier.precision.max() == pytest.approx(curve.max_precision, abs=0.01)
    assert frontier.recall.max() == pytest.approx(curve.max_recall, abs=0.01)


def test_sets_that_share_nothing_have_neither():
    apart = Histograms([4, 0], [0, 4])
    for order in (1.0, 2.0, math.inf):
        frontier = renyi_frontier(apart, order=order)
        assert frontier.precision.max() == frontier.recall.max() == frontier.area() == 0
    inclusive = renyi_frontier(apart, order=1, kind="inclusive")
    assert inclusive.precision[100] == pytest.approx(0.5)  # KL from the even mixture is log 2


def test_shifted_gaussians_have_a_closed_form():
    # On the geometric path (α = 1, exclusive) R is N((1 - λ)·μ, 1): D(R‖Q) = λ²μ²/2
    rng = np.random.default_rng(0)
    x, y = rng.standard_normal(40_000), rng.standard_normal(40_000) + 1.5
    logs = [1.5**2 / 2 - 1.5 * side for side in (x, y)]
    frontier = renyi_frontier(LikelihoodRatios(*logs), order=1)
    weights = 1 / (1 + np.tan(np.linspace(1e-3, np.pi / 2 - 1e-3, 201)))
    np.testing.assert_allclose(frontier.precision, np.exp(-((weights * 1.5) ** 2) / 2), atol=0.02)
    np.testing.assert_allclose(
        frontier.recall, np.exp(-(((1 - weights) * 1.5) ** 2) / 2), atol=0.02
    )


@pytest.mark.parametrize("order", [0, -1, math.nan, "two", True])
def test_an_order_that_is_none_is_refused(order):
    with pytest.raises(InputError, match="order α must be a number above 0"):
        renyi_frontier(Histograms([1], [1]), order=order)
