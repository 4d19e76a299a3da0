import sys

import numpy as np
import pytest

from calipers.errors import InputError, MissingExtraError
from calipers.estimate.transport import transport_cost
from calipers.metrics.mauve_transport import mauve_ot, transport_frontier

pytest.importorskip("ot")

BOTH = ("mauve_ot", "mauve_ot_barycentric")


@pytest.fixture
def pair(rng):
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


def test_equal_sets_score_one(pair):
    found = mauve_ot(pair[0], pair[0])
    for name in BOTH:
        assert getattr(found, name).value == pytest.approx(1, abs=1e-12)


def test_worse_sets_score_less(pair):
    near, far = mauve_ot(*pair), mauve_ot(pair[0], pair[1] + 1)
    for name in BOTH:
        assert 0 < getattr(far, name).value < getattr(near, name).value < 1


def test_barycentres_are_nearer_than_mixtures(pair):
    found = mauve_ot(*pair)
    assert found.mauve_ot_barycentric.value > found.mauve_ot.value


def test_a_larger_c_scores_less(pair):
    values = [mauve_ot(*pair, c=c).mauve_ot.value for c in (1, 5, 25)]
    assert values[0] > values[1] > values[2]


def test_entropic_plans_as_the_paper_has_them(pair):
    exact, blurred = mauve_ot(*pair), mauve_ot(*pair, regularisation="median")
    assert "|regularisation:none|" in exact.mauve_ot.signature
    assert "|regularisation:median|" in blurred.mauve_ot.signature
    sharp = mauve_ot(*pair, regularisation=0.1)
    for name in BOTH:
        one, two, three = (getattr(found, name).value for found in (blurred, sharp, exact))
        assert one < two < three
    assert mauve_ot(pair[0], pair[0], regularisation="median").mauve_ot.value < 0.5


def test_rows_of_length_one_make_it_free_of_scale(pair):
    one, two = mauve_ot(*pair), mauve_ot(*(64 * side for side in pair))
    assert one.mauve_ot.value == pytest.approx(two.mauve_ot.value, abs=1e-9)


def test_a_single_place(rng):
    rows = np.ones((20, 3))
    for regularisation in (None, "median"):
        found = mauve_ot(rows, rows[:7], regularisation=regularisation, norm="none", pca=None)
        assert found.mauve_ot.value == 1
        assert found.mauve_ot_barycentric.value == 1


def test_too_many_cells(pair, monkeypatch):
    monkeypatch.setattr(
        sys.modules["calipers.metrics.mauve_transport"],
        "MOST_CELLS",
        {"linear": 12, "barycentric": 5},
    )
    found = mauve_ot(*pair, buckets=12)
    assert found.mauve_ot.value > 0
    assert found.mauve_ot_barycentric.reason == "12 cells are more than the 5 that it takes"


def test_signature(pair):
    score = mauve_ot(*pair, buckets=8).mauve_ot_barycentric
    assert score.signature.startswith("metric:mauve_ot_barycentric|c:5|cost:squared_euclidean|")
    assert "|n:160|m:120|" in score.signature
    assert score.signature.endswith("|norm:l2|pca:0.9|seed:0")
    assert (score.better, score.range) == ("higher", (0.0, 1.0))


def test_bad_input(pair, histograms):
    with pytest.raises(InputError, match="constant c must be above 0 and finite; found 0"):
        mauve_ot(*pair, c=0)
    with pytest.raises(InputError, match="regularisation must be 'median' or a number above 0"):
        mauve_ot(*pair, regularisation=-1)
    with pytest.raises(InputError, match="did you mean 'barycentric'"):
        transport_frontier(*histograms, interpolation="barycenter")


def test_without_pot(pair, monkeypatch):
    monkeypatch.setitem(sys.modules, "ot", None)
    with pytest.raises(MissingExtraError, match=r"pip install 'calipers\[transport\]'"):
        mauve_ot(*pair)
    assert mauve_ot(*pair, regularisation="median").mauve_ot.value > 0
