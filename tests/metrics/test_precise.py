"""Diversity among precise samples: by brute force, by hand, and without blocks of rows."""

import numpy as np
import pytest
from scipy.spatial.distance import cdist

from calipers.errors import InputError
from calipers.metrics import precision_recall
from calipers.metrics.estimates import Settings
from calipers.metrics.pair import Pair
from calipers.metrics.precise import (
    precise_diversity,
    precise_diversity_replicates,
    precise_recall,
    precise_recall_replicates,
)


def brute(reference, generated, k):
    """Precise recall and diversity from whole distance matrices."""
    own = np.sort(cdist(reference, reference), axis=1)[:, k]
    precise = generated[(cdist(reference, generated) <= own[:, None]).any(axis=0)]
    within = cdist(precise, precise)
    radii = np.sort(within, axis=1)[:, k]
    recall = (cdist(precise, reference) <= radii[:, None]).any(axis=0).mean()
    squares = [cdist(rows, rows, "sqeuclidean") for rows in (precise, reference)]
    means = [square.sum() / len(square) / (len(square) - 1) for square in squares]
    return recall, means[0] / means[1]


@pytest.mark.parametrize("k", [1, 4])
@pytest.mark.parametrize("shift", [0.0, 1.5])
def test_equals_brute_force(rng, k, shift):
    reference = rng.standard_normal((90, 3))
    generated = rng.standard_normal((70, 3)) * 1.4 + shift
    recall, diversity = brute(reference, generated, k)
    assert precise_recall(reference, generated, k=k).value == pytest.approx(recall, abs=1e-12)
    assert precise_diversity(reference, generated, k=k).value == pytest.approx(diversity, rel=1e-12)


def test_imprecise_samples_change_nothing(rng):
    reference, generated = rng.standard_normal((2, 80, 2))
    noise = 1e3 + 1e2 * rng.standard_normal((40, 2))
    for metric in (precise_recall, precise_diversity):
        alone = metric(reference, generated).value
        assert metric(reference, np.concatenate([generated, noise])).value == alone


def test_a_gain_of_quality_is_told_from_a_loss_of_variety(rng):
    """Noise in a ring about the reference raises recall by its wide balls, and nothing else."""
    reference = rng.uniform(-2, 2, (400, 2))
    good = rng.uniform(-1, 1, (300, 2))
    angle = rng.uniform(0, 2 * np.pi, 9)
    ring = 6 * np.stack([np.cos(angle), np.sin(angle)], axis=1)
    before = np.concatenate([good, ring + rng.uniform(-1, 1, ring.shape)])
    recalls = [precision_recall(reference, rows).recall.value for rows in (before, good)]
    assert recalls[0] > recalls[1]
    assert precise_recall(reference, before).value == precise_recall(reference, good).value


def test_equal_sets_are_as_varied_as_the_reference(rng):
    rows = rng.standard_normal((60, 3))
    assert precise_recall(rows, rows).value == 1
    assert precise_diversity(rows, rows).value == 1


def test_one_sample_over_and_over_has_no_variety():
    reference = np.random.default_rng(0).standard_normal((50, 3))
    assert precise_diversity(reference, np.repeat(reference[:1], 30, axis=0)).value < 1e-30


def test_where_nothing_is_precise_there_is_no_value_and_a_reason(rng):
    reference = rng.standard_normal((30, 2))
    recall = precise_recall(reference, reference + 1e6)
    diversity = precise_diversity(reference, reference + 1e6)
    assert np.isnan([recall.value, diversity.value]).all()
    assert recall.reason == "needs at least 5 samples inside the reference's support; found 0"
    assert diversity.reason == "needs at least 2 samples inside the reference's support; found 0"
    same = precise_diversity(np.zeros((9, 2)), np.zeros((9, 2)))
    assert same.reason == "all reference samples are equal"


def test_sets_too_small_are_refused():
    with pytest.raises(InputError, match="k = 4 needs at least 5 samples in each set"):
        precise_recall(np.eye(3), np.eye(3))


@pytest.mark.parametrize(
    ("metric", "replicates"),
    [
        (precise_recall, precise_recall_replicates),
        (precise_diversity, precise_diversity_replicates),
    ],
)
def test_replicates_are_the_scores_without_each_block(rng, metric, replicates):
    reference = rng.standard_normal((160, 3))
    generated = rng.standard_normal((140, 3)) * 1.3 + 0.5
    pair = Pair(reference, generated, Settings())
    left, right = pair.labels
    without_reference, without_generated = replicates(pair)
    for block in range(left.count):
        less = metric(reference[left.labels != block], generated).value
        assert without_reference[block] == pytest.approx(less, rel=1e-12)
    for block in range(right.count):
        less = metric(reference, generated[right.labels != block]).value
        assert without_generated[block] == pytest.approx(less, rel=1e-12)
