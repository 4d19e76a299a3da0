"""The drop-in for prdc: by hand, and against the package itself, digit by digit."""

import contextlib
import io

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from calipers.compat.prdc import compute_prdc
from calipers.errors import InputError
from extras import need


def theirs(real, fake, k):
    prdc = need("prdc")
    with contextlib.redirect_stdout(io.StringIO()):  # it prints the sizes
        return prdc.compute_prdc(real, fake, nearest_k=k)


def assert_equal_digits(real, fake, k):
    ours, other = compute_prdc(real, fake, nearest_k=k), theirs(real, fake, k)
    assert list(ours) == list(other)
    assert ours == other
    assert {type(value) for value in ours.values()} == {type(value) for value in other.values()}


def test_four_points_by_hand():
    # Radii of 0, 1, 3, 7 are 1, 1, 2, 4; of 2, 4, 5, 20 they are 2, 1, 1, 15; rims lie outside
    found = compute_prdc([[0.0], [1], [3], [7]], [[2.0], [4], [5], [20]], 1)
    assert found == {"precision": 3 / 4, "recall": 3 / 4, "density": 4 / 4, "coverage": 2 / 4}


@pytest.mark.parametrize("k", [1, 3, 5])
@pytest.mark.parametrize(("n", "m", "d"), [(300, 200, 8), (150, 400, 50), (200, 200, 1)])
@pytest.mark.parametrize("dtype", ["float64", "float32"])
def test_random_features_score_as_in_prdc(rng, k, n, m, d, dtype):
    real, fake = rng.standard_normal((n, d)), 0.9 * rng.standard_normal((m, d))
    assert_equal_digits(real.astype(dtype), fake.astype(dtype), k)


@settings(max_examples=12)
@given(st.integers(0, 2**32 - 1), st.integers(1, 6), st.sampled_from(["f4", "f8", "i8"]))
def test_ties_of_whole_numbers_score_as_in_prdc(seed, k, dtype):
    # Small whole numbers are exact in their arithmetic too, and nearly every rim holds a sample
    drawn = np.random.default_rng(seed)
    real, fake = drawn.integers(0, 4, (40, 3)), drawn.integers(0, 4, (30, 3))
    assert_equal_digits(real.astype(dtype), fake.astype(dtype), k)


def test_a_set_against_itself_and_with_copies_scores_as_in_prdc(rng):
    real, fake = rng.standard_normal((120, 6)), rng.standard_normal((90, 6))
    fake[:20] = real[:20]
    fake[20:25] = fake[25:30]
    real[40:45] = real[45:50]
    for k in (2, 4):
        assert_equal_digits(real, fake, k)
        assert_equal_digits(real, real, k)


def test_nothing_is_printed(capsys):
    compute_prdc(np.eye(5), np.eye(5) + 1, 2)
    assert capsys.readouterr().out == ""


@pytest.mark.parametrize(
    ("real", "fake", "k", "message"),
    [
        (np.eye(5), np.eye(5), 0, "nearest_k .*at least 1.* 0"),
        (np.eye(5), np.eye(5), 2.5, "nearest_k .*at least 1.* 2.5"),
        (np.eye(5), np.eye(5)[:3], 3, "the generated set has 3"),
        (np.eye(5), np.eye(4), 1, "the same number of columns.* 5 and 4"),
        (np.full((5, 2), np.nan), np.eye(5)[:, :2], 1, "real_features .*finite numbers"),
    ],
)
def test_bad_input_is_refused(real, fake, k, message):
    with pytest.raises(InputError, match=message):
        compute_prdc(real, fake, k)
