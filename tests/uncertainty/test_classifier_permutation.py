import numpy as np
import pytest
from sklearn.metrics import roc_auc_score

from calipers.errors import InputError
from calipers.numeric.threads import Workers
from calipers.uncertainty.two_sample import permuted
from calipers.uncertainty.two_sample_classifier import (
    _deal,
    area,
    classifier_test,
    cross_fit,
    held_out,
)


def brute_area(rows, labels, fold, share):
    """Fold by fold: discriminant of the other folds, area under the curve of this one."""
    areas = []
    for which in np.unique(fold):
        train, test = rows[fold != which], rows[fold == which]
        own = labels[fold != which]
        covariance = np.cov(train.T, bias=True)
        d = len(covariance)
        ridged = (1 - share) * covariance + share * np.trace(covariance) / d * np.eye(d)
        gap = train[own].mean(axis=0) - train[~own].mean(axis=0)
        scores = test @ np.linalg.solve(ridged, gap)
        areas.append(roc_auc_score(labels[fold == which], scores))
    return np.mean(areas)


@pytest.mark.parametrize("shape", [(60, 45, 4), (30, 30, 200), (23, 91, 7)])
def test_as_scikit_learn(rng, shape):
    n, m, d = shape
    spread = np.linspace(0.5, 2, d)
    x, y = rng.standard_normal((n, d)) * spread, rng.standard_normal((m, d)) * spread + 0.3
    rows, labels = np.concatenate([x, y]), np.arange(n + m) < n
    share = d / (d + n + m)
    found = classifier_test(x, y, permutations=9)
    assert found.statistic == pytest.approx(
        brute_area(rows, labels, _deal(n, m, 5, 0), share), abs=1e-9
    )


def test_permuted_values_are_those_of_the_classifier_trained_anew(rng):
    x, y = rng.standard_normal((33, 3)), rng.standard_normal((28, 3)) + 0.3
    parts, seen = cross_fit(x, y, Workers.alone(), folds=4, seed=0), []

    def statistic(chosen):
        seen.append(chosen)
        return held_out(chosen, parts, area)

    _, null = permuted(statistic, [part.sizes for part in parts], 20, Workers.alone(), seed=0)
    rows = np.concatenate([part.rows for part in parts])
    fold = np.repeat(np.arange(4), [len(part.rows) for part in parts])
    expected = [brute_area(rows, chosen, fold, 3 / 64) for chosen in np.vstack(seen)[1:]]
    np.testing.assert_allclose(null, expected, atol=1e-9)


def test_area_by_hand():
    # Pairs (2, 1), (2, 3), (1, 1), (1, 3): one win, one tie
    scores, labels = np.array([[2.0, 1.0, 1.0, 3.0]]), np.array([[True, True, False, False]])
    assert area(scores, labels).tolist() == [0.375]
    assert area(np.zeros((1, 4)) * [1, -1, 1, -1], labels).tolist() == [0.5]


def test_area_as_scikit_learn(rng):
    scores = np.round(rng.standard_normal((20, 60)), 1)
    labels = rng.random((20, 60)) < 0.4
    expected = [roc_auc_score(*pair) for pair in zip(labels, scores, strict=True)]
    np.testing.assert_allclose(area(scores, labels), expected, atol=1e-12)


@pytest.mark.parametrize("sizes", [(5, 5), (23, 41), (101, 7), (64, 64)])
@pytest.mark.parametrize("folds", [2, 3, 5])
def test_folds_are_balanced(sizes, folds):
    fold = _deal(*sizes, folds, seed=0)
    for part in (fold[: sizes[0]], fold[sizes[0] :], fold):
        counts = np.bincount(part, minlength=folds)
        assert counts.max() - counts.min() <= 1


def test_perfect_classifier(rng):
    x, y = rng.standard_normal((2, 40, 3))
    assert classifier_test(x, y + 100).statistic == 1


def test_swapped_sets_and_turned_axes(rng):
    x, y = rng.standard_normal((2, 400, 6))
    y[:, 0] += 0.4
    turn, _ = np.linalg.qr(rng.standard_normal((6, 6)))
    plain = classifier_test(x, y, permutations=99)
    turned = classifier_test(x @ turn, y @ turn, permutations=99)
    assert turned.statistic == pytest.approx(plain.statistic, abs=1e-12)
    assert classifier_test(y, x, permutations=99).statistic == pytest.approx(
        plain.statistic, abs=0.02
    )


def test_a_shift_that_the_kernel_drowns(rng):
    from calipers.uncertainty.two_sample_mmd import mmd_test

    x, y = rng.standard_normal((2, 600, 20)) * np.r_[np.full(19, 3.0), 0.5]
    y[:, -1] += 0.25
    assert classifier_test(x, y).distinguishable
    assert not mmd_test(x, y).distinguishable


def test_rows_that_are_all_alike():
    found = classifier_test(np.full((9, 3), 0.1), np.full((12, 3), 0.1))
    assert found.statistic == 0.5
    assert found.p_value == 1


def test_folds(rng):
    x, y = rng.standard_normal((2, 12, 2))
    assert "|folds:3|" in classifier_test(x, y, folds=3, permutations=9).signature
    with pytest.raises(InputError, match="folds must be a whole number of at least 2; found 1"):
        classifier_test(x, y, folds=1)
