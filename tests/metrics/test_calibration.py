"""The expectation of clipped coverage and its inverse."""

import numpy as np
import pytest
from scipy import stats

from calipers import metrics
from calipers.metrics.robust import expected_coverage, good_share

CASES = [(6, 10, 5), (20, 30, 3), (150, 220, 5), (7, 3, 6), (2, 5, 1), (100, 1, 5), (12, 40, 8)]


@pytest.mark.parametrize(("reference", "generated", "k"), CASES)
def test_equals_the_beta_binomial_law(reference, generated, k):
    expected = [
        np.minimum(np.arange(m + 1), k) @ stats.betabinom(m, k, reference - k).pmf(np.arange(m + 1))
        for m in range(generated + 1)
    ]
    found = expected_coverage(reference, generated, k)
    np.testing.assert_allclose(found, np.array(expected) / k, atol=1e-10)
    assert np.all(np.diff(found) > 0)


@pytest.mark.parametrize(("reference", "generated", "k"), CASES)
def test_equals_the_negative_hypergeometric_law(reference, generated, k):
    # scipy draws until k "failures": here the k nearest reference samples, met by good samples
    law = stats.nhypergeom(reference - 1 + generated, generated, k)
    j = np.arange(generated + 1)
    expected = np.minimum(j, k) @ law.pmf(j) / k
    assert expected_coverage(reference, generated, k)[-1] == pytest.approx(expected, abs=1e-9)


def test_equals_what_samples_do(rng):
    n, m, k = 30, 40, 5
    distances = rng.random((20_000, n - 1 + m))
    radius = np.sort(distances[:, : n - 1], axis=1)[:, k - 1]
    held = (distances[:, n - 1 :] <= radius[:, None]).sum(axis=1)
    found = np.minimum(held, k).mean() / k
    assert expected_coverage(n, m, k)[-1] == pytest.approx(found, abs=0.005)


@pytest.mark.parametrize(("reference", "generated", "k"), CASES)
def test_the_inverse_undoes_it(reference, generated, k):
    f = expected_coverage(reference, generated, k)
    for m, value in enumerate(f):
        assert good_share(value, reference, generated, k) == pytest.approx(m / generated)
    half = good_share((f[0] + f[1]) / 2, reference, generated, k)
    assert half == pytest.approx(0.5 / generated)
    assert good_share(1.0, reference, generated, k) == 1
    assert good_share(0.0, reference, generated, k) == 0


def released(measured, reference, generated, k):
    """The rule of the authors' release: nothing below k good samples, steps, M + 1 below."""
    f = expected_coverage(reference, generated, k)
    f[:k] = 0
    return np.searchsorted(f, measured) / (generated + 1)


def test_agrees_with_the_released_rule_within_one_sample():
    reference, generated, k = 80, 120, 5
    first = expected_coverage(reference, generated, k)[k]
    for measured in np.linspace(first, 1, 500):
        ours = good_share(measured, reference, generated, k)
        theirs = released(measured, reference, generated, k)
        assert abs(ours - theirs) <= 1 / generated
    below = first / 5
    assert released(below, reference, generated, k) == k / (generated + 1)
    assert good_share(below, reference, generated, k) == pytest.approx(1 / generated)


def test_a_hundred_thousand_samples():
    f = expected_coverage(100_000, 100_000, 5)
    assert f[1] == pytest.approx(1e-5, rel=1e-6)
    assert np.all(np.diff(f) > 0)


@pytest.mark.parametrize("share", [0.25, 0.5, 0.9])
def test_reads_as_the_share_of_good_samples(rng, share):
    scores = []
    for _ in range(12):
        reference = rng.standard_normal((300, 5))
        generated = rng.standard_normal((300, 5))
        generated[int(300 * share) :] += 50
        scores.append(metrics.clipped_density_coverage(reference, generated))
    assert np.mean([float(score.coverage) for score in scores]) == pytest.approx(share, abs=0.03)
    assert np.mean([float(score.density) for score in scores]) == pytest.approx(share, abs=0.03)
