"""What the laws of transport, kernels and class probabilities leave free: options and corners."""

import importlib

import numpy as np
import pytest

from calipers.errors import InputError
from calipers.estimate.axes import preprocess
from calipers.estimate.quantise import quantise
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
    quantised_transport,
    quantised_transport_score,
    sliced_wasserstein,
)


@pytest.fixture
def pair(rng):
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
def test_the_debiased_cost_is_of_regularised_values(pair, epsilon):
    cells = quantise(*pair, buckets=7)
    own = cells_of(*pair, cells)
    p, q, costs = own.reference, own.generated, own.costs
    across, one, two = (sinkhorn(*sides, costs, epsilon) for sides in ((p, q), (p, p), (q, q)))
    found = entropic_transport_scores(*pair, cells, regularisation=epsilon)
    assert found.entropic.value == pytest.approx(across[0], abs=1e-7)
    assert found.debiased.value == pytest.approx(across[1] - (one[1] + two[1]) / 2, abs=1e-7)


def test_the_median_cost_is_that_of_different_cells(pair):
    costs = cells_of(*pair, quantise(*pair, buckets=6)).costs
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


def test_options_reach_the_quantisation(pair):
    options = {"buckets": 9, "restarts": 2, "seed": 3}
    cells = quantise(*pair, **options)
    assert quantised_transport(*pair, **options).value == pytest.approx(
        quantised_transport_score(*pair, cells).value, rel=1e-12
    )
    assert "|restarts:2|" in quantised_transport(*pair, **options).signature
    found = entropic_transport(*pair, regularisation=0.3, **options)
    expected = entropic_transport_scores(*pair, cells, regularisation=0.3)
    assert found.entropic.value == pytest.approx(expected.entropic.value, rel=1e-9)
    assert found.debiased.value == pytest.approx(expected.debiased.value, rel=1e-9)
    assert "|restarts:2|" in found.debiased.signature
    assert found.debiased.signature.endswith("|seed:3")
    assert quantised_transport(*pair, **(options | {"seed": 0})).value != pytest.approx(
        quantised_transport(*pair, **options).value, rel=1e-9
    )


def test_options_reach_the_transport_frontier(pair):
    options = {"buckets": 9, "restarts": 2, "seed": 3}
    rows = preprocess(*pair, norm="none", pca=0.5)
    left, right = rows.reference, rows.generated
    assert left.shape[1] < 4
    cells = quantise(left, right, **options)
    found = mauve_ot(*pair, c=0.4, regularisation=0.5, norm="none", pca=0.5, **options)
    for name, interpolation in (("mauve_ot", "linear"), ("mauve_ot_barycentric", "barycentric")):
        expected = mauve_ot_score(
            left, right, cells, interpolation=interpolation, c=0.4, regularisation=0.5
        )
        assert getattr(found, name).value == pytest.approx(expected.value, rel=1e-9)
        assert getattr(found, name).signature.endswith("|norm:none|pca:0.5|seed:3")
        assert "|restarts:2|" in getattr(found, name).signature
    assert mauve_ot(*pair, pca=None, buckets=5).mauve_ot.signature.endswith("|pca:none|seed:0")


def test_the_score_is_the_area_of_the_frontier(pair):
    pytest.importorskip("ot")
    cells = quantise(*pair, buckets=6)
    own = cells_of(*pair, cells)
    for interpolation in ("linear", "barycentric"):
        frontier = transport_frontier(
            own.reference, own.generated, own.costs, interpolation=interpolation
        )
        assert len(frontier.weights) == 25
        found = mauve_ot_score(*pair, cells, interpolation=interpolation, c=0.7)
        assert found.value == pytest.approx(frontier.area(0.7), rel=1e-12)
        assert found.value < mauve_ot_score(*pair, cells, interpolation=interpolation, c=0.1).value


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


def test_a_median_cost_of_zero_leaves_no_entropic_frontier(pair, monkeypatch):
    module = importlib.import_module("calipers.metrics.mauve_transport")
    costs = np.zeros((5, 5))
    costs[4, :4] = costs[:4, 4] = 1
    cells = Cells(np.full(5, 0.2), np.full(5, 0.2), costs, {})
    monkeypatch.setattr(module, "cells_of", lambda *_: cells)
    for interpolation in ("linear", "barycentric"):
        found = mauve_ot_score(*pair, None, interpolation=interpolation, regularisation="median")
        assert np.isnan(found.value)
        assert found.reason == "the median cost is 0: at least half of the cells lie in one place"


def test_entropic_transport_of_too_many_cells(pair, monkeypatch):
    module = importlib.import_module("calipers.metrics.transport")
    monkeypatch.setattr(module, "MOST_CELLS", 7)
    assert entropic_transport(*pair, buckets=7).debiased.value > 0
    found = entropic_transport(*pair, buckets=8)
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


def test_five_hundred_directions_by_default(pair):
    assert "|projections:500|" in sliced_wasserstein(*pair).signature
    assert sliced_wasserstein(*pair).value == sliced_wasserstein(*pair, projections=500).value
    assert sliced_wasserstein(*pair, seed=1).value != sliced_wasserstein(*pair).value


def test_the_bandwidth_is_drawn_only_from_more_rows_than_it_takes(pair, monkeypatch):
    module = importlib.import_module("calipers.metrics.mmd")
    assert module.MEDIAN_ROWS == 2_000
    x, y = pair[0][:60], pair[1][:50]
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
    with pytest.raises(InputError, match=r"row 1 \(counted from 1\) sums to 0.9"):
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
