"""Marks, intervals, p-values and sizes: how each is written, and laws over any scores."""

from __future__ import annotations

import math
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from calipers.evaluate.standing import all_marks
from calipers.evaluate.verdict import verdict
from calipers.report.comparison import document as compare
from calipers.report.inference import mark_notes
from calipers.report.render.text import plain
from calipers.results.comparison import Comparison
from calipers.results.sets import SetSummary
from calipers.results.shown import ShownScore
from calipers.results.system import SystemResult
from calipers.results.tests import SignificanceTest
from calipers.score import Score
from calipers.wording.numbers import about, below_value, beside_value, half_text, p_text, signed
from hand_made import comparison_of


def plain_text(data, *, width=100):
    """Write a comparison as plain text."""
    return plain(compare.full(comparison_of(data)), width=width)


def lines(notes):
    """Write notes behind the signs that they explain."""
    return [f"{note.sign} {note}" for note in notes]


RECALL = ShownScore("meaning", "recall", "recall", "higher")


def column(scores, tests, *, metric=RECALL, **settings_):
    """Mark systems named by their place; `tests` by the places of both."""
    systems = [
        SystemResult(summary(str(place)), {} if score is None else {metric.key: score}, {})
        for place, score in enumerate(scores)
    ]
    made = [
        SignificanceTest(str(a), str(b), metric.key, 0.0, None, **test)
        for (a, b), test in tests.items()
    ]
    (marks,) = all_marks(
        Comparison(summary("human"), tuple(systems), settings_, tests=tuple(made)), [metric]
    )
    return marks


def summary(name):
    return SetSummary(name, name, 9, 9, None, name)


def score(value, half=0.02, **more):
    interval = None if half is None else (value - half, value + half)
    return Score(value, **{"interval": interval, **more})


def outcome(alone, adjusted, equivalence=None):
    p_values = (math.nan if p is None else p for p in (alone, adjusted))
    return dict(zip(("p_value", "adjusted_p_value"), p_values, strict=True)) | {
        "equivalence": equivalence
    }


@pytest.mark.parametrize(
    ("test", "mark"),
    [
        (outcome(0.3, 0.9), "≈"),
        (outcome(0.01, 0.2), "?"),
        (outcome(0.001, 0.01), ""),
        (outcome(0.3, 0.9, 0.2), "≈"),
        (outcome(0.3, 0.9, 0.01), "≡"),
        (outcome(0.01, 0.2, 0.01), "≡"),
        (outcome(0.001, 0.01, 0.001), ""),
        (outcome(None, None), "#"),
        (outcome(None, 0.5), "≈"),
        # At the level itself a test tells nothing
        (outcome(0.05, 0.05), "≈"),
        (outcome(0.3, 0.9, 0.05), "≈"),
    ],
)
def test_marks_by_hand(test, mark):
    assert column([score(0.7), score(0.72)], {(0, 1): test}) == (mark, "▲")
    assert column([score(0.72), score(0.7)], {(0, 1): test}) == ("▲", mark)


def test_intervals_with_no_value_in_common_leave_it_open():
    chance = {(0, 1): outcome(0.3, 0.9)}
    assert column([score(0.5), score(0.54)], chance) == ("≈", "▲")  # they meet at 0.52
    assert column([score(0.5), score(0.541)], chance) == ("?", "▲")
    assert column([score(0.541), score(0.5)], chance) == ("▲", "?")
    assert column([score(0.5, None), score(0.9)], chance) == ("≈", "▲")
    assert column([score(0.5), score(0.9, None)], chance) == ("≈", "▲")
    assert column([score(0.5, interval=(-math.inf, 0.6)), score(0.9)], chance) == ("≈", "▲")
    low = ShownScore("meaning", "frechet_distance", "frechet_distance", "lower")
    assert column([score(0.5), score(0.541)], chance, metric=low) == ("▲", "?")


def test_intervals_of_values_on_both_sides_of_the_reference_say_nothing_of_their_gaps():
    near = ShownScore("texts", "mean_length", "mean_length", "closest")
    pair = [score(9.0, reference=10.0), score(11.1, reference=10.0)]
    assert column(pair, {(0, 1): outcome(0.8, 0.9)}, metric=near) == ("▲", "≈")
    assert column(pair, {(0, 1): outcome(0.01, 0.2)}, metric=near) == ("▲", "?")


def test_only_a_test_against_the_best_marks():
    scores = [score(0.7), score(0.71), score(0.72), None]
    tests = {
        (0, 1): outcome(0.001, 0.01),
        (0, 2): outcome(0.02, 0.2),
        (2, 1): outcome(0.4, 0.9),
    }
    assert column(scores, tests) == ("?", "≈", "▲", "")
    assert column(scores, {(0, 1): outcome(0.4, 0.9)}) == ("#", "#", "▲", "")


def test_the_level_decides_each_mark():
    chance = {(0, 1): outcome(0.03, 0.03, 0.03)}
    pair = [score(0.7), score(0.72)]
    assert column(pair, chance, level=0.95) == ("", "▲")
    assert column(pair, chance, level=0.99) == ("≈", "▲")
    assert column(pair, {(0, 1): outcome(0.03, 0.2, 0.03)}, level=0.95) == ("≡", "▲")
    assert column(pair, {(0, 1): outcome(0.03, 0.2)}, level=0.9) == ("?", "▲")


@st.composite
def columns(draw):
    """Scores within their intervals, few values so that many are equal, and tests of some pairs."""
    size = draw(st.integers(2, 5))
    share = st.integers(0, 20).map(lambda number: number / 20)
    halves = st.one_of(st.none(), st.sampled_from([0.0, 0.05, 0.2]))
    scores = [
        draw(st.one_of(st.none(), st.builds(score, share, halves), st.just(Score(math.nan))))
        for _ in range(size)
    ]
    p_values = st.one_of(st.none(), st.sampled_from([0.001, 0.049, 0.05, 0.051, 0.4, 1.0]))
    tests = {}
    for a in range(size):
        for b in range(a + 1, size):
            if draw(st.booleans()):
                alone, more, near = draw(p_values), draw(p_values), draw(p_values)
                adjusted = None if alone is None or more is None else max(alone, more)
                tests[a, b] = outcome(alone, adjusted, near)
    return scores, tests


@given(columns(), st.sampled_from([("recall", "higher"), ("frechet_distance", "lower")]))
@settings(max_examples=300)
def test_laws_of_marks(given_, ranked):
    scores, tests = given_
    metric = ShownScore("meaning", ranked[0], ranked[0], ranked[1])
    marks = column(scores, tests, metric=metric)
    values = {i: s.value for i, s in enumerate(scores) if s and not math.isnan(s.value)}
    if not tests:
        assert set(marks) <= {"▲", ""}
        return
    if len(values) < 2:
        assert set(marks) == {""}
        return
    best = (max if ranked[1] == "higher" else min)(values.values())
    leaders = [place for place, value in values.items() if value == best]
    assert [marks[place] for place in leaders] == (
        ["▲"] if len(leaders) == 1 else ["≈"] * len(leaders)
    )
    for place, mark in enumerate(marks):
        if place in leaders:
            continue
        if place not in values:
            assert mark == ""
            continue
        low, high = sorted((place, leaders[0]))
        test = tests.get((low, high)) or outcome(None, None)
        alone, adjusted, near = (None if p is None or math.isnan(p) else p for p in test.values())
        ends = [scores[each].interval for each in (place, leaders[0])]
        apart = None not in ends and (ends[0][1] < ends[1][0] or ends[1][1] < ends[0][0])
        worse = adjusted is not None and adjusted < 0.05
        equal = not worse and adjusted is not None and near is not None and near < 0.05
        assert (mark == "#") == (adjusted is None)
        assert (mark == "") == worse
        assert (mark == "≡") == equal
        told = adjusted is not None and not worse and not equal
        assert (mark == "?") == (told and (alone < 0.05 or apart))
        assert (mark == "≈") == (told and alone >= 0.05 and not apart)


def test_every_mark_is_explained():
    test = SignificanceTest("x", "y", "recall", 0.1, None, 0.2, 0.9)
    tested = Comparison(summary("human"), (), {"margin": 0.05}, tests=(test,) * 12)
    assert lines(mark_notes(tested, {"▲", "≈", "≡", "?", "#", ""})) == [
        "▲ best in its column",
        "≡ equal to the best within 0.05 (at 95 %)",
        "≈ not distinguishable from the best (at 95 %, corrected for 12 tests)",
        "? undecided: differs from the best when tested alone, but not after correction for all "
        "tests",
        "# not tested against the best",
    ]
    tested = replace(tested, settings={})
    assert lines(mark_notes(tested, {"≡"})) == ["≡ equal to the best within a margin (at 95 %)"]
    assert lines(mark_notes(tested, {""})) == []


def of_pair(make, **test):
    """Two systems by one score, and the test between them."""
    values = {"a": 0.7, "b": 0.72}
    systems = [
        make["system"](name, {"mauve_star": make["score"](value)}) for name, value in values.items()
    ]
    data = make["comparison"](systems, margin=0.05, views=["meaning"])
    return data | {"tests": [make["significance"]("a", "b", "mauve_star", -0.02, 0.4) | test]}


def test_tables_and_verdicts_say_which_are_equal(make):
    data = of_pair(make, equivalence=0.01)
    text = plain_text(data)
    assert ".700≡" in text
    assert "≡ equal to the best within 0.05 (at 95 %)" in text
    assert verdict(comparison_of(data)).sentences[0].endswith("; a (0.70) is tied with it.")


def test_tables_and_verdicts_say_what_is_undecided(make):
    data = of_pair(make, p_value=0.01)
    assert ".700?" in plain_text(data)
    found = verdict(comparison_of(data))
    assert found.sentences[0] == "b is closest to human (MAUVE* 0.72)."
    assert found.sentences[1] == "Undecided: whether a (0.70) is tied with it or worse."
    assert (found.closest, found.undecided) == (("b",), ("a",))


def test_how_large_a_difference_could_have_been_missed(make):
    said = "difference at least this large would have been found in four of five runs: MAUVE* 0.081"
    assert said in " ".join(plain_text(of_pair(make, detectable=0.0812), width=300).split())
    found = of_pair(make, detectable=0.0812, adjusted_p_value=0.01)
    for data in (found, of_pair(make, detectable=None), of_pair(make)):
        assert "four of five runs" not in plain_text(data, width=300)


def test_the_largest_of_what_could_have_been_missed_is_said(make):
    data = make["sure"](list("abc"))
    for test in data["tests"]:
        if test["score"] in ("recall", "precision"):
            test["adjusted_p_value"] = 0.01 if test["a"] == "a" else 0.5
            test["detectable"] = 0.3 if test["a"] == "a" else 0.05
    text = " ".join(plain_text(data, width=300).split())
    assert "in four of five runs: Precision (meaning) 0.050, Recall (meaning) 0.050" in text


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
    ends = None if interval is None else (-math.inf, interval[1]) if None in interval else interval
    largest = 1.0 if unit else math.inf
    score = Score(math.nan if value is None else value, ends, range=(0.0, largest))
    text = "–" if value is None else f"{value:.3f}" if unit else f"{value:.2f}"
    assert (beside_value(score, text), below_value(score)) == (beside, below)


def test_an_approximate_interval_is_marked_in_both_forms():
    score = Score(0.9, (0.88, 0.92), approximate=True)
    assert beside_value(score, "0.900") == "±0.020~"
    assert below_value(replace(score, interval=(0.8, 0.91))) == "[0.800,0.910]~"


@given(st.floats(0, 1), st.floats(0, 1), st.floats(0, 1))
def test_one_form_and_never_both(value, low, high):
    score = Score(value, (min(low, high), max(low, high)))
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
