"""Optimal transport between cells, and the frontier that it draws."""

import sys

import numpy as np
import pytest

from calipers.errors import InputError, MissingExtraError
from calipers.estimate import transport as plans
from calipers.estimate.quantise import quantise
from calipers.estimate.transport import transport_cost
from calipers.metrics import transport
from calipers.metrics.mauve_transport import mauve_ot, transport_frontier
from calipers.metrics.transport import (
    cells_of,
    entropic_transport,
    epsilon_of,
    quantised_transport,
    quantised_transport_score,
)
from extras import need

need("ot")


@pytest.fixture
def pair(rng):
    return rng.standard_normal((160, 4)), rng.standard_normal((120, 4)) * 0.8 + 0.5


def test_by_hand():
    # Two cells, at 0 and 10, hold 3 and 1 reference rows and 1 and 3 generated ones: ½ moves by 10
    low, high = [[0.0]], [[10.0]]
    reference, generated = np.array(3 * low + high), np.array(low + 3 * high)
    assert quantised_transport(reference, generated, buckets=2).value == pytest.approx(50)
    plan = entropic_transport(reference, generated, buckets=2, regularisation=1e9)
    assert plan.entropic.value == pytest.approx(100 * (9 + 1) / 16)
    assert plan.debiased.value == pytest.approx(25)  # the squared gap of the means, 2.5 and 7.5


def test_cells_are_means_of_both_sets(pair):
    found = quantise(*pair, buckets=9)
    cells = cells_of(*pair, found)
    labels, union = np.concatenate(found.labels), np.concatenate(pair)
    means = np.array([union[labels == cell].mean(axis=0) for cell in np.unique(labels)])
    np.testing.assert_allclose(
        cells.costs, ((means[:, None] - means) ** 2).sum(axis=2), rtol=1e-10, atol=1e-15
    )
    np.testing.assert_array_equal(cells.reference, found.best.reference / 160)
    np.testing.assert_array_equal(cells.generated, found.best.generated / 120)


def test_as_many_cells_as_rows_give_the_plug_in_cost(rng):
    from calipers.metrics.transport import optimal_transport

    x, y = rng.standard_normal((30, 2)), rng.standard_normal((30, 2))
    found = quantised_transport(x, y, buckets=60)
    assert found.value == pytest.approx(optimal_transport(x, y).value, rel=1e-6)


def test_more_buckets_than_distinct_rows():
    rows = np.repeat([[0.0], [1.0]], 6, axis=0)
    assert quantised_transport(rows, rows[:6], buckets=5).value == pytest.approx(0.5)


def test_equal_sets(pair):
    x = pair[0]
    assert quantised_transport(x, x).value == pytest.approx(0, abs=1e-15)
    plan = entropic_transport(x, x)
    assert plan.entropic.value > 1
    assert plan.debiased.value == pytest.approx(0, abs=1e-9)


def test_a_single_place_costs_nothing():
    rows = np.ones((12, 3))
    assert quantised_transport(rows, rows[:5]).value == 0
    plan = entropic_transport(rows, rows[:5])
    assert (plan.entropic.value, plan.debiased.value) == (0, 0)


def test_a_median_cost_of_zero_is_said():
    from calipers.estimate.transport import NoPlanError
    from calipers.metrics.transport import _values

    costs = np.zeros((4, 4))
    costs[3, :3] = costs[:3, 3] = 1
    cells = transport.Cells(np.full(4, 0.25), np.full(4, 0.25), costs, {})
    assert epsilon_of(costs, "median") == 0.5
    with pytest.raises(NoPlanError, match="half of the cells"):
        _values(cells, 0.0)


def test_symmetry_scale_and_place(pair):
    cells = quantise(*pair, buckets=12)
    swapped = quantise(*pair, buckets=12)
    object.__setattr__(swapped, "labels", cells.labels[::-1])
    value = quantised_transport_score(*pair, cells).value
    assert quantised_transport_score(*pair[::-1], swapped).value == pytest.approx(value, rel=1e-10)
    assert quantised_transport_score(*(4 * side for side in pair), cells).value == pytest.approx(
        16 * value, rel=1e-10
    )
    moved = [side + 1e6 for side in pair]
    assert quantised_transport_score(*moved, cells).value == pytest.approx(value, rel=1e-6)


@pytest.mark.parametrize("regularisation", ["median", 0.05, 100.0])
def test_debiased_is_never_negative(rng, regularisation):
    for _ in range(5):
        x, y = rng.standard_normal((40, 2)), rng.standard_normal((50, 2)) + rng.random()
        plan = entropic_transport(x, y, regularisation=regularisation, buckets=8)
        assert plan.debiased.value >= 0
        assert plan.entropic.value >= quantised_transport(x, y, buckets=8).value


def test_debiased_grows_with_the_gap(pair):
    values = [entropic_transport(pair[0], pair[1] + t).debiased.value for t in (0, 1, 2, 4)]
    assert (np.diff(values) > 0).all()


def test_no_convergence_is_nan_with_a_reason(pair, monkeypatch):
    monkeypatch.setattr(plans, "ROUNDS", 1)
    monkeypatch.setattr(plans, "NEWTON_STEPS", 1)
    plan = entropic_transport(*pair, regularisation=1e-3)
    for score in (plan.entropic, plan.debiased):
        assert np.isnan(score.value)
        assert "take a larger one" in score.reason


def test_too_many_cells(pair, monkeypatch):
    monkeypatch.setattr(transport, "MOST_CELLS", 7)
    score = quantised_transport(*pair, buckets=8)
    assert np.isnan(score.value)
    assert score.reason == "8 cells are more than the 7 that it takes"


def test_signatures(pair):
    plan = entropic_transport(*pair, buckets=6)
    score = quantised_transport(*pair, buckets=6)
    assert plan.entropic.signature.startswith("metric:ot_entropic|regularisation:median|buckets:6")
    assert plan.debiased.signature.startswith("metric:ot_debiased|")
    assert score.signature.startswith("metric:ot_quantised|cost:squared_euclidean|buckets:6|")
    assert score.signature.endswith("|n:160|m:120|d:4|seed:0")
    assert score.better == plan.debiased.better == "lower"


@pytest.mark.parametrize("kind", [int, np.int64, np.uint8, np.float32])
def test_a_regularisation_of_any_kind_of_number(pair, kind):
    one, other = (entropic_transport(*pair, regularisation=e, buckets=5) for e in (kind(3), 3.0))
    assert one.entropic.value == other.entropic.value


def test_bad_input(pair):
    for wrong in (0, -1.0, np.nan, "mean", None, True):
        with pytest.raises(InputError, match=r"regularisation .*'median' or .*above 0"):
            entropic_transport(*pair, regularisation=wrong)
    with pytest.raises(InputError, match=r"160 and 120 labels .*160 and 5 rows"):
        quantised_transport_score(pair[0], pair[1][:5], quantise(*pair, buckets=5))


def test_without_pot(pair, monkeypatch):
    monkeypatch.setitem(sys.modules, "ot", None)
    with pytest.raises(MissingExtraError, match=r"pip install 'calipers\[transport\]'"):
        quantised_transport(*pair)
    assert entropic_transport(*pair).debiased.value > 0


need("ot")

BOTH = ("mauve_ot", "mauve_ot_barycentric")


@pytest.fixture
def six_columns(rng):
    return rng.standard_normal((160, 6)), rng.standard_normal((120, 6)) * 0.8 + 0.3


@pytest.fixture
def histograms(rng):
    centres = rng.standard_normal((9, 3))
    costs = ((centres[:, None] - centres) ** 2).sum(axis=2)
    return rng.dirichlet(np.ones(9)), rng.dirichlet(np.ones(9)), costs


def test_linear_frontier_of_two_cells_by_hand():
    # P lies in one cell and Q in the other, 2 apart in cost: to R_λ it is (1 − λ)·2 and λ·2
    p, q, costs = np.array([1.0, 0]), np.array([0, 1.0]), np.array([[0, 2.0], [2.0, 0]])
    frontier = transport_frontier(p, q, costs, grid=1001)
    np.testing.assert_allclose(frontier.reference_cost, 2 * (1 - frontier.weights), atol=1e-12)
    np.testing.assert_allclose(frontier.generated_cost, 2 * frontier.weights, atol=1e-12)
    assert frontier.area(0.5) == pytest.approx(2 / np.e, abs=1e-5)  # e^(−cW)·(1 + cW)


def test_barycentric_frontier_by_hand():
    # A cell half-way takes all mass while λ is near ½, at 1 from either end
    line = np.array([0.0, 1.0, 2.0])
    costs = (line[:, None] - line) ** 2
    ends = np.array([1.0, 0, 0]), np.array([0, 0, 1.0])
    frontier = transport_frontier(*ends, costs, interpolation="barycentric", grid=5)
    np.testing.assert_allclose(frontier.reference_cost, [4, 1, 1, 1, 0], atol=1e-12)
    np.testing.assert_allclose(frontier.generated_cost, [0, 1, 1, 1, 4], atol=1e-12)


def test_weighted_costs_are_least_at_the_barycentres(histograms):
    p, q, costs = histograms
    best = transport_frontier(p, q, costs, interpolation="barycentric")
    for share in (0.0, 0.2, 0.5, 0.9, 1.0):
        mixed = share * p + (1 - share) * q
        to_p, to_q = (transport_cost(side, mixed, costs) for side in (p, q))
        found = best.weights * best.reference_cost + (1 - best.weights) * best.generated_cost
        assert np.all(found <= best.weights * to_p + (1 - best.weights) * to_q + 1e-12)


@pytest.mark.parametrize("interpolation", ["linear", "barycentric"])
@pytest.mark.parametrize("regularisation", [None, 0.5])
def test_swapping_the_sides_turns_the_frontier(histograms, interpolation, regularisation):
    p, q, costs = histograms
    one, other = (
        transport_frontier(
            *sides, costs, interpolation=interpolation, regularisation=regularisation, grid=4
        )
        for sides in ((p, q), (q, p))
    )
    np.testing.assert_allclose(one.reference_cost, other.generated_cost[::-1], atol=1e-7)
    assert one.area() == pytest.approx(other.area(), abs=1e-7)


def test_costs_to_mixtures_are_convex_in_the_weight(histograms):
    frontier = transport_frontier(*histograms)
    assert np.all(np.diff(frontier.reference_cost, 2) >= -1e-9)
    assert np.all(np.diff(frontier.reference_cost) <= 1e-12)


def test_equal_sets_score_one(six_columns):
    found = mauve_ot(six_columns[0], six_columns[0])
    for name in BOTH:
        assert getattr(found, name).value == pytest.approx(1, abs=1e-12)


def test_worse_sets_score_less(six_columns):
    near, far = mauve_ot(*six_columns), mauve_ot(six_columns[0], six_columns[1] + 1)
    for name in BOTH:
        assert 0 < getattr(far, name).value < getattr(near, name).value < 1


def test_barycentres_are_nearer_than_mixtures(six_columns):
    found = mauve_ot(*six_columns)
    assert found.mauve_ot_barycentric.value > found.mauve_ot.value


def test_a_larger_c_scores_less(six_columns):
    values = [mauve_ot(*six_columns, c=c).mauve_ot.value for c in (1, 5, 25)]
    assert values[0] > values[1] > values[2]


def test_entropic_plans_as_the_paper_has_them(six_columns):
    exact, blurred = mauve_ot(*six_columns), mauve_ot(*six_columns, regularisation="median")
    assert "|regularisation:none|" in exact.mauve_ot.signature
    assert "|regularisation:median|" in blurred.mauve_ot.signature
    sharp = mauve_ot(*six_columns, regularisation=0.1)
    for name in BOTH:
        one, two, three = (getattr(found, name).value for found in (blurred, sharp, exact))
        assert one < two < three
    assert mauve_ot(six_columns[0], six_columns[0], regularisation="median").mauve_ot.value < 0.5


def test_rows_of_length_one_make_it_free_of_scale(six_columns):
    one, two = mauve_ot(*six_columns), mauve_ot(*(64 * side for side in six_columns))
    assert one.mauve_ot.value == pytest.approx(two.mauve_ot.value, abs=1e-9)


def test_a_single_place(rng):
    rows = np.ones((20, 3))
    for regularisation in (None, "median"):
        found = mauve_ot(rows, rows[:7], regularisation=regularisation, norm="none", pca=None)
        assert found.mauve_ot.value == 1
        assert found.mauve_ot_barycentric.value == 1


def test_too_many_cells_for_a_frontier(six_columns, monkeypatch):
    monkeypatch.setattr(
        sys.modules["calipers.metrics.mauve_transport"],
        "MOST_CELLS",
        {"linear": 12, "barycentric": 5},
    )
    found = mauve_ot(*six_columns, buckets=12)
    assert found.mauve_ot.value > 0
    assert found.mauve_ot_barycentric.reason == "12 cells are more than the 5 that it takes"


def test_signature(six_columns):
    score = mauve_ot(*six_columns, buckets=8).mauve_ot_barycentric
    assert score.signature.startswith("metric:mauve_ot_barycentric|c:5|cost:squared_euclidean|")
    assert "|n:160|m:120|" in score.signature
    assert score.signature.endswith("|norm:l2|pca:0.9|seed:0")
    assert (score.better, score.range) == ("higher", (0.0, 1.0))


def test_bad_input_of_a_frontier(six_columns, histograms):
    with pytest.raises(InputError, match=r"constant c .*above 0 .* 0"):
        mauve_ot(*six_columns, c=0)
    with pytest.raises(InputError, match=r"regularisation .*'median' or .*above 0"):
        mauve_ot(*six_columns, regularisation=-1)
    with pytest.raises(InputError, match="did you mean 'barycentric'"):
        transport_frontier(*histograms, interpolation="barycenter")


def test_a_frontier_without_pot(six_columns, monkeypatch):
    monkeypatch.setitem(sys.modules, "ot", None)
    with pytest.raises(MissingExtraError, match=r"pip install 'calipers\[transport\]'"):
        mauve_ot(*six_columns)
    assert mauve_ot(*six_columns, regularisation="median").mauve_ot.value > 0
