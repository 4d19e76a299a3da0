"""The two-sample tests where both sets answer the same prompts: by hand, by brute force, by law."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from calipers.errors import InputError
from calipers.estimate import prompt_groups
from calipers.estimate.discriminant import parts_of
from calipers.estimate.prompt_groups import PromptGroups
from calipers.estimate.prompt_strata import PromptStrata
from calipers.metrics.classifier import classifier_auc
from calipers.numeric.threads import workers
from calipers.uncertainty.two_sample_classifier import classifier_test
from calipers.uncertainty.two_sample_mmd import mmd_test

TESTS = {"mmd": mmd_test, "classifier": classifier_test}
every = pytest.mark.parametrize("name", TESTS)


def answered(rng, prompts, answers=(1, 1), *, shared=None, strength=1.0, noise=0.3, shift=0.0, d=4):
    """Answers to prompts, of which the first `shared` are those of both sides."""
    both = prompts if shared is None else shared
    ours = strength * rng.standard_normal((prompts, 1, d))
    theirs = np.concatenate([ours[:both], strength * rng.standard_normal((prompts - both, 1, d))])
    sides = [
        (mean + noise * rng.standard_normal((prompts, count, d))).reshape(-1, d)
        for mean, count in zip((ours, theirs), answers, strict=True)
    ]
    rows = np.arange(prompts)
    numbers = (
        np.repeat(rows, answers[0]),
        np.repeat(np.where(rows < both, rows, rows + 10_000), answers[1]),
    )
    return sides[0], sides[1] + shift, numbers


# ------------------------------------------------------------------ what is exchanged


def test_strata_by_hand():
    reference, generated = np.array([7, 3, 7, 5, 9]), np.array([3, 8, 7, 8, 2, 6])
    strata = PromptStrata.of(reference, generated, 0)
    assert strata.shared.tolist() == [1, 5, 0, 2, 7]  # prompt 3, then prompt 7
    assert strata.sizes == ((1, 1), (2, 1))
    assert strata.prompts == (2, 3)  # 5 and 9; 2, 6 and 8, of which one answer is drawn
    assert strata.answers == 1
    assert strata.alone.tolist()[:4] == [3, 4, 9, 10]
    assert strata.alone.tolist()[4] in (6, 8)
    assert strata.signature == "shared(2)+others(2,3)"


def test_prompts_that_one_side_alone_has_are_exchanged_with_nothing():
    strata = PromptStrata.of(np.array([1, 2, 3]), np.array([2, 1, 1]), 0)
    assert len(strata.alone) == 0
    assert strata.prompts == (0, 0)
    assert strata.signature == "shared(2)"


def test_bundles_of_prompts_and_answers(monkeypatch):
    monkeypatch.setattr(prompt_groups, "MOST_GROUPS", 40)
    rng = np.random.default_rng(0)
    numbers = np.repeat(np.arange(60), 3), np.repeat(np.arange(60), rng.integers(2, 4, 60))
    strata = PromptStrata.of(*numbers, 0)
    groups = PromptGroups.of(strata, seed=0)
    assert groups.count - 2 <= 40
    assert np.all(np.diff(groups.labels) >= 0)
    starts = np.cumsum([0, *(n + m for n, m in groups.strata)])
    for start, (n, m) in zip(starts, groups.strata, strict=False):
        own = [groups.rows[groups.labels == start + place] for place in range(n + m)]
        assert len({len(rows) for rows in own}) == 1  # whatever the labels, sides keep their sizes
        assert all((rows < 180).all() for rows in own[:n])
        assert all((rows >= 180).all() for rows in own[n:])
        prompts = [sorted(groups.prompts[groups.labels == start + place]) for place in range(n + m)]
        assert all(each == prompts[0] for each in prompts)  # exchanged within prompts alone


# ------------------------------------------------------------------ the statistics


def brute_folds(x, y, numbers, seed, folds=5):
    """Held-out scores and labels within prompts, with nothing shared with the code under test."""
    prompts = len(np.unique(numbers[0]))
    dealt = np.random.default_rng([seed, prompts, 3]).permutation(np.arange(prompts) % folds)
    rows, labels = np.concatenate([x, y]), np.repeat([True, False], [len(x), len(y)])
    number = np.concatenate(numbers)
    centred = np.stack(
        [row - rows[number == own].mean(axis=0) for row, own in zip(rows, number, strict=True)]
    )
    d = rows.shape[1]
    share = d / (d + len(rows) - prompts)
    for which in range(folds):
        held = np.isin(number, np.flatnonzero(dealt == which))
        outside = centred[~held]
        covariance = np.cov(outside.T, bias=True)
        ridge = share * np.trace(covariance) / d * np.eye(d)
        gap = centred[~held & labels].mean(axis=0) - centred[~held & ~labels].mean(axis=0)
        yield (
            centred[held] @ np.linalg.solve((1 - share) * covariance + ridge, gap),
            labels[held],
            number[held],
        )


def test_areas_by_brute_force():
    rng = np.random.default_rng(3)
    x, y, numbers = answered(rng, 30, (2, 3), shift=0.1)
    found = classifier_test(x, y, prompts=numbers, permutations=19, seed=4)
    about, within = [], []
    for scores, labels, number in brute_folds(x, y, numbers, 4):
        wins = scores[labels][:, None] > scores[~labels][None]
        about.append(wins.mean())
        same = number[labels][:, None] == number[~labels][None]
        within += [
            wins[same & (number[labels] == own)[:, None]].mean() for own in np.unique(number)
        ]
    assert found.statistic == pytest.approx(np.mean(about), abs=1e-12)
    assert found.estimate == pytest.approx(np.mean(within), abs=1e-12)
    score = classifier_auc(x, y, prompts=numbers, seed=4)
    assert score.value == found.estimate
    assert "|prompts:shared(30)|" in score.signature


def test_one_answer_a_side_is_a_signed_rank_test():
    rng = np.random.default_rng(5)
    x, y, numbers = answered(rng, 40, shift=0.1)
    found = classifier_test(x, y, prompts=numbers, permutations=9, seed=1)
    shares = []
    for scores, labels, number in brute_folds(x, y, numbers, 1):
        gaps = [2 * scores[labels & (number == own)].item() for own in np.unique(number)]
        shares.append(np.mean([a + b > 0 for a, b in itertools.product(gaps, gaps)]))
    assert found.statistic == pytest.approx(np.mean(shares), abs=1e-12)


@pytest.mark.parametrize(("answers", "shared"), [((1, 1), 12), ((2, 3), 12), ((2, 2), 0)])
def test_mmd_over_pairs_of_different_prompts(answers, shared):
    rng = np.random.default_rng(6)
    x, y, numbers = answered(rng, 12, answers, shared=shared)
    found = mmd_test(x, y, prompts=numbers, permutations=19)
    rows, number = np.concatenate([x, y]), np.concatenate(numbers)
    apart = ((rows[:, None] - rows[None]) ** 2).sum(axis=2)
    width = np.median(np.sqrt(apart[np.triu_indices(len(rows), 1)]))
    kernel = np.exp(-apart / (2 * width**2))
    other = number[:, None] != number[None]
    own = np.repeat([True, False], [len(x), len(y)])
    sides = ((own, own), (~own, ~own), (own, ~own))
    ours, theirs, across = (kernel[other & a[:, None] & b[None]].mean() for a, b in sides)
    assert found.estimate == pytest.approx(ours + theirs - 2 * across, abs=1e-12)


# ------------------------------------------------------------------ power, and what it rests on


def test_finds_what_prompts_hide():
    rng = np.random.default_rng(0)
    x, y, numbers = answered(rng, 300, shift=0.08, d=64)
    for test in TESTS.values():
        assert test(x, y, permutations=199).p_value > 0.3
        assert test(x, y, prompts=numbers, permutations=199).p_value == 1 / 200
    assert classifier_test(x, y, prompts=numbers, permutations=9).estimate > 0.9


@every
@pytest.mark.parametrize(("answers", "shared"), [((5, 5), 60), ((1, 4), 60), ((1, 1), 30)])
def test_finds_it_with_several_answers_and_partly_shared_prompts(name, answers, shared):
    rng = np.random.default_rng(1)
    x, y, numbers = answered(rng, 60, answers, shared=shared, shift=0.3)
    found = TESTS[name](x, y, prompts=numbers, permutations=199)
    assert found.p_value <= 0.01


@pytest.mark.slow
@every
@pytest.mark.parametrize(
    ("answers", "shared"), [((1, 1), 24), ((3, 2), 24), ((1, 1), 12), ((3, 3), 12), ((1, 3), 12)]
)
def test_p_values_are_uniform_where_nothing_differs(name, answers, shared):
    found = []
    for seed in range(200):
        x, y, numbers = answered(np.random.default_rng([8, seed]), 24, answers, shared=shared)
        test = TESTS[name](x, y, prompts=numbers, permutations=39, seed=seed, threads=1)
        found.append(test.p_value)
    for alpha in (0.05, 0.1, 0.25, 0.5, 0.75):
        assert np.mean(np.array(found) <= alpha + 1e-9) - alpha < 3.5 * np.sqrt(
            alpha * (1 - alpha) / 200
        )


@every
def test_what_a_prompt_is_called_and_threads_change_nothing(name):
    rng = np.random.default_rng(2)
    x, y, numbers = answered(rng, 40, (2, 2), shared=25)
    made = [
        TESTS[name](x, y, prompts=prompts, permutations=49, threads=threads)
        for prompts in (numbers, tuple(7 * each + 3 for each in numbers))
        for threads in (1, 2)
    ]
    assert len({(each.statistic, each.estimate, each.p_value) for each in made}) == 1


@every
def test_rows_of_prompts_that_the_other_side_lacks_are_left_out(name):
    rng = np.random.default_rng(3)
    x, y, numbers = answered(rng, 40, shift=0.05)
    more = np.concatenate([y, 5 + rng.standard_normal((30, 4))])
    longer = numbers[0], np.concatenate([numbers[1], np.arange(100, 130)])
    one = classifier_test(x, y, prompts=numbers, permutations=49)
    other = classifier_test(x, more, prompts=longer, permutations=49)
    assert other.p_value == one.p_value
    assert other.estimate == pytest.approx(one.estimate, abs=1e-12)
    if name == "mmd":
        assert mmd_test(x, more, prompts=longer, permutations=49).p_value < 1


def test_an_extreme_row_makes_no_ties():
    rng = np.random.default_rng(8)
    x, y, numbers = answered(rng, 100, shift=0.3)
    usual = classifier_auc(x, y, prompts=numbers).value
    x[0] *= 1e12
    assert classifier_auc(x, y, prompts=numbers).value != 0.5 != usual


def test_sides_that_answer_every_prompt_alike():
    rng = np.random.default_rng(4)
    x, _, numbers = answered(rng, 40)
    for test in TESTS.values():
        assert test(x, x, prompts=numbers, permutations=49).p_value == 1
    assert classifier_auc(x, x, prompts=numbers).value == 0.5


# ------------------------------------------------------------------ what cannot be tested


@pytest.mark.slow
def test_answers_to_few_prompts_are_dealt_to_folds():
    found, level = [], []
    for seed in range(200):
        x, y, numbers = answered(np.random.default_rng([9, seed]), 3, (20, 12), strength=3.0)
        test = classifier_test(x, y, prompts=numbers, permutations=39, seed=seed, threads=1)
        level.append(test.p_value)
        if seed < 10:
            moved = y + 0.5
            found.append(classifier_test(x, moved, prompts=numbers, permutations=99).p_value)
    assert max(found) <= 0.02
    assert 0.45 < np.mean(level) < 0.58
    assert np.mean(np.array(level) <= 0.1) < 0.1 + 3.5 * np.sqrt(0.09 / 200)


@every
def test_too_few_prompts(name):
    rng = np.random.default_rng(5)
    x, y, numbers = answered(rng, 4, (4, 4))
    found = TESTS[name](x, y, prompts=numbers, permutations=19)
    if name == "classifier":
        assert np.isnan(found.p_value)
        assert found.reason == (
            "5 folds need at least 5 prompts that both sets answer, or 5 answers of each to one of "
            "these; or as many prompts of either that the other lacks; there are 4 prompts in "
            "both, and 0 and 0 in one of them"
        )
        score = classifier_auc(x, y, prompts=numbers)
        assert score.reason == found.reason
        assert np.isnan(score.value)
    else:
        assert found.p_value > 0


def test_one_prompt_alone_has_no_mmd():
    rng = np.random.default_rng(6)
    x, y, numbers = answered(rng, 1, (6, 6))
    found = mmd_test(x, y, prompts=numbers, permutations=19)
    assert found.reason == "there are no two prompts whose answers can be compared and exchanged"


@every
def test_refuses_what_numbers_no_prompts(name):
    rng = np.random.default_rng(7)
    x, y, numbers = answered(rng, 10)
    with pytest.raises(InputError, match=r"prompts .*two arrays.*int"):
        TESTS[name](x, y, prompts=3)
    with pytest.raises(InputError, match=r"prompts of the generated set .* 10"):
        TESTS[name](x, y, prompts=(numbers[0], numbers[1][:5]))
    with pytest.raises(InputError, match=r"found float64 of shape \(10,\)"):
        TESTS[name](x, y, prompts=(numbers[0] + 0.5, numbers[1]))


def test_an_area_has_no_value_where_a_fold_is_left_nothing_to_train_on() -> None:
    rng = np.random.default_rng(0)
    with workers(1) as pool:
        (part,) = parts_of(
            rng.normal(size=(40, 3)), rng.normal(size=(40, 3)), pool, folds=5, seed=0
        )
    kept = np.ones(80, np.bool_)
    assert 0 <= part.area(kept) <= 1
    kept[part.labels] = False
    assert np.isnan(part.area(kept))
