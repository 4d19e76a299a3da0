"""Rows of one stratum are no neighbours of each other, whatever is counted and however."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from calipers.catalogue.estimation import EstimationOptions
from calipers.catalogue.needs import NOTHING
from calipers.errors import InputError
from calipers.estimate.knn.balls import Supports
from calipers.estimate.knn.neighbourhoods import neighbourhoods
from calipers.estimate.knn.passes import LocalPasses, passes_on
from calipers.metrics.knn_support import precision_score, read_realism, recall_score
from calipers.metrics.pair import Pair, Settings
from calipers.metrics.precise import precise_recall_replicates, read_precise_recall
from calipers.numeric.blocks import Blocks, cluster_sets


def by_hand(x, y, strata, k, *, closed=True):
    """Radii, and who lies in whose ball, by all pairs."""
    left, right = strata
    own = ((x[:, None] - x[None]) ** 2).sum(-1)
    own[left[:, None] == left[None]] = np.inf
    radii = np.sort(own, axis=1)[:, k - 1]
    other = ((x[:, None] - y[None]) ** 2).sum(-1)
    other[left[:, None] == right[None]] = np.inf
    return radii, (other <= radii[:, None] if closed else other < radii[:, None])


def test_a_twin_is_no_neighbour():
    # Row i of both answers prompt i; each answer lies on its twin, and the third far from the rest
    x, y = np.array([[0.0], [1.0], [9.0]]), np.array([[0.0], [1.0], [9.0]])
    rows = np.arange(3)
    usual = neighbourhoods(x, y, k=1)
    assert usual.reference.inside[:, 0].tolist() == [2, 3, 1]
    apart = neighbourhoods(x, y, k=1, strata=(rows, rows))
    # The balls are [-1, 1], [0, 2] and [1, 17]: 0 lies in that of 1, 1 in those of 0 and 9
    assert apart.reference.inside[:, 0].tolist() == [1, 2, 0]
    assert precision_score(apart, 1).value == pytest.approx(2 / 3)
    assert "among:other_strata" in precision_score(apart, 1).signature
    assert "among" not in precision_score(usual, 1).signature
    # What lies nearest is told of all rows: a copy of the own twin is a copy
    assert apart.reference.nearest.tolist() == [0, 1, 2]
    assert apart.reference.distance.tolist() == [0, 0, 0]


@settings(max_examples=40)
@given(st.integers(0, 2**32 - 1), st.booleans(), st.booleans())
def test_counts_are_those_of_all_pairs(seed, closed, integers):
    rng = np.random.default_rng(seed)
    n, m, k = int(rng.integers(9, 60)), int(rng.integers(9, 60)), int(rng.integers(1, 4))
    x, y = rng.standard_normal((n, 3)), rng.standard_normal((m, 3))
    if integers:  # ties
        x, y = np.round(x), np.round(y)
    left, right = rng.integers(0, 9, n), rng.integers(3, 12, m)
    if min(n - np.bincount(left).max(), m - np.bincount(right).max()) <= k:
        return
    ties = "closed" if closed else "open"
    near = neighbourhoods(x, y, k=k, ties=ties, strata=(left, right), supports=Supports(capped=k))
    for own, other, strata, balls in (
        (x, y, (left, right), near.reference),
        (y, x, (right, left), near.generated),
    ):
        radii, inside = by_hand(own, other, strata, k, closed=closed)
        np.testing.assert_allclose(balls.radii[:, k - 1] ** 2, radii, rtol=1e-12)
        assert balls.held[:, k - 1].tolist() == inside.sum(1).tolist()
        assert balls.inside[:, k - 1].tolist() == inside.sum(0).tolist()
        assert balls.capped_own is not None
        cap = np.median(np.sqrt(radii)) ** 2
        capped = np.minimum(radii, cap)
        if not integers:
            gaps = ((own[:, None] - own[None]) ** 2).sum(-1)
            gaps[strata[0][:, None] == strata[0][None]] = np.inf
            held = gaps <= capped[:, None] if closed else gaps < capped[:, None]
            doubt = np.isclose(gaps, capped[:, None], rtol=1e-9).any()
            assert doubt or balls.capped_own.tolist() == held.sum(0).tolist()


def test_strata_of_single_rows_that_no_other_side_has_change_nothing():
    rng = np.random.default_rng(0)
    x, y = rng.standard_normal((200, 4)), rng.standard_normal((150, 4))
    blocks = Blocks.balanced(200, seed=0), Blocks.balanced(150, seed=0)
    usual = neighbourhoods(x, y, k=4, blocks=blocks, supports=Supports(capped=5, across=True))
    apart = neighbourhoods(
        x,
        y,
        k=4,
        blocks=blocks,
        strata=(np.arange(200), 1_000 + np.arange(150)),
        supports=Supports(capped=5, across=True),
    )
    for name in ("reference", "generated"):
        one, other = getattr(usual, name), getattr(apart, name)
        for field in ("radii", "held", "inside", "nearest", "distance", "capped", "capped_own"):
            np.testing.assert_array_equal(getattr(one, field), getattr(other, field))
        np.testing.assert_array_equal(one.across, other.across)
        for field, known in vars(one.replicates).items():
            np.testing.assert_array_equal(known, getattr(other.replicates, field))


def test_without_a_block_is_what_is_measured_without_its_rows():
    rng = np.random.default_rng(1)
    prompts = np.repeat(np.arange(60), 2)
    places = rng.standard_normal((60, 3))
    x, y = (places[prompts] + 0.3 * rng.standard_normal((120, 3)) for _ in range(2))
    clusters = cluster_sets([prompts.tolist(), prompts.tolist()])
    blocks = tuple(Blocks.of(120, each, seed=0, count=10) for each in clusters)
    near = neighbourhoods(x, y, k=3, blocks=blocks, strata=(prompts, prompts))
    for block in range(10):
        keep = blocks[0].labels != block
        less = neighbourhoods(x[keep], y, k=3, strata=(prompts[keep], prompts))
        left = near.without("reference", block, k=3)
        assert precision_score(left, 3).value == precision_score(less, 3).value
        assert recall_score(left, 3).value == recall_score(less, 3).value
    half = blocks[0].half(2, 1), blocks[1].half(2, 1)
    less = neighbourhoods(x[half[0]], y[half[1]], k=3, strata=(prompts[half[0]], prompts[half[1]]))
    assert precision_score(near.half(2, 1, k=3), 3).value == precision_score(less, 3).value


def test_distances_across_are_those_to_other_strata():
    rng = np.random.default_rng(2)
    prompts = np.repeat(np.arange(20), 3)
    x, y = rng.standard_normal((60, 2)), rng.standard_normal((60, 2))
    near = neighbourhoods(x, y, k=2, strata=(prompts, prompts), supports=Supports(across=True))
    gaps = np.sqrt(((y[:, None] - x[None]) ** 2).sum(-1))
    gaps[prompts[:, None] == prompts[None]] = np.inf
    np.testing.assert_allclose(near.reference.across, np.sort(gaps, axis=1)[:, 1])


def test_block_size_and_row_order_change_no_count():
    rng = np.random.default_rng(3)
    prompts = rng.integers(0, 70, 200)
    x, y = rng.standard_normal((200, 5)), rng.standard_normal((200, 5))
    near = neighbourhoods(x, y, k=4, strata=(prompts, prompts))
    order = rng.permutation(200)
    with passes_on(LocalPasses(1, 48)):
        other = neighbourhoods(x[order], y, k=4, strata=(prompts[order], prompts))
    np.testing.assert_array_equal(near.reference.held[order], other.reference.held)
    np.testing.assert_array_equal(near.reference.inside, other.reference.inside)


def test_what_far_pairs_count_for_is_not_measured():
    rng = np.random.default_rng(4)
    rows = np.arange(30)
    near = neighbourhoods(
        rng.standard_normal((30, 2)),
        rng.standard_normal((30, 2)),
        strata=(rows, rows),
        supports=Supports(smaller=4, spread=(4, 1.2)),
    )
    assert near.reference.realism is None
    assert near.reference.missed is None


@pytest.mark.parametrize(
    ("strata", "words"),
    [
        ((np.zeros(9, int), np.zeros(10, int)), "of 10 rows; found shape \\(9,\\)"),
        ((np.zeros(10), np.zeros(10)), "whole numbers"),
        ((np.zeros(10, int), np.arange(10)), "of 10 in the reference set, 10 are of one stratum"),
    ],
)
def test_labels_that_do_not_fit_are_refused(strata, words):
    rng = np.random.default_rng(5)
    with pytest.raises(InputError, match=words):
        neighbourhoods(rng.standard_normal((10, 2)), rng.standard_normal((10, 2)), strata=strata)


def test_precise_recall_leaves_the_own_stratum_out_among_precise_rows():
    rng = np.random.default_rng(6)
    prompts = np.arange(80)
    places = rng.standard_normal((80, 3))
    x, y = (places + 0.5 * rng.standard_normal((80, 3)) for _ in range(2))
    pair = Pair(x, y, Settings(k=3, normalise="none", threads=1), strata=(prompts, prompts))
    precise = by_hand(x, y, (prompts, prompts), 3)[1].any(axis=0)
    rows = prompts[precise]
    covered = by_hand(y[precise], x, (rows, prompts), 3)[1].any(axis=0)
    score = read_precise_recall(pair, EstimationOptions())
    assert 3 < precise.sum() < 80
    assert score.value == covered.mean()
    without, _ = precise_recall_replicates(pair)
    keep = pair.labels[0].labels != 0
    still = by_hand(x[keep], y, (prompts[keep], prompts), 3)[1].any(axis=0)
    left = by_hand(y[still], x[keep], (prompts[still], prompts[keep]), 3)[1].any(axis=0)
    assert without[0] == left.mean()
    half = pair.part(np.arange(40), np.arange(40, 80), pair.settings, NOTHING)
    assert half.strata is not None
    assert half.strata[1].tolist() == list(range(40, 80))
    assert half.others == 39


def test_what_is_not_measured_says_so():
    rng = np.random.default_rng(7)
    rows = np.arange(40)
    sides = rng.standard_normal((40, 2)), rng.standard_normal((40, 2))
    pair = Pair(*sides, Settings(normalise="none"), strata=(rows, rows))
    score = read_realism(pair, EstimationOptions())
    assert np.isnan(score.value)
    assert (
        score.reason == "not measured where answers to one prompt are not neighbours of each other"
    )
