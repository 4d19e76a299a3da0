"""Which of two scores is better, and when they are a tie."""

from __future__ import annotations

import math

import numpy as np

from calipers.score import Score
from calipers.uncertainty.ties import merit, tie_width, winner


def test_the_width_of_a_tie_falls_with_the_root_of_n():
    assert tie_width(100) == 0.05
    assert tie_width(400) == 0.025
    assert tie_width(10_000_000) == 0.01


def test_a_share_wins_by_more_than_a_tie():
    assert winner(Score(0.75), Score(0.5), 0.02) == "a"
    assert winner(Score(0.5), Score(0.75), 0.02) == "b"
    assert winner(Score(0.52), Score(0.5), 0.02) == "tie"
    assert winner(Score(math.nan, reason="none"), Score(0.5), 0.02) == "unknown"


def test_lower_distances_win_and_ties_are_relative_there():
    def distance(value):
        return Score(value, range=(0.0, np.inf), better="lower")

    assert winner(distance(10.0), distance(20.0), 0.02) == "a"
    assert winner(distance(10.0), distance(10.15), 0.02) == "tie"
    assert winner(distance(0.1), distance(0.12), 0.02) == "a"
    assert winner(distance(np.inf), distance(np.inf), 0.02) == "tie"
    assert winner(distance(np.inf), distance(1.0), 0.02) == "b"


def test_the_closest_wins_whichever_side_it_is_on():
    def variety(value):
        return Score(value, range=(1.0, np.inf), better="closest", reference=50.0)

    assert merit(variety(40.0)) == merit(variety(60.0)) == -10.0
    assert winner(variety(48.0), variety(70.0), 0.02) == "a"
    assert winner(variety(49.0), variety(51.0), 0.02) == "tie"
