import numpy as np
import pytest

from calipers.errors import InputError
from calipers.estimate.axes import leading_axes, scale_alike, whiten


def test_leading_axes_equal_a_singular_value_decomposition(rng):
    x = rng.standard_normal((60, 8)) * np.arange(8, 0, -1) + 100
    y = rng.standard_normal((40, 8)) * np.arange(8, 0, -1) + 101
    left, right = leading_axes(x, y, dimensions=3)
    union = np.concatenate([x, y])
    centred = union - union.mean(axis=0)
    expected = np.abs(centred @ np.linalg.svd(centred, full_matrices=False)[2][:3].T)
    found = np.abs(np.concatenate([left, right]))
    scale = expected.max() / found.max()
    assert np.log2(scale) == pytest.approx(round(np.log2(scale)), abs=1e-5)  # a power of two
    np.testing.assert_allclose(found * scale, expected, rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("dimensions", [None, 5, 9])
def test_rows_that_have_no_more_columns_stay_as_they_are(rng, dimensions):
    x, y = rng.standard_normal((9, 5)), rng.standard_normal((7, 5))
    left, right = leading_axes(x, y, dimensions=dimensions)
    np.testing.assert_array_equal(left, x)
    np.testing.assert_array_equal(right, y)


def test_order_moves_no_coordinate_and_copies_stay_copies(rng):
    x = rng.standard_normal((5000, 30)).astype(np.float32)
    y = np.concatenate([x[:100], rng.standard_normal((900, 30)).astype(np.float32)])
    left, right = leading_axes(x, y, dimensions=4)
    np.testing.assert_array_equal(left[:100], right[:100])
    order = rng.permutation(5000)
    again, _ = leading_axes(x[order], y, dimensions=4)
    np.testing.assert_array_equal(np.abs(again), np.abs(left[order]))


def test_fewer_axes_than_asked_for_where_there_are_no_more():
    x, y = np.eye(3, 20), np.eye(4, 20)
    left, right = leading_axes(x, y, dimensions=10)
    assert left.shape == (3, 3)  # three distances between four different rows
    assert right.shape == (4, 3)


@pytest.mark.parametrize("offset", [0.0, 1e4])
def test_whitened_sets_have_a_covariance_of_one_on_the_axes_that_vary(rng, offset):
    x, y = rng.standard_normal((50, 6)), rng.standard_normal((70, 6)) * 3
    x[:, 2], y[:, 2] = 4.0, 4.0
    x[:, 5], y[:, 5] = x[:, 0] + x[:, 1], y[:, 0] + y[:, 1]
    left, right = whiten(x + offset, y + offset)
    union = np.concatenate([left, right])
    assert union.shape == (120, 4)
    np.testing.assert_allclose(np.cov(union.T), np.eye(4), atol=1e-8)
    np.testing.assert_allclose(union.mean(axis=0), 0, atol=1e-8)


@pytest.mark.parametrize("exponent", [-1000, -540, -40, 20])
@pytest.mark.parametrize("dimensions", [2, None])
def test_rows_of_any_size_have_the_same_form(rng, exponent, dimensions):
    sets = rng.standard_normal((50, 4)), rng.standard_normal((70, 4)) * 3
    small = [np.ldexp(rows, exponent) for rows in sets]
    for make in (whiten, scale_alike):
        expected = make(*leading_axes(*sets, dimensions=dimensions))
        found = make(*leading_axes(*small, dimensions=dimensions))
        np.testing.assert_allclose(found[0], expected[0], rtol=1e-9, atol=1e-12)
        np.testing.assert_allclose(found[1], expected[1], rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize(("unit", "kept"), [(1e-5, 3), (1e-7, 2)])
def test_axes_are_kept_by_their_spread_whatever_they_tell(rng, unit, kept):
    x, y = rng.standard_normal((2, 200, 3))
    y[:, 2] += 5
    assert whiten(x * [1, 1, unit], y * [1, 1, unit])[0].shape == (200, kept)


def test_scaling_alike_keeps_angles(rng):
    x, y = rng.standard_normal((50, 3)) * [1, 2, 3] + 5, rng.standard_normal((20, 3))
    left, right = scale_alike(x, y)
    union, given = np.concatenate([left, right]), np.concatenate([x, y])
    assert np.trace(np.cov(union.T)) == pytest.approx(3)
    ratio = (union - union.mean(axis=0)) / (given - given.mean(axis=0))
    np.testing.assert_allclose(ratio, ratio[0, 0], rtol=1e-9)


@pytest.mark.parametrize("make", [whiten, scale_alike])
def test_sets_without_any_spread_are_refused(make):
    with pytest.raises(InputError, match="all rows of both sets are equal"):
        make(np.ones((4, 2)), np.ones((3, 2)))


@pytest.mark.parametrize("dimensions", [0, -1, 2.5, True, "3"])
def test_dimensions_must_be_a_whole_number(dimensions):
    with pytest.raises(InputError, match="dimensions must be a whole number of at least 1"):
        leading_axes(np.eye(3), np.eye(3), dimensions=dimensions)
