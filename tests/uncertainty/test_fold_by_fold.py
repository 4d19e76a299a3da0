"""p-values below one over the number of permutations: by hand, by enumeration, and their level."""

from itertools import combinations, product
from math import log

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import chi2, wilcoxon

from calipers.estimate.prompt_strata import PromptStrata
from calipers.numeric.threads import workers
from calipers.uncertainty import fold_by_fold as module
from calipers.uncertainty.two_sample import at_limit
from calipers.uncertainty.two_sample_classifier import classifier_test, parts_of

fold_by_fold = module.fold_by_fold


def one_part(first, second, prompts, seed=0):
    strata = PromptStrata.of(*prompts, seed)
    with workers(1) as pool:
        (part,) = parts_of(first, second, pool, folds=5, seed=seed, strata=strata)
    return part


def drawn(rng, n, sizes, d=4, shift=0.0):
    """Answers of two sides to n prompts, the other side's moved along the first axis."""
    base, (a, b) = rng.normal(size=(n, d)), sizes
    ours, theirs = (
        np.repeat(base, count, 0) + rng.standard_t(3, (n * count, d)) for count in sizes
    )
    theirs[:, 0] += shift
    return ours, theirs, (np.repeat(np.arange(n), a), np.repeat(np.arange(n), b))


def test_signed_ranks_by_hand():
    # Ranks 1, 2, 3 with signs +, -, +: sums of 4 or more are 3 of 8 (4, 5, 6)
    assert module._signed_rank_p(np.array([0.1, -0.2, 0.3])) == pytest.approx(3 / 8)
    assert module._signed_rank_p(np.array([1.0, 2.0, 3.0])) == pytest.approx(1 / 8)
    assert module._signed_rank_p(np.array([-1.0, -2.0])) == 1.0
    assert module._signed_rank_p(np.array([1.0, 1.0, -1.0, 0.0])) == pytest.approx(4 / 8)
    assert module._signed_rank_p(np.zeros(3)) == 1.0


@given(st.lists(st.floats(-5, 5, width=16).filter(bool), min_size=1, max_size=9, unique_by=abs))
def test_signed_ranks_are_scipys(differences):
    expected = wilcoxon(differences, alternative="greater", method="exact").pvalue
    assert module._signed_rank_p(np.array(differences)) == pytest.approx(expected, rel=1e-12)


@given(st.integers(1, 3), st.integers(1, 3), st.integers(0, 99))
def test_others_are_bounded_by_a_bound(a, b, seed):
    rng = np.random.default_rng(seed)
    prompts = 3
    scores = rng.normal(size=prompts * (a + b))
    ours = np.tile(np.arange(a + b) < a, prompts)
    bound = module._rank_p(scores, ours, np.array([[a, b]] * prompts)) if (a, b) != (1, 1) else 1.0
    order = np.empty(len(scores))
    order[np.argsort(np.abs(scores))] = np.arange(1, len(scores) + 1)
    values = (np.sign(scores) * order).reshape(prompts, -1)
    sums = [
        sum(row[list(chosen)].sum() for row, chosen in zip(values, way, strict=True))
        for way in product(*[list(combinations(range(a + b), a))] * prompts)
    ]
    reached = values[:, :a].sum()
    exact = np.mean(np.array(sums) >= reached - 1e-9)
    assert exact <= bound * (1 + 1e-9) <= 1 + 1e-9


@given(st.integers(1, 4), st.integers(1, 4), st.floats(0, 8), st.integers(0, 9))
def test_moments_are_means_over_all_draws(n, m, steepness, seed):
    values = np.random.default_rng(seed).uniform(-1, 1, (2, n + m))
    by_hand = sum(
        log(
            np.mean([np.exp(steepness * row[list(c)].sum()) for c in combinations(range(n + m), n)])
        )
        for row in values
    )
    assert module._log_moment(steepness, values, n) == pytest.approx(by_hand, abs=1e-10)


@given(st.lists(st.floats(1e-9, 1.0), min_size=1, max_size=6))
def test_products_are_fishers(p_values):
    total = float(np.log(p_values).sum())
    expected = chi2.sf(-2 * total, 2 * len(p_values))
    assert module._product_p(total, len(p_values)) == pytest.approx(expected, rel=1e-9)


def test_prompts_that_are_many_are_bounded_too(monkeypatch):
    rng = np.random.default_rng(3)
    ours, theirs, prompts = drawn(rng, 60, (1, 1), shift=2.5)
    part = one_part(ours, theirs, prompts)
    counted = fold_by_fold(part)
    monkeypatch.setattr(module, "COUNTED", 5)
    assert counted < fold_by_fold(part) < 1e-3


def test_swapped_sides_and_turned_rows_change_nothing():
    rng = np.random.default_rng(4)
    ours, theirs, prompts = drawn(rng, 40, (1, 1), shift=0.8)
    p = fold_by_fold(one_part(ours, theirs, prompts))
    assert fold_by_fold(one_part(theirs, ours, prompts[::-1])) == pytest.approx(p)
    turn = np.linalg.qr(rng.normal(size=(4, 4)))[0]
    assert fold_by_fold(one_part(ours @ turn, theirs @ turn, prompts)) == pytest.approx(p)


def test_a_large_gap_has_a_p_value_that_no_permutations_give():
    rng = np.random.default_rng(5)
    ours, theirs, prompts = drawn(rng, 100, (1, 1), shift=3.0)
    options = {"prompts": prompts, "permutations": 99, "threads": 1}
    plain, deep = (classifier_test(ours, theirs, tail=tail, **options) for tail in (False, True))
    assert plain.p_value == 0.01
    assert at_limit(plain)
    assert deep.p_value < 1e-12
    assert deep.statistic == plain.statistic
    assert "tail:fold_by_fold" in deep.signature
    assert "tail" not in plain.signature


def test_a_p_value_that_permutations_give_stays():
    rng = np.random.default_rng(6)
    ours, theirs, prompts = drawn(rng, 30, (1, 1))
    options = {"prompts": prompts, "permutations": 99, "threads": 1}
    plain, deep = (classifier_test(ours, theirs, tail=tail, **options) for tail in (False, True))
    assert not at_limit(plain)
    assert deep.p_value == plain.p_value


@pytest.mark.slow
@pytest.mark.parametrize("sizes", [(1, 1), (2, 3), (4, 4)])
def test_the_level_holds(sizes):
    """Share of p-values up to α among sets of one distribution; three standard errors allowed."""
    rng, runs = np.random.default_rng(7), 800
    found = np.array(
        [fold_by_fold(one_part(*drawn(rng, 25, sizes), seed=run)) for run in range(runs)]
    )
    for alpha in (0.5, 0.2, 0.1, 0.05, 0.01):
        assert np.mean(found <= alpha) <= alpha + 3 * np.sqrt(alpha * (1 - alpha) / runs)


@pytest.mark.slow
def test_the_level_holds_beside_few_permutations():
    """With 19 permutations a p-value of 0.05 is at the limit, and 0.01 comes from the folds."""
    rng, runs = np.random.default_rng(8), 1500
    found = []
    for run in range(runs):
        ours, theirs, prompts = drawn(rng, 25, (1, 1))
        options = {"prompts": prompts, "permutations": 19, "threads": 1, "seed": run}
        found.append(classifier_test(ours, theirs, tail=True, **options).p_value)
    for alpha in (0.2, 0.05, 0.02, 0.01):
        share = np.mean(np.array(found) <= alpha)
        assert share <= alpha + 3 * np.sqrt(alpha * (1 - alpha) / runs)
