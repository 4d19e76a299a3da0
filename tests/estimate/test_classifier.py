import importlib.util
import sys
import warnings
from pathlib import Path

import numpy as np
import pytest
from sklearn.metrics import roc_auc_score

from calipers.curves import f_divergence
from calipers.errors import InputError, MissingExtraError
from calipers.estimate.classifier import (
    PENALTIES,
    area,
    assign_folds,
    classify,
    discriminate,
    platt,
)

_spec = importlib.util.spec_from_file_location(
    "brute_force", Path(__file__).with_name("brute_force.py")
)
oracle = importlib.util.module_from_spec(_spec)
_spec.loader.exec_module(oracle)


def newton(rows, labels, penalty):
    """Logistic regression with ½ · penalty · |w|² on standardised columns, by plain Newton."""
    mean, scale = rows.mean(axis=0), rows.std(axis=0)
    design = np.column_stack([(rows - mean) / scale, np.ones(len(rows))])
    weights, ridge = np.zeros(design.shape[1]), np.diag([penalty] * rows.shape[1] + [0.0])
    for _ in range(50):
        share = 1 / (1 + np.exp(-design @ weights))
        slope = design.T @ (share - labels) + ridge @ weights
        weights -= np.linalg.solve((design.T * (share * (1 - share))) @ design + ridge, slope)
    return lambda held: np.column_stack([(held - mean) / scale, np.ones(len(held))]) @ weights


def test_two_scores_by_hand():
    # Platt's targets are 5/6 and 1/6; the odds of a score are those of its mean target
    scores = np.array([0.0, 0, 0, 0, 2, 2, 2, 2])
    positive = np.array([1, 0, 0, 0, 1, 1, 1, 0], bool)
    low, high = (
        np.log((5 / 6 + 3 / 6) / (1 / 6 + 3 * 5 / 6)),
        np.log((3 * 5 / 6 + 1 / 6) / (3 / 6 + 5 / 6)),
    )
    slope, intercept = platt(scores, positive)
    assert intercept == pytest.approx(low)
    assert 2 * slope + intercept == pytest.approx(high)


def test_calibration_stays_finite_and_never_turns_scores_round(rng):
    positive = np.arange(20) < 12
    slope, intercept = platt(np.where(positive, 9.0, -9.0), positive)
    assert np.isfinite([slope, intercept]).all()
    assert 9 * slope + intercept == pytest.approx(np.log(13), rel=1e-6)
    assert platt(np.where(positive, -1.0, 1.0), positive) == (0.0, np.log(12 / 8))
    assert platt(np.zeros(20), positive) == (0.0, np.log(12 / 8))


def test_calibration_of_scores_of_very_different_size_does_not_overflow():
    scores = np.r_[np.ones(5000), -np.ones(5000), -1e3]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        slope, intercept = platt(scores, scores > 0)
    assert slope + intercept == pytest.approx(np.log(5001), rel=0.02)
    assert intercept - slope == pytest.approx(-np.log(5002), rel=0.02)


@pytest.mark.parametrize("model", ["logistic", "boosted"])
@pytest.mark.parametrize("sizes", [(50, 60), (53, 61), (1000, 5)])
def test_without_any_signal_all_ratios_are_exactly_one(model, sizes):
    found = classify(*(np.ones((size, 2)) for size in sizes), model=model).ratios
    assert not found.log_reference.any()
    assert not found.log_generated.any()


@pytest.mark.parametrize("scale", [1e-200, 1.0, 1e200])
def test_calibration_does_not_depend_on_the_unit(rng, scale):
    scores, positive = rng.standard_normal(300), rng.random(300) < 0.4
    scores += positive
    slope, intercept = platt(scores * scale, positive)
    expected = platt(scores, positive)
    assert slope * scale == pytest.approx(expected[0], rel=1e-9)
    assert intercept == pytest.approx(expected[1], rel=1e-9)


def test_folds_are_even_and_keep_copies_of_both_sets_together(rng):
    x = rng.standard_normal((53, 3))
    y = np.concatenate([x[:20], x[:3], rng.standard_normal((44, 3))])
    left, right = assign_folds(x, y, folds=5, seed=1)
    np.testing.assert_array_equal(left[:20], right[:20])
    for part in (left, right):
        counts = np.bincount(part, minlength=5)
        assert np.ptp(counts) <= 1
    assert np.ptp(np.bincount(left[20:], minlength=5)) <= 1


@pytest.mark.parametrize("shared", [1, 2, 4])
def test_no_fold_lacks_a_set_when_some_rows_are_copies(rng, shared):
    x = rng.standard_normal((5, 3))
    y = np.concatenate([x[:shared], rng.standard_normal((100 - shared, 3))])
    left, right = assign_folds(x, y, folds=5, seed=0)
    np.testing.assert_array_equal(left[:shared], right[:shared])
    assert sorted(left) == [0, 1, 2, 3, 4]
    assert np.ptp(np.bincount(right, minlength=5)) <= 1
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert 0 <= classify(x, y).auc <= 1
        classify([[0.0], [1.0]], [[0.0], [2.0], [3.0], [4.0]], folds=2)


def test_area_by_hand():
    # Pairs (2, 1), (2, 3), (1, 1), (1, 3): one win, one tie
    assert area(np.array([2.0, 1.0]), np.array([1.0, 3.0])) == 0.375
    assert area(np.array([2.0]), np.array([1.0, 1.5])) == 1.0
    assert area(np.zeros(3), np.zeros(4)) == 0.5


def test_area_as_scikit_learn(rng):
    for digits in (0, 1, 9):
        scores, labels = np.round(rng.standard_normal(300), digits), rng.random(300) < 0.3
        expected = roc_auc_score(labels, scores)
        assert area(scores[labels], scores[~labels]) == pytest.approx(expected, abs=1e-12)


def test_trees_that_are_not_installed(rng, monkeypatch):
    monkeypatch.setitem(sys.modules, "sklearn.ensemble", None)
    with pytest.raises(MissingExtraError, match=r"'boosted' .*'calipers\[trees\]'"):
        classify(*rng.standard_normal((2, 10, 2)), model="boosted")


def test_folds_depend_on_rows_alone(rng):
    x, y = rng.standard_normal((40, 2)), rng.standard_normal((30, 2))
    left, right = assign_folds(x, y, folds=4, seed=9)
    swapped = assign_folds(y, x, folds=4, seed=9)
    np.testing.assert_array_equal(swapped[0], right)
    np.testing.assert_array_equal(swapped[1], left)
    order = rng.permutation(40)
    np.testing.assert_array_equal(assign_folds(x[order], y, folds=4, seed=9)[0], left[order])
    assert (assign_folds(x, y, folds=4, seed=10)[0] != left).any()


def test_a_set_of_copies_is_spread_over_all_folds():
    left, right = assign_folds(np.zeros((10, 2)), -np.zeros((5, 2)), folds=5, seed=0)
    assert sorted(left) == sorted([0, 1, 2, 3, 4] * 2)
    assert sorted(right) == [0, 1, 2, 3, 4]


@pytest.mark.parametrize("penalty", [1.0, 1e-3])
def test_held_out_scores_equal_plain_newton(penalty):
    x, y = oracle.two_gaussians(0.5, 4, 120, seed=3, m=90)
    found = classify(x, y, folds=3, penalty=penalty, calibrate=False, seed=2)
    fold = np.concatenate(assign_folds(x, y, folds=3, seed=2))
    rows, labels = np.concatenate([x, y]), np.arange(210) < 120
    expected = np.empty(210)
    for which in range(3):
        own = fold == which
        log_odds = newton(rows[~own], labels[~own], penalty)(rows[own])
        expected[own] = log_odds - np.log(labels[~own].sum() / (~labels[~own]).sum())
    np.testing.assert_allclose(found.ratios.log_reference, expected[:120], atol=1e-8)
    np.testing.assert_allclose(found.ratios.log_generated, expected[120:], atol=1e-8)
    right = (expected > 0) == labels
    assert found.accuracy == pytest.approx((right[:120].mean() + right[120:].mean()) / 2)
    pairs = [
        (expected[:120][fold[:120] == w][:, None] > expected[120:][fold[120:] == w]).mean()
        for w in range(3)
    ]
    assert found.auc == pytest.approx(np.mean(pairs))


@pytest.mark.parametrize("d", [2, 5])
@pytest.mark.parametrize("kl", [0.25, 0.5])
def test_two_gaussians_within_ten_percent(d, kl):
    x, y = oracle.two_gaussians(kl, d, 4000, seed=1)
    found = classify(x, y)
    assert f_divergence(found.ratios, "kl") == pytest.approx(kl, rel=0.1)


def test_calibration_takes_away_what_many_dimensions_feign():
    x, y = oracle.two_gaussians(0.0, 100, 500, seed=0)
    raw, calibrated = (classify(x, y, calibrate=choice).ratios for choice in (False, True))
    assert f_divergence(raw, "kl") > 0.3
    assert f_divergence(calibrated, "kl") < 0.02


@pytest.mark.parametrize("model", ["logistic", "boosted"])
def test_unequal_sizes_bias_nothing(model):
    x, y = oracle.two_gaussians(0.0, 3, 2000, seed=0, m=200)
    found = classify(x, y, model=model)
    assert abs(np.median(found.ratios.log_generated)) < 0.1
    assert found.accuracy == pytest.approx(0.5, abs=0.06)
    assert found.auc == pytest.approx(0.5, abs=0.06)


@pytest.mark.parametrize("model", ["logistic", "boosted"])
@pytest.mark.parametrize("copies", [1, 3])
def test_equal_sets_cannot_be_told_apart(rng, model, copies):
    x = np.repeat(rng.standard_normal((100, 3)), copies, axis=0)
    found = classify(x, x[::-1].copy(), model=model)
    np.testing.assert_allclose(found.ratios.log_generated, 0, atol=1e-9)
    assert found.accuracy == pytest.approx(0.5)
    assert found.auc == pytest.approx(0.5)
    assert not found.separates


@pytest.mark.parametrize("model", ["logistic", "boosted"])
def test_perfect_separation_is_told_and_finite(rng, model):
    x, y = rng.standard_normal((60, 3)), rng.standard_normal((40, 3)) + 30
    with pytest.warns(UserWarning, match="without .*error .*held-out"):
        found = classify(x, y, model=model)
    assert found.separates
    assert found.accuracy == found.auc == 1.0
    assert found.ratios.positive
    assert np.isfinite(found.ratios.log_reference).all()
    assert (found.ratios.log_reference > 0).all()
    assert (found.ratios.log_generated < 0).all()
    with pytest.warns(UserWarning, match="without a single error"):
        raw = classify(x, y, model=model, calibrate=False).ratios
    assert np.isfinite(raw.log_generated).all()


def test_no_other_warning_comes_through(rng):
    x = rng.standard_normal((40, 60)) * np.logspace(-6, 6, 60)
    y = rng.standard_normal((30, 60)) * np.logspace(-6, 6, 60)
    x[:, 5], y[:, 5] = 3.0, 3.0
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for model in ("logistic", "boosted"):
            assert np.isfinite(classify(x, y, model=model, penalty=1e-3).ratios.log_generated).all()


@pytest.mark.parametrize("model", ["logistic", pytest.param("boosted", marks=pytest.mark.slow)])
def test_threads_do_not_matter(model):
    x, y = oracle.two_gaussians(0.4, 6, 700, seed=8)
    one, two = (classify(x, y, model=model, threads=count) for count in (1, 2))
    np.testing.assert_allclose(one.ratios.log_generated, two.ratios.log_generated, atol=1e-9)


def test_trees_see_what_no_plane_does(rng):
    x, y = rng.standard_normal((1500, 2)), rng.standard_normal((1500, 2)) * 2
    plane, trees = classify(x, y), classify(x, y, model="boosted")
    assert plane.auc < 0.55 < 0.7 < trees.auc
    assert f_divergence(plane.ratios, "jensen_shannon") < 0.02
    assert f_divergence(trees.ratios, "jensen_shannon") > 0.08


@pytest.mark.parametrize("model", ["logistic", "boosted"])
@pytest.mark.parametrize("exponent", [-900, -540, 300])
def test_the_unit_of_the_rows_does_not_matter(model, exponent):
    x, y = oracle.two_gaussians(0.5, 3, 60, seed=4)
    plain = classify(x, y, model=model)
    scaled = classify(*(np.ldexp(side, exponent) for side in (x, y)), model=model)
    np.testing.assert_allclose(scaled.ratios.log_reference, plain.ratios.log_reference, atol=1e-9)
    assert scaled.auc == plain.auc


def test_pins_say_how_it_was_made(rng):
    x, y = rng.standard_normal((30, 2)), rng.standard_normal((30, 2))
    assert classify(x, y, folds=3, seed=7).ratios.pins == {
        "estimator": "classifier",
        "folds": 3,
        "calibrated": True,
        "seed": 7,
        "penalty": 1.0,
    }
    assert "penalty" not in classify(x, y, model="boosted").ratios.pins


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"model": "boost"}, "model 'boost'.*'boosted'"),
        ({"folds": 1}, "folds .*at least 2.* 1"),
        ({"folds": 5}, "folds = 5 .*5 samples.*the generated set has 4"),
        ({"seed": -1}, "seed .*at least 0"),
        ({"penalty": 0}, "penalty .*number above 0.* 0"),
        ({"penalty": np.nan}, "penalty .*number above 0.* nan"),
        ({"penalty": "l2"}, "penalty .*number above 0.* 'l2'"),
    ],
)
def test_options_out_of_range_are_refused(options, words):
    with pytest.raises(InputError, match=words):
        classify(np.eye(6, 3), np.eye(4, 3), **{"folds": 2} | options)


def test_the_discriminator_by_hand(rng):
    # Two of eight rows a side are tested, and a plane through 0 puts all on their side
    found = discriminate(np.arange(8.0)[:, None] + 10, -np.arange(8.0)[:, None] - 10, folds=2)
    assert (found.accuracy, found.tested) == (1.0, (2, 2))
    assert found.penalty == PENALTIES[0] == pytest.approx(1e4)  # of equals the largest
    # A row and its copy are tested together: whatever the plane, one of the two is right
    rows = rng.standard_normal((40, 3))
    found = discriminate(rows, rows[::-1])
    assert (found.accuracy, found.tested) == (0.5, (10, 10))


@pytest.mark.slow
def test_the_discriminator_is_that_of_a_grid_search(rng):
    from sklearn.linear_model import LogisticRegression
    from sklearn.metrics import balanced_accuracy_score
    from sklearn.model_selection import GridSearchCV
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler

    spread = np.geomspace(1, 1e-2, 12)
    reference = rng.standard_normal((80, 12)) * spread
    generated = rng.standard_normal((80, 12)) * spread + 0.01
    rows, labels = np.concatenate([reference, generated]), np.arange(160) < 80
    parts = assign_folds(reference, generated, folds=4, seed=7)
    tested = np.concatenate(parts) == 0
    trained = [side[part > 0] for side, part in zip((reference, generated), parts, strict=True)]
    fold = np.concatenate(assign_folds(*trained, folds=5, seed=7))
    search = GridSearchCV(
        make_pipeline(StandardScaler(), LogisticRegression(tol=1e-8, max_iter=2000)),
        {"logisticregression__C": np.logspace(-4, 4, 10)},
        scoring="balanced_accuracy",
        cv=[(np.flatnonzero(fold != i), np.flatnonzero(fold == i)) for i in range(5)],
    ).fit(rows[~tested], labels[~tested])
    found = discriminate(reference, generated, seed=7)
    assert tested.sum() == 40
    assert found.tested == (20, 20)
    assert 1 / found.penalty == pytest.approx(search.best_params_["logisticregression__C"])
    predicted = search.predict(rows[tested])
    assert found.accuracy == pytest.approx(balanced_accuracy_score(labels[tested], predicted))
    assert 0.5 < found.accuracy < 1


def test_the_discriminator_is_not_fooled_by_sizes(rng):
    # Nine of ten rows are of one set: a classifier that says so always is right half of the time
    reference, generated = rng.standard_normal((360, 2)), rng.standard_normal((40, 2))
    assert abs(discriminate(reference, generated).accuracy - 0.5) < 0.2
    assert discriminate(reference, generated + 9).accuracy == 1.0


@pytest.mark.parametrize(
    ("sizes", "options", "message"),
    [
        ((3, 50), {}, "4 samples in each set.*reference set has 3"),
        ((50, 6), {}, "and 5 to train on; the generated set has 6"),
        ((50, 50), {"parts": 1}, "parts .*at least 2.* 1"),
        ((50, 50), {"folds": 1}, "folds .*at least 2.* 1"),
        ((50, 50), {"seed": -1}, "seed .*at least 0.* -1"),
    ],
)
def test_bad_input_of_the_discriminator(rng, sizes, options, message):
    with pytest.raises(InputError, match=message):
        discriminate(*(rng.standard_normal((size, 2)) for size in sizes), **options)
