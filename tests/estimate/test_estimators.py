import importlib.util
from pathlib import Path

import numpy as np
import pytest

from calipers.catalogue import estimation
from calipers.catalogue.estimation import PAIRED_C
from calipers.curves import divergence_frontier, f_divergence, precision_recall_curve
from calipers.errors import InputError
from calipers.estimate.estimators import ESTIMATORS, estimate_ratios

_spec = importlib.util.spec_from_file_location(
    "brute_force", Path(__file__).with_name("brute_force.py")
)
oracle = importlib.util.module_from_spec(_spec)
_spec.loader.exec_module(oracle)

NAMES = list(ESTIMATORS)


def test_constants_are_those_of_the_paper():
    assert PAIRED_C == {
        "quantisation": 5.0,
        "knn": 10.0,
        "kde": 10.0,
        "classifier": 2.5,
        "boosted": 2.5,
        "gaussian": 1.0,
        "model": 5.0,
    }


def test_there_is_a_function_for_every_estimator_of_the_catalogue():
    assert NAMES == ["knn", "kde", "classifier", "boosted", "gaussian"]
    assert (estimation.COUNTING, *NAMES) == estimation.ESTIMATORS
    assert set(PAIRED_C) == {*estimation.ESTIMATORS, "model"}


@pytest.mark.slow
@pytest.mark.parametrize("name", NAMES)
def test_every_curve_is_read_from_every_estimator(name):
    found = estimate_ratios(name, *oracle.two_gaussians(0.5, 3, 600, seed=0), seed=4, threads=2)
    assert found.pins["estimator"] == name
    assert found.pins.get("seed", 4) == 4
    assert 0.02 < f_divergence(found, "jensen_shannon") < 0.2
    frontier = divergence_frontier(found)
    assert 0.1 < frontier.area(PAIRED_C[name]) < 0.99
    assert 0.5 < precision_recall_curve(found).f_beta(8) < 1


@pytest.mark.slow
@pytest.mark.parametrize("name", NAMES)
def test_farther_sets_score_worse(name):
    areas = []
    for kl in (0.0, 0.5, 2.0):
        found = estimate_ratios(name, *oracle.two_gaussians(kl, 4, 500, seed=2))
        areas.append(divergence_frontier(found).area(PAIRED_C[name]))
    assert areas[0] > areas[1] > areas[2]


@pytest.mark.parametrize("name", NAMES)
def test_swapped_sets_have_the_opposite_ratios(name):
    x, y = oracle.two_gaussians(0.3, 4, 400, seed=5, m=250)
    found, swapped = estimate_ratios(name, x, y), estimate_ratios(name, y, x)
    tolerance = {"rtol": 1e-5, "atol": 1e-5}
    finite = (
        np.nan_to_num(swapped.log_generated, neginf=-99.0),
        np.nan_to_num(-found.log_reference, neginf=-99.0),
    )
    np.testing.assert_allclose(*finite, **tolerance)


@pytest.mark.slow
@pytest.mark.parametrize("name", NAMES)
def test_the_order_of_rows_does_not_matter(name, rng):
    x, y = oracle.two_gaussians(0.3, 12, 300, seed=6)
    order = rng.permutation(300)
    values = [
        f_divergence(estimate_ratios(name, left, right), "jensen_shannon")
        for left, right in ((x, y), (x[order], y), (x, y[order]))
    ]
    assert values == pytest.approx([values[0]] * 3, rel=1e-5)


@pytest.mark.parametrize("name", ["quantisation", "model", "knnn", ""])
def test_names_that_rows_alone_do_not_serve_are_refused(name):
    with pytest.raises(InputError, match="unknown estimator of likelihood ratios"):
        estimate_ratios(name, np.eye(3), np.eye(3))
