"""Every support metric equals its brute force, whatever the sizes, ties and duplicates."""

import importlib.util
from pathlib import Path

import numpy as np
import pytest

from calipers import metrics
from calipers.metrics.robust import good_share

_spec = importlib.util.spec_from_file_location(
    "brute_support", Path(__file__).with_name("brute_support.py")
)
brute = importlib.util.module_from_spec(_spec)
_spec.loader.exec_module(brute)


def gaussians(rng):
    return rng.standard_normal((60, 6)), rng.standard_normal((60, 6)) * 0.8 + 0.3


def fewer_generated(rng):
    return rng.standard_normal((90, 4)), rng.standard_normal((25, 4)) + 0.5


def more_generated(rng):
    return rng.standard_normal((25, 4)), rng.standard_normal((90, 4)) + 0.5


def one_dimension(rng):
    return rng.standard_normal((40, 1)), rng.standard_normal((30, 1)) * 2


def lattice(rng):
    """Many rims, many duplicates, copies across the sets."""
    return rng.integers(1, 4, (70, 3)).astype(float), rng.integers(0, 4, (50, 3)).astype(float)


def single_precision(rng):
    return tuple(side.astype(np.float32) for side in gaussians(rng))


@pytest.fixture(
    params=[
        gaussians,
        fewer_generated,
        more_generated,
        one_dimension,
        lattice,
        single_precision,
    ],
    ids=lambda make: make.__name__,
)
def sets(request, rng):
    return request.param(rng)


both_ties = pytest.mark.parametrize("ties", ["closed", "open"])
EXACT = 1e-12


def test_realism(sets):
    found = metrics.realism(*sets, k=3)
    np.testing.assert_allclose(found.per_sample, brute.realism(*sets, k=3), rtol=1e-9)
    assert found.value == pytest.approx(np.median(found.per_sample), rel=1e-12)


@both_ties
def test_clipped(sets, ties):
    for k in (2, 5):
        found = metrics.clipped_density_coverage(*sets, k=k, ties=ties)
        expected = brute.clipped_density(*sets, k=k, ties=ties)
        assert found.density.value == pytest.approx(expected, abs=EXACT, nan_ok=True)
        measured = brute.clipped_share(*sets, k=k, ties=ties)
        assert found.coverage.per_sample.mean() == pytest.approx(measured, abs=EXACT)
        sizes = len(sets[0]), len(sets[1])
        assert found.coverage.value == pytest.approx(good_share(measured, *sizes, k), abs=1e-9)


def test_probabilistic(sets):
    found = metrics.probabilistic_precision_recall(*sets)
    expected = brute.probabilistic_precision(*sets)
    assert found.precision.value == pytest.approx(expected, abs=1e-6)
    assert found.recall.value == pytest.approx(brute.probabilistic_precision(*sets[::-1]), abs=1e-6)
    wide = metrics.probabilistic_precision_recall(*sets, k=2, factor=2.0)
    assert wide.precision.value == pytest.approx(
        brute.probabilistic_precision(*sets, k=2, factor=2.0), abs=1e-6
    )


@both_ties
def test_cover(sets, ties):
    for k, factor in ((3, 3), (2, 4), (1, 1)):
        found = metrics.precision_recall_cover(*sets, k=k, factor=factor, ties=ties)
        assert found.precision.value == brute.cover_precision(*sets, k, factor, ties)
        assert found.recall.value == brute.cover_precision(*sets[::-1], k, factor, ties)


@both_ties
def test_spheres(sets, ties):
    sets = [side.astype(np.float64) for side in sets]
    found = metrics.sphere_precision_recall(*sets, ties=ties)
    assert found.precision.value == pytest.approx(brute.sphere_precision(*sets), abs=1e-9)
    assert found.recall.value == pytest.approx(brute.sphere_recall(*sets, ties), abs=1e-9)


def test_copying(sets):
    assert metrics.authenticity(*sets).value == brute.authenticity(*sets)
    assert metrics.near_copies(*sets).value == brute.near_copies(*sets)


def test_cosine(rng):
    sets = rng.standard_normal((50, 5)) + 0.5, rng.standard_normal((40, 5)) * 3 + 0.4
    cosine = {"distance": "cosine"}
    np.testing.assert_allclose(
        metrics.realism(*sets, **cosine).per_sample,
        brute.realism(*sets, metric="cosine"),
        rtol=1e-9,
    )
    clipped = metrics.clipped_density_coverage(*sets, **cosine)
    assert clipped.density.value == pytest.approx(brute.clipped_density(*sets, metric="cosine"))
    assert clipped.coverage.per_sample.mean() == pytest.approx(
        brute.clipped_share(*sets, metric="cosine")
    )
    probable = metrics.probabilistic_precision_recall(*sets, **cosine)
    assert probable.precision.value == pytest.approx(
        brute.probabilistic_precision(*sets, metric="cosine")
    )
    cover = metrics.precision_recall_cover(*sets, **cosine)
    assert cover.precision.value == brute.cover_precision(*sets, metric="cosine")
    assert metrics.authenticity(*sets, **cosine).value == brute.authenticity(*sets, metric="cosine")
    assert metrics.near_copies(*sets, **cosine).value == brute.near_copies(*sets, metric="cosine")
    units = [side / np.linalg.norm(side, axis=1, keepdims=True) for side in sets]
    spheres = metrics.sphere_precision_recall(*sets, **cosine)
    assert spheres.precision.value == pytest.approx(brute.sphere_precision(*units), abs=1e-9)
    assert spheres.recall.value == pytest.approx(brute.sphere_recall(*units), abs=1e-9)
    assert "distance:cosine" in spheres.recall.signature.split("|")


def test_cosine_of_precision_and_recall_is_euclidean_on_the_unit_sphere(rng):
    sets = rng.standard_normal((50, 5)) + 0.5, rng.standard_normal((40, 5)) * 3 + 0.4
    units = [side / np.linalg.norm(side, axis=1, keepdims=True) for side in sets]
    for measure in (metrics.precision_recall, metrics.density_coverage):
        turned, plain = measure(*sets, distance="cosine"), measure(*units)
        for name in vars(plain):
            np.testing.assert_array_equal(
                getattr(turned, name).per_sample, getattr(plain, name).per_sample
            )
