import sys

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import linprog
from scipy.spatial.distance import cdist

from calipers.errors import InputError, MissingExtraError
from calipers.metrics import transport
from calipers.metrics.transport import optimal_transport, sliced_wasserstein

MEASURES = {"ot": optimal_transport, "sliced_wasserstein": sliced_wasserstein}
every = pytest.mark.parametrize("name", MEASURES)


@pytest.fixture
def pair(rng):
    return rng.standard_normal((70, 4)), rng.standard_normal((70, 4)) * 0.7 + 0.4


def test_by_hand():
    # 0 → 1 and 10 → 12, and not 0 → 12 and 10 → 1
    assert optimal_transport([[0.0], [10.0]], [[12.0], [1.0]]).value == pytest.approx(2.5)


def test_unequal_sizes_by_hand():
    pytest.importorskip("ot")
    # Half of the mass of 0 goes to −1 (½·1), the other half to 3 (½·9)
    assert optimal_transport([[0.0]], [[-1.0], [3.0]]).value == pytest.approx(5)


@pytest.mark.parametrize("m", [70, 50, 35])
def test_as_pot_finds_it(rng, pair, m):
    ot = pytest.importorskip("ot")
    x, y = pair[0], pair[1][:m]
    assert optimal_transport(x, y).value == pytest.approx(ot.emd2([], [], ot.dist(x, y)), rel=1e-10)


@pytest.mark.parametrize("scale", [1e-150, 1e-8, 1e90])
def test_unequal_sizes_at_any_scale(rng, scale):
    pytest.importorskip("ot")
    x, y = rng.standard_normal((60, 5)), rng.standard_normal((90, 5)) + 0.5
    value = optimal_transport(x, y).value
    scaled = optimal_transport(x * scale, y * scale).value
    assert scaled / scale**2 == pytest.approx(value, rel=1e-9)


@pytest.mark.parametrize(("far", "known"), [(1e3, True), (1e7, False)])
def test_far_outliers_are_exact_or_refused(rng, far, known):
    pytest.importorskip("ot")
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
    pytest.importorskip("ot")
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
    ot = pytest.importorskip("ot")
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
@settings(max_examples=25, deadline=None)
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
    with pytest.raises(MissingExtraError, match=r"unequal masses .*'calipers\[transport\]'"):
        optimal_transport(pair[0], pair[1][:9])


@every
def test_signature_and_range(name, pair):
    score = MEASURES[name](*pair)
    assert score.signature.startswith(f"metric:{name}|")
    assert score.signature.endswith("|n:70|m:70|d:4")
    assert (score.better, score.range, score.reason) == ("lower", (0.0, np.inf), None)


@every
def test_bad_input(name):
    with pytest.raises(InputError, match="same number of columns; found 2 and 3"):
        MEASURES[name](np.zeros((4, 2)), np.zeros((4, 3)))
    with pytest.raises(InputError, match="generated must hold finite numbers"):
        MEASURES[name](np.zeros((4, 2)), np.full((4, 2), np.nan))


def test_bad_projections(pair):
    with pytest.raises(InputError, match="projections must be a whole number of at least 1"):
        sliced_wasserstein(*pair, projections=0)
    with pytest.raises(InputError, match="seed must be a whole number of at least 0; found -1"):
        sliced_wasserstein(*pair, seed=-1)
