"""A small version of experiments/calibration.py: do intervals cover, and do tests keep the level?

Fixed seeds, so the counts are the same in every run; what would be seen if standard errors were
half as large is checked, too.
"""

from dataclasses import replace
from itertools import combinations

import numpy as np
import pytest

from calipers.metrics.catalogue import choose, find, needs_of
from calipers.metrics.pair import Pair, Settings
from calipers.uncertainty.differences import Shuffles, difference
from calipers.uncertainty.holm import holm
from calipers.uncertainty.intervals import confidence_interval
from calipers.uncertainty.replicates import spreads

SCORES = ("precision", "recall", "coverage", "mauve_star", "prd_f8", "frechet_distance")
N, D, WORLDS, FRESH, ENOUGH = 300, 8, 60, 80, 0.88
TESTED = ("precision", "recall", "coverage")
SYSTEMS, FAMILIES, MOST_FALSE = 4, 30, 4
SHUFFLES = Shuffles(0, 1_999)


def read(reference, generated, names, seed, *, moved, tested=()):
    choices = choose(names, ("rows",))
    needs = needs_of(choice.metric for choice in choices)
    pair = Pair(reference, generated, Settings(threads=1, seed=seed), needs)
    values = {choice.name: choice.score(pair).value for choice in choices}
    return values, spreads(pair, choices, tested=tested) if moved else {}


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
    return replace(spread, components=tuple(part.times(0.5) for part in spread.components))


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
        found.append(
            [read(reference, each, TESTED, seed, moved=True, tested=TESTED) for each in systems]
        )
    return found


def false_findings(families, change=lambda spread: spread):
    """In how many families any two systems are called different by any score."""
    count = 0
    for family in families:
        p_values = [
            difference(
                change(ours[1][name]),
                change(theirs[1][name]),
                (ours[0][name], theirs[0][name]),
                paired=False,
                level=0.95,
                shuffles=SHUFFLES,
            ).p_value
            for ours, theirs in combinations(family, 2)
            for name in TESTED
        ]
        count += bool((holm(p_values) <= 0.05).any())
    return count


def test_equal_scores_are_seldom_called_different(families):
    assert false_findings(families) <= MOST_FALSE


def test_tests_with_half_the_standard_error_would_be_seen(families):
    def bolder(spread):
        return replace(halved(spread), crossed=spread.crossed / 4)

    assert false_findings(families, bolder) > 2 * MOST_FALSE
