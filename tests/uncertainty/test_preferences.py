"""Rows of (a, b, answer) become wins and ties, and nothing is read two ways."""

import numpy as np
import pytest

from calipers.errors import InputError
from calipers.uncertainty.preferences import Preferences, count_preferences, split_ties


def counted(rows, **options):
    return count_preferences(*zip(*rows, strict=True), **options)


def test_by_hand():
    rows = [
        ("x", "y", "x"),
        ("y", "x", "x"),
        ("x", "z", "b"),
        ("z", "y", "Definitely A"),
        ("z", "y", "slightly  b"),
        ("y", "z", 1),
        ("y", "z", "2"),
        ("y", "z", 3.0),
        ("z", "y", "TIE"),
        ("y", "x", 4),
        ("y", "x", "5.0"),
    ]
    found = counted(rows)
    assert found.names == ("x", "y", "z")
    assert found.wins.tolist() == [[0, 4, 0], [0, 0, 3], [1, 1, 0]]
    assert found.ties.tolist() == [[0, 0, 0], [0, 0, 2], [0, 2, 0]]
    assert found.comparisons == len(rows)


def test_a_given_order_of_names_is_kept_and_may_hold_systems_that_no_row_has():
    found = counted([("x", "y", "x")], names=["idle", "y", "x"])
    assert found.names == ("idle", "y", "x")
    assert found.wins.tolist() == [[0, 0, 0], [0, 0, 0], [0, 1, 0]]


def test_a_name_goes_before_a_letter():
    rows = [("b", "a", "a"), ("b", "a", "b"), ("1", "2", "1"), ("1", "2", 2)]
    assert counted(rows[:2], names=["a", "b"]).wins.tolist() == [[0, 1], [1, 0]]
    assert counted(rows[2:]).wins.tolist() == [[0, 1], [1, 0]]
    assert counted([("a", "b", "definitely b")]).wins.tolist() == [[0, 0], [1, 0]]


@pytest.mark.parametrize(
    ("row", "words"),
    [
        (("x", "y", "z"), "row 3: the answer 'z' is none of 'x', 'y', 'a', 'b', 'definitely a'"),
        (("x", "y", ""), "row 3: the answer is missing"),
        (("x", "y", None), "row 3: the answer is missing"),
        (("x", "y", float("nan")), "row 3: the answer is missing"),
        (("x", "y", 0), "row 3: the answer '0' is none"),
        (("x", "y", 2.5), "row 3: the answer '2.5' is none"),
        (("x", "y", True), "row 3: the answer True is no name"),
        (("x", "x", "a"), "row 3: 'x' is compared with itself"),
        (("x", None, "a"), "row 3: the name of the system in column 'b' is missing"),
        ((" ", "y", "a"), "row 3: the name of the system in column 'a' is missing"),
        (("x", "y", "other"), "row 3: the answer is 'other', but the row compares 'x' with 'y'"),
    ],
)
def test_a_bad_row_is_named(row, words):
    with pytest.raises(InputError, match=words):
        counted([("x", "y", "x"), ("x", "other", "tie"), row])


def test_what_could_be_read_two_ways_is_an_error():
    with pytest.raises(InputError, match="a system cannot be called 'Tie': that is an answer"):
        counted([("x", "Tie", "x")])
    with pytest.raises(InputError, match="row 1: the answer 'slightly a' could mean the column"):
        counted([("x", "a", "slightly a")])
    with pytest.raises(InputError, match="row 1: the answer 'a' could mean the column 'a' or"):
        counted([("x", "A", "a")])
    with pytest.raises(InputError, match="row 2: the answer 3 is not read as a step"):
        counted([("1", "2", 1), ("1", "2", 3)])


def test_columns_and_names_must_fit():
    with pytest.raises(InputError, match="found 1, 2 and 1"):
        count_preferences(["x"], ["y", "z"], ["a"])
    with pytest.raises(InputError, match="row 1: unknown system 'gtp2'; did you mean 'gpt2'"):
        counted([("gtp2", "x", "a")], names=["gpt2", "x"])
    with pytest.raises(InputError, match="'x' stands there twice"):
        counted([("x", "y", "a")], names=["x", "y", "x"])


@pytest.mark.parametrize(
    ("wins", "ties", "words"),
    [
        ([[0, 1]], [[0, 0], [0, 0]], "wins must have a row and a column for each of the 2 names"),
        ([[0, -1], [0, 0]], [[0, 0], [0, 0]], "wins must be finite and not negative"),
        ([[0, np.nan], [0, 0]], [[0, 0], [0, 0]], "wins must be finite and not negative"),
        ([[1, 1], [0, 0]], [[0, 0], [0, 0]], "wins must be 0 on the diagonal"),
        ([[0, 1], [0, 0]], [[0, 1], [0, 0]], "ties must be symmetric"),
        ([["much", 1], [0, 0]], [[0, 0], [0, 0]], "wins must be a table of numbers"),
    ],
)
def test_tables_that_count_nothing(wins, ties, words):
    with pytest.raises(InputError, match=words):
        Preferences(("x", "y"), wins, ties)


TIED = Preferences(("x", "y", "z"), np.zeros((3, 3)), [[0, 101, 0], [101, 0, 6], [0, 6, 0]])


def test_ties_in_halves_and_dropped():
    assert (split_ties(TIED).wins == TIED.ties / 2).all()
    assert not split_ties(TIED, "drop").wins.any()
    assert not split_ties(TIED).ties.any()


def test_ties_at_random_are_whole_wins_that_the_seed_fixes():
    first, again = split_ties(TIED, "random", seed=7), split_ties(TIED, "random", seed=7)
    assert (first.wins == again.wins).all()
    assert (first.wins + first.wins.T == TIED.ties).all()
    assert (first.wins % 1 == 0).all()
    shares = [split_ties(TIED, "random", seed=seed).wins[0, 1] / 101 for seed in range(400)]
    assert np.mean(shares) == pytest.approx(0.5, abs=0.01)  # four standard errors
    assert np.std(shares) == pytest.approx(0.5 / np.sqrt(101), rel=0.15)


def test_ties_that_cannot_be_split():
    half = Preferences(("x", "y"), np.zeros((2, 2)), [[0, 0.5], [0.5, 0]])
    with pytest.raises(InputError, match="only where they are whole numbers"):
        split_ties(half, "random")
    with pytest.raises(InputError, match="unknown way to split ties 'halves'; did you mean 'half'"):
        split_ties(half, "halves")
