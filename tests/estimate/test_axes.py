"""Principal axes, the joint preprocessing, and few dimensions for ratios."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.decomposition import PCA

from calipers.errors import InputError
from calipers.estimate import preprocess
from calipers.estimate.axes import (
    leading_axes,
    principal_axes,
    scale_alike,
    scatter_about,
    unit_rows,
    whiten,
)
from calipers.estimate.moments import Moments
from calipers.numeric.blocks import Blocks
from calipers.numeric.threads import Workers


@pytest.fixture
def pair(rng):
    scales = np.linspace(3, 0.1, 12)
    return rng.standard_normal((90, 12)) * scales, rng.standard_normal((70, 12)) * scales + 0.4


def test_equals_scikit_learn(pair):
    ours = preprocess(*pair, norm="none", pca=0.9)
    union = np.concatenate(pair)
    theirs = PCA(n_components=0.9, svd_solver="full").fit(union)
    assert ours.reference.shape[1] == theirs.n_components_
    assert ours.explained_variance == pytest.approx(theirs.explained_variance_ratio_.sum())
    expected = theirs.transform(pair[0])
    np.testing.assert_allclose(np.abs(ours.reference), np.abs(expected), atol=1e-4)


def test_all_axes_keep_all_distances(pair):
    ours = preprocess(*pair, norm="none", pca=1.0)
    np.testing.assert_allclose(
        np.linalg.norm(ours.reference[0] - ours.generated, axis=1),
        np.linalg.norm(pair[0][0] - pair[1], axis=1),
        rtol=1e-5,
    )


def test_rows_get_length_one_and_zero_rows_stay():
    rows = unit_rows(np.array([[3.0, 4.0], [0.0, 0.0]]))
    np.testing.assert_allclose(rows, [[0.6, 0.8], [0, 0]])


def test_no_step_leaves_the_rows_as_they_are(pair):
    ours = preprocess(*pair, norm="none", pca=None)
    np.testing.assert_array_equal(ours.generated, pair[1])


def test_constant_rows_do_not_fail():
    same = np.ones((10, 4))
    assert (preprocess(same, same).reference == 0).all()


@pytest.mark.parametrize("share", [0, 1.5, -0.1])
def test_bad_share(pair, share):
    with pytest.raises(InputError, match="share of the variance in"):
        preprocess(*pair, pca=share)


@given(st.integers(1, 30), st.integers(1, 30))
def test_moments_merge(n, m):
    rng = np.random.default_rng([n, m])
    x, y = rng.standard_normal((n, 3)) + 5, rng.standard_normal((m, 3))
    merged, whole = Moments.of(x).merge(Moments.of(y)), Moments.of(np.concatenate([x, y]))
    assert merged.count == whole.count
    np.testing.assert_allclose(merged.mean, whole.mean, atol=1e-12)
    np.testing.assert_allclose(merged.scatter, whole.scatter, atol=1e-9)


def test_blocks_of_moments_make_the_whole(rng):
    rows = rng.standard_normal((50, 4))
    parts = Moments.by_block(rows, Blocks.balanced(50, seed=0, count=5))
    assert [part.count for part in parts] == [10] * 5
    merged = parts[0]
    for part in parts[1:]:
        merged = merged.merge(part)
    np.testing.assert_allclose(merged.covariance, np.cov(rows.T), atol=1e-12)


def test_blocks_are_shared_by_sets_of_one_size():
    one, two = Blocks.balanced(103, seed=7), Blocks.balanced(103, seed=7)
    np.testing.assert_array_equal(one.labels, two.labels)
    assert set(np.bincount(one.labels)) == {5, 6}
    assert (Blocks.balanced(103, seed=8).labels != one.labels).any()


def test_moments_and_projection_of_more_rows_than_one_step_takes(rng):
    rows = rng.standard_normal((9001, 3)) * [3, 2, 1] + [5, 0, -2]
    moments = Moments.of(rows)
    np.testing.assert_allclose(moments.covariance, np.cov(rows.T), atol=1e-9)
    ours = preprocess(rows, rows[:7], norm="none", pca=1.0)
    for place in (0, 4095, 4096, 8191, 8192, 9000):
        np.testing.assert_allclose(
            np.linalg.norm(ours.reference[place] - ours.generated, axis=1),
            np.linalg.norm(rows[place] - rows[:7], axis=1),
            atol=1e-4,
        )


def test_axes_are_those_of_the_union_and_not_of_one_side(rng):
    # Each side spreads along one axis of its own; the union needs both
    left, right = rng.standard_normal((2, 60, 2)) * [[[1, 0]], [[0, 1]]]
    ours = preprocess(left, right, norm="none", pca=0.9)
    assert ours.reference.shape == (60, 2)
    assert ours.generated.std() > 0.5
    assert ours.explained_variance == 1


def test_both_sides_are_scaled_to_length_one(pair):
    ours = preprocess(*pair, norm="l2", pca=None)
    for side in (ours.reference, ours.generated):
        np.testing.assert_allclose(np.linalg.norm(side, axis=1), 1)


@pytest.mark.parametrize("share", [0.3, 0.9, 1.0])
def test_principal_axes_equal_those_of_a_full_decomposition(rng, share):
    spread = 1 / (1 + np.arange(120.0))
    turn = np.linalg.qr(rng.standard_normal((120, 120)))[0]
    scatter = (turn * spread) @ turn.T
    axes, kept = principal_axes(scatter, share)
    shares = np.cumsum(spread) / spread.sum()
    count = int(np.searchsorted(shares, share - 1e-12)) + 1
    assert axes.shape == (120, count)
    assert kept == pytest.approx(shares[count - 1])
    np.testing.assert_allclose(np.abs(axes.T @ turn[:, :count]), np.eye(count), atol=1e-10)


def test_few_axes_and_all_axes_are_found_alike(rng, monkeypatch):
    rows = rng.standard_normal((400, 90)) / (1 + np.arange(90.0))
    scatter = rows.T @ rows
    found = []
    for concentrated in (0.0, 1.0):
        monkeypatch.setattr("calipers.estimate.axes.CONCENTRATED", concentrated)
        found.append(principal_axes(scatter, 0.9))
    assert found[0][0].shape == found[1][0].shape
    assert found[0][1] == pytest.approx(found[1][1], abs=1e-12)
    np.testing.assert_allclose(np.abs(found[0][0]), np.abs(found[1][0]), atol=1e-9)


def test_a_scatter_of_nothing_has_one_axis():
    axes, kept = principal_axes(np.zeros((5, 5)), 0.9)
    assert axes.shape == (5, 1)
    assert kept == 1


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize(("n", "d"), [(1, 1), (50, 48), (600, 49), (4500, 100)])
def test_scatter_about_a_centre(rng, dtype, n, d):
    rows = (rng.standard_normal((n, d)) + 1).astype(dtype)
    centre = rng.standard_normal(d)
    deviations = rows.astype(float) - centre
    expected = 3 * deviations[: n // 2].T @ deviations[: n // 2]
    expected += deviations[n // 2 :].T @ deviations[n // 2 :]
    sets = [part for part in (rows[: n // 2], rows[n // 2 :]) if len(part)]
    found = scatter_about(sets, centre, [3, 1][-len(sets) :], Workers.alone())
    tolerance = 1e-5 if dtype == np.float32 else 1e-12
    np.testing.assert_allclose(found, expected, atol=tolerance * max(1, np.abs(expected).max()))
    np.testing.assert_array_equal(found, found.T)


@pytest.mark.parametrize("threads", [2, 3])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_threads_change_no_coordinate(rng, dtype, threads):
    rows = rng.standard_normal((2, 1300, 60)).astype(dtype)
    one, many = (preprocess(*rows, threads=count) for count in (1, threads))
    np.testing.assert_array_equal(one.reference, many.reference)
    np.testing.assert_array_equal(one.generated, many.generated)


def test_rows_whose_squares_underflow_get_length_one():
    rows = np.array([[3e-200, 4e-200], [3e-30, 4e-30]])
    np.testing.assert_allclose(unit_rows(rows), [[0.6, 0.8]] * 2, rtol=1e-12)
    short = np.array([[3e-42, 4e-42]], np.float32)
    np.testing.assert_allclose(unit_rows(short), [[0.6, 0.8]], rtol=1e-3)


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
    with pytest.raises(InputError, match=r"dimensions .*at least 1"):
        leading_axes(np.eye(3), np.eye(3), dimensions=dimensions)
