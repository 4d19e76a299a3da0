"""Holm's correction against its definition, and what it must always do."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from calipers.uncertainty.holm import holm

SHARES = st.lists(st.floats(0, 1), max_size=12)


def stepwise(p_values):
    """The smallest level at which Holm's procedure, as he gives it, rejects each hypothesis."""
    adjusted = [1.0] * len(p_values)
    running = 0.0
    for step, place in enumerate(sorted(range(len(p_values)), key=lambda i: p_values[i])):
        running = max(running, (len(p_values) - step) * p_values[place])
        adjusted[place] = min(1.0, running)
    return adjusted


def rejected(p_values, level):
    """Step down: go on as long as the next smallest p-value is small enough."""
    order = sorted(range(len(p_values)), key=lambda i: p_values[i])
    out = set()
    for step, place in enumerate(order):
        if p_values[place] > level / (len(p_values) - step):
            break
        out.add(place)
    return out


def test_by_hand():
    # 0.01 · 4; 0.02 · 3; 0.04 · 2; the last, 0.05, may not fall below the one before it
    assert holm([0.04, 0.01, 0.05, 0.02]) == pytest.approx([0.08, 0.04, 0.08, 0.06])
    assert holm([0.6, 0.7]).tolist() == [1.0, 1.0]


@given(SHARES)
def test_equals_the_definition(p_values):
    np.testing.assert_allclose(holm(p_values), stepwise(p_values))


@given(SHARES, st.sampled_from([0.011, 0.053, 0.207]))
def test_rejects_what_the_procedure_rejects(p_values, level):
    adjusted = holm(p_values)
    near = np.isclose(adjusted, level, rtol=1e-9)
    found = {place for place in range(len(p_values)) if adjusted[place] <= level}
    if not near.any():
        assert found == rejected(p_values, level)


@given(SHARES)
def test_keeps_the_order_and_lowers_nothing(p_values):
    given_, adjusted = np.array(p_values), holm(p_values)
    assert ((adjusted >= given_) & (adjusted <= 1)).all()
    assert (np.diff(adjusted[np.argsort(given_)]) >= 0).all()


@given(st.lists(st.floats(0, 1), min_size=2, max_size=8), st.floats(0, 1))
def test_a_larger_p_value_lowers_no_adjusted_one_of_its_own(p_values, other):
    raised = [max(p_values[0], other), *p_values[1:]]
    assert holm(raised)[0] >= holm(p_values)[0] - 1e-15


@given(SHARES, st.randoms())
def test_does_not_depend_on_the_order(p_values, random):
    places = list(range(len(p_values)))
    random.shuffle(places)
    shuffled = holm([p_values[i] for i in places])
    np.testing.assert_array_equal(shuffled, holm(p_values)[places])


def test_what_has_no_p_value_does_not_count():
    found = holm([0.01, np.nan, 0.04])
    assert found[[0, 2]] == pytest.approx([0.02, 0.04])
    assert np.isnan(found[1])
    assert np.isnan(holm([np.nan, np.nan])).all()
    assert holm([]).shape == (0,)
