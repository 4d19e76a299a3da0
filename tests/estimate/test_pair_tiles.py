import numpy as np
import pytest

from calipers.estimate.pairwise import _sum, centred, pair_sums, squared_distances


def exact(x, y):
    wide = np.asarray(x, np.longdouble), np.asarray(y, np.longdouble)
    return np.array([((row - wide[1]) ** 2).sum(axis=1) for row in wide[0]])


@pytest.mark.parametrize("offset", [0.0, 1e6, -1e90])
def test_squared_distances_keep_their_digits(rng, offset):
    x = rng.standard_normal((60, 5)) * 1e-3 + offset
    y = np.concatenate([x[:20], x[20:40] + 1e-9, rng.standard_normal((9, 5)) + offset])
    found, expected = squared_distances(*centred(x, y)), exact(x, y).astype(float)
    np.testing.assert_allclose(found, expected, rtol=1e-11, atol=0)
    assert found[0, 0] == 0


def test_two_far_modes_of_tiny_spread(rng):
    modes = np.repeat([[0.0], [1e6]], 30, axis=0)
    x, y = (modes + rng.standard_normal((60, 3)) * 1e-6 for _ in range(2))
    np.testing.assert_allclose(
        squared_distances(*centred(x, y)), exact(x, y).astype(float), rtol=1e-9
    )


def test_sums_over_tiles(rng, monkeypatch):
    monkeypatch.setattr("calipers.estimate.pairwise.spans", lambda n: [(0, 7), (7, 20), (20, n)])
    x, y = rng.standard_normal((45, 4)), rng.standard_normal((38, 4))
    sums = pair_sums(*centred(x, y), squared_distances, threads=3)
    assert sums.reference == pytest.approx(float(exact(x, x).sum()), rel=1e-12)
    assert sums.generated == pytest.approx(float(exact(y, y).sum()), rel=1e-12)
    assert sums.across == pytest.approx(float(exact(x, y).sum()), rel=1e-12)


def test_no_row_meets_itself(rng):
    x, y = rng.standard_normal((5, 2)), rng.standard_normal((4, 2))
    sums = pair_sums(
        *centred(x, y),
        lambda one, other: np.ones((len(one.squares), 4 + (len(other.squares) == 5))),
    )
    assert (sums.reference, sums.generated, sums.across) == (20, 12, 20)
    assert sums.unbiased() == 0


@pytest.mark.parametrize("totals", [[np.inf, -np.inf], [1e308, 1e308], [np.nan, 1.0]])
def test_sums_that_overflow_are_nan(totals):
    assert np.isnan(_sum(totals))


def test_threads_change_no_bit_of_a_sum(rng):
    x, y = rng.standard_normal((2100, 3)), rng.standard_normal((1500, 3))
    one, more = (pair_sums(*centred(x, y), squared_distances, threads=t) for t in (1, 4))
    assert one == more
