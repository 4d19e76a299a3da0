"""A small version of experiments/calibration.py: do intervals cover, and do tests keep the level?

Fixed seeds, so the counts are the same in every run; what would be seen if standard errors were
half as large is checked, too.
"""

import numpy as np
import pytest

from calipers.catalogue.choosing import choose, find, needs_of
from calipers.metrics.pair import Pair, Settings
from calipers.uncertainty.differences import differences
from calipers.uncertainty.replicates import spreads
from calipers.uncertainty.spread import confidence_interval

SCORES = ("precision", "recall", "coverage", "mauve_star", "prd_f8", "frechet_distance")
N, D, WORLDS, FRESH, ENOUGH = 300, 8, 60, 80, 0.88
TESTED = ("precision", "recall", "coverage")
SYSTEMS, FAMILIES, MOST_FALSE = 4, 30, 4
NEAR = ("precision", "recall", "coverage", "mauve_star")
EQUAL_WORLDS, MORE = 40, 160
LONGEST, SHORTEST = 1.45, 0.95


def read(reference, generated, names, seed, *, moved):
    choices = choose(names, ("rows",))
    needs = needs_of(choice.metric for choice in choices)
    pair = Pair(reference, generated, Settings(threads=1, seed=seed), needs)
    values = {choice.name: choice.score(pair).value for choice in choices}
    return values, spreads(pair, choices) if moved else {}


def shifted(seed):
    x, y = np.random.default_rng([3, seed]).standard_normal((2, N, D)).astype(np.float32)
    y[:, 0] += 1
    return x, y


def without_clusters(seed):
    """A reference of eight clusters, and systems that each lack two others of them."""
    rng = np.random.default_rng([5, seed])

    def drawn(clusters):
        rows = rng.standard_normal((N, D)).astype(np.float32)
        rows[np.arange(N), rng.choice(clusters, N)] += 4
        return rows

    lost = [{2 * system, 2 * system + 1} for system in range(SYSTEMS)]
    return drawn(range(D)), [drawn([i for i in range(D) if i not in gone]) for gone in lost]


@pytest.fixture(scope="module")
def worlds():
    full = [read(*shifted(seed), SCORES, seed, moved=True) for seed in range(WORLDS)]
    fresh = [
        read(*shifted(seed), SCORES, seed, moved=False)[0] for seed in range(WORLDS, WORLDS + FRESH)
    ]
    return full, {name: np.mean([values[name] for values in fresh]) for name in SCORES}


def halved(spread):
    return spread.times(0.5)


def covers(worlds, name, change=lambda spread: spread):
    full, expected = worlds
    choice = find(name)
    bounds = choice.metric.range_of(choice.options)
    ends = [
        confidence_interval(values[name], change(found[name]), bounds=bounds)
        for values, found in full
    ]
    return np.mean([low <= expected[name] <= high for low, high in ends])


@pytest.mark.parametrize("name", SCORES)
def test_intervals_hold_the_expectation_of_the_estimator(worlds, name):
    assert covers(worlds, name) >= ENOUGH


@pytest.mark.parametrize("name", SCORES)
def test_intervals_are_at_most_twice_as_long_as_an_oracles(worlds, name):
    full, _ = worlds
    values = [values[name] for values, _ in full]
    lengths = [found[name].standard_error for _, found in full]
    assert np.mean(lengths) <= 2 * np.std(values, ddof=1)


def test_standard_errors_half_as_large_would_be_seen(worlds):
    found = [covers(worlds, name, halved) for name in SCORES]
    assert min(found) < ENOUGH - 0.08
    assert np.sum(np.array(found) < ENOUGH) >= 3


@pytest.fixture(scope="module")
def families():
    """Scores and spreads of four systems whose expected scores are equal."""
    found = []
    for seed in range(FAMILIES):
        reference, systems = without_clusters(seed)
        found.append([read(reference, each, TESTED, seed, moved=True) for each in systems])
    return found


def false_findings(families, change=lambda spread: spread):
    """In how many families any two systems are called different by any score."""
    count = 0
    for family in families:
        moved = [{name: change(found[name]) for name in TESTED} for _, found in family]
        tests = differences([values for values, _ in family], moved, draws=1_999)
        assert len(tests) == len(TESTED) * SYSTEMS * (SYSTEMS - 1) // 2
        count += any(test.adjusted_p_value <= 0.05 for test in tests)
    return count


def test_equal_scores_are_seldom_called_different(families):
    assert false_findings(families) <= MOST_FALSE


def test_tests_with_half_the_standard_error_would_be_seen(families):
    assert false_findings(families, halved) > 2 * MOST_FALSE


def same(seed):
    """Two samples of one distribution."""
    x, y = np.random.default_rng([11, seed]).standard_normal((2, N, D)).astype(np.float32)
    return x, y


@pytest.fixture(scope="module")
def equal_sets():
    """Values of many equal pairs, and the spreads of some of them."""
    found = [
        read(*same(seed), NEAR, seed, moved=seed < EQUAL_WORLDS)
        for seed in range(EQUAL_WORLDS + MORE)
    ]
    values = {name: np.array([values[name] for values, _ in found]) for name in NEAR}
    return values, [moved for _, moved in found[:EQUAL_WORLDS]]


def length(equal_sets, name, error):
    """The mean standard error over how much the score really moves."""
    values, moved = equal_sets
    return np.mean([error(each[name]) for each in moved]) / values[name].std(ddof=1)


@pytest.mark.parametrize("name", NEAR)
def test_of_equal_sets_standard_errors_are_neither_long_nor_short(equal_sets, name):
    ours = length(equal_sets, name, lambda spread: spread.standard_error)
    assert SHORTEST <= ours <= LONGEST
    # What blocks alone say is too long by far, as the bound would show
    assert length(equal_sets, name, lambda spread: np.sqrt(spread.summed)) > LONGEST


@pytest.mark.parametrize("name", NEAR)
def test_of_equal_sets_intervals_hold_the_expectation(equal_sets, name):
    values, moved = equal_sets
    ends = [
        confidence_interval(value, each[name])
        for value, each in zip(values[name], moved, strict=False)
    ]
    expected = values[name].mean()
    assert np.mean([low <= expected <= high for low, high in ends]) >= ENOUGH
