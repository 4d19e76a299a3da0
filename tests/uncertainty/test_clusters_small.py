"""Ten rows of one prompt: intervals that take rows for independent are too short, by clusters not.

Fixed seeds, so the counts are the same in every run.
"""

import numpy as np
import pytest

from calipers.metrics.catalogue import choose, find, needs_of
from calipers.metrics.pair import Pair, Settings
from calipers.numeric.blocks import cluster_sets
from calipers.uncertainty.replicates import by_parts, spreads
from calipers.uncertainty.spread import confidence_interval

SCORES = ("precision", "mauve_star", "frechet_distance")
N, D, EACH, SHARE, WORLDS, FRESH, ENOUGH = 400, 8, 10, 0.5, 60, 80, 0.88
POOR, LESS = 0.75, 0.03
CLUSTERS = cluster_sets([[(side, row // EACH) for row in range(N)] for side in (0, 1)])


def drawn(seed):
    """Half of the variance of every row is its prompt's; either set has prompts of its own."""
    rng = np.random.default_rng([11, seed])
    prompts = np.repeat(rng.standard_normal((2, N // EACH, D)), EACH, axis=1)
    rows = np.sqrt(SHARE) * prompts + np.sqrt(1 - SHARE) * rng.standard_normal((2, N, D))
    rows[1, :, 0] += 1
    return rows.astype(np.float32)


def read(seed, clusters=None, *, moved=True):
    choices = choose(SCORES, ("rows",))
    needs = needs_of(choice.metric for choice in choices)
    pair = Pair(*drawn(seed), Settings(threads=1, seed=seed), needs, clusters=clusters)
    values = {choice.name: choice.score(pair).value for choice in choices}
    return values, spreads(pair, choices) if moved else {}


@pytest.fixture(scope="module")
def expected():
    fresh = [read(seed, moved=False)[0] for seed in range(WORLDS, WORLDS + FRESH)]
    return {name: np.mean([values[name] for values in fresh]) for name in SCORES}


@pytest.fixture(scope="module")
def by_rows():
    return [read(seed) for seed in range(WORLDS)]


@pytest.fixture(scope="module")
def by_clusters():
    return [read(seed, CLUSTERS) for seed in range(WORLDS)]


def covers(worlds, expected, name):
    choice = find(name)
    bounds = choice.metric.range_of(choice.options)
    ends = [
        confidence_interval(values[name], found[name], bounds=bounds) for values, found in worlds
    ]
    return np.mean([low <= expected[name] <= high for low, high in ends])


@pytest.mark.parametrize("name", SCORES)
def test_intervals_by_clusters_hold_the_expectation(by_clusters, expected, name):
    assert covers(by_clusters, expected, name) >= ENOUGH


@pytest.mark.parametrize("name", SCORES)
def test_intervals_by_rows_hold_it_less_often(by_rows, by_clusters, expected, name):
    assert covers(by_rows, expected, name) <= covers(by_clusters, expected, name) - LESS


def test_of_frechet_they_miss_it_in_one_world_of_four(by_rows, expected):
    assert covers(by_rows, expected, "frechet_distance") <= POOR


def test_scores_do_not_change(by_rows, by_clusters):
    assert [values for values, _ in by_rows] == [values for values, _ in by_clusters]


def test_smaller_sets_hold_whole_clusters(monkeypatch):
    pair, parts, part = Pair(*drawn(0), Settings(threads=1), clusters=CLUSTERS), [], Pair.part

    def seen(self, *masks_and_more):
        parts.append(masks_and_more[:2])
        return part(self, *masks_and_more)

    monkeypatch.setattr(Pair, "part", seen)
    assert by_parts(pair, choose(["realism"], ("rows",)))
    assert len(parts) == 5
    for masks in parts:
        for mask in masks:
            held = mask.reshape(-1, EACH).sum(axis=1)
            assert set(held.tolist()) == {0, EACH}
            assert np.count_nonzero(held) == N // EACH // 5
