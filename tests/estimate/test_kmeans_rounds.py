"""Rounds of k-means: sums that no order changes, and rows that need only their last labels."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from calipers.estimate.kmeans.kernels import lay_out
from calipers.estimate.kmeans.lloyd import LocalSteps, add_rows, k_means
from calipers.estimate.kmeans.rounds import (
    Clustering,
    Round,
    Sums,
    chosen_rounds,
    next_centres,
    rounds_on,
)
from calipers.numeric.threads import Workers, workers
from calipers.numeric.tiles import panel_spans

ALONE = Workers.alone()


def summed(table, labels, cells):
    sums = Sums.empty(cells, table.rows.shape[1])
    sums.changed = add_rows(
        table, labels, sums, np.full(table.n, -1, np.int32), (0, table.rows.shape[1])
    )
    return sums


def check_sums(one, other):
    np.testing.assert_array_equal(one.rows, other.rows)
    np.testing.assert_array_equal(one.mass, other.mass)


def test_sums_are_whole_multiples_of_the_unit():
    """Rows at 0, 2 and 4 lie at -1/2, 0 and 1/2 once they are centred at 2 and divided by 4."""
    table = lay_out([np.array([[0.0], [2.0]]), np.array([[4.0]])], ALONE, [1.0, 3.0])
    table.rows[:3, 0] = -0.5, 0.0, 0.5
    assert table.unit == 2.0**58  # all weights are 5, below 8
    sums = summed(table, np.array([0, 0, 1], np.int32), 3)
    assert sums.rows[:, 0].tolist() == [-(2**57), 3 * 2**57, 0]
    assert sums.mass.tolist() == [2 * 2**58, 3 * 2**58, 0]
    assert sums.changed == 3
    np.testing.assert_array_equal(sums.means(np.array([0, 1]))[:, 0], [-0.25, 0.5])


@pytest.mark.parametrize("weights", [(1.0, 1.0), (1e7, 1.0), (1.0, 3e-7), (0.7, 1.6)])
def test_the_largest_sums_have_room_and_small_weights_keep_their_digits(rng, weights):
    sets = [np.repeat([[-1.0], [1.0]], 300, axis=0), rng.uniform(-1, 1, (4, 1))]
    table = lay_out(sets, ALONE, weights)
    assert 2.0**60 <= table.weights.sum() * table.unit < 2.0**61
    sums = summed(table, np.repeat(np.arange(3, dtype=np.int32), [300, 300, 4]), 3)
    assert int(np.abs(sums.rows).max()) < 2**62
    means = [table.rows[span, 0].mean(dtype=float) for span in np.s_[:300, 300:600, 600:604]]
    np.testing.assert_allclose(sums.means(np.arange(3))[:, 0], means, rtol=1e-6)


@st.composite
def tables(draw):
    """Rows with ties and copies, in two sets of different weights, and cells for them."""
    n, m, d = draw(st.integers(1, 150)), draw(st.integers(1, 60)), draw(st.integers(1, 20))
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    dtype = draw(st.sampled_from([np.float32, np.float64]))
    rows = (
        rng.standard_normal((n + m, d)) if draw(st.booleans()) else rng.integers(0, 3, (n + m, d))
    )
    rows = (rows + draw(st.sampled_from([0, 1e5]))).astype(dtype)
    weights = draw(st.sampled_from([(1.0, 1.0), (0.37, 2.9)]))
    cells = draw(st.integers(1, n + m))
    return lay_out([rows[:n], rows[n:]], ALONE, weights), cells, rng


def permuted(table, order):
    """The same table with its rows in another order."""
    rows, low = table.rows.copy(), table.low.copy()
    rows[: table.n], low[: table.n] = rows[order], low[order]
    return replace(table, rows=rows, low=low, weights=table.weights[order])


@settings(max_examples=60)
@given(tables())
def test_sums_of_parts_in_any_order_are_those_of_the_whole(drawn):
    table, cells, rng = drawn
    labels = rng.integers(0, cells, table.n).astype(np.int32)
    total = Sums.empty(cells, table.rows.shape[1])
    parts = panel_spans(table.n, 48)
    for place in rng.permutation(len(parts)):
        span = parts[place]
        part = summed(table.part(span), labels[slice(*span)], cells)
        total.rows += part.rows
        total.mass += part.mass
    check_sums(total, summed(table, labels, cells))
    order = rng.permutation(table.n)
    check_sums(total, summed(permuted(table, order), labels[order], cells))


@settings(max_examples=40)
@given(tables())
def test_rows_in_another_order_go_to_the_same_centres(drawn):
    table, cells, rng = drawn
    order = rng.permutation(table.n)
    other = permuted(table, order)
    at = Round.first(table.rows[rng.choice(table.n, cells, replace=False)])
    places = len(at.centres.low)
    here, there = (LocalSteps(each, places, ALONE, bounded=True) for each in (table, other))
    for _ in range(4):
        here.assign(at)
        there.assign(at)
        np.testing.assert_array_equal(here.labels[order], there.labels)
        np.testing.assert_array_equal(here.own[order], there.own)
        sums = here.sum_up()
        check_sums(sums, there.sum_up())
        if sums.mass[:cells].min() == 0:
            break  # of equally far rows the first becomes a centre
        at = at.following(next_centres(table, here, sums, at))


@settings(max_examples=40)
@given(tables())
def test_a_round_needs_only_the_labels_before_it(drawn):
    """Bounds, distances and sums that are kept change nothing."""
    table, cells, rng = drawn
    at = Round.first(table.rows[rng.choice(table.n, cells, replace=False)])
    places = len(at.centres.low)
    kept = LocalSteps(table, places, ALONE, bounded=True)
    for _ in range(5):
        before = kept.labels.copy(), kept.own.copy()
        kept.assign(at)
        anew = LocalSteps(table, places, ALONE, bounded=False)
        anew.start_from(*before)
        anew.assign(at)
        np.testing.assert_array_equal(anew.labels, kept.labels)
        np.testing.assert_array_equal(anew.own, kept.own)
        sums = kept.sum_up()
        check_sums(sums, anew.sum_up())
        at = at.following(next_centres(table, kept, sums, at))


def test_threads_change_no_sum(rng, monkeypatch):
    monkeypatch.setattr("calipers.estimate.kmeans.lloyd.PIECE", 100)
    table = lay_out([rng.standard_normal((400, 70))], ALONE)
    found = []
    for threads in (1, 3):
        with workers(threads) as pool:
            steps = LocalSteps(table, 48, pool, bounded=False)
            steps.assign(Round.first(table.rows[:40]))
            found.append(steps.sum_up())
    check_sums(*found)
    assert found[0].changed == found[1].changed == 400


def test_without_bounds_late_rounds_look_at_few_pairs(rng, monkeypatch):
    """Where few centres move, rows that came no farther from their own look at these alone."""
    monkeypatch.setattr("calipers.estimate.kmeans.lloyd.MOST_BOUNDS", 0)
    bring, pairs = LocalSteps.bring, []

    def counted(self, rows, low, found, centres):
        pairs.append(len(found.labels) * int(np.isfinite(centres.low).sum()))
        bring(self, rows, low, found, centres)

    monkeypatch.setattr(LocalSteps, "bring", counted)
    topics = 3 * rng.standard_normal((30, 6))
    rows = topics[rng.integers(0, 30, 3000)] + rng.standard_normal((3000, 6))
    table = lay_out([rows], ALONE)
    found = k_means(table, 60, seed=0, max_iterations=500, workers=ALONE)
    whole = 3000 * 60
    assert pairs[0] == whole
    assert max(pairs) == whole
    assert sum(pairs) < 0.8 * whole * (found.iterations + 1)
    assert pairs[-1] < 0.2 * whole


class Elsewhere:
    """What stands for another place."""

    few_pairs = 1000

    def run(self, table, first, max_iterations):
        return Clustering(np.full(table.n, len(first), np.int32), max_iterations, 7)


def test_what_runs_the_rounds_is_chosen_for_a_stretch_and_by_the_size(rng):
    table, elsewhere = lay_out([rng.standard_normal((200, 3))], ALONE), Elsewhere()
    asked = {"seed": 0, "max_iterations": 11, "workers": ALONE}
    with rounds_on(elsewhere):
        assert chosen_rounds(1000) is None
        assert chosen_rounds(1001) is elsewhere
        with rounds_on(None):
            assert k_means(table, 6, **asked).inertia == 11
        assert k_means(table, 5, **asked).iterations != 7
    assert chosen_rounds(10**9) is None
