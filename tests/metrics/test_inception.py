import numpy as np
import pytest
from scipy.special import rel_entr

from calipers.errors import InputError
from calipers.metrics.inception import inception_score


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
        ([0.5, 0.5], r"must have shape \(samples, dimensions\)"),
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
