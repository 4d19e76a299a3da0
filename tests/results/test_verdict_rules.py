"""The rules behind the sentences on overlap, rankings and sweeps."""

from __future__ import annotations

import json
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from calipers.commands.overlap.result import NEARLY_ALL, NEARLY_NONE, Relation, Share
from calipers.commands.rank.result import Beside, Truth
from calipers.commands.sweep.result import Curve
from calipers.uncertainty.plateau import plateau

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
        ((0.0, 0.0), "disjoint", "a and b are disjoint: 0 % of each lies inside the other"),
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


def truth(**worst):
    cells = {
        name: Beside(name, 5, 0.9, None, value, value == bound, bound, 0.9, None)
        for name, (value, bound) in worst.items()
    }
    return Truth("liked", "t.csv", "scores", {}, cells)


@pytest.mark.parametrize(
    ("worst", "best"),
    [
        ({"a": (0.5, 0.5), "b": (0.7, 0.7), "c": (0.1, 0.1)}, "b"),
        ({"a": (0.7, 0.7), "b": (0.7, 0.7)}, None),
        ({"a": (0.7, 0.7)}, None),
        ({"a": (0.7, 0.7), "b": (math.nan, math.nan)}, None),
        ({"a": (0.7, 0.6), "b": (0.55, 0.55)}, "a"),
        ({"a": (0.7, 0.6), "b": (0.65, 0.65)}, None),
    ],
)
def test_the_best_is_named_only_where_it_is_sure(worst, best):
    assert truth(**worst).best == best
    assert truth(**worst).to_dict()["best"] == best


def found(values, mean, error=None, **options):
    error = None if error is None else np.array(error, float)
    return plateau(np.array(values), np.array(mean, float), error, **options)


def test_a_curve_that_rises_and_stays():
    level = found([1, 2, 3, 4, 5, 6, 8, 10], [0.5, 0.7, 0.8, 0.895, 0.9, 0.9, 0.905, 0.9])
    assert (level.start, level.level, level.reason) == (4, 0.9, None)


def test_a_point_exactly_at_the_tolerance_is_level():
    assert found([1, 2, 3, 4], [0.98, 0.99, 1.0, 1.0]).start == 2


def test_a_curve_that_leaves_again_is_level_only_after_that():
    level = found([1, 2, 3, 4, 6, 9], [0.9, 0.9, 0.8, 0.9, 0.9, 0.9])
    assert level.start == 4


def test_the_slow_end_of_a_rising_curve_is_no_plateau():
    values = range(1, 31)
    level = found(values, [0.5 + 0.004 * k for k in values])
    assert level.start is None
    assert level.reason == "at 27 still 0.012 below the end"


def test_level_for_half_of_the_way_but_not_while_it_doubles():
    values, mean = [10, 20, 30, 40, 50, 60], [0.5, 0.6, 0.7, 0.9, 0.9, 0.9]
    assert found(values, mean).start is None
    assert found([10, 20, 30, 40, 60, 80], mean).start == 40


def test_the_standard_error_widens_the_tolerance_where_it_is_larger():
    values, mean = [1, 2, 4, 8], [0.9, 0.85, 0.84, 0.8]
    assert found(values, mean).start is None
    assert found(values, mean, [0.0, 0.06, 0.05, 0.0]).start == 2
    assert found(values, mean, tolerance=0.2).start == 1


@pytest.mark.parametrize(
    ("values", "mean", "reason"),
    [
        ([1, 9], [0.5, 0.5], "2 values are too few to tell"),
        ([6, 7, 8], [0.5, 0.5, 0.5], "level throughout, but from 6 it does not double"),
        ([1, 2, 3], [0.5, np.nan, 0.5], "the score is not defined at every value"),
        ([1, 2, 3], [0.6, 0.55, 0.5], "at 2 still 0.050 above the end"),
    ],
)
def test_no_plateau_has_a_reason(values, mean, reason):
    level = found(values, mean)
    assert level.start is None
    assert level.reason == reason


@pytest.mark.parametrize("size", [1e-4, 1.0, 1e4, -1e-4])
def test_a_score_without_a_scale_is_level_within_a_share_of_its_end(size):
    values, mean = [1, 2, 3, 4, 6, 8], size * np.array([2, 1.2, 1.06, 1.05, 0.96, 1])
    level = found(values, mean, range=(-np.inf, np.inf))
    assert (level.start, level.relative) == (4, 0.05)
    assert level.tolerance == pytest.approx(0.05 * abs(size))


@pytest.mark.parametrize("error", [None, [0.0] * 4])
def test_a_small_score_that_still_falls_is_no_plateau(error):
    level = found([1, 2, 4, 8], [0.004, 0.002, 0.001, 0.0005], error, range=(0.0, np.inf))
    assert level.reason == "at 4 still 0.0005 above the end"
    assert found([1, 2, 4, 8], [0.004, 0.002, 0.001, 0.0005], error, range=(0, 0.7)).start == 1


def test_the_standard_error_widens_a_share_too():
    values, mean = [1, 2, 4, 8], [0.02, 0.0056, 0.0056, 0.005]
    assert found(values, mean, range=(0.0, np.inf)).start is None
    assert found(values, mean, [0, 0.001, 0.001, 0], range=(0.0, np.inf)).start == 2


@pytest.mark.parametrize("size", [3e-13, 0.0])
def test_a_constant_score_is_level_however_small(size):
    assert found([1, 2, 4], [size * (1 + 1e-15), size, size], range=(0.0, np.inf)).start == 1


def test_a_curve_hands_its_range_to_the_rule():
    rows = np.array([[0.004, 0.002, 0.001, 0.0005]])
    curve = Curve(np.array([1, 2, 4, 8]), rows, "metric:mmd", range=(-np.inf, np.inf))
    assert curve.to_dict()["plateau"] == {
        "start": None,
        "level": 0.0005,
        "tolerance": pytest.approx(0.000025),
        "relative": 0.05,
        "reason": "at 4 still 0.0005 above the end",
    }
    bounded = Curve(np.array([1, 2, 4, 8]), rows, "metric:x").to_dict()["plateau"]
    assert (bounded["start"], bounded["tolerance"], bounded["relative"]) == (1, 0.01, None)


@pytest.mark.parametrize("end", [np.nan, np.inf])
def test_an_undefined_end_leaves_no_tolerance_in_strict_json(end):
    rows = np.array([[0.5, 0.5, end]])
    data = Curve(np.array([1, 2, 4]), rows, "metric:mmd", range=(0.0, np.inf)).to_dict()
    json.dumps(data, allow_nan=False)
    assert data["plateau"]["tolerance"] is None


def test_bands_of_a_curve_by_hand():
    curve = Curve(np.array([1, 2, 3]), np.array([[0.2, 0.4, 0.5], [0.4, 0.4, 0.7]]), "metric:x")
    half = np.sqrt(0.02)  # two values 0.2 apart, r - 1 = 1 in the denominator
    assert curve.mean == pytest.approx([0.3, 0.4, 0.6])
    assert curve.deviation == pytest.approx([half, 0, half])
    assert curve.low == pytest.approx([0.3 - half, 0.4, 0.6 - half])
    assert curve.high == pytest.approx([0.3 + half, 0.4, 0.6 + half])


def test_the_plateau_of_a_curve_uses_the_error_of_the_mean_and_not_the_spread():
    drift, spread = np.array([0.64, 0.62, 0.62, 0.6]), np.array([-0.05, 0.0, 0.05])
    values = np.array([100, 200, 400, 800])
    curve = Curve(values, drift + spread[:, None] * np.array([1, 1, 1, 0]), "metric:x")
    assert curve.deviation[0] == pytest.approx(0.05)
    assert curve.plateau.start == 200  # 0.04 off at 100: within 0.05, not within 0.05 / sqrt(3)
    assert curve.plateau.level == pytest.approx(0.6)


def test_one_replicate_has_no_band():
    curve = Curve(np.array([1, 2]), np.array([[0.2, 0.4]]), "metric:x")
    assert curve.deviation is curve.low is curve.high is None
    assert curve.to_dict()["low"] is None


def test_undefined_values_are_null_in_strict_json_with_the_reason():
    rows = np.array([[np.nan, 0.5, np.inf], [np.nan, 0.7, 0.5]])
    data = Curve(np.array([1, 2, 3]), rows, "metric:x", reason="too few").to_dict()
    text = json.dumps(data, allow_nan=False)
    assert data["mean"] == [None, pytest.approx(0.6), None]
    assert data["replicates"][0] == [None, 0.5, None]
    assert data["plateau"]["start"] is None
    assert "too few" in text
