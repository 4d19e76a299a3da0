import sys

import numpy as np
import pytest

from calipers.errors import InputError, MissingExtraError
from calipers.estimate import transport as plans
from calipers.estimate.quantise import quantise
from calipers.metrics import transport
from calipers.metrics.transport import (
    cells_of,
    entropic_transport,
    epsilon_of,
    quantised_transport,
    quantised_transport_score,
)

pytest.importorskip("ot")


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
    with pytest.raises(NoPlanError, match="at least half of the cells lie in one place"):
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
        with pytest.raises(InputError, match="regularisation must be 'median' or a number above 0"):
            entropic_transport(*pair, regularisation=wrong)
    with pytest.raises(InputError, match="found 160 and 120 labels for 160 and 5 rows"):
        quantised_transport_score(pair[0], pair[1][:5], quantise(*pair, buckets=5))


def test_without_pot(pair, monkeypatch):
    monkeypatch.setitem(sys.modules, "ot", None)
    with pytest.raises(MissingExtraError, match=r"pip install 'calipers\[transport\]'"):
        quantised_transport(*pair)
    assert entropic_transport(*pair).debiased.value > 0
