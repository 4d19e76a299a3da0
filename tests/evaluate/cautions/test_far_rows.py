"""A few rows far out are named before anybody reads scores that follow them."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from calipers import compare
from calipers.evaluate.cautions.far_rows import measure_outliers
from calipers.uncertainty.two_sample_classifier import classifier_test


@pytest.fixture(scope="module")
def sides():
    rng = np.random.default_rng(0)
    return rng.normal(size=(300, 8)), rng.normal(size=(300, 8)) + np.r_[4, np.zeros(7)]


@pytest.mark.parametrize("extreme", [1e2, 1e3, 1e12])
def test_one_extreme_row_leaves_the_test_its_power(sides, extreme):
    reference, generated = sides[0].copy(), sides[1]
    plain = classifier_test(reference, generated, permutations=99, threads=1)
    reference[6] = extreme
    found = classifier_test(reference, generated, permutations=99, threads=1)
    assert plain.statistic > 0.99
    assert found.statistic > 0.99
    assert found.p_value == 0.01
    compared = compare(
        reference, {"m": generated}, metrics="mauve_star,mmd", floor=False, level=None, threads=1
    )["m"]
    apart = compare(*sides, metrics="mauve_star,mmd", floor=False, level=None, threads=1)
    for key in ("mauve_star", "mmd"):
        assert compared[key].value == pytest.approx(apart["generated"][key].value, abs=0.01)


@pytest.mark.parametrize("extreme", [1e2, 1e3, 1e12])
def test_one_extreme_row_is_named(sides, extreme):
    reference, generated = sides[0].copy(), sides[1]
    reference[6] = extreme
    found = measure_outliers(reference, generated)
    assert (found.reference, found.generated) == ((6,), ())
    assert found.share > 0.9
    other = measure_outliers(generated, reference)
    assert (other.reference, other.generated) == ((), (6,))
    assert (other.share, other.distance) == pytest.approx((found.share, found.distance), rel=1e-9)


def test_compare_says_so_first(sides):
    reference, generated = sides[0].copy(), sides[1]
    reference[0] = 1e3
    found = compare(
        reference, {"m": generated}, metrics="precision,mmd", floor=False, level=None, threads=1
    )
    assert "! m: row 1 of the reference: 99 % of variance" in str(found)
    (warning,) = [text for text in found["m"].warnings if "variance of both sets" in text]
    assert warning.startswith("row 1 of the reference lies 494 times as far from the mean as")


def test_rows_of_length_one_are_not_looked_at(sides):
    reference, generated = sides[0].copy(), sides[1]
    reference[0] = 1e3
    options = {"metrics": "precision", "floor": False, "level": None, "normalise": "l2"}
    found = compare(reference, {"m": generated}, **options)
    assert "outlier" not in {caution.kind for caution in found["m"].cautions}


@pytest.mark.parametrize(
    "other",
    [
        np.ones((40, 3)),  # all rows are one
        np.r_[np.zeros((30, 3)), np.full((30, 3), 1e4)],  # a mode is none
        np.random.default_rng(1).standard_cauchy((3, 3)),
    ],
)
def test_what_is_no_outlier(other):
    assert measure_outliers(other, other) is None


@given(st.integers(0, 2**32 - 1), st.integers(1, 40), st.integers(2, 200))
def test_gaussian_rows_have_none(seed, columns, rows):
    drawn = np.random.default_rng(seed).normal(size=(rows, columns))
    assert measure_outliers(drawn, drawn[::-1]) is None
