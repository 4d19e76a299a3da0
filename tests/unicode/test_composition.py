"""Texts in composed form: what Python gives, in linear time."""

import unicodedata

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from calipers.unicode import composition
from calipers.unicode.composition import composed

MARKED = "ae\u0301\u0316\u0344\u0f73\u0f75\u0f81\u0f71\u05b0\u0334\u1ebf\u0958\u1161\uac00\u11a8"


@given(st.text())
def test_it_is_the_composed_form(text):
    assert composed(text) == unicodedata.normalize("NFC", text)


@settings(max_examples=300)
@given(st.text(MARKED, max_size=150))
def test_sorted_runs_change_nothing(text):
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(composition, "_FEW", 1)
        patched.setattr(composition, "_LONG", 2)
        assert composed(text) == unicodedata.normalize("NFC", text)


@pytest.mark.parametrize(
    "text",
    [
        "a" + "\u0316\u0301" * 500_000,
        "a" + "\u0301" * 500_000 + "\u0316" * 500_000,
        "\u1ebf" + "\u0f73\u0344\u0316" * 300_000,
    ],
)
def test_a_million_marks_take_seconds_and_not_hours(text):
    found = composed(text)
    assert unicodedata.is_normalized("NFC", found)
    assert composed(found) == found
