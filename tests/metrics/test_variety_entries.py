"""Vendi and RKE of both sets, at one size."""

import numpy as np
import pytest

from calipers.catalogue.embeddings import METRICS
from calipers.metrics.pair import Pair, Settings
from calipers.metrics.vendi import vendi_score


@pytest.mark.parametrize(("name", "q"), [("vendi", 1.0), ("rke", 2.0)])
def test_both_sets_count_at_the_size_of_the_smaller(name, q):
    rng = np.random.default_rng(0)
    reference, generated = rng.normal(size=(80, 5)), rng.normal(size=(30, 5))
    found = METRICS[name].score(Pair(reference, generated, Settings(seed=3)))
    kept = np.sort(np.random.default_rng(3).permutation(80)[:30])
    assert found.value == pytest.approx(vendi_score(generated, q=q).value)
    assert found.reference == pytest.approx(vendi_score(reference[kept], q=q).value)
