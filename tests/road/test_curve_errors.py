"""The errors of curves in a result: those of both sets, read from the pair that was scored."""

from __future__ import annotations

import numpy as np

import calipers
from calipers.catalogue.choosing import choose, needs_of
from calipers.estimate.axes import preprocess
from calipers.metrics.pair import Pair, Settings
from calipers.uncertainty.replicates import curve_variances, delete_blocks, spreads


def test_both_sets_move_a_curve(rng):
    sets = rng.standard_normal((150, 3)), rng.standard_normal((150, 3)) + 0.7
    found = calipers.compare(sets[0], {"x": sets[1]}, metrics="mauve,prd_f8", floor=False)["x"]
    rows = preprocess(*sets)
    choices = choose("mauve,prd_f8", ("embedding",))
    pair = Pair(
        rows.reference, rows.generated, Settings(), needs_of(each.metric for each in choices)
    )
    for choice in choices:
        choice.score(pair)
    left_out = delete_blocks(pair)
    spreads(pair, choices, left_out=left_out)
    for key, (reference, generated) in curve_variances(left_out).items():
        assert min(reference.max(), generated.max()) > 0
        np.testing.assert_allclose(
            found.curve_errors[key], np.sqrt(reference + generated), rtol=1e-6, atol=1e-12
        )
    assert set(found.curve_errors) == {"frontier", "prd"}


def test_without_intervals_there_are_none(rng):
    sets = rng.standard_normal((2, 150, 3))
    found = calipers.compare(sets[0], {"x": sets[1]}, metrics="mauve", level=None, floor=False)
    assert (found["x"].curve_errors, found["x"].correlations) == ({}, {})
    assert set(found["x"].curves) == {"frontier"}
