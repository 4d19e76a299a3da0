"""How much the points of a curve move: against counting again without each block."""

from __future__ import annotations

import numpy as np
import pytest

from calipers.curves import divergence_frontier
from calipers.estimate.histograms import Histograms
from calipers.metrics.catalogue import choose, needs_of
from calipers.metrics.pair import Pair, Settings
from calipers.uncertainty.replicates import columns, curve_variances, delete_blocks, spreads


def read_pair(metrics):
    rng = np.random.default_rng(3)
    sets = rng.standard_normal((220, 3)), rng.standard_normal((180, 3)) + 0.4
    choices = choose(metrics, ("meaning",))
    pair = Pair(*sets, Settings(threads=1), needs_of(each.metric for each in choices))
    for choice in choices:
        choice.score(pair)
    left_out = delete_blocks(pair)
    spreads(pair, choices, left_out=left_out)
    return pair, left_out


def test_frontier_varies_as_when_its_cells_are_counted_again():
    pair, left_out = read_pair("mauve")
    found = curve_variances(left_out)
    cells, blocks = pair.estimates.cells, pair.blocks
    for side, variance in enumerate(found["frontier"]):
        curves = []
        for block in range(blocks[side].count):
            kept = list(cells.labels)
            kept[side] = kept[side][blocks[side].labels != block]
            size = len(cells.best.reference)
            counts = Histograms(*(np.bincount(labels, minlength=size) for labels in kept))
            curves.append(columns(divergence_frontier(counts)))
        gaps = np.array(curves) - np.mean(curves, axis=0)
        expected = (len(curves) - 1) / len(curves) * (gaps**2).sum(axis=0)
        np.testing.assert_allclose(variance, expected, atol=1e-15)


def test_weights_do_not_move_and_costs_do():
    found = curve_variances(read_pair("mauve_star")[1])["frontier_star"]
    assert found.shape == (2, 25, 3)
    assert found[:, :, 0].max() < 1e-25  # what summing the replicates rounds
    assert (found[:, 1:-1, 1:] > 0).all()


def test_precision_and_recall_move_together_along_a_ray():
    pair, left_out = read_pair("prd_f8")
    found = np.sqrt(curve_variances(left_out)["prd"].sum(axis=0))
    points = columns(pair.curves.trade_off("quantisation"))
    inner = slice(50, -50)
    slopes = points[inner, 0] / points[inner, 1]
    np.testing.assert_allclose(found[inner, 0], slopes * found[inner, 1], rtol=1e-6)


@pytest.mark.parametrize("metrics", ["precision", "mauve:gaussian"])
def test_what_is_not_counted_has_no_variance(metrics):
    assert curve_variances(read_pair(metrics)[1]) == {}
