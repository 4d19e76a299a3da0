"""The words for a pair: every limit from both sides, ceilings, and numbers near a limit."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from calipers.comparison.overlap_words import NEARLY_ALL, NEARLY_NONE, Relation, Share

EXACT = 0.0


def relation(b_in_a, a_in_b, *, sd=EXACT, ceilings=(math.nan, math.nan)):
    shares = [
        Share(value, 500, sd, ceiling)
        for value, ceiling in zip((b_in_a, a_in_b), ceilings, strict=True)
    ]
    return Relation("a", "b", *shares)


@pytest.mark.parametrize(
    ("shares", "word", "sentence"),
    [
        (
            (0.96, 0.95),
            "cover_each_other",
            "a and b cover each other: 96 % of b lies inside a, 95 % of a inside b",
        ),
        ((0.96, 0.78), "b_within_a", "b lies within a (96 % of it) and leaves 22 % of a uncovered"),
        ((0.78, 0.96), "a_within_b", "a lies within b (96 % of it) and leaves 22 % of b uncovered"),
        ((0.0, 0.0), "disjoint", "a and b are disjoint: 0 % of either lies inside the other"),
        (
            (0.04, 0.0),
            "disjoint",
            "a and b are nearly disjoint: 4 % of b lies inside a, 0 % of a inside b",
        ),
        (
            (0.62, 0.03),
            "overlap_in_part",
            "a and b overlap in part: 62 % of b lies inside a, 3 % of a inside b",
        ),
        ((0.9, 0.9), "cover_each_other", None),
        ((0.1, 0.1), "disjoint", None),
        ((0.9, 0.0), "b_within_a", None),
        ((0.8999, 0.1001), "overlap_in_part", None),
    ],
)
def test_the_words(shares, word, sentence):
    found = relation(*shares)
    assert found.relation == word
    assert sentence is None or found.sentence == sentence
    assert found.to_dict()["sentence"] == found.sentence


def test_limits_are_taken_of_the_ceiling_of_the_support():
    assert relation(0.82, 0.82).relation == "overlap_in_part"
    assert relation(0.82, 0.82, ceilings=(0.9, 0.9)).relation == "cover_each_other"
    assert relation(0.82, 0.82, ceilings=(0.9, math.nan)).relation == "b_within_a"
    assert relation(0.095, 0.095, ceilings=(0.9, 0.9)).relation == "overlap_in_part"


def test_a_ceiling_too_low_to_mean_anything_is_not_used():
    assert relation(0.3, 0.3, ceilings=(0.3, 0.3)).relation == "overlap_in_part"
    assert relation(0.0, 0.0, ceilings=(0.0, 0.0)).relation == "disjoint"


def test_about_stands_where_the_spread_reaches_across_a_limit():
    near = relation(0.91, 0.5, sd=0.02)
    assert near.about
    assert near.sentence == "b lies within a (about 91 % of it) and leaves 50 % of a uncovered"
    assert relation(0.5, 0.91, sd=0.02).about
    assert not relation(0.93, 0.5, sd=0.02).about
    assert relation(0.89, 0.12, sd=0.03).sentence == (
        "a and b overlap in part: about 89 % of b lies inside a, about 12 % of a inside b"
    )


def test_without_seed_files_chance_is_the_spread():
    assert Share(0.893, 500).uncertain
    assert not Share(0.85, 500).uncertain
    assert Share(0.85, 20).uncertain
    assert not Share(1.0, 20).uncertain


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (0.8997, "89.97 %"),
        (0.996, "99.6 %"),
        (0.004, "0.4 %"),
        (1.0, "100 %"),
        (0.0, "0 %"),
        (0.104, "10.4 %"),
        (0.5, "50 %"),
    ],
)
def test_percentages_do_not_round_across_a_limit(value, text):
    assert Share(value, 500, EXACT).percent() == text


@given(st.floats(0, 1), st.floats(0, 1))
def test_swapping_the_pair_swaps_the_word(first, second):
    one, other = relation(first, second), relation(second, first)
    swapped = {"b_within_a": "a_within_b", "a_within_b": "b_within_a"}
    assert other.relation == swapped.get(one.relation, one.relation)
    assert one.about == other.about


@given(st.floats(0, 1), st.floats(0, 1))
def test_the_word_follows_the_limits(first, second):
    inside = [first >= NEARLY_ALL, second >= NEARLY_ALL]
    expected = {
        (True, True): "cover_each_other",
        (True, False): "b_within_a",
        (False, True): "a_within_b",
    }.get(tuple(inside), "disjoint" if max(first, second) <= NEARLY_NONE else "overlap_in_part")
    assert relation(first, second).relation == expected
