"""Intervals, p-values, sizes and marks: how single numbers are written."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from calipers.report.uncertain_numbers import (
    about,
    below_value,
    beside_value,
    half_text,
    p_text,
    signed,
)


@pytest.mark.parametrize(
    ("half", "value", "text"),
    [
        (0.01149, "0.912", "±0.011"),
        (0.1234, "0.500", "±0.123"),
        (0.00001, "0.912", "±0.000"),
        (0.5634, "12.35", "±0.56"),
        (56.34, "1235", "±56"),
        (1234.5, "12,345", "±1,234"),
        (0.0015, "0.0001235", "±0.0015"),
        (0.0, "0.0001235", "±0"),
        (56.3, "1.235e+04", "±56"),
        (0.011, "-0.040", "±0.011"),
    ],
)
def test_half_of_an_interval_is_no_finer_than_its_value(half, value, text):
    assert half_text(half, value) == text


@pytest.mark.parametrize(
    ("value", "interval", "unit", "beside", "below"),
    [
        (0.9, [0.88, 0.92], True, "±0.020", ""),
        (0.9, [0.876, 0.92], True, "±0.022", ""),
        (0.985, [0.955, 0.995], True, "", "[0.955,0.995]"),
        (0.9, [0.8995, 0.901], True, "±0.001", ""),  # lopsided by less than is seen
        (12.345, [11.0, 13.7], False, "±1.35", ""),
        (12.345, [12.0, 14.0], False, "", "[12.00,14.00]"),
        (0.9, [0.91, 0.95], True, "", "[0.910,0.950]"),
        (0.9, None, True, "", ""),
        (0.9, [None, 0.95], True, "", ""),
        (None, [0.1, 0.2], True, "", "[0.100,0.200]"),
    ],
)
def test_intervals_are_written_as_half_or_as_bounds(value, interval, unit, beside, below):
    score = {"value": value, "interval": interval, "range": [0, 1 if unit else None]}
    text = "–" if value is None else f"{value:.3f}" if unit else f"{value:.2f}"
    assert (beside_value(score, text), below_value(score)) == (beside, below)


def test_an_approximate_interval_is_marked_in_both_forms():
    score = {"value": 0.9, "interval": [0.88, 0.92], "range": [0, 1], "approximate": True}
    assert beside_value(score, "0.900") == "±0.020~"
    assert below_value({**score, "interval": [0.8, 0.91]}) == "[0.800,0.910]~"


@given(st.floats(0, 1), st.floats(0, 1), st.floats(0, 1))
def test_one_form_and_never_both(value, low, high):
    score = {"value": value, "interval": sorted([low, high]), "range": [0, 1]}
    assert bool(beside_value(score, "0.500")) != bool(below_value(score))


@given(st.floats(0, 1), st.sampled_from([0.1, 0.05, 0.01]))
def test_p_is_never_zero_and_on_its_own_side(p, alpha):
    text = p_text(p, alpha)
    sign, number = text.removeprefix("p ").split()
    assert float(number) > 0
    assert sign == ("<" if p < 0.001 else "=")
    assert (float(number) < alpha) == (p < alpha) or sign == "<"
    assert sign == "<" or abs(float(number) - p) <= 0.00501


@pytest.mark.parametrize(
    ("p", "text"),
    [
        (None, "p = –"),
        (0.0, "p < 0.001"),
        (0.00099, "p < 0.001"),
        (0.001, "p = 0.001"),
        (0.0312, "p = 0.031"),
        (0.0996, "p = 0.10"),
        (0.41, "p = 0.41"),
        (0.999, "p = 1"),
        (1.0, "p = 1"),
        (0.04996, "p = 0.04996"),
        (0.05, "p = 0.050"),
    ],
)
def test_p_values(p, text):
    assert p_text(p, 0.05) == text


@pytest.mark.parametrize(
    ("n", "text"),
    [
        (7, "about 7"),
        (640, "about 640"),
        (11_843, "about 12,000"),
        (99_600, "about 100,000"),
        (10**9, "more than 10 million"),
    ],
)
def test_large_sizes_are_rounded(n, text):
    assert about(n) == text


@pytest.mark.parametrize(("text", "with_sign"), [("0.1", "+0.1"), ("-0.1", "-0.1"), ("–", "–")])
def test_differences_have_a_sign(text, with_sign):
    assert signed(text) == with_sign
