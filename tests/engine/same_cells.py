"""Whether rounds that run elsewhere give the cells of this process, shared by tests of engines."""

import numpy as np

from calipers.estimate.kmeans.rounds import rounds_on
from calipers.estimate.quantise import joint_cells

USUAL = {"restarts": 2, "seed": 0, "max_iterations": 500, "threads": 1}


def check_equal(sets, rounds, *, cells=20, weights=None, **options):
    """Hold labels, inertias and centres equal to the last bit; give what was found elsewhere."""
    chosen = {"cells": cells, **USUAL, **options}
    each = [1.0] * len(sets) if weights is None else weights
    here = joint_cells(sets, each, **chosen)
    with rounds_on(rounds):
        elsewhere = joint_cells(sets, each, **chosen)
    check_same(elsewhere, here)
    return elsewhere


def check_same(elsewhere, here):
    for ours, theirs in zip(elsewhere.labels, here.labels, strict=True):
        np.testing.assert_array_equal(ours, theirs)
    assert elsewhere.inertias == here.inertias
    np.testing.assert_array_equal(elsewhere.centres, here.centres)


def topics(rng, n=500, m=340, d=7, dtype=np.float32):
    """Rows of two sets around a dozen points."""
    middles = 2 * rng.standard_normal((12, d))
    return [
        (middles[rng.integers(0, 12, size)] + rng.standard_normal((size, d))).astype(dtype)
        for size in (n, m)
    ]
