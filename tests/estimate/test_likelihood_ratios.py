"""Likelihood ratios as weighted samples, and what is read from them."""

import numpy as np
import pytest

from calipers.curves import precision_recall_curve
from calipers.errors import InputError
from calipers.estimate import Histograms, LikelihoodRatios


def test_plain_ratios_and_their_shares():
    ratios = LikelihoodRatios.of([2.0, np.inf, 4.0, 1.0], [0.0, 0.5])
    np.testing.assert_allclose(ratios.log_reference, [np.log(2), np.inf, np.log(4), 0])
    assert ratios.outside_generated == 0.25
    assert ratios.outside_reference == 0.5
    assert ratios.ratios is ratios.raw is ratios
    back = ratios.swapped.swapped
    np.testing.assert_array_equal(back.log_generated, ratios.log_generated)
    np.testing.assert_array_equal(ratios.at_generated, [0.0, 0.5])


def test_pr_curve_by_hand():
    # r = 0 and 2 at the generated, 2 and ∞ at the reference samples
    ratios = LikelihoodRatios.of([2.0, np.inf], [0.0, 2.0])
    curve = precision_recall_curve(ratios, angles=3, points="own_side")
    # slopes ~0, 1, ~∞: α = E_Q min(1, λr), β = E_P min(1, 1/(λr))
    np.testing.assert_allclose(curve.precision, [0, 0.5, 0.5], atol=1e-9)
    np.testing.assert_allclose(curve.recall, [0.5, 0.25, 0], atol=1e-9)
    assert (curve.max_precision, curve.max_recall, curve.total_variation) == (0.5, 0.5, 0.5)
    assert curve.reason is None
    # Over both sides a sample weighs 1/(1 + r) as one of Q: ⅙ and 0, ½ and ⅙; the rest as one of P
    curve = precision_recall_curve(ratios, angles=3)
    np.testing.assert_allclose(curve.precision, [0, 0.4, 0.4], atol=1e-9)
    np.testing.assert_allclose(curve.recall, [4 / 7, 2 / 7, 0], atol=1e-9)
    assert (curve.max_precision, curve.max_recall) == (pytest.approx(0.4), pytest.approx(4 / 7))
    assert curve.total_variation == pytest.approx(1 - (1 / 6 + 1 / 6))


def test_end_points_that_an_estimator_cannot_know():
    curve = precision_recall_curve(LikelihoodRatios([0.5, 1.0], [-0.5, 0.2], positive=True))
    assert np.isnan(curve.max_precision)
    assert np.isnan(curve.max_recall)
    assert "mass everywhere" in curve.reason


def test_histograms_as_weighted_samples():
    pair = Histograms([3, 1, 0], [0, 2, 2])
    ratios = pair.ratios
    np.testing.assert_allclose(ratios.log_reference, [np.inf, np.log(0.5)])
    np.testing.assert_allclose(ratios.reference_weights, [0.75, 0.25])
    np.testing.assert_allclose(ratios.log_generated, [np.log(0.5), -np.inf])
    assert not ratios.positive
    smoothed = pair.smoothed("laplace")
    assert smoothed.ratios.positive
    assert smoothed.raw.smoothing == "none"
    assert smoothed.pins == {"smoothing": "laplace", "cells": 3}


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (([0.0, np.nan], [0.0]), "the reference side has NaN in row 2"),
        (([-np.inf], [0.0]), r"a reference sample .*some likelihood.*row 1"),
        (([0.0], [0.0, np.inf]), r"a generated sample .*some likelihood.*row 2"),
        (([], [0.0]), "reference side must be a list"),
        (([[0.0]], [0.0]), "one for each sample; found \\(1, 1\\)"),
        ((["x"], [0.0]), "reference side must be real numbers"),
        (([1 + 2j], [0.0]), "reference side must be real numbers"),
        (([[0.0], [1.0, 2.0]], [0.0]), "reference side cannot be read"),
        (([0.0, 1.0], [0.0], [0.5, 0.6]), r"shares that sum to 1.* 2 with sum 1.1"),
        (([0.0, 1.0], [0.0], [1.0]), "2 shares"),
        (([0.0, 1.0], [0.0], [-0.5, 1.5]), "2 shares"),
    ],
)
def test_bad_ratios(arguments, words):
    with pytest.raises(InputError, match=words):
        LikelihoodRatios(*arguments)


def test_bad_plain_ratios():
    with pytest.raises(InputError, match=r"negative or NaN.*generated"):
        LikelihoodRatios.of([1.0], [-1.0])
