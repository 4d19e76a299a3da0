"""Where nested values lead, and how many samples separate two systems."""

from __future__ import annotations

import math
from statistics import NormalDist

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from calipers.errors import InputError
from calipers.uncertainty.sample_size import Nested, extrapolate, separating_n

SMALL = st.floats(-10, 10)


@given(limit=SMALL, slope=SMALL, error=st.floats(0, 1))
def test_the_law_one_over_n_is_followed_to_its_end(limit, slope, error):
    means = [limit + slope * parts for parts in (8, 4, 2, 1)]
    found = extrapolate(means, error)
    assert found.limit == pytest.approx(limit, abs=1e-9)
    assert found.error == error


def test_a_slower_law_stops_on_the_right_side_by_hand():
    means = [1 / math.sqrt(n) for n in (100, 200, 400, 800)]
    assert extrapolate(means, 0.0).limit == pytest.approx(2 / math.sqrt(800) - 1 / 20)
    assert 0 < extrapolate(means, 0.0).limit < means[-1]


@pytest.mark.parametrize("sign", [1, -1])
def test_steps_that_do_not_shrink_lead_nowhere(sign):
    means = [sign * value for value in (0.1, 0.2, 0.3, 0.4)]
    assert math.isnan(extrapolate(means, 0.001).limit)
    assert math.isnan(extrapolate(means, 0.001).error)


def test_steps_within_chance_are_no_steps():
    assert extrapolate([0.1, 0.2, 0.3, 0.4], 0.08).limit == pytest.approx(0.5)


def test_a_late_start_is_forgiven_once_the_last_steps_shrink():
    assert extrapolate([0.139, 0.0965, 0.0569, 0.0291], 0.001).limit == pytest.approx(0.0013)


def test_the_limit_keeps_to_the_range():
    assert extrapolate([0.67, 0.8, 0.91, 0.97], 0.01, range=(0, 1)).limit == 1
    assert extrapolate([0.4, 0.2, 0.1, 0.03], 0.01, range=(0, math.inf)).limit == 0


@pytest.mark.parametrize("wrong", [math.nan, math.inf])
def test_a_level_without_a_value_leaves_no_limit(wrong):
    assert math.isnan(extrapolate([wrong, 0.5, 0.4, 0.35], 0.01).limit)


def nested(score, n=64, orders=3, seed=0):
    """Score the parts of random orders of n rows."""
    levels = [
        np.array(
            [
                [score(part) for part in np.split(order, parts)]
                for order in (
                    np.random.default_rng([seed, i]).permutation(n) for i in range(orders)
                )
            ]
        )
        for parts in (8, 4, 2, 1)
    ]
    return Nested(tuple(levels))


def test_parts_by_hand():
    levels = [[[1, 3, 5, 7, 1, 3, 5, 7]], [[3, 7, 3, 7]], [[6, 6]], [[6.5]]]
    found = Nested(tuple(np.array(level, float) for level in levels))
    assert found.means == (4, 5, 6, 6.5)
    # Quarters less the mean of their eighths: 1, 1, 1, 1; halves less their quarters: 1, 1
    assert found.step_error == 0
    assert found.spread == pytest.approx(math.sqrt(np.var([3, 7], ddof=1) * 2 / 3 / 4))


def test_rows_move_all_levels_alike():
    rows = np.random.default_rng(1).standard_normal(64)
    found = nested(lambda part: rows[part].mean())
    assert np.ptp(found.means) < 1e-12
    assert found.step_error < 1e-12
    assert found.spread == pytest.approx(rows.std(ddof=1) / 8, rel=0.5)


def test_the_error_of_the_step_is_no_less_than_worlds_show():
    def squared_mean(rng):
        rows = rng.standard_normal(64)
        found = nested(lambda part: rows[part].mean() ** 2, seed=int(rng.integers(2**31)))
        return found.means[-1] - found.means[-2], found.step_error

    rng = np.random.default_rng(2)
    steps, errors = np.array([squared_mean(rng) for _ in range(200)]).T
    assert steps.std() < math.sqrt(np.mean(errors**2)) < 4 * steps.std()


def test_the_limit_over_fixed_cells_is_nearer_than_all_samples():
    # The squared distance of two histograms of the same law: (1/n + 1/n)(1 - sum of squares), 0
    def world(rng):
        cells = rng.integers(20, size=(2, 512))

        def score(part):
            p, q = (np.bincount(side[part], minlength=20) / len(part) for side in cells)
            return float(((p - q) ** 2).sum())

        found = nested(score, n=512, seed=int(rng.integers(2**31)))
        return found.means[-1], extrapolate(found.means, found.step_error).limit

    rng = np.random.default_rng(3)
    plain, limits = np.array([world(rng) for _ in range(60)]).T
    assert plain.mean() == pytest.approx(2 / 512 * 0.95, rel=0.1)
    assert abs(np.nanmean(limits)) < 0.15 * plain.mean()


def test_samples_to_separate_by_hand():
    # At 7,849 samples the error is 0.01 * sqrt(1000 / 7849) = 0.003569, and 0.01 is 2.802 of it
    assert separating_n(0.01, 0.01, 1_000) == 7_849
    assert separating_n(-0.01, 0.01, 1_000) == 7_849


@given(
    difference=st.floats(0.001, 0.1),
    error=st.floats(0.001, 0.1),
    level=st.floats(0.5, 0.99),
    power=st.floats(0.5, 0.99),
)
def test_the_number_reaches_the_power_and_one_less_does_not(difference, error, level, power):
    found = separating_n(difference, error, 500, level=level, power=power)
    normal = NormalDist()
    bound = normal.inv_cdf((1 + level) / 2)
    if found is None:
        assert difference >= bound * error
        return

    def reached(n):
        return normal.cdf(difference / (error * math.sqrt(500 / n)) - bound)

    assert reached(found) >= power - 1e-9
    assert reached(found - 1) < power + 1e-9
    assert found > 500


@pytest.mark.parametrize(
    ("difference", "error"),
    [(0.0, 0.1), (0.3, 0.1), (0.1, 0.0), (math.nan, 0.1), (0.1, math.nan), (0.1, math.inf)],
)
def test_no_number_where_none_is_needed_or_known(difference, error):
    assert separating_n(difference, error, 1_000) is None


def test_no_number_beyond_a_milliard():
    assert separating_n(1e-6, 1e-3, 100) == pytest.approx(7.849e8, rel=1e-3)
    assert separating_n(1e-6, 1e-3, 1_000) is None
    assert separating_n(5e-324, 1.0, 1_000) is None


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"level": 1.0}, "level must lie between 0 and 1; found 1.0"),
        ({"level": math.nan}, "level must lie between 0 and 1; found nan"),
        ({"power": 0.0}, "power must lie between 0 and 1; found 0.0"),
        ({"n": 0}, "n must be at least 1; found 0"),
    ],
)
def test_bad_input_to_separating_n(options, message):
    with pytest.raises(InputError, match=message.replace(".", r"\.")):
        separating_n(**({"difference": 0.1, "standard_error": 0.1, "n": 10} | options))
