"""Laws that tie metrics to each other, and what sets of one distribution score."""

import numpy as np
import pytest

from calipers import metrics

# Laws that tie several public functions over arrays to each other.


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


# What new samples of the reference's own distribution score, as the docstrings say.


def mean_of(rng, score, n, m, d, times=6):
    draws = [score(rng.standard_normal((n, d)), rng.standard_normal((m, d))) for _ in range(times)]
    return np.mean([float(draw) for draw in draws])


@pytest.mark.parametrize(("n", "m"), [(1000, 1000), (1000, 3000), (3000, 1000)])
def test_one_per_cent_are_near_copies_whatever_the_sizes(rng, n, m):
    found = mean_of(rng, lambda p, q: metrics.near_copies(p, q, threads=1), n, m, 3)
    assert found == pytest.approx(0.01, abs=0.005)


@pytest.mark.parametrize(("d", "expected"), [(1, 1 / 3), (2, 0.38), (100, 0.82)])
def test_authenticity_depends_on_the_dimension(rng, d, expected):
    found = mean_of(rng, lambda p, q: metrics.authenticity(p, q, threads=1), 800, 800, d)
    assert found == pytest.approx(expected, abs=0.03)


@pytest.mark.parametrize(("m", "expected"), [(600, 0.967), (200, 0.54)])
def test_cover_depends_on_the_ratio_of_the_sizes(rng, m, expected):
    found = mean_of(rng, lambda p, q: metrics.precision_recall_cover(p, q).recall, 600, m, 10)
    assert found == pytest.approx(expected, abs=0.03)


def test_spheres(rng):
    both = [
        metrics.sphere_precision_recall(*rng.standard_normal((2, 800, 2)), threads=1)
        for _ in range(6)
    ]
    assert np.mean([float(each.precision) for each in both]) > 0.95
    assert np.mean([float(each.recall) for each in both]) == pytest.approx(0.5, abs=0.03)


def test_probabilities_do_not_reach_one(rng):
    def recall(p, q):
        return metrics.probabilistic_precision_recall(p, q).recall

    assert 0.7 < mean_of(rng, recall, 500, 500, 10, times=3) < 0.8
