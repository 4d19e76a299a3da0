"""What both tests share: validity, reproducibility, hostile rows and bad input."""

import dataclasses
import sys

import numpy as np
import pytest

from calipers.errors import InputError
from calipers.uncertainty.two_sample import TwoSample, threshold
from calipers.uncertainty.two_sample_classifier import classifier_test
from calipers.uncertainty.two_sample_mmd import mmd_test

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
    module = sys.modules["calipers.uncertainty.two_sample_mmd"]
    monkeypatch.setattr(module, "MOST_GROUPS", 64)
    monkeypatch.setattr(module, "FEWEST_GROUPS", 16)
    assert module.Groups.of(101, 150) == module.Groups(rows=4, moved=(25, 37))
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
    with pytest.raises(InputError, match=r"reference must hold finite numbers .* from 1: 4"):
        TESTS[name](broken, apart[1])
    with pytest.raises(InputError, match="same number of columns; found 4 and 2"):
        TESTS[name](apart[0], apart[1][:, :2])
    with pytest.raises(InputError, match=r"generated must have shape .* found \(80,\)"):
        TESTS[name](apart[0], apart[1][:, 0])


@every
@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"permutations": 0}, "permutations must be a whole number of at least 1; found 0"),
        ({"permutations": 9.5}, "permutations must be a whole number of at least 1; found 9.5"),
        ({"seed": -1}, "seed must be a whole number of at least 0; found -1"),
        ({"level": 95}, "level must be a number between 0 and 1, such as 0.95; found 95"),
        ({"level": 1.0}, "level must be a number between 0 and 1"),
        ({"level": float("nan")}, "level must be a number between 0 and 1"),
        ({"level": "high"}, "level must be a number between 0 and 1"),
        ({"level": True}, "level must be a number between 0 and 1"),
    ],
)
def test_bad_options(name, apart, options, words):
    with pytest.raises(InputError, match=words):
        TESTS[name](*apart, **options)
