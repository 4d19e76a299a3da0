"""Means over prompts and their intervals, and tests whose labels are permuted within prompts."""

from __future__ import annotations

import itertools
from statistics import fmean

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from calipers.errors import InputError
from calipers.metrics import similarity_between, similarity_within
from calipers.text.hamming import hamming_kernel, padded
from calipers.uncertainty.over_prompts import (
    between_prompts,
    jackknife_over_prompts,
    mean_over_prompts,
)
from calipers.uncertainty.two_sample_prompts import (
    ONE_EACH,
    gaussian_kernels,
    prompts_test,
    relabellings,
)


def test_the_interval_of_a_mean_is_students():
    values = [0.2, 0.4, np.nan, 0.9]
    score = mean_over_prompts(values, level=0.9)
    known = [0.2, 0.4, 0.9]
    expected = stats.t.interval(0.9, 2, np.mean(known), stats.sem(known))
    assert score.value == pytest.approx(0.5)
    assert score.interval == pytest.approx(expected)
    assert score.signature == "prompts:3"
    assert np.isnan(score.per_sample[2])


def test_without_prompts_there_is_no_value_and_with_one_no_interval():
    none, one = mean_over_prompts([np.nan]), mean_over_prompts([0.5])
    assert (none.reason, none.interval) == ("no prompt has enough samples", None)
    assert (one.value, one.interval, one.level) == (0.5, None, None)


def test_bounds_cut_the_interval():
    low, high = mean_over_prompts([0.0, 1.0, 1.0], bounds=(0.0, 1.0)).interval
    assert (low, high) == (0.0, 1.0)


def test_the_jackknife_of_a_mean_is_the_interval_of_the_mean():
    values = np.array([0.1, 0.5, 0.7, 0.3, 0.2])
    left = [(values.sum() - each) / 4 for each in values]
    found = jackknife_over_prompts(values.mean(), left)
    assert found.interval == pytest.approx(mean_over_prompts(values).interval)


@given(seed=st.integers(0, 10_000))
@settings(max_examples=15)
def test_contrast_has_the_jackknife_that_measures_anew(seed):
    rng = np.random.default_rng(seed)
    rows, labels = rng.standard_normal((12, 3)) + 0.3, np.repeat(np.arange(4), 3)
    between, within = similarity_between(rows, labels), similarity_within(rows, labels)
    replicates, pairs = [], []
    for prompt in range(4):
        kept = labels != prompt
        own = similarity_within(rows[kept], labels[kept]).mean()
        pairs.append(similarity_between(rows[kept], labels[kept]).mean())
        replicates.append(own - pairs[-1])
    contrast, alone = between_prompts(between, within), between_prompts(between)
    assert contrast.value == pytest.approx(within.mean() - between.mean())
    expected = jackknife_over_prompts(contrast.value, replicates).interval
    assert contrast.interval == pytest.approx(expected)
    assert alone.interval == pytest.approx(jackknife_over_prompts(alone.value, pairs).interval)


def brute_mmd(kernel, ours, theirs, *, unbiased):
    """MMD² by all pairs."""

    def mean(rows, columns, same):
        pairs = [kernel[i, j] for i in rows for j in columns if not same or i != j or not unbiased]
        return fmean(pairs)

    return mean(ours, ours, True) + mean(theirs, theirs, True) - 2 * mean(ours, theirs, False)


@given(seed=st.integers(0, 10_000), single=st.booleans())
@settings(max_examples=25)
def test_the_statistic_is_the_mean_of_mmd_over_prompts(seed, single):
    rng = np.random.default_rng(seed)
    sizes = [(2, 3), (3, 3), (1 if single else 2, 3), (3, 3)]
    kernels = gaussian_kernels([rng.standard_normal((n + m, 2)) for n, m in sizes])
    test = prompts_test(kernels, sizes, kernel="gaussian", permutations=3)
    expected = fmean(
        brute_mmd(kernel, range(n), range(n, n + m), unbiased=not single)
        for kernel, (n, m) in zip(kernels, sizes, strict=True)
    )
    assert test.statistic == pytest.approx(expected, abs=1e-12)
    assert f"estimate:{'biased' if single else 'unbiased'}" in test.signature


def test_permuted_statistics_are_those_of_relabellings_within_prompts():
    rng = np.random.default_rng(0)
    sizes = [(2, 2), (1, 2)]
    kernels = gaussian_kernels([rng.standard_normal((n + m, 2)) for n, m in sizes])
    possible = {
        round(
            fmean(
                brute_mmd(kernel, own, [i for i in range(n + m) if i not in own], unbiased=False)
                for kernel, (n, m), own in zip(kernels, sizes, chosen, strict=True)
            ),
            9,
        )
        for chosen in itertools.product(
            itertools.combinations(range(4), 2), itertools.combinations(range(3), 1)
        )
    }
    test = prompts_test(kernels, sizes, kernel="gaussian", permutations=400)
    assert {round(value, 9) for value in test.null.tolist()} == possible
    assert relabellings(sizes) == len(possible)


def test_one_sample_on_each_side_tests_nothing_within_prompts():
    rng = np.random.default_rng(0)
    parts = [rng.standard_normal((2, 2)) + np.array([[0.0], [9.0]]) for _ in range(30)]
    test = prompts_test(gaussian_kernels(parts), [(1, 1)] * 30, kernel="gaussian")
    assert np.isnan([test.statistic, test.p_value]).all()
    assert test.reason == ONE_EACH
    assert test.distinguishable is None


@given(st.lists(st.tuples(st.integers(1, 4), st.integers(1, 4)), min_size=1, max_size=3))
@settings(max_examples=20)
def test_relabellings_are_those_of_which_mmd_may_differ(sizes):
    """Counted: all labellings within prompts, those that swap sets of one size counting once."""
    count = 1
    for n, m in sizes:
        labellings = {frozenset(own) for own in itertools.combinations(range(n + m), n)}
        if n == m:
            whole = frozenset(range(n + m))
            labellings = {frozenset([own, whole - own]) for own in labellings}
        count *= len(labellings)
    assert relabellings(sizes) == count
    assert relabellings(sizes * 400) in (1.0, np.inf)


def test_the_level_is_exact_over_all_relabellings_of_a_small_case():
    """Of all labellings, no more than a share p has a p-value of at most p."""
    rng = np.random.default_rng(1)
    (kernel,) = gaussian_kernels([rng.standard_normal((6, 1))])
    p_values = []
    for own in itertools.combinations(range(6), 3):
        order = [*own, *(i for i in range(6) if i not in own)]
        moved = kernel[np.ix_(order, order)]
        test = prompts_test([moved], [(3, 3)], kernel="gaussian", permutations=1999)
        p_values.append(test.p_value)
    # 20 labellings in 10 pairs of one statistic: p-values are about 0.1, 0.2, ... 1.0, twice each
    assert sorted(p_values) == pytest.approx(np.repeat(np.arange(1, 11) / 10, 2), abs=0.04)


def test_prompts_may_differ_however_much():
    """What differs from prompt to prompt alone is no difference between sets."""
    rng = np.random.default_rng(2)
    parts = [100 * p + rng.standard_normal((8, 2)) for p in range(12)]
    kernels = gaussian_kernels(parts)
    assert prompts_test(kernels, [(4, 4)] * 12, kernel="gaussian").p_value > 0.05
    for part in parts:
        part[:4] += 3
    moved = gaussian_kernels(parts)
    assert prompts_test(moved, [(4, 4)] * 12, kernel="gaussian").p_value == 0.001


def test_threads_move_nothing():
    rng = np.random.default_rng(3)
    kernels = gaussian_kernels([rng.standard_normal((6, 2)) for _ in range(10)])
    one, two = (
        prompts_test(kernels, [(3, 3)] * 10, kernel="gaussian", threads=threads)
        for threads in (1, 2)
    )
    assert (one.null == two.null).all()


def test_equal_samples_have_no_width():
    assert gaussian_kernels([np.ones((4, 2)), np.zeros((3, 2))]) is None


@pytest.mark.parametrize(
    ("kernels", "sizes", "message"),
    [
        (
            [],
            [],
            "there must be one kernel and one pair of sizes for each prompt, at least one; found "
            "0 and 0",
        ),
        (
            [np.eye(3)],
            [(2, 2)],
            "prompt 1: a kernel of 2 and 2 samples must be of the shape (4, 4), with at least one "
            "sample on each side; found (3, 3)",
        ),
    ],
)
def test_kernels_that_do_not_fit_are_refused(kernels, sizes, message):
    with pytest.raises(InputError) as error:
        prompts_test(kernels, sizes, kernel="gaussian")
    assert str(error.value) == message


@given(texts=st.lists(st.text(max_size=6), min_size=1, max_size=5), length=st.integers(1, 5))
@settings(max_examples=40)
def test_the_hamming_kernel_compares_place_by_place(texts, length):
    found = hamming_kernel(padded(texts, length=length))
    cut = [text[:length] for text in texts]
    places = max(1, *map(len, cut))
    for i, first in enumerate(cut):
        for j, second in enumerate(cut):
            equal = sum(
                a == b
                for a, b in zip(
                    [*first, *[None] * (places - len(first))],
                    [*second, *[None] * (places - len(second))],
                    strict=True,
                )
            )
            assert found[i, j] == equal / places


@pytest.mark.slow
def test_intervals_over_prompts_cover_and_tests_keep_their_level():
    rng = np.random.default_rng(4)
    truth, worlds, hits, found = 0.0, 300, 0, 0
    big = rng.standard_normal((20_000, 1, 4)) + rng.standard_normal((20_000, 3, 4))
    labels = np.repeat(np.arange(20_000), 3)
    truth = similarity_within(big.reshape(-1, 4), labels).mean()
    for world in range(worlds):
        places = rng.standard_normal((15, 1, 4))
        ours, theirs = (places + rng.standard_normal((15, 3, 4)) for _ in range(2))
        values = similarity_within(ours.reshape(-1, 4), np.repeat(np.arange(15), 3))
        low, high = mean_over_prompts(values).interval
        hits += low <= truth <= high
        parts = [np.concatenate(pair) for pair in zip(ours, theirs, strict=True)]
        kernels = gaussian_kernels(parts)
        test = prompts_test(
            kernels, [(3, 3)] * 15, kernel="gaussian", permutations=99, seed=world, threads=1
        )
        found += test.p_value <= 0.05
    # Both within four standard errors of what they should be
    assert abs(hits / worlds - 0.95) < 4 * np.sqrt(0.95 * 0.05 / worlds)
    assert found / worlds < 0.05 + 4 * np.sqrt(0.05 * 0.95 / worlds)
