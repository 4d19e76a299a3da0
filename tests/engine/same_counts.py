"""Whether other passes give what the processor's own give, shared by the tests of engines."""

import numpy as np

from calipers.estimate import Supports, neighbourhoods
from calipers.estimate.knn.passes import passes_on

EXACT = ("radii", "held", "inside", "own_nearest", "nearest", "distance", "capped", "capped_own")
CLOSE = ("realism", "missed", "across")
ALL = Supports(capped=3, smaller=2, spread=(2, 1.2), across=True)


def check_equal(sets, passes, **options):
    """Hold all that is measured equal to the processor's; give what the passes found."""
    on_processor = neighbourhoods(*sets, threads=1, **options)
    with passes_on(passes):
        elsewhere = neighbourhoods(*sets, threads=1, **options)
    check_same(elsewhere, on_processor)
    return elsewhere


def check_same(elsewhere, on_processor):
    for side in ("reference", "generated"):
        ours, theirs = getattr(elsewhere, side), getattr(on_processor, side)
        for name in EXACT:
            np.testing.assert_array_equal(getattr(ours, name), getattr(theirs, name), name)
        for name in CLOSE:
            left, right = getattr(ours, name), getattr(theirs, name)
            assert (left is None) == (right is None)
            if left is not None:
                np.testing.assert_allclose(left, right, rtol=1e-6, atol=1e-6, err_msg=name)
        assert (ours.replicates is None) == (theirs.replicates is None)
        kept = {} if theirs.replicates is None else vars(theirs.replicates)
        for name, value in kept.items():
            np.testing.assert_array_equal(getattr(ours.replicates, name), value, name)


def gaussians(rng, n=250, m=190, d=7, dtype=np.float32):
    """Rows of both sets."""
    return rng.standard_normal((n, d)).astype(dtype), rng.standard_normal((m, d)).astype(dtype)
