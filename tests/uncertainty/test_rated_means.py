"""Mean ratings: by hand, laws, and coverage where raters and items differ."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from calipers.uncertainty.rated_means import rated_means


@pytest.fixture(scope="module")
def ratings(experiments):
    """The script that draws crowds who rate."""
    import crowds_ratings

    return crowds_ratings


def test_one_rating_each_is_the_error_of_a_mean():
    values = [1.0, 2.0, 4.0, 5.0]
    found = rated_means(["x"] * 4, values, range(4))
    error = np.std(values, ddof=1) / 2
    assert found.means.tolist() == [3]
    assert found.counts.tolist() == [4]
    assert found.standard_errors == pytest.approx([error])
    reach = 3.182446305284263 * error  # Student's t with 3 degrees of freedom
    assert found.intervals[0] == pytest.approx([3 - reach, 3 + reach])


def test_raters_and_items_by_hand():
    # Two raters of two items: the mean is 4; raters lie −1 and 1 from it, items −2 and 2, and the
    # four ratings −3, −1, 1, 3. Sums over 4: raters ±1/2, items ±1; V = 2(1/4 + 1/4) for raters,
    # 2(1 + 1) for items, and 4/3 (9 + 1 + 1 + 9)/16 for ratings
    found = rated_means(["x"] * 4, [1, 3, 5, 7], ["ann", "bob"] * 2, [0, 0, 1, 1])
    assert found.means.tolist() == [4]
    assert found.standard_errors**2 == pytest.approx([1 + 4 - 4 / 3 * 20 / 16])
    reach = 12.706204736432095 * found.standard_errors[0]
    assert found.intervals[0] == pytest.approx([4 - reach, 4 + reach])


def test_a_system_of_one_item_has_the_errors_of_its_raters():
    system = ["x", "x", "y", "y", "y", "y"]
    rating, rater = [1, 3, 2, 4, 6, 9], ["ann", "bob", "ann", "bob", "ann", "bob"]
    found = rated_means(system, rating, rater, [0, 0, 1, 1, 2, 2])
    by_rater = rated_means(system, rating, rater)
    assert found.standard_errors[0] == pytest.approx(by_rater.standard_errors[0]) == 1
    assert found.intervals[0] == pytest.approx(by_rater.intervals[0])
    assert found.standard_errors[1] > by_rater.standard_errors[1]
    assert found.covariance[0, 1] == pytest.approx(by_rater.covariance[0, 1])


def test_a_system_of_one_rater_has_no_error():
    found = rated_means(["x", "x", "y", "y"], [1, 2, 3, 5], [0, 0, 0, 1], [0, 1, 2, 2])
    assert math.isnan(found.standard_errors[0])
    assert np.isnan(found.intervals[0]).all()
    assert found.standard_errors[1] == pytest.approx(1)


@settings(max_examples=20)
@given(st.integers(0, 1000))
def test_laws(seed):
    """Items that are all different change nothing; the order of rows and names does not matter."""
    rng = np.random.default_rng(seed)
    system, rater = rng.integers(0, 3, 60), rng.integers(0, 6, 60)
    item = system * 10 + rng.integers(0, 8, 60)
    values = rng.standard_normal(60) + item / 20
    by_rater = rated_means(system.astype(str), values, rater)
    alone = rated_means(system.astype(str), values, rater, np.arange(60))
    assert alone.covariance == pytest.approx(by_rater.covariance)
    assert alone.intervals == pytest.approx(by_rater.intervals)
    found = rated_means(system.astype(str), values, rater, item)
    assert np.linalg.eigvalsh(found.covariance).min() > -1e-9
    order = rng.permutation(60)
    names = np.array(["ann", "bob", "cy", "dee", "eve", "flo"])[rater[order]]
    again = rated_means(system[order].astype(str), values[order], names, item[order])
    assert again.covariance == pytest.approx(found.covariance)
    assert again.intervals == pytest.approx(found.intervals)


def test_intervals_cover_where_texts_differ(ratings):
    row = ratings.measure(30, 1.0, 60, 3)
    assert row.held["by rater"] < 0.92
    assert 0.92 < row.held["by rater and item"] < 0.98
    assert ratings.table([row]).splitlines()[2].startswith("| 30 | 1.0 |")
