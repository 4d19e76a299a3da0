"""Transport plans: assignments, exact and entropic costs, barycentres."""

import numpy as np
import pytest
from scipy.optimize import linear_sum_assignment, linprog
from scipy.spatial.distance import cdist

from calipers.estimate import transport
from calipers.estimate.transport import (
    NoPlanError,
    assign,
    barycentre,
    entropic,
    exact_barycentre,
    stop_overs,
    transport_cost,
    transport_plan,
)
from extras import need


def least(costs):
    return costs[linear_sum_assignment(costs)].sum()


def found(costs):
    columns = assign(costs.copy())
    assert sorted(columns) == list(range(len(costs)))
    return costs[np.arange(len(costs)), columns].sum()


def test_by_hand():
    # The cheapest entry (0, 0) is not part of the best pairing: 1 + 1 + 0 beats 0 + 9 + 0
    costs = np.array([[0.0, 1.0, 9.0], [1.0, 9.0, 9.0], [9.0, 9.0, 0.0]])
    assert assign(costs.copy()).tolist() == [1, 0, 2]


@pytest.mark.parametrize("n", [1, 2, 3, 4, 24, 25, 26, 300])
def test_random_costs_of_every_size(rng, n):
    costs = rng.exponential(size=(n, n))
    assert found(costs) == pytest.approx(least(costs), rel=1e-12)


def clouds(rng, kind):
    n = 250
    if kind == "line":
        return rng.standard_normal((n, 1)), rng.standard_normal((n, 1)) + 2
    if kind == "copies":
        return rng.integers(0, 2, (n, 2)), rng.integers(0, 2, (n, 2))
    if kind == "outliers":
        return rng.standard_cauchy((n, 4)) ** 3, rng.standard_cauchy((n, 4))
    far = np.arange(n)[:, None] % 2 * 1e6
    return rng.standard_normal((n, 3)) + far, rng.standard_normal((n, 3)) + far[:, :1] * (far > 0)


@pytest.mark.parametrize("kind", ["line", "copies", "outliers", "two far modes"])
@pytest.mark.parametrize("scale", [1e-120, 1.0, 1e200])
def test_hard_costs(rng, kind, scale):
    costs = cdist(*clouds(rng, kind), "sqeuclidean")
    costs *= scale / costs.max()
    assert found(costs) == pytest.approx(least(costs), rel=1e-9)


def test_no_costs_at_all():
    assert found(np.zeros((40, 40))) == 0


@pytest.fixture
def cells(rng):
    """Two histograms on seven cells, with empty cells on both sides, and their costs."""
    centres = rng.standard_normal((7, 2))
    costs = ((centres[:, None] - centres) ** 2).sum(axis=2)
    p, q = rng.dirichlet(np.ones(7)), rng.dirichlet(np.ones(7))
    p[2], q[5] = 0, 0
    return p / p.sum(), q / q.sum(), costs


def test_two_cells_by_hand():
    # π = [[a, ½ − a], [½ − a, a]] with a²/(½ − a)² = exp(2C/ε); here C = 1 and exp(1/ε) = 3
    half, costs = np.array([0.5, 0.5]), 1 - np.eye(2)
    plan = entropic(half, half, costs, regularisation=1 / np.log(3))
    a = 0.5 * 3 / 4
    assert plan.transport == pytest.approx(1 - 2 * a, abs=1e-9)
    spread = 2 * a * np.log(4 * a) + (1 - 2 * a) * np.log(4 * (0.5 - a))
    assert plan.value == pytest.approx(1 - 2 * a + spread / np.log(3), abs=1e-9)


def test_entropic_plan_as_pot_finds_it(cells):
    ot = need("ot")
    p, q, costs = cells
    inner = np.ix_(p > 0, q > 0)
    for epsilon in (0.2, 1.0, 5.0):
        theirs = ot.sinkhorn(p[p > 0], q[q > 0], costs[inner], epsilon, stopThr=1e-13)
        ours = entropic(p, q, costs, regularisation=epsilon)
        assert ours.transport == pytest.approx(np.sum(theirs * costs[inner]), abs=1e-8)


def test_between_the_exact_cost_and_independence(cells):
    need("ot")
    p, q, costs = cells
    found = [entropic(p, q, costs, regularisation=e).transport for e in (0.01, 0.1, 1, 1e6)]
    assert (np.diff(found) > 0).all()
    assert found[0] == pytest.approx(transport_cost(p, q, costs), abs=0.02)
    assert found[-1] == pytest.approx(p @ costs @ q, rel=1e-5)


def test_small_regularisation_neither_overflows_nor_lies(cells):
    need("ot")
    p, q, costs = cells
    tiny = entropic(p, q, costs * 1e6, regularisation=1e3)
    same = entropic(p, q, costs, regularisation=1e-3)
    assert tiny.transport == pytest.approx(1e6 * same.transport, rel=1e-6)
    assert same.transport == pytest.approx(transport_cost(p, q, costs), abs=1e-3)


def test_where_sinkhorn_crawls_newton_ends_it(rng):
    # Nearly equal histograms on far cells: rounds barely move what little has to move
    need("ot")
    p = rng.dirichlet(np.ones(30))
    q = (1 - 1e-6) * p + 1e-6 * rng.dirichlet(np.ones(30))
    centres = 5 * rng.standard_normal((30, 3))
    costs = ((centres[:, None] - centres) ** 2).sum(axis=2)
    for epsilon in (0.5, 5.0):
        plan = entropic(p, q, costs, regularisation=epsilon)
        assert plan.transport >= transport_cost(p, q, costs) - 1e-9
        dual = entropic(q, p, costs.T, regularisation=epsilon)
        assert plan.value == pytest.approx(dual.value, abs=1e-6)


def test_no_convergence_is_said(cells, monkeypatch):
    monkeypatch.setattr(transport, "PROJECTIONS", 2)
    monkeypatch.setattr(transport, "ROUNDS", 2)
    monkeypatch.setattr(transport, "NEWTON_STEPS", 1)
    p, q, costs = cells
    with pytest.raises(NoPlanError, match=r"regularisation 0\.001"):
        entropic(p, q, costs, regularisation=1e-3)
    with pytest.raises(NoPlanError, match=r"barycentre .*regularisation 0\.01"):
        barycentre(p, q, costs, weight=0.5, regularisation=1e-2)


def test_exact_plan_moves_what_it_should(cells):
    need("ot")
    p, q, costs = cells
    plan = transport_plan(p, q, costs)
    np.testing.assert_allclose(plan.sum(axis=1), p, atol=1e-12)
    np.testing.assert_allclose(plan.sum(axis=0), q, atol=1e-12)
    assert transport_cost(p, q, costs) == pytest.approx(by_linear_programme(p, q, costs), abs=1e-9)


def by_linear_programme(p, q, costs):
    k = len(p)
    rows, columns = np.kron(np.eye(k), np.ones(k)), np.kron(np.ones(k), np.eye(k))
    return linprog(costs.ravel(), A_eq=np.vstack([rows, columns]), b_eq=np.r_[p, q]).fun


def test_a_solver_that_stops_early_gives_no_value(cells, monkeypatch):
    ot = need("ot")
    stopped = {"warning": "numItermax reached before optimality."}
    monkeypatch.setattr(ot, "emd", lambda p, q, costs, **_: (np.outer(p, q), stopped))
    with pytest.raises(NoPlanError, match="numItermax"):
        transport_plan(*cells)


def test_stop_overs_by_brute_force(cells):
    costs = cells[2]
    prices, stops = stop_overs(costs, 0.3, threads=2)
    every = 0.3 * costs[:, :, None] + 0.7 * costs[None, :, :]  # from, over, to
    np.testing.assert_array_equal(prices, every.min(axis=1))
    np.testing.assert_array_equal(stops, every.argmin(axis=1))


def least_objective(p, q, costs, weight):
    """Equation 32 as it stands, a linear programme over both plans; they end in one histogram."""
    k = len(p)
    rows, columns = np.kron(np.eye(k), np.ones(k)), np.kron(np.ones(k), np.eye(k))
    none = np.zeros_like(rows)
    equal = np.block([[rows, none], [none, rows], [columns, -columns]])
    price = np.r_[weight * costs.ravel(), (1 - weight) * costs.ravel()]
    return linprog(price, A_eq=equal, b_eq=np.r_[p, q, np.zeros(k)]).fun


@pytest.mark.parametrize("weight", [1e-6, 0.2, 0.5, 0.9])
def test_exact_barycentre(cells, rng, weight):
    need("ot")
    p, q, costs = cells
    middle, from_p, from_q = exact_barycentre(p, q, costs, weight=weight)
    assert middle.sum() == pytest.approx(1)
    assert from_p == pytest.approx(transport_cost(p, middle, costs), abs=1e-12)
    assert from_q == pytest.approx(transport_cost(q, middle, costs), abs=1e-12)
    objective = weight * from_p + (1 - weight) * from_q
    assert objective == pytest.approx(least_objective(p, q, costs, weight), abs=1e-9)
    for share in (0, 0.25, weight, 0.75, 1):
        mixed = share * p + (1 - share) * q
        costs_of_mixed = [transport_cost(side, mixed, costs) for side in (p, q)]
        assert objective <= weight * costs_of_mixed[0] + (1 - weight) * costs_of_mixed[1] + 1e-12


def test_a_cell_half_way_is_the_barycentre():
    need("ot")
    line = np.array([0.0, 1.0, 2.0])
    costs = (line[:, None] - line) ** 2
    middle, from_p, from_q = exact_barycentre(
        np.array([1.0, 0, 0]), np.array([0, 0, 1.0]), costs, weight=0.5
    )
    assert middle.tolist() == [0, 1, 0]
    assert (from_p, from_q) == (1, 1)


@pytest.mark.parametrize("weight", [0.3, 0.5])
def test_entropic_barycentre_as_pot_finds_it(cells, weight):
    ot = need("ot")
    p, q = ((side + 0.1) / (side + 0.1).sum() for side in cells[:2])  # its logarithms take no 0
    costs, weights = cells[2], np.array([weight, 1 - weight])
    middle = ot.bregman.barycenter(
        np.stack([p, q], axis=1),
        costs,
        0.5,
        weights=weights,
        method="sinkhorn_log",  # the default misses the minimum for weights other than ½
        stopThr=1e-14,
        numItermax=10_000,
    )
    theirs = [entropic(side, middle, costs, regularisation=0.5).transport for side in (p, q)]
    ours = barycentre(p, q, costs, weight=weight, regularisation=0.5)
    assert ours == pytest.approx(theirs, abs=1e-6)
