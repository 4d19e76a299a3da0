"""The experiments on simulated crowds of raters: what they draw, and the tables they lay out."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest


@pytest.fixture(scope="module")
def crowds(experiments):
    import crowds

    return crowds


def test_a_crowd_is_drawn_from_its_model(crowds):
    rng = np.random.default_rng(0)
    pairs = crowds.draw_pairs(rng, crowds.Crowd("biased", side_mean=1.0), 30, 30_000)
    assert np.bincount(pairs.rater).tolist() == [1000] * 30
    met = (pairs.preferences.wins + pairs.preferences.wins.T + pairs.preferences.ties)[
        np.triu_indices(9, 1)
    ]
    assert (met.min(), met.max()) == (833, 834)
    decided = pairs.prefers_first[pairs.prefers_first != 0]
    # The odds are e to 1 for equal systems, and a little nearer to even for unequal ones
    assert 0.70 < (decided > 0).mean() < 0.735


def test_the_truth_of_raters_who_are_alike_is_what_they_were_drawn_from(crowds):
    found = crowds.truth_of(crowds.CROWDS[0], many=10)
    assert found == pytest.approx(crowds.TRUTH * 100, abs=1e-6)
    tastes = crowds.truth_of(replace(crowds.CROWDS[0], taste=1.0), many=5000)
    assert 0.7 < tastes[0] / (100 * crowds.TRUTH[0]) < 0.97  # those of a crowd lie closer


def test_items_are_seen_by_several_raters_and_differ(crowds):
    drawn = crowds.draw_rated_items(
        np.random.default_rng(0), crowds.Crowd("apart", item=50.0), 5, 3000
    )
    assert np.bincount(drawn.item).tolist() == [3] * 1000
    assert len(np.unique(drawn.item * 5 + drawn.rater)) == 3000
    # Items so far apart that all raters of one say the same
    outcome = drawn.outcome.reshape(1000, 3)
    assert (outcome == outcome[:, :1]).all(axis=1).mean() > 0.95


def test_the_truth_of_items_that_differ_lies_closer(crowds):
    found = crowds.truth_of(replace(crowds.CROWDS[0], item=2.0), many=20_000)
    assert 0.4 < np.polyfit(100 * crowds.TRUTH, found, 1)[0] < 0.9


@pytest.mark.slow
def test_tables_have_a_row_for_each_crowd_and_method(crowds):
    rows = crowds.measure(crowds.CROWDS[4], 2, 6, 150, 0)
    assert {(row.method, row.truth) for row in rows} == {
        (method, truth) for method in crowds.METHODS for truth in ("crowd", "typical rater")
    }
    assert all(0 <= row.scores <= 1 and row.crowds == 2 for row in rows)
    lines = crowds.table(rows).splitlines()
    assert len(lines) == 5
    assert lines[2].startswith("| all of these | plain |")
    few = crowds.measure(crowds.CROWDS[0], 2, 3, 300, 0, ("plain", "clustered"))
    assert crowds.table_of_raters(few).splitlines()[2].startswith("| alike | 3 |")
    items = crowds.measure(crowds.CROWDS[0], 2, 6, 300, 0, crowds.ITEM_METHODS)
    assert crowds.table_of_items(items).splitlines()[2].startswith("| alike | 6 | 0.0 |")
