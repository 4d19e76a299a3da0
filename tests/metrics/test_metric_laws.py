"""Laws that tie several public functions over arrays to each other."""

import numpy as np
import pytest

from calipers import metrics

COPYING = {"authenticity": metrics.authenticity, "near_copies": metrics.near_copies}


@pytest.fixture
def pair(rng):
    reference = rng.standard_normal((160, 10))
    return reference, rng.standard_normal((120, 10)) * 0.8 + 0.3


@pytest.mark.parametrize("name", sorted(COPYING))
def test_copies_score_worse(name, rng, pair):
    reference, generated = pair
    known = reference[:60] + rng.standard_normal((60, 10)) * 0.01
    copied = COPYING[name](reference, np.concatenate([generated[:60], known]))
    half = COPYING[name](reference, generated[:60])
    fresh = COPYING[name](reference, generated)
    assert copied.value == pytest.approx(half.value / 2 + (name == "near_copies") / 2)
    assert copied.value < fresh.value if fresh.better == "higher" else copied.value > fresh.value


def test_swapping_the_sides(pair):
    for measure in (
        metrics.precision_recall,
        metrics.probabilistic_precision_recall,
        metrics.precision_recall_cover,
        metrics.topological_precision_recall,
    ):
        one, two = measure(*pair), measure(*pair[::-1])
        within = 1e-6 if measure is metrics.probabilistic_precision_recall else 0
        assert one.precision.value == pytest.approx(two.recall.value, abs=within, rel=0)
        assert one.recall.value == pytest.approx(two.precision.value, abs=within, rel=0)
    assert metrics.frechet_distance(*pair).value == pytest.approx(
        metrics.frechet_distance(*pair[::-1]).value, abs=1e-9
    )


def test_values_per_sample_make_the_score(pair):
    support = metrics.precision_recall(*pair)
    assert support.precision.per_sample.shape == (120,)
    assert support.recall.per_sample.shape == (160,)
    assert support.precision.per_sample.mean() == support.precision.value
    assert support.recall.per_sample.mean() == support.recall.value
    spread = metrics.density_coverage(*pair)
    assert spread.density.per_sample.mean() == pytest.approx(spread.density.value, abs=1e-12)
    assert spread.coverage.per_sample.mean() == spread.coverage.value
