"""The scale of a picture is that of the many, not of the one that lies far away."""

from __future__ import annotations

import math

from hypothesis import given
from hypothesis import strategies as st

from calipers.report.scale import bulk

NUMBERS = st.lists(st.floats(min_value=-1e6, max_value=1e6), max_size=40)


def test_one_far_value_does_not_set_the_scale() -> None:
    near = [0.9 + place / 100 for place in range(10)]
    assert bulk([*near, 0.01]) == (near[0], near[-1])
    assert bulk([*near, math.nan, math.inf]) == (near[0], near[-1])


def test_few_values_and_even_ones_are_all_within() -> None:
    assert bulk([0.9, 0.91, 0.01]) == (0.01, 0.91)
    assert bulk([place / 20 for place in range(21)]) == (0.0, 1.0)
    assert bulk([]) is None


@given(NUMBERS)
def test_the_scale_holds_most_values_and_ends_at_some(values: list[float]) -> None:
    span = bulk(values)
    if span is None:
        assert not values
        return
    low, high = span
    assert low in values
    assert high in values
    assert 2 * sum(low <= value <= high for value in values) >= len(values)
