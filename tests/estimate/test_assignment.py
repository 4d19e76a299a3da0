import numpy as np
import pytest
from scipy.optimize import linear_sum_assignment
from scipy.spatial.distance import cdist

from calipers.estimate.transport import assign


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
