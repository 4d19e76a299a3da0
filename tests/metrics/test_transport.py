"""Optimal transport between rows, and what the laws of transport leave free."""

import importlib
import sys

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import linprog
from scipy.spatial.distance import cdist

from calipers.errors import InputError, MissingExtraError
from calipers.estimate.axes import preprocess
from calipers.estimate.quantise import quantise
from calipers.metrics import transport
from calipers.metrics.energy import energy_distance
from calipers.metrics.inception import inception_score
from calipers.metrics.mauve_transport import (
    TransportFrontier,
    mauve_ot,
    mauve_ot_score,
    transport_frontier,
)
from calipers.metrics.mmd import mmd
from calipers.metrics.transport import (
    Cells,
    cells_of,
    entropic_transport,
    entropic_transport_scores,
    epsilon_of,
    optimal_transport,
    quantised_transport,
    quantised_transport_score,
    sliced_wasserstein,
)
from extras import need

MEASURES = {"ot": optimal_transport, "sliced_wasserstein": sliced_wasserstein}
every = pytest.mark.parametrize("name", MEASURES)


@pytest.fixture
def pair(rng):
    return rng.standard_normal((70, 4)), rng.standard_normal((70, 4)) * 0.7 + 0.4


def test_by_hand():
    # 0 → 1 and 10 → 12, and not 0 → 12 and 10 → 1
    assert optimal_transport([[0.0], [10.0]], [[12.0], [1.0]]).value == pytest.approx(2.5)


def test_unequal_sizes_by_hand():
    need("ot")
    # Half of the mass of 0 goes to −1 (½·1), the other half to 3 (½·9)
    assert optimal_transport([[0.0]], [[-1.0], [3.0]]).value == pytest.approx(5)


@pytest.mark.parametrize("m", [70, 50, 35])
def test_as_pot_finds_it(rng, pair, m):
    ot = need("ot")
    x, y = pair[0], pair[1][:m]
    assert optimal_transport(x, y).value == pytest.approx(ot.emd2([], [], ot.dist(x, y)), rel=1e-10)


@pytest.mark.parametrize("scale", [1e-150, 1e-8, 1e90])
def test_unequal_sizes_at_any_scale(rng, scale):
    need("ot")
    x, y = rng.standard_normal((60, 5)), rng.standard_normal((90, 5)) + 0.5
    value = optimal_transport(x, y).value
    scaled = optimal_transport(x * scale, y * scale).value
    assert scaled / scale**2 == pytest.approx(value, rel=1e-9)


@pytest.mark.parametrize(("far", "known"), [(1e3, True), (1e7, False)])
def test_far_outliers_are_exact_or_refused(rng, far, known):
    need("ot")
    x, y = rng.standard_normal((60, 5)), rng.standard_normal((90, 5)) + 0.5
    near = optimal_transport(x[2:], y[3:]).value
    x[:2], y[:3] = far, far
    score = optimal_transport(x, y)
    if known:
        assert score.value == pytest.approx(near * 58 / 60, rel=1e-6)
    else:
        assert np.isnan(score.value)
        assert "some points lie too far from the others" in score.reason


def test_equal_sets_of_unequal_size(rng):
    need("ot")
    x = rng.standard_normal((60, 5))
    found = optimal_transport(np.repeat(x, 7, axis=0), np.repeat(x, 3, axis=0))
    assert found.value == pytest.approx(0, abs=1e-13)


def test_by_linear_programme(rng):
    x, y = rng.standard_normal((6, 2)), rng.standard_normal((6, 2))
    rows, columns = np.kron(np.eye(6), np.ones(6)), np.kron(np.ones(6), np.eye(6))
    costs = cdist(x, y, "sqeuclidean").ravel()
    found = linprog(costs, A_eq=np.vstack([rows, columns]), b_eq=np.full(12, 1 / 6)).fun
    assert optimal_transport(x, y).value == pytest.approx(found, abs=1e-9)


def test_one_dimension_is_sorting(rng):
    x, y = rng.standard_normal((300, 1)), rng.standard_normal((300, 1)) ** 3
    expected = np.mean((np.sort(x[:, 0]) - np.sort(y[:, 0])) ** 2)
    assert optimal_transport(x, y).value == pytest.approx(expected, rel=1e-12)
    assert sliced_wasserstein(x, y).value == pytest.approx(expected, rel=1e-12)


@pytest.mark.parametrize("m", [70, 50, 35, 1])
def test_sliced_as_pot_finds_it(pair, m):
    ot = need("ot")
    x, y = pair[0], pair[1][:m]
    directions = np.random.default_rng(3).standard_normal((40, 4))
    directions /= np.linalg.norm(directions, axis=1, keepdims=True)
    theirs = ot.sliced_wasserstein_distance(x, y, projections=directions.T) ** 2
    ours = sliced_wasserstein(x, y, projections=40, seed=3).value
    assert ours == pytest.approx(theirs, rel=1e-10)


@every
def test_a_shift_costs_its_square(name, pair):
    shift = np.array([3.0, 0.0, -4.0, 0.0])
    found = MEASURES[name](pair[0], pair[0] + shift).value
    # Along a direction θ a shift costs (θ·shift)², in the mean 25/4
    expected, within = (25, 1e-12) if name == "ot" else (25 / 4, 0.1)
    assert found == pytest.approx(expected, rel=within)


@every
def test_laws(name, rng, pair):
    measure, (x, y) = MEASURES[name], pair
    value = measure(x, y).value
    assert measure(x, x[::-1]).value == pytest.approx(0, abs=1e-25)
    assert measure(y, x).value == pytest.approx(value, rel=1e-10)
    assert measure(rng.permutation(x), y[::-1]).value == pytest.approx(value, rel=1e-10)
    assert measure(x + 1e6, y + 1e6).value == pytest.approx(value, rel=1e-6)
    assert measure(8 * x, 8 * y).value == pytest.approx(64 * value, rel=1e-10)
    assert measure(np.repeat(x, 2, axis=0), np.repeat(y, 2, axis=0)).value == pytest.approx(value)


def test_rotation(rng, pair):
    turn, _ = np.linalg.qr(rng.standard_normal((4, 4)))
    value = optimal_transport(*pair).value
    assert optimal_transport(pair[0] @ turn, pair[1] @ turn).value == pytest.approx(value)


def test_sliced_costs_less(pair):
    assert sliced_wasserstein(*pair).value < optimal_transport(*pair).value


@every
@settings(max_examples=25)
@given(seed=st.integers(0, 2**32 - 1))
def test_the_root_keeps_the_triangle(name, seed):
    rng = np.random.default_rng(seed)
    x, y, z = (rng.standard_normal((12, 3)) * rng.exponential() for _ in range(3))
    long, *legs = (MEASURES[name](*two).value ** 0.5 for two in ((x, z), (x, y), (y, z)))
    assert long <= sum(legs) * (1 + 1e-12)


def test_tiny_spread_far_from_the_origin(rng):
    x, y = rng.standard_normal((2, 80, 3))
    near = optimal_transport(x, y).value
    steps = 2.0**-20
    far = optimal_transport(np.round(x / steps) * steps * steps + 1e6, y)
    assert far.value == pytest.approx(np.mean((1e6 - y.mean()) ** 2) * 3, rel=0.1)
    grid = [np.round(side / steps) * steps for side in (x, y)]
    assert optimal_transport(grid[0] + 1e6, grid[1] + 1e6).value == pytest.approx(near, rel=1e-4)
    assert optimal_transport(grid[0] + 1e6, grid[1] + 1e6).value == pytest.approx(
        optimal_transport(*grid).value, rel=1e-12
    )


def test_threads_and_precision_change_nothing(pair):
    x, y = (side.astype(np.float32) for side in pair)
    for measure in MEASURES.values():
        one = measure(x, y, threads=1).value
        assert measure(x, y, threads=3).value == one
        assert measure(x.astype(float), y.astype(float)).value == one


def test_too_many_pairs_are_refused_with_a_way_out(pair, monkeypatch):
    monkeypatch.setattr(transport, "MOST_PAIRS", 4899)
    score = optimal_transport(*pair)
    assert np.isnan(score.value)
    assert score.reason.startswith("70 x 70 costs are more than the 4,899")
    assert score.reason.endswith("take fewer samples, or sliced_wasserstein")


def test_only_unequal_sizes_need_pot(pair, monkeypatch):
    monkeypatch.setitem(sys.modules, "ot", None)
    assert optimal_transport(*pair).value > 0
    with pytest.raises(MissingExtraError, match=r"unequal .*'calipers\[transport\]'"):
        optimal_transport(pair[0], pair[1][:9])


@every
def test_signature_and_range(name, pair):
    score = MEASURES[name](*pair)
    assert score.signature.startswith(f"metric:{name}|")
    assert score.signature.endswith("|n:70|m:70|d:4")
    assert (score.better, score.range, score.reason) == ("lower", (0.0, np.inf), None)


@every
def test_bad_input(name):
    with pytest.raises(InputError, match=r"columns.* 2 and 3"):
        MEASURES[name](np.zeros((4, 2)), np.zeros((4, 3)))
    with pytest.raises(InputError, match="generated must hold finite numbers"):
        MEASURES[name](np.zeros((4, 2)), np.full((4, 2), np.nan))


def test_bad_projections(pair):
    with pytest.raises(InputError, match=r"projections .*at least 1"):
        sliced_wasserstein(*pair, projections=0)
    with pytest.raises(InputError, match=r"seed .*at least 0.* -1"):
        sliced_wasserstein(*pair, seed=-1)


# What the laws of transport, kernels and class probabilities leave free: options and corners.


@pytest.fixture
def sizes_apart(rng):
    return rng.standard_normal((160, 4)), rng.standard_normal((120, 4)) * 0.8 + 0.5


def sinkhorn(p, q, costs, epsilon, rounds=5000):
    """(⟨π, C⟩, ⟨π, C⟩ + ε·KL(π‖p ⊗ q)) by plain rounds on the kernel."""
    kernel, v = np.exp(-costs / epsilon), np.ones(len(q))
    for _ in range(rounds):
        u = 1 / (kernel @ (q * v))
        v = 1 / (kernel.T @ (p * u))
    ratio = u[:, None] * kernel * v
    plan = p[:, None] * q * ratio
    moved = np.sum(plan * costs)
    spread = np.sum(plan * np.log(np.where(ratio > 0, ratio, 1)))
    return moved, moved + epsilon * spread


@pytest.mark.parametrize("epsilon", [0.5, 2.0])
def test_the_debiased_cost_is_of_regularised_values(sizes_apart, epsilon):
    cells = quantise(*sizes_apart, buckets=7)
    own = cells_of(*sizes_apart, cells)
    p, q, costs = own.reference, own.generated, own.costs
    across, one, two = (sinkhorn(*sides, costs, epsilon) for sides in ((p, q), (p, p), (q, q)))
    found = entropic_transport_scores(*sizes_apart, cells, regularisation=epsilon)
    assert found.entropic.value == pytest.approx(across[0], abs=1e-7)
    assert found.debiased.value == pytest.approx(across[1] - (one[1] + two[1]) / 2, abs=1e-7)


def test_the_median_cost_is_that_of_different_cells(sizes_apart):
    costs = cells_of(*sizes_apart, quantise(*sizes_apart, buckets=6)).costs
    apart = [costs[i, j] for i in range(6) for j in range(i)]
    assert epsilon_of(costs, "median") == pytest.approx(np.median(apart), rel=1e-12)
    assert epsilon_of(costs[:1, :1], "median") == 0


def test_nearly_equal_histograms_are_not_below_zero_by_rounding(monkeypatch):
    module = importlib.import_module("calipers.metrics.transport")
    for seed in range(20):
        rng = np.random.default_rng(seed)
        centres, p = rng.standard_normal((6, 2)), rng.dirichlet(np.ones(6))
        q = p + 1e-12 * rng.random(6)
        costs = ((centres[:, None] - centres) ** 2).sum(axis=2)
        cells = Cells(p, q / q.sum(), costs, {})
        monkeypatch.setattr(module, "cells_of", lambda *_, cells=cells: cells)
        found = entropic_transport_scores(centres, centres, None, regularisation=0.05)
        assert found.debiased.value >= 0


def test_options_reach_the_quantisation(sizes_apart):
    need("ot")
    options = {"buckets": 9, "restarts": 2, "seed": 3}
    cells = quantise(*sizes_apart, **options)
    assert quantised_transport(*sizes_apart, **options).value == pytest.approx(
        quantised_transport_score(*sizes_apart, cells).value, rel=1e-12
    )
    assert "|restarts:2|" in quantised_transport(*sizes_apart, **options).signature
    found = entropic_transport(*sizes_apart, regularisation=0.3, **options)
    expected = entropic_transport_scores(*sizes_apart, cells, regularisation=0.3)
    assert found.entropic.value == pytest.approx(expected.entropic.value, rel=1e-9)
    assert found.debiased.value == pytest.approx(expected.debiased.value, rel=1e-9)
    assert "|restarts:2|" in found.debiased.signature
    assert found.debiased.signature.endswith("|seed:3")
    assert quantised_transport(*sizes_apart, **(options | {"seed": 0})).value != pytest.approx(
        quantised_transport(*sizes_apart, **options).value, rel=1e-9
    )


def test_options_reach_the_transport_frontier(sizes_apart):
    need("ot")
    options = {"buckets": 9, "restarts": 2, "seed": 3}
    rows = preprocess(*sizes_apart, norm="none", pca=0.5)
    left, right = rows.reference, rows.generated
    assert left.shape[1] < 4
    cells = quantise(left, right, **options)
    found = mauve_ot(*sizes_apart, c=0.4, regularisation=0.5, norm="none", pca=0.5, **options)
    for name, interpolation in (("mauve_ot", "linear"), ("mauve_ot_barycentric", "barycentric")):
        expected = mauve_ot_score(
            left, right, cells, interpolation=interpolation, c=0.4, regularisation=0.5
        )
        assert getattr(found, name).value == pytest.approx(expected.value, rel=1e-9)
        assert getattr(found, name).signature.endswith("|norm:none|pca:0.5|seed:3")
        assert "|restarts:2|" in getattr(found, name).signature
    assert mauve_ot(*sizes_apart, pca=None, buckets=5).mauve_ot.signature.endswith(
        "|pca:none|seed:0"
    )


def test_the_score_is_the_area_of_the_frontier(sizes_apart):
    need("ot")
    cells = quantise(*sizes_apart, buckets=6)
    own = cells_of(*sizes_apart, cells)
    for interpolation in ("linear", "barycentric"):
        frontier = transport_frontier(
            own.reference, own.generated, own.costs, interpolation=interpolation
        )
        assert len(frontier.weights) == 25
        found = mauve_ot_score(*sizes_apart, cells, interpolation=interpolation, c=0.7)
        assert found.value == pytest.approx(frontier.area(0.7), rel=1e-12)
        assert (
            found.value
            < mauve_ot_score(*sizes_apart, cells, interpolation=interpolation, c=0.1).value
        )


def test_five_is_the_constant_everywhere():
    frontier = TransportFrontier(np.array([0.5]), np.array([0.1]), np.array([0.3]))
    assert frontier.area() == frontier.area(5)
    np.testing.assert_allclose(frontier.points()[1], np.exp([-0.5, -1.5]))


def test_entropic_linear_frontier_is_of_plans_to_mixtures():
    p, q, costs = np.array([0.75, 0.25]), np.array([0.25, 0.75]), 1 - np.eye(2)
    frontier = transport_frontier(p, q, costs, regularisation=0.5, grid=3)
    for weight, reference, generated in zip(
        frontier.weights, frontier.reference_cost, frontier.generated_cost, strict=True
    ):
        middle = weight * p + (1 - weight) * q
        assert reference == pytest.approx(sinkhorn(p, middle, costs, 0.5)[0], abs=1e-8)
        assert generated == pytest.approx(sinkhorn(q, middle, costs, 0.5)[0], abs=1e-8)


def test_a_median_cost_of_zero_leaves_no_entropic_frontier(sizes_apart, monkeypatch):
    module = importlib.import_module("calipers.metrics.mauve_transport")
    costs = np.zeros((5, 5))
    costs[4, :4] = costs[:4, 4] = 1
    cells = Cells(np.full(5, 0.2), np.full(5, 0.2), costs, {})
    monkeypatch.setattr(module, "cells_of", lambda *_: cells)
    for interpolation in ("linear", "barycentric"):
        found = mauve_ot_score(
            *sizes_apart, None, interpolation=interpolation, regularisation="median"
        )
        assert np.isnan(found.value)
        assert found.reason == "the median cost is 0: at least half of the cells lie in one place"


def test_entropic_transport_of_too_many_cells(sizes_apart, monkeypatch):
    module = importlib.import_module("calipers.metrics.transport")
    monkeypatch.setattr(module, "MOST_CELLS", 7)
    assert entropic_transport(*sizes_apart, buckets=7).debiased.value > 0
    found = entropic_transport(*sizes_apart, buckets=8)
    for score in (found.entropic, found.debiased):
        assert np.isnan(score.value)
        assert score.reason == "8 cells are more than the 7 that it takes"


def test_as_many_cells_as_are_allowed_are_taken():
    for name, most in (
        ("transport", 5_000),
        ("mauve_transport", {"linear": 2_000, "barycentric": 1_000}),
    ):
        found = importlib.import_module(f"calipers.metrics.{name}").MOST_CELLS
        assert found == most


def test_as_many_pairs_as_are_allowed_are_taken(rng, monkeypatch):
    module = importlib.import_module("calipers.metrics.transport")
    assert module.MOST_PAIRS == 400_000_000
    monkeypatch.setattr(module, "MOST_PAIRS", 25)
    assert module.optimal_transport(*rng.standard_normal((2, 5, 3))).value > 0
    assert np.isnan(module.optimal_transport(*rng.standard_normal((2, 6, 3))).value)


def test_five_hundred_directions_by_default(sizes_apart):
    assert "|projections:500|" in sliced_wasserstein(*sizes_apart).signature
    assert (
        sliced_wasserstein(*sizes_apart).value
        == sliced_wasserstein(*sizes_apart, projections=500).value
    )
    assert sliced_wasserstein(*sizes_apart, seed=1).value != sliced_wasserstein(*sizes_apart).value


def test_the_bandwidth_is_drawn_only_from_more_rows_than_it_takes(sizes_apart, monkeypatch):
    module = importlib.import_module("calipers.metrics.mmd")
    assert module.MEDIAN_ROWS == 2_000
    x, y = sizes_apart[0][:60], sizes_apart[1][:50]
    whole = mmd(x, y)
    monkeypatch.setattr(module, "MEDIAN_ROWS", 110)
    assert mmd(x, y, seed=1).value == whole.value
    assert "seed" not in mmd(x, y).signature
    monkeypatch.setattr(module, "MEDIAN_ROWS", 109)
    assert "|median_rows:109|seed:1|" in mmd(x, y, seed=1).signature


def test_rows_for_the_bandwidth_are_drawn_once_each(rng, monkeypatch):
    module = importlib.import_module("calipers.metrics.mmd")
    x, y = rng.standard_normal((9, 3)), rng.standard_normal((8, 3))
    monkeypatch.setattr(module, "MEDIAN_ROWS", 15)
    drawn = np.sort(np.random.default_rng(4).choice(17, 15, replace=False))
    rows = np.concatenate([x, y])[drawn]
    apart = np.linalg.norm(rows[:, None] - rows, axis=2)[np.triu_indices(15, 1)]
    expected = mmd(x, y, bandwidth=float(np.median(apart))).value
    assert mmd(x, y, seed=4).value == pytest.approx(expected, rel=1e-9)


def test_two_rows_a_set_are_enough():
    value = mmd([[0.0], [1.0]], [[1.0], [2.0]], bandwidth=1.0).value
    assert np.isfinite(value)


def test_the_inception_score_keeps_its_range():
    for classes in range(2, 60):
        assert inception_score(np.eye(classes)).value <= classes
    for seed in range(60):
        row = np.random.default_rng(seed).dirichlet(np.ones(7))
        assert inception_score(np.tile(row, (5, 1))).value >= 1


def test_rows_that_sum_to_less_than_one_are_refused():
    with pytest.raises(InputError, match=r"row 1 .*0\.9"):
        inception_score([[0.5, 0.4], [0.5, 0.5]])
    with pytest.raises(InputError, match=r"within 0\.001"):
        inception_score([[0.5, 0.502]])


def test_rows_are_brought_to_sum_to_one():
    assert inception_score([[0.4998, 0.4997]] * 2).value == 1
    shares = np.array([[0.9, 0.1], [0.2, 0.8]])
    found = inception_score(shares * [[1.0009], [0.9991]]).value
    assert found == pytest.approx(inception_score(shares).value, rel=1e-12)


def test_the_splits_are_averaged_and_may_be_as_many_as_the_rows():
    shares = [[1.0, 0.0], [0.0, 1.0], [1.0, 0.0], [1.0, 0.0], [0.5, 0.5], [0.5, 0.5]]
    found = inception_score(shares, splits=3)
    assert found.value == pytest.approx((2 + 1 + 1) / 3)
    assert inception_score(shares, splits=6).value == 1
    assert inception_score(shares).signature.startswith("metric:inception_score|splits:1|")


def test_a_share_may_be_tiny():
    tiny = 1e-4
    shares = np.array([[1 - tiny, tiny], [1.0, 0.0]])
    mean = shares.mean(axis=0)
    gain = np.mean(
        [
            (1 - tiny) * np.log((1 - tiny) / mean[0]) + tiny * np.log(tiny / mean[1]),
            np.log(1 / mean[0]),
        ]
    )
    assert inception_score(shares).value == pytest.approx(np.exp(gain), rel=1e-12)


def test_the_energy_distance_of_equal_sets_is_not_below_zero_by_rounding():
    for seed in range(60):
        rows = np.random.default_rng(seed).standard_normal((23, 3))
        assert energy_distance(rows, rows[::-1]).value >= 0
