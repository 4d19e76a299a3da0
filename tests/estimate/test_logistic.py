"""Logistic regression: by hand, as scikit-learn's where that converges, and where it is hard."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.special import expit
from sklearn.linear_model import LogisticRegression

from calipers.estimate.logistic import fit_logistic


def two_sets(rng, n, d, *, gap=0.3, tangled=False):
    rows = rng.standard_normal((n, d))
    labels = rng.random(n) < 0.4
    rows[labels] += gap * rng.standard_normal(d)
    if tangled:  # columns that depend on each other
        rows = rows @ rng.standard_normal((d, d)) * np.geomspace(1, 1e-2, d)
    return (rows - rows.mean(axis=0)) / rows.std(axis=0), labels


def test_by_hand():
    # Two cells with 3 of 4 and 1 of 4 positive: log-odds of log 3 and -log 3
    rows = np.repeat([[1.0], [-1.0]], 4, axis=0)
    targets = np.array([1, 1, 1, 0, 1, 0, 0, 0], dtype=bool)
    weights, intercept = fit_logistic(rows, targets, 1e-12)
    assert weights == pytest.approx([np.log(3)])
    assert intercept == pytest.approx(0, abs=1e-9)
    # Probabilities in the place of classes say the same
    weights, intercept = fit_logistic(rows[[0, 4]], np.array([0.75, 0.25]), 1e-12)
    assert weights == pytest.approx([np.log(3)])
    assert intercept == pytest.approx(0, abs=1e-9)


@pytest.mark.parametrize("penalty", [1e4, 1.0, 1e-2])
@pytest.mark.parametrize(
    ("n", "d", "options"),
    [
        (60, 1, {}),
        (300, 20, {}),
        (300, 20, {"tangled": True}),
        (900, 120, {"tangled": True}),
        (200, 60, {"gap": 2.0}),  # separable
        (40, 90, {}),  # more columns than rows
        (41, 41, {"tangled": True}),
    ],
)
def test_as_scikit_learn_where_it_has_converged(rng, n, d, options, penalty):
    rows, labels = two_sets(rng, n, d, **options)
    weights, intercept = fit_logistic(rows, labels, penalty)
    theirs = LogisticRegression(C=1 / penalty, tol=1e-13, max_iter=500, solver="newton-cholesky")
    expected = theirs.fit(rows, labels).decision_function(rows)
    np.testing.assert_allclose(rows @ weights + intercept, expected, atol=1e-6)
    np.testing.assert_allclose(weights, theirs.coef_[0], atol=1e-6)


@pytest.mark.parametrize("penalty", [1e4, 1.0, 1e-4])
def test_the_slope_is_zero_where_it_ends(rng, penalty):
    for gap in (0.1, 5.0):
        rows, labels = two_sets(rng, 250, 40, gap=gap, tangled=True)
        weights, intercept = fit_logistic(rows, labels, penalty)
        wrong = expit(rows @ weights + intercept) - labels
        assert abs(wrong.sum()) < 1e-6
        np.testing.assert_allclose(rows.T @ wrong + penalty * weights, 0, atol=1e-6)


def test_swapped_classes_and_turned_axes(rng):
    rows, labels = two_sets(rng, 200, 15, tangled=True)
    weights, intercept = fit_logistic(rows, labels, 1.0)
    swapped = fit_logistic(rows, ~labels, 1.0)
    np.testing.assert_allclose(swapped[0], -weights, atol=1e-7)
    assert swapped[1] == pytest.approx(-intercept, abs=1e-7)
    turn = np.linalg.qr(rng.standard_normal((15, 15)))[0]
    turned = fit_logistic(rows @ turn, labels, 1.0)
    np.testing.assert_allclose(turn @ turned[0], weights, atol=1e-7)
    assert turned[1] == pytest.approx(intercept, abs=1e-7)


def test_columns_that_say_nothing_or_the_same(rng):
    rows, labels = two_sets(rng, 100, 3)
    twice = np.column_stack([rows, rows[:, 0], np.zeros(100)])
    weights, _ = fit_logistic(twice, labels, 1.0)
    assert weights[0] == pytest.approx(weights[3], abs=1e-8)
    assert weights[4] == 0
    same = fit_logistic(np.zeros((10, 2)), np.arange(10) < 4, 1.0)
    assert not same[0].any()
    assert same[1] == pytest.approx(np.log(4 / 6))
