"""What new samples of the reference's own distribution score, as the docstrings say."""

import numpy as np
import pytest

from calipers import metrics


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
