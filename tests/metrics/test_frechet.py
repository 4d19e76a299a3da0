"""The Fréchet distance, whole and without blocks of rows, and the Inception score."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.special import rel_entr

from calipers.errors import InputError
from calipers.estimate.moments import Moments
from calipers.metrics.frechet import frechet_distance, frechet_score, frechet_without
from calipers.metrics.inception import inception_score
from calipers.numeric.blocks import Blocks


def test_shifted_sets_by_hand(rng):
    rows = rng.standard_normal((50, 3))
    assert frechet_distance(rows, rows + np.array([3.0, 0.0, 4.0])).value == pytest.approx(
        25, abs=1e-9
    )


def test_scaled_axes_by_hand(rng):
    # Diagonal covariances s² and t²: the distance is Σ (s − t)² of the standard deviations
    corners = np.array([[x, y] for x in (-1.0, 1) for y in (-1.0, 1)])
    spread = np.sqrt(4 / 3)  # unbiased standard deviation of -1, -1, 1, 1
    expected = spread**2 * ((2 - 1) ** 2 + (5 - 1) ** 2)
    assert frechet_distance(corners, corners * [2.0, 5.0]).value == pytest.approx(expected)


def test_more_dimensions_than_samples(rng):
    few = rng.standard_normal((10, 60)).astype(np.float32)
    assert frechet_distance(few, few).value == pytest.approx(0, abs=1e-9)
    assert frechet_distance(few, few + 1).value == pytest.approx(60, rel=1e-5)


@pytest.mark.parametrize("sides", [(True, True), (True, False), (False, True)])
def test_statistics_give_the_distance_of_their_rows(rng, sides, tmp_path):
    rows = [rng.standard_normal((40, 3)), rng.standard_normal((60, 3)) * 2 + 1]
    given = []
    for place, kept in enumerate(sides):
        path = tmp_path / f"{place}.npz"
        np.savez(path, mu=rows[place].mean(axis=0), sigma=np.cov(rows[place], rowvar=False))
        given.append(np.load(path) if kept else rows[place])
    score = frechet_distance(*given)
    assert score.value == pytest.approx(frechet_distance(*rows).value)
    assert "n:unknown" in score.signature or "m:unknown" in score.signature


@pytest.mark.parametrize(
    ("statistics", "message"),
    [
        ({}, "reference: statistics need a mean 'mu' and a covariance 'sigma'; found nothing"),
        ({"mu": [0.0]}, "found 'mu'"),
        ({"mu": [0.0, 1.0], "sigma": [[1.0]]}, r"shapes \(2,\) and \(1, 1\)"),
        ({"mu": ["a"], "sigma": [[1.0]]}, "of numbers"),
        ({"mu": [np.nan], "sigma": [[1.0]]}, "finite"),
        ({"mu": [0.0, 0.0], "sigma": [[1.0, 2.0], [0.0, 1.0]]}, "symmetric"),
        ({"mu": [0.0, 0.0], "sigma": np.eye(2)}, "same number of columns; found 2 and 3"),
    ],
)
def test_statistics_that_are_none(statistics, message, rng):
    with pytest.raises(InputError, match=message):
        frechet_distance(statistics, rng.standard_normal((9, 3)))


def test_a_single_row_is_undefined():
    score = frechet_distance(np.zeros((1, 2)), np.zeros((5, 2)))
    assert np.isnan(score.value)
    assert score.reason == "a covariance needs at least two rows in each set"


# The Fréchet distance with a block of rows left out, from moments, against that of the rest.


def without(sets, blocks):
    whole = [Moments.of(points) for points in sets]
    parts = [Moments.by_block(points, labels) for points, labels in zip(sets, blocks, strict=True)]
    return frechet_without(*whole, *parts)


def rest_of(sets, blocks, place, block):
    rest = list(sets)
    rest[place] = sets[place][blocks[place].labels != block]
    return rest


@pytest.mark.parametrize(("n", "m", "d"), [(60, 45, 3), (200, 210, 20), (40, 50, 1)])
def test_equals_the_distance_of_the_rest(rng, n, m, d):
    sets = rng.standard_normal((n, d)) * 3, rng.standard_normal((m, d)) + 0.5
    blocks = tuple(Blocks.balanced(size, seed=0, count=5) for size in (n, m))
    for place, values in enumerate(without(sets, blocks)):
        wanted = [frechet_distance(*rest_of(sets, blocks, place, b)).value for b in range(5)]
        np.testing.assert_allclose(values, wanted, rtol=1e-6)


def test_fewer_rows_than_dimensions(rng):
    sets = rng.standard_normal((30, 50)), rng.standard_normal((30, 50)) + 0.2
    blocks = (Blocks.balanced(30, seed=0, count=3),) * 2
    for place, values in enumerate(without(sets, blocks)):
        wanted = [frechet_distance(*rest_of(sets, blocks, place, b)).value for b in range(3)]
        np.testing.assert_allclose(values, wanted, rtol=1e-6)


def test_by_hand_in_one_dimension():
    # Without the block of 4: mean 1, variance 2 against mean 1, variance 2
    sets = np.array([[0.0], [2.0], [4.0]]), np.array([[0.0], [2.0]])
    blocks = Blocks(np.array([0, 0, 1]), 2), Blocks(np.array([0, 1]), 2)
    ours, theirs = without(sets, blocks)
    assert ours[1] == pytest.approx(0.0, abs=1e-12)
    # The whole reference (mean 2, variance 4) against the single row 2, then 0
    assert theirs == pytest.approx([0 + 4, 4 + 4])


def test_a_set_against_itself_stays_near_zero(rng):
    points = rng.standard_normal((100, 6))
    blocks = (Blocks.balanced(100, seed=0),) * 2
    ours, theirs = without((points, points), blocks)
    np.testing.assert_allclose(ours, theirs, rtol=1e-6)
    assert frechet_score(Moments.of(points), Moments.of(points)).value < 1e-9 < ours.min()


def test_constant_rows_score_zero_without_a_block():
    points = np.ones((40, 3))
    blocks = (Blocks.balanced(40, seed=0, count=4),) * 2
    for values in without((points, points), blocks):
        np.testing.assert_allclose(values, 0, atol=1e-12)


def test_by_hand():
    assert inception_score(np.eye(5)).value == pytest.approx(5)
    assert inception_score(np.full((8, 4), 0.25)).value == 1
    assert inception_score([[1.0, 0.0]] * 6).value == 1
    # ½·log(4/3) + ½·log 4 − …: shares (1, 0) and (½, ½) about the mean (¾, ¼)
    gain = 0.5 * np.log(4 / 3) + 0.25 * np.log(2 / 3) + 0.25 * np.log(2)
    assert inception_score([[1.0, 0.0], [0.5, 0.5]]).value == pytest.approx(np.exp(gain))


def test_a_share_whose_mean_is_rounded_to_nothing():
    assert inception_score([[1.0, 5e-324], [1.0, 0.0], [1.0, 0.0]]).value == 1


def test_by_brute_force_and_splits(rng):
    shares = rng.dirichlet(np.full(7, 0.3), 50)
    parts = np.array_split(shares, 4)
    expected = [np.exp(np.mean(rel_entr(part, part.mean(axis=0)).sum(axis=1))) for part in parts]
    score = inception_score(shares, splits=4)
    np.testing.assert_allclose(score.seeds, expected, rtol=1e-12)
    assert score.value == pytest.approx(np.mean(expected))
    assert inception_score(shares).seeds == ()


def test_order_of_rows_and_classes(rng):
    shares = rng.dirichlet(np.ones(6), 40)
    moved = rng.permutation(shares)[:, ::-1]
    assert inception_score(moved).value == pytest.approx(inception_score(shares).value)


def test_range_and_signature(rng):
    shares = rng.dirichlet(np.full(3, 0.01), 500).astype(np.float32)
    score = inception_score(shares)
    assert 1 <= score.value <= 3
    assert score.range == (1.0, 3.0)
    assert score.better == "higher"
    assert score.signature == "metric:inception_score|splits:1|m:500|classes:3"


@pytest.mark.parametrize(
    ("probabilities", "words"),
    [
        ([[0.5, 0.5], [0.6, 0.6]], r"row 2 \(counted from 1\) sums to 1.2"),
        ([[0.5, 0.5], [1.5, -0.5]], r"must not be negative; row 2 \(counted from 1\) holds -0.5"),
        ([0.5, 0.5], r"shape \(samples, dimensions\)"),
        ([[np.nan, 1.0]], "must hold finite numbers"),
    ],
)
def test_bad_input(probabilities, words):
    with pytest.raises(InputError, match=words):
        inception_score(probabilities)


def test_bad_splits():
    for splits, words in ((0, "at least 1; found 0"), (3, "at most the 2 rows; found 3")):
        with pytest.raises(InputError, match=words):
            inception_score(np.eye(2), splits=splits)
