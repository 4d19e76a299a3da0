"""The rule that says whether a view sees a change."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from calipers.commands.probe.result import Move, verdict


def move(gap, ceiling=(0.9, 0.9, 0.9), least=0.02):
    return Move("recall", "higher", ceiling, tuple(c + gap for c in ceiling), least)


def test_gap_and_noise_by_hand():
    found = Move("recall", "higher", (0.90, 0.94, 0.98), (0.80, 0.86, 0.80), 0.02)
    assert found.unchanged == pytest.approx(0.94)
    assert found.value == pytest.approx(0.82)
    assert found.gap == pytest.approx(-0.12)
    assert found.noise == pytest.approx(2 * 0.04)
    assert found.beyond
    assert found.clear
    assert move(0.0).noise == 0.02


@pytest.mark.parametrize(
    ("gaps", "word"),
    [
        ((0.0, 0.0), "blind"),
        ((-0.02, 0.0), "blind"),
        ((-0.03, 0.0), "hardly"),
        ((0.03, 0.0), "hardly"),
        ((-0.1, 0.0), "sees"),
        ((0.0, 0.3), "sees"),
    ],
)
def test_the_metric_that_moves_most_decides(gaps, word):
    assert verdict([move(gap) for gap in gaps], 1.0) == word
    assert verdict([move(gap) for gap in reversed(gaps)], 1.0) == word


def test_noise_hides_a_gap():
    noisy = (0.6, 0.9, 0.75)
    assert verdict([move(-0.2, ceiling=noisy)], 1.0) == "blind"
    assert verdict([move(-0.4, ceiling=noisy)], 1.0) == "sees"


def test_what_changes_nothing_says_nothing():
    assert verdict([move(0.0)], 0.0) == "no change"
    assert verdict([move(-0.5)], 0.49) == "few changed"
    assert verdict([move(0.0)], 0.5) == "blind"


@given(st.lists(st.floats(0, 1), min_size=2, max_size=5), st.floats(-1, 1))
def test_larger_gaps_are_seen_no_less(ceiling, gap):
    order = ["blind", "hardly", "sees"]
    nearer, further = (verdict([move(x, tuple(ceiling))], 1.0) for x in (gap / 2, gap))
    assert order.index(nearer) <= order.index(further)


def test_scores_without_a_value_are_null():
    nothing = Move("recall", "higher", (0.9, 0.8), (math.nan, 0.5), 0.02)
    assert np.isnan(nothing.gap)
    assert nothing.to_dict()["gap"] is None
    assert nothing.to_dict()["values"] == [None, 0.5]
    assert not nothing.beyond
