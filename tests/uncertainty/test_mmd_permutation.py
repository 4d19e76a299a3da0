import itertools
import sys

import numpy as np
import pytest

from calipers.metrics.mmd import mmd
from calipers.uncertainty.two_sample_mmd import Groups, mmd_test

MODULE = sys.modules["calipers.uncertainty.two_sample_mmd"]


def brute_kernel(x, y):
    rows = np.concatenate([x, y]).astype(np.longdouble)
    apart = ((rows[:, None] - rows[None]) ** 2).sum(axis=2)
    width = np.median(np.sqrt(apart[np.triu_indices(len(rows), 1)]))
    kernel = np.exp(-apart / (2 * width**2))
    np.fill_diagonal(kernel, 0)
    return kernel


def brute_statistic(kernel, ours):
    ours = np.asarray(ours)
    n, m = ours.sum(), (~ours).sum()
    within = kernel[ours][:, ours].sum() / (n * (n - 1))
    within += kernel[~ours][:, ~ours].sum() / (m * (m - 1))
    return float(within - 2 * kernel[ours][:, ~ours].sum() / (n * m))


def test_against_all_permutations(rng):
    x, y = rng.standard_normal((4, 2)), rng.standard_normal((5, 2)) + 1
    kernel = brute_kernel(x, y)
    subsets = itertools.combinations(range(9), 4)
    every = [brute_statistic(kernel, np.isin(np.arange(9), places)) for places in subsets]
    found = mmd_test(x, y, permutations=9_999)
    assert found.statistic == pytest.approx(every[0], abs=1e-12)
    # Every permuted value is one of the 126
    nearest = np.abs(found.null[:, None] - np.array(every)).min(axis=1)
    assert nearest.max() < 1e-12
    exact = np.mean(np.array(every) >= every[0] - 1e-12)
    assert found.p_value == pytest.approx(exact, abs=4 * np.sqrt(exact / 9_999))


@pytest.mark.parametrize("sizes", [(40, 40), (25, 70), (900, 400), (1_500, 1_500)])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_the_statistic_is_the_metric(rng, sizes, dtype):
    x, y = (rng.standard_normal((size, 6)).astype(dtype) for size in sizes)
    for gap in (0, 0.5):
        moved = (y + gap).astype(dtype)
        found = mmd_test(x, moved, permutations=9, seed=3).statistic
        assert found == pytest.approx(mmd(x, moved, seed=3).value, abs=2e-8, rel=1e-6)


def test_float32_and_float64_agree(rng, monkeypatch):
    x, y = rng.standard_normal((1_200, 8)), rng.standard_normal((1_100, 8)) + 0.05
    swift = mmd_test(x, y, permutations=99)
    monkeypatch.setattr(MODULE, "EXACT_ROWS", 10_000)
    exact = mmd_test(x, y, permutations=99)
    assert swift.statistic != exact.statistic
    assert swift.statistic == pytest.approx(exact.statistic, abs=1e-8)
    np.testing.assert_allclose(swift.null, exact.null, atol=1e-8)


def test_rows_far_away_cost_no_digits(rng):
    x, y = rng.standard_normal((1_300, 3)), rng.standard_normal((1_300, 3))
    x[:2] = 1e6, -1e6, 1e6  # copies of each other, a million widths from the centre
    assert mmd_test(x, y, permutations=9).statistic == pytest.approx(mmd(x, y).value, rel=1e-9)


@pytest.mark.parametrize(
    "sizes", [(2, 2), (1, 5), (64, 64), (700, 600), (1_000, 999), (63, 10**6), (10**6, 200)]
)
def test_groups(sizes):
    groups = Groups.of(*sizes)
    labels = groups.labels(*sizes)
    one, other = groups.moved
    assert one + other <= 1_024
    assert min(one, other) >= min(*sizes, 64)
    counts = np.bincount(labels, minlength=one + other + 2)
    assert (counts[: one + other] == groups.rows).all()
    assert counts[-2:].tolist() == [sizes[0] - one * groups.rows, sizes[1] - other * groups.rows]
    assert set(labels[: sizes[0]]).isdisjoint(labels[sizes[0] :])


def test_groups_permute_like_rows(rng, monkeypatch):
    x, y = rng.standard_normal((512, 3)), rng.standard_normal((512, 3)) + 0.1
    alone = mmd_test(x, y, permutations=1_999)
    monkeypatch.setattr(MODULE, "MOST_GROUPS", 256)
    grouped = mmd_test(x, y, permutations=1_999)
    assert "|rows_per_group:1|" in alone.signature
    assert "|rows_per_group:4|" in grouped.signature
    assert grouped.statistic == pytest.approx(alone.statistic, abs=1e-12)
    assert grouped.null.std() == pytest.approx(alone.null.std(), rel=0.15)
    assert grouped.threshold == pytest.approx(alone.threshold, rel=0.25)


def test_sorted_files_are_dealt_to_groups_at_random(rng, monkeypatch):
    monkeypatch.setattr(MODULE, "MOST_GROUPS", 64)
    monkeypatch.setattr(MODULE, "FEWEST_GROUPS", 16)
    sets = (np.sort(rng.standard_normal((2, 512, 1)), axis=1) for _ in range(20))
    found = [mmd_test(*pair, permutations=19, threads=1).p_value for pair in sets]
    assert 0.2 < np.mean(found) < 0.8  # groups of neighbours would look alike in both: p near 1


def test_finds_a_spread_that_no_plane_shows(rng):
    x, y = rng.standard_normal((2, 300, 3))
    assert mmd_test(x, 1.5 * y).distinguishable


def test_many_times_more_of_one_set(rng):
    x, y = rng.standard_normal((70, 2)) + 0.6, rng.standard_normal((3_000, 2))
    assert mmd_test(x, y).distinguishable
    assert mmd_test(y, x).distinguishable


def test_reasons(rng):
    row, rows = np.ones((1, 2)), rng.standard_normal((9, 2))
    found = mmd_test(row, rows)
    assert found.reason == "an unbiased estimate needs at least two rows in each set"
    assert found.distinguishable is None
    assert np.isnan(found.p_value)
    found = mmd_test(np.ones((9, 2)), np.ones((7, 2)))
    assert found.reason == "the median distance is 0: at least half of the pairs are copies"
    assert found.permutations == 999
