import numpy as np
import pytest

from calipers.metrics import frechet_distance


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


def test_a_single_row_is_undefined():
    score = frechet_distance(np.zeros((1, 2)), np.zeros((5, 2)))
    assert np.isnan(score.value)
    assert score.reason == "a covariance needs at least two rows in each set"
