"""Permutation tests of two sets: the classifier's, that of MMD, and what both share.

Shared are validity, reproducibility, hostile rows and bad input; the statistics are held against
the metric and scikit-learn."""

import dataclasses
import itertools
import sys

import numpy as np
import pytest
from sklearn.metrics import roc_auc_score

from calipers.errors import InputError
from calipers.estimate.discriminant import _deal, area, cross_fit, held_out
from calipers.estimate.row_groups import PermutationGroups
from calipers.metrics.mmd import ALIKE, mmd
from calipers.numeric.threads import Workers, workers
from calipers.uncertainty.two_sample import TwoSample, permuted, relabelled, subsets, threshold
from calipers.uncertainty.two_sample_classifier import classifier_test
from calipers.uncertainty.two_sample_mmd import Quadratic, mmd_test

TESTS = {"mmd": mmd_test, "classifier": classifier_test}
every = pytest.mark.parametrize("name", TESTS)


@pytest.fixture
def apart(rng):
    x, y = rng.standard_normal((2, 80, 4))
    return x, y + 0.8


def test_p_value_by_hand():
    null = np.array([0.1, 0.2, 0.2, 0.3])
    found = TwoSample.of("mmd", 0.2, null, level=0.5, pins={"test": "mmd"})
    assert found.p_value == 4 / 5  # three are as large, and the sets as they are
    assert found.threshold == 0.2  # 0.3 alone is as large as a statistic just above 0.2: p = 2/5
    assert found.distinguishable is False
    assert TwoSample.of("mmd", 0.25, null, level=0.5, pins={}).distinguishable is True


def test_a_tie_that_rounding_hides_counts():
    found = TwoSample.of("mmd", 0.3, np.array([0.3 - 1e-16, 0.1]), level=0.5, pins={})
    assert found.p_value == 2 / 3


@pytest.mark.parametrize("level", [0.5, 0.8, 0.9, 0.95, 0.99])
@pytest.mark.parametrize("permutations", [9, 19, 99, 100, 250])
def test_threshold_and_p_value_agree(rng, level, permutations):
    null = rng.integers(40, size=permutations) / 4
    for value in np.unique(np.r_[null, null + 0.1, null.max() + 1]):
        found = TwoSample.of("mmd", value, null, level=level, pins={})
        assert found.distinguishable == (value > threshold(null, level))


@pytest.mark.slow
@every
@pytest.mark.parametrize("sizes", [(12, 12), (30, 14)])
def test_p_values_are_uniform_where_nothing_differs(name, sizes):
    rng = np.random.default_rng(5)
    n, m = sizes
    found = []
    for seed in range(200):
        rows = rng.standard_t(2, size=(n + m, 3))
        found.append(TESTS[name](rows[:n], rows[n:], permutations=39, seed=seed, threads=1).p_value)
    # A p-value of at most α in a share of at most α; 3.5 standard errors on either side
    for alpha in (0.05, 0.1, 0.25, 0.5, 0.75):
        assert abs(np.mean(np.array(found) <= alpha + 1e-9) - alpha) < 3.5 * np.sqrt(
            alpha * (1 - alpha) / 200
        )


def test_groups_of_rows_and_rows_that_stay_are_as_valid(monkeypatch):
    module = sys.modules["calipers.estimate.row_groups"]
    monkeypatch.setattr(module, "MOST_GROUPS", 64)
    monkeypatch.setattr(module, "FEWEST_GROUPS", 16)
    assert PermutationGroups.of(101, 150) == PermutationGroups(rows=4, moved=(25, 37))
    rng, found = np.random.default_rng(6), []
    for seed in range(200):
        rows = rng.standard_normal((251, 2))
        sets = rows[:101], rows[101:]
        found.append(mmd_test(*sets, permutations=39, seed=seed, threads=1).p_value)
    for alpha in (0.1, 0.5):
        assert abs(np.mean(np.array(found) <= alpha + 1e-9) - alpha) < 3.5 * np.sqrt(
            alpha * (1 - alpha) / 200
        )


@every
def test_finds_a_gap(name, apart):
    found = TESTS[name](*apart)
    assert found.p_value == 1 / 1000  # the least there can be
    assert found.distinguishable is True
    assert found.statistic > found.threshold
    assert found.null.shape == (999,)
    assert found.test == name
    assert found.signature.startswith(f"test:{name}|")
    assert found.signature.endswith("|permutations:999|seed:0|n:80|m:80|d:4")
    if name == "mmd":
        assert "|kernel:gaussian|bandwidth:median,median/3|" in found.signature
    with pytest.raises(dataclasses.FrozenInstanceError):
        found.p_value = 0.0


@every
def test_threads_change_no_bit_and_seeds_do(name, rng):
    x, y = rng.standard_normal((1_400, 5)), rng.standard_normal((900, 5)) + 0.05
    runs = [TESTS[name](x, y, permutations=99, threads=threads) for threads in (1, 2, 4)]
    assert len({run.statistic for run in runs}) == 1
    assert all(np.array_equal(run.null, runs[0].null) for run in runs)
    other = TESTS[name](x, y, permutations=99, seed=1, threads=1)
    assert not np.array_equal(other.null, runs[0].null)


@every
def test_sets_with_the_same_rows(name, rng):
    rows = rng.standard_normal((150, 4))
    assert TESTS[name](rows, rows, permutations=199).p_value > 0.9
    assert TESTS[name](rows, rng.permutation(rows), permutations=199).p_value > 0.9


@every
@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("sizes", [(2, 2), (2, 9), (5, 5), (6, 5)])
def test_tiny_sets(name, rng, sizes):
    x, y = (rng.standard_normal((size, 3)) for size in sizes)
    found = TESTS[name](x, y, permutations=19)
    if name == "classifier" and min(sizes) < 5:
        assert np.isnan(found.p_value)
        assert np.isnan(found.statistic)
        assert found.distinguishable is None
        assert found.null.size == 0
        assert found.reason == (
            f"5 folds need at least 5 rows in each set; there are {sizes[0]} and {sizes[1]}"
        )
    else:
        assert found.reason is None
        assert 1 / 20 <= found.p_value <= 1


@every
def test_too_few_permutations_for_the_level(name, apart):
    found = TESTS[name](*apart, permutations=9)
    assert found.p_value == 0.1
    assert found.threshold == np.inf
    assert found.distinguishable is False
    assert TESTS[name](*apart, permutations=9, level=0.9).distinguishable is True


@every
@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("size", [1e-120, 1e-30, 1e30, 1e99])
def test_scale_and_place_change_nothing(name, apart, size):
    plain = TESTS[name](*apart, permutations=99)
    scaled = TESTS[name](*(side * size for side in apart), permutations=99)
    moved = TESTS[name](*(side + 1e5 for side in apart), permutations=99)
    assert scaled.statistic == pytest.approx(plain.statistic, rel=1e-6)
    assert moved.statistic == pytest.approx(plain.statistic, rel=1e-6)
    assert scaled.p_value == moved.p_value == plain.p_value


@every
@pytest.mark.filterwarnings("error")
def test_columns_that_say_nothing_and_rows_that_are_copies(name, apart):
    x, y = (np.column_stack([side, np.ones(len(side)), side[:, 0]]) for side in apart)
    assert TESTS[name](x, y).distinguishable is True
    twice = [np.repeat(side, 2, axis=0) for side in (x, y)]
    assert TESTS[name](*twice).distinguishable is True


@every
def test_dtypes(name, apart):
    plain = TESTS[name](*apart, permutations=99)
    single = TESTS[name](*(side.astype(np.float32) for side in apart), permutations=99)
    mixed = TESTS[name](apart[0].astype(np.float32), apart[1], permutations=99)
    assert single.statistic == pytest.approx(plain.statistic, rel=1e-4)
    assert mixed.statistic == pytest.approx(plain.statistic, rel=1e-4)


@every
def test_inputs_are_left_as_they_are(name, apart):
    before = [side.copy() for side in apart]
    TESTS[name](*apart, permutations=19)
    assert all(np.array_equal(*sides) for sides in zip(before, apart, strict=True))


@every
def test_bad_rows(name, apart):
    broken = apart[0].copy()
    broken[3, 1] = np.nan
    with pytest.raises(InputError, match=r"reference .*finite .*from 1: 4"):
        TESTS[name](broken, apart[1])
    with pytest.raises(InputError, match=r"columns.* 4 and 2"):
        TESTS[name](apart[0], apart[1][:, :2])
    with pytest.raises(InputError, match=r"generated .*shape .*\(80,\)"):
        TESTS[name](apart[0], apart[1][:, 0])


@every
@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"permutations": 0}, "permutations .*at least 1.* 0"),
        ({"permutations": 9.5}, "permutations .*at least 1.* 9.5"),
        ({"seed": -1}, "seed .*at least 0.* -1"),
        ({"level": 95}, "level .*number between 0 and 1, such as 0.95.* 95"),
        ({"level": 1.0}, "level .*number between 0 and 1"),
        ({"level": float("nan")}, "level .*number between 0 and 1"),
        ({"level": "high"}, "level .*number between 0 and 1"),
        ({"level": True}, "level .*number between 0 and 1"),
    ],
)
def test_bad_options(name, apart, options, words):
    with pytest.raises(InputError, match=words):
        TESTS[name](*apart, **options)


def test_all_subsets_are_equally_likely(rng):
    drawn = subsets(rng, 60_000, 2, 4)
    assert (drawn.sum(axis=1) == 2).all()
    _, counts = np.unique(drawn @ [1, 2, 4, 8], return_counts=True)
    assert len(counts) == 6
    assert np.abs(counts - 10_000).max() < 5 * np.sqrt(10_000)


@pytest.mark.parametrize("size", [0, 5])
def test_subsets_of_none_and_all(rng, size):
    assert (subsets(rng, 3, size, 5) == bool(size)).all()


def test_labels_as_they_are_come_first_and_strata_keep_their_sizes():
    seen = []

    def statistic(chosen):
        seen.append(chosen)
        return chosen[:, 0].astype(float)

    value, null = permuted(statistic, [(2, 3), (1, 4)], 150, Workers.alone(), seed=0)
    chosen = np.vstack(seen)
    assert chosen[0].tolist() == [True] * 2 + [False] * 3 + [True] + [False] * 4
    assert value == 1
    assert null.shape == (150,)
    assert (chosen[:, :5].sum(axis=1) == 2).all()
    assert (chosen[:, 5:].sum(axis=1) == 1).all()


def test_permutations_and_threads_and_seed():
    def place(chosen):
        return chosen @ np.arange(10.0)

    def null(seed, threads):
        with workers(threads) as pool:
            return permuted(place, [(5, 5)], 300, pool, seed=seed)[1]

    assert np.array_equal(null(0, 1), null(0, 3))
    assert not np.array_equal(null(0, 1), null(1, 1))
    assert len(np.unique(null(0, 1)[:64] - null(0, 1)[64:128])) > 5  # chunks differ


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
def test_classifier_as_scikit_learn(rng, shape):
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


def test_classifier_of_swapped_sets_and_turned_axes(rng):
    x, y = rng.standard_normal((2, 400, 6))
    y[:, 0] += 0.4
    turn, _ = np.linalg.qr(rng.standard_normal((6, 6)))
    plain = classifier_test(x, y, permutations=99)
    turned = classifier_test(x @ turn, y @ turn, permutations=99)
    assert turned.statistic == pytest.approx(plain.statistic, abs=1e-12)
    assert classifier_test(y, x, permutations=99).statistic == pytest.approx(
        plain.statistic, abs=0.02
    )


def test_classifier_finds_a_shift_that_the_kernel_drowns(rng):
    from calipers.uncertainty.two_sample_mmd import mmd_test

    x, y = rng.standard_normal((2, 600, 20)) * np.r_[np.full(19, 3.0), 0.5]
    y[:, -1] += 0.25
    assert classifier_test(x, y).distinguishable
    assert not mmd_test(x, y).distinguishable


def test_classifier_of_rows_that_are_all_alike():
    found = classifier_test(np.full((9, 3), 0.1), np.full((12, 3), 0.1))
    assert found.statistic == 0.5
    assert found.p_value == 1


def test_number_of_folds(rng):
    x, y = rng.standard_normal((2, 12, 2))
    assert "|folds:3|" in classifier_test(x, y, folds=3, permutations=9).signature
    with pytest.raises(InputError, match=r"folds .*at least 2.* 1"):
        classifier_test(x, y, folds=1)


MODULE = sys.modules["calipers.uncertainty.two_sample_mmd"]
GROUPS = sys.modules["calipers.estimate.row_groups"]


def brute_kernel(x, y, part=1.0):
    """Of a part of the median width."""
    rows = np.concatenate([x, y]).astype(np.longdouble)
    apart = ((rows[:, None] - rows[None]) ** 2).sum(axis=2)
    width = part * np.median(np.sqrt(apart[np.triu_indices(len(rows), 1)]))
    kernel = np.exp(-apart / (2 * width**2))
    np.fill_diagonal(kernel, 0)
    return kernel


def brute_statistic(kernel, ours):
    ours = np.asarray(ours)
    n, m = ours.sum(), (~ours).sum()
    within = kernel[ours][:, ours].sum() / (n * (n - 1))
    within += kernel[~ours][:, ~ours].sum() / (m * (m - 1))
    return float(within - 2 * kernel[ours][:, ~ours].sum() / (n * m))


def brute_test(x, y, permutations, seed=0):
    """Both MMD² by every labelling of every row, standardised in float64: the larger of the two."""
    sizes = len(x), len(y)
    order = MODULE._dealt(PermutationGroups.of(*sizes), sizes, seed)[1]
    rows = np.concatenate([x, y])[order]
    labels = relabelled(np.float64, [sizes], permutations, Workers.alone(), seed=seed) > 0
    values = np.array(
        [
            [brute_statistic(kernel, ours) for ours in labels]
            for kernel in (brute_kernel(rows, rows[:0], part) for part in (1, 1 / 3))
        ]
    ).T
    standardised = (values - values.mean(axis=0)) / values.std(axis=0)
    return values[0, 0], standardised.max(axis=1)


def test_mmd_by_hand():
    # Distances 1, 1, 1, 2, 2, 3: the median is 1.5; widths 1.5 and 0.5
    found = mmd_test([[0.0], [1.0]], [[2.0], [3.0]], permutations=999)
    kernels = [np.exp(-np.array([1, 4, 9]) / (2 * width**2)) for width in (1.5, 0.5)]
    ways = np.array(
        [
            (
                1.5 * one - two - 0.5 * three,  # {0, 1} and {2, 3}, as they are
                2 * two - 1.5 * one - 0.5 * three,  # {0, 2} and {1, 3}
                three - two,  # {0, 3} and {1, 2}
            )
            for one, two, three in kernels
        ]
    )
    assert found.estimate == pytest.approx(ways[0, 0], abs=1e-12)
    assert found.estimate == pytest.approx(0.7223, abs=1e-4)
    # Among the labellings drawn each way has its share; no other value comes up
    values, counts = np.unique(np.append(found.null, found.statistic), return_counts=True)
    assert len(values) == 3
    assert counts.min() > 250
    shares = counts / 1_000
    for order in itertools.permutations(range(3)):
        tried = ways[:, list(order)]
        mean = tried @ shares
        spread = np.sqrt((tried - mean[:, None]) ** 2 @ shares)
        larger = ((tried - mean[:, None]) / spread[:, None]).max(axis=0)
        if np.abs(larger - values).max() < 1e-5:
            break
    else:
        pytest.fail("the statistics are not those of the formula")
    assert found.statistic == pytest.approx(larger[order.index(0)], abs=1e-5)


@pytest.mark.parametrize("sizes", [(4, 5), (30, 30), (25, 50)])
def test_mmd_is_that_of_all_pairs_in_float64(rng, sizes):
    x, y = rng.standard_normal((sizes[0], 3)), rng.standard_normal((sizes[1], 3)) * 1.2 + 0.2
    estimate, values = brute_test(x, y, 99, seed=4)
    found = mmd_test(x, y, permutations=99, seed=4)
    assert found.estimate == pytest.approx(estimate, abs=1e-12)
    np.testing.assert_allclose([found.statistic, *found.null], values, atol=1e-4)
    assert found.p_value == np.mean(values >= values[0] - 1e-9)


def test_mmd_of_the_narrow_kernel_finds_what_the_wide_one_does_not(rng):
    x, y = rng.standard_normal((2, 120, 30))
    y[:12] = y[0]  # a tenth is one row
    kernel = brute_kernel(x, y)
    labels = relabelled(np.float64, [(120, 120)], 199, Workers.alone(), seed=0) > 0
    wide = np.array([brute_statistic(kernel, ours) for ours in labels])
    assert np.mean(wide >= wide[0]) > 0.05
    assert mmd_test(x, y, permutations=199).p_value <= 0.01


@pytest.mark.parametrize("sizes", [(40, 40), (25, 70), (900, 400), (1_500, 1_500)])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_the_estimate_of_mmd_is_the_metric(rng, sizes, dtype):
    x, y = (rng.standard_normal((size, 6)).astype(dtype) for size in sizes)
    for gap in (0, 0.5):
        moved = (y + gap).astype(dtype)
        found = mmd_test(x, moved, permutations=9, seed=3).estimate
        assert found == pytest.approx(mmd(x, moved, seed=3).value, abs=2e-8, rel=1e-6)


def test_mmd_in_float32_and_float64_agrees(rng, monkeypatch):
    x, y = rng.standard_normal((1_200, 8)), rng.standard_normal((1_100, 8)) + 0.05
    swift = mmd_test(x, y, permutations=99)
    monkeypatch.setattr(MODULE, "EXACT_ROWS", 10_000)
    exact = mmd_test(x, y, permutations=99)
    assert swift.estimate != exact.estimate
    assert swift.estimate == pytest.approx(exact.estimate, abs=1e-8)
    np.testing.assert_allclose(swift.null, exact.null, atol=1e-3)


def test_mmd_on_the_grid_is_that_of_the_sums(rng):
    sums = rng.random((302, 302))
    sums += sums.T
    sums[-2:] *= 1_000  # rows that stay
    sums[:, -2:] = sums[-2:].T
    pairs = 300, 500, 700
    chosen = rng.random((50, 300)) < 0.4
    labels = np.column_stack([chosen, np.ones(50), np.zeros(50)])
    kept = [labels, 1 - labels]
    ours, theirs = (np.einsum("cg,gh,ch->c", side, sums, side) for side in kept)
    across = np.einsum("cg,gh,ch->c", kept[0], sums, kept[1])
    expected = ours / pairs[0] + theirs / pairs[1] - 2 * across / pairs[2]
    form = Quadratic.of(sums, pairs)
    np.testing.assert_allclose(form(chosen), expected, atol=1e-3)  # of values of some hundreds
    assert np.abs(expected).min() > 1
    # What float32 adds, it adds without error: in another order nothing changes
    turn = rng.permutation(300)
    turned = Quadratic(form.grid[np.ix_(turn, turn)], form.unit, form.beside, form.staying, pairs)
    np.testing.assert_array_equal(
        MODULE._within(chosen.astype(np.float32), form.grid),
        MODULE._within(chosen[:, turn].astype(np.float32), turned.grid),
    )


def test_mmd_of_sets_that_no_labels_tell_apart():
    # All rows are equally far from each other, so MMD² is one number whatever the labels
    found = mmd_test(np.eye(12)[:6], np.eye(12)[6:], permutations=99)
    assert found.p_value == 1
    assert found.statistic == 0


def test_rows_far_away_cost_mmd_no_digits(rng):
    x, y = rng.standard_normal((1_300, 3)), rng.standard_normal((1_300, 3))
    x[:2] = 1e6, -1e6, 1e6  # copies of each other, a million widths from the centre
    assert mmd_test(x, y, permutations=9).estimate == pytest.approx(mmd(x, y).value, rel=1e-9)


@pytest.mark.parametrize(
    "sizes", [(2, 2), (1, 5), (64, 64), (700, 600), (1_000, 999), (63, 10**6), (10**6, 200)]
)
def test_groups_of_mmd(sizes):
    groups = PermutationGroups.of(*sizes)
    labels = groups.labels(*sizes)
    one, other = groups.moved
    assert one + other <= 1_024
    assert min(one, other) >= min(*sizes, 64)
    counts = np.bincount(labels, minlength=one + other + 2)
    assert (counts[: one + other] == groups.rows).all()
    assert counts[-2:].tolist() == [sizes[0] - one * groups.rows, sizes[1] - other * groups.rows]
    assert set(labels[: sizes[0]]).isdisjoint(labels[sizes[0] :])


def test_groups_of_mmd_permute_like_rows(rng, monkeypatch):
    x, y = rng.standard_normal((512, 3)), rng.standard_normal((512, 3)) + 0.1
    alone = mmd_test(x, y, permutations=1_999)
    monkeypatch.setattr(GROUPS, "MOST_GROUPS", 256)
    grouped = mmd_test(x, y, permutations=1_999)
    assert "|rows_per_group:1|" in alone.signature
    assert "|rows_per_group:4|" in grouped.signature
    assert grouped.estimate == pytest.approx(alone.estimate, abs=1e-12)
    assert grouped.statistic == pytest.approx(alone.statistic, rel=0.15)
    assert grouped.null.std() == pytest.approx(alone.null.std(), rel=0.15)
    assert grouped.threshold == pytest.approx(alone.threshold, rel=0.25)


def test_sorted_files_are_dealt_to_groups_of_mmd_at_random(rng, monkeypatch):
    monkeypatch.setattr(GROUPS, "MOST_GROUPS", 64)
    monkeypatch.setattr(GROUPS, "FEWEST_GROUPS", 16)
    sets = (np.sort(rng.standard_normal((2, 512, 1)), axis=1) for _ in range(20))
    found = [mmd_test(*pair, permutations=19, threads=1).p_value for pair in sets]
    assert 0.2 < np.mean(found) < 0.8  # groups of neighbours would look alike in both: p near 1


def test_mmd_finds_a_spread_that_no_plane_shows(rng):
    x, y = rng.standard_normal((2, 300, 3))
    assert mmd_test(x, 1.5 * y).distinguishable


def test_mmd_of_many_times_more_of_one_set(rng):
    x, y = rng.standard_normal((70, 2)) + 0.6, rng.standard_normal((3_000, 2))
    assert mmd_test(x, y).distinguishable
    assert mmd_test(y, x).distinguishable


def test_reasons_of_mmd(rng):
    row, rows = np.ones((1, 2)), rng.standard_normal((9, 2))
    found = mmd_test(row, rows)
    assert found.reason == "an unbiased estimate needs at least two rows in each set"
    assert found.distinguishable is None
    assert np.isnan(found.p_value)
    found = mmd_test(np.ones((9, 2)), np.ones((7, 2)))
    assert found.reason == ALIKE
    assert found.permutations == 999
