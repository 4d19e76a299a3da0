"""Judgements row by row: raters, sides, items and repeats read, and what is refused."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from calipers.errors import InputError
from calipers.uncertainty.davidson import outcomes
from calipers.uncertainty.preferences import count_preferences
from calipers.uncertainty.rated_pairs import count_rated_pairs

ROWS = st.lists(
    st.tuples(
        st.sampled_from([("x", "y"), ("y", "z"), ("z", "x"), ("y", "x")]),
        st.sampled_from(["a", "b", "tie", "definitely a", 2, "slightly b"]),
        st.sampled_from(["ann", "bob"]),
    ),
    min_size=1,
    max_size=30,
)


def test_columns_by_hand():
    found = count_rated_pairs(
        ["x", "y", "x", "x"],
        ["y", "x", "z", "y"],
        ["x", "definitely a", "tie", "b"],
        rater=["ann", "bob", "ann", "ann"],
        first=["a", "x", "", "B"],
        item=["1", 1.0, "2", "1"],
    )
    assert (found.names, found.raters, found.items) == (("x", "y", "z"), ("ann", "bob"), ("1", "2"))
    assert found.i.tolist() == [0, 1, 0, 0]
    assert found.j.tolist() == [1, 0, 2, 1]
    assert found.outcome.tolist() == [1, 1, 0, -1]
    assert found.rater.tolist() == [0, 1, 0, 0]
    assert found.first.tolist() == [1, -1, 0, -1]
    assert found.item.tolist() == [0, 0, 1, 0]
    assert found.prefers_first.tolist() == [1, -1, 0, 1]
    assert found.repeat.tolist() == [0, 0, 0, 0]
    assert len(found) == 4


def test_repeats_are_counted_where_no_column_has_them():
    # The same rater, item and side in front: x first in rows 1, 3 (as column b) and 4
    found = count_rated_pairs(
        ["x", "x", "y", "x", "x"],
        ["y", "y", "x", "y", "y"],
        ["a"] * 5,
        rater=["ann", "ann", "ann", "ann", "bob"],
        first=["a", "b", "b", "x", "a"],
        item=["1"] * 5,
    )
    assert found.repeat.tolist() == [0, 0, 1, 2, 0]
    given = count_rated_pairs(["x"], ["y"], ["a"], repeat=["3"])
    assert given.repeat.tolist() == [3]


def test_without_raters_and_items_they_are_unknown():
    found = count_rated_pairs(["x"], ["y"], ["a"])
    assert (found.raters, found.items) == ((), ())
    assert (found.rater.tolist(), found.item.tolist(), found.first.tolist()) == ([-1], [-1], [0])


@given(ROWS)
def test_wins_and_ties_are_those_of_the_plain_count(rows):
    a, b, answer = [p[0] for p, _, _ in rows], [p[1] for p, _, _ in rows], [x for _, x, _ in rows]
    found = count_rated_pairs(a, b, answer, rater=[r for _, _, r in rows]).preferences
    plain = count_preferences(a, b, answer)
    assert found.names == plain.names
    assert np.array_equal(found.wins, plain.wins)
    assert np.array_equal(found.ties, plain.ties)


def test_judgements_are_chosen_by_rater():
    found = count_rated_pairs(
        ["x", "x", "x"], ["y", "y", "y"], ["a", "b", "tie"], rater=["ann", "bob", "cy"]
    )
    some = found.of_raters(["cy", "ann"])
    assert (some.raters, some.rater.tolist(), some.outcome.tolist()) == (
        ("cy", "ann"),
        [1, 0],
        [1, 0],
    )
    with pytest.raises(InputError, match=r"rater 'bo'.*'bob'"):
        found.of_raters(["bo"])
    assert found.select(found.outcome == -1).rater.tolist() == [1]


@pytest.mark.parametrize(
    ("columns", "words"),
    [
        ({"rater": ["ann", " "]}, "row 2: the name of the rater is missing"),
        ({"rater": ["ann"]}, "rater must have one value for each comparison, found 1 for 2"),
        (
            {"first": ["a", "left"]},
            "row 2: which was shown first must be 'a', 'b', 'z' or 'x', found 'left'",
        ),
        (
            {"item": ["1", "1"]},
            "row 2: the item '1' compares 'z' with 'x', but 'x' with 'y' in an earlier row",
        ),
        ({"repeat": [0, -1]}, "row 2: repeat must be a whole number from 0, found -1"),
        ({"repeat": [0, "often"]}, "row 2: repeat must be a whole number from 0, found 'often'"),
        ({"names": ["x", "y"]}, "row 2: unknown system 'z'"),
    ],
)
def test_refusals(columns, words):
    with pytest.raises(InputError) as refusal:
        count_rated_pairs(["x", "z"], ["y", "x"], ["a", "b"], **columns)
    assert words in str(refusal.value)


def test_a_system_called_b_is_shown_first_by_its_name():
    found = count_rated_pairs(["b"], ["c"], ["tie"], first=["b"])
    assert found.first.tolist() == [1]


# ------------------------------------------------------------------ the model of one judgement


def test_chances_by_hand():
    # d = log 4 and ν = 2: weights 2, 2 and 1/2
    found = np.exp(outcomes(np.full(3, np.log(4)), np.log(2), np.array([1, 0, -1])).log_chance)
    assert found == pytest.approx([4 / 9, 4 / 9, 1 / 9])


@given(st.floats(-6, 6), st.floats(-4, 3), st.sampled_from([-1, 0, 1]))
def test_derivatives_are_those_of_the_log_chance(odds, tie, outcome):
    def at(x, y):
        return outcomes(np.array([x]), y, np.array([outcome]))

    found, step = at(odds, tie), 1e-5
    by_odds = (at(odds + step, tie).log_chance - at(odds - step, tie).log_chance) / (2 * step)
    by_tie = (at(odds, tie + step).log_chance - at(odds, tie - step).log_chance) / (2 * step)
    assert found.by_odds == pytest.approx(by_odds, abs=1e-8)
    assert found.by_tie == pytest.approx(by_tie, abs=1e-8)
    curve = (at(odds + step, tie).by_odds - at(odds - step, tie).by_odds) / (2 * step)
    mixed = (at(odds, tie + step).by_odds - at(odds, tie - step).by_odds) / (2 * step)
    other = (at(odds, tie + step).by_tie - at(odds, tie - step).by_tie) / (2 * step)
    assert -found.odds_odds == pytest.approx(curve, abs=1e-8)
    assert -found.odds_tie == pytest.approx(mixed, abs=1e-8)
    assert -found.tie_tie == pytest.approx(other, abs=1e-8)
