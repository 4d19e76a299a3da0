"""Metrics of samples near the other set: precise diversity and cross-entropies."""

import numpy as np
import pytest
from scipy.spatial.distance import cdist
from scipy.special import digamma, gammaln

from calipers.errors import InputError
from calipers.estimate.knn.balls import Supports
from calipers.estimate.knn.neighbourhoods import neighbourhoods
from calipers.metrics import precision_recall
from calipers.metrics.entropies import (
    precision_cross_entropy,
    precision_cross_entropy_score,
    recall_cross_entropy,
    recall_cross_entropy_score,
    recall_entropy,
    recall_entropy_score,
)
from calipers.metrics.estimates import Settings
from calipers.metrics.pair import Pair
from calipers.metrics.precise import (
    precise_diversity,
    precise_diversity_replicates,
    precise_recall,
    precise_recall_replicates,
)
from calipers.numeric.blocks import Blocks

# Diversity among precise samples: by brute force, by hand, and without blocks of rows.


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
    with pytest.raises(InputError, match=r"k = 4 .*5 samples"):
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


# Cross-entropies by nearest neighbours: by brute force, for Gaussians, without blocks of rows.


ALL = (precision_cross_entropy, recall_cross_entropy, recall_entropy)
SCORES = (precision_cross_entropy_score, recall_cross_entropy_score, recall_entropy_score)


def brute_entropies(reference, generated, k):
    """The three values from sorted distance matrices, term by term as the paper has them."""
    n, m, d = len(reference), len(generated), reference.shape[1]
    volume = d / 2 * np.log(np.pi) - gammaln(d / 2 + 1)
    across = cdist(generated, reference)
    own = np.sort(cdist(reference, reference), axis=1)[:, k]
    distances = np.sort(across, axis=1)[:, k - 1], np.sort(across.T, axis=1)[:, k - 1], own
    counts = n, m, n - 1
    return [
        np.mean(np.log(count) - digamma(k) + volume + d * np.log(distance))
        for count, distance in zip(counts, distances, strict=True)
    ]


@pytest.mark.parametrize("k", [1, 4])
@pytest.mark.parametrize(("n", "m", "d"), [(90, 70, 3), (300, 500, 20), (6, 5, 1)])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_entropies_equal_brute_force(rng, k, n, m, d, dtype):
    reference = rng.standard_normal((n, d)).astype(dtype)
    generated = (rng.standard_normal((m, d)) * 1.2 + 0.3).astype(dtype)
    expected = brute_entropies(reference.astype(float), generated.astype(float), k)
    found = [metric(reference, generated, k=k).value for metric in ALL]
    assert found == pytest.approx(expected, rel=1e-12, abs=1e-12)


def test_cosine_is_of_rows_of_length_one(rng):
    reference, generated = rng.standard_normal((2, 60, 4))
    ones = [rows / np.linalg.norm(rows, axis=1)[:, None] for rows in (reference, generated)]
    found = [metric(reference, generated, k=2, distance="cosine").value for metric in ALL]
    assert found == pytest.approx(brute_entropies(*ones, 2), rel=1e-9)


def test_comes_near_the_entropies_of_gaussians():
    """H(P) of N(0, 1) in 2 dimensions is log 2πe; H(Q, P) adds σ² - 1 for Q = N(0, σ²)."""
    rng = np.random.default_rng(1)
    reference, generated = rng.standard_normal((2, 4000, 2))
    generated = 1.5 * generated
    assert recall_entropy(reference, generated).value == pytest.approx(
        np.log(2 * np.pi * np.e), abs=0.1
    )
    assert precision_cross_entropy(reference, generated).value == pytest.approx(
        np.log(2 * np.pi) + 1.5**2, abs=0.2
    )
    assert recall_cross_entropy(reference, generated).value == pytest.approx(
        np.log(2 * np.pi * 1.5**2) + 1 / 1.5**2, abs=0.1
    )


def test_terms_of_a_lost_mode_are_the_highest(rng):
    reference = np.concatenate([rng.standard_normal((50, 2)), 9 + rng.standard_normal((50, 2))])
    terms = recall_cross_entropy(reference, rng.standard_normal((80, 2))).per_sample
    assert terms[50:].min() > terms[:50].max()


def test_copies_make_it_minus_infinity_and_say_so(rng):
    rows = rng.standard_normal((20, 2))
    score = precision_cross_entropy(rows, rows, k=1)
    assert score.value == -np.inf
    assert score.reason == "20 sample(s) with their nearest neighbours at distance 0 (exact copies)"


def test_k_is_checked(rng):
    with pytest.raises(InputError, match=r"k = 4 .*5 samples"):
        recall_entropy(np.eye(3), np.eye(3))


@pytest.mark.parametrize("side", ["reference", "generated"])
def test_counts_tell_the_scores_without_each_block(rng, side):
    reference, generated = rng.standard_normal((130, 3)), rng.standard_normal((150, 3)) + 0.2
    blocks = Blocks.balanced(130, seed=0), Blocks.balanced(150, seed=0)
    near = neighbourhoods(reference, generated, k=4, supports=Supports(across=True), blocks=blocks)
    rows, labels = (reference, blocks[0]) if side == "reference" else (generated, blocks[1])
    for block in range(labels.count):
        left = rows[labels.labels != block]
        sets = (left, generated) if side == "reference" else (reference, left)
        found = [score(near.without(side, block, k=4), 4, 3).value for score in SCORES]
        assert found == pytest.approx(brute_entropies(*sets, 4), rel=1e-12)


def test_what_was_not_measured_is_refused(rng):
    near = neighbourhoods(*rng.standard_normal((2, 30, 2)), k=4)
    with pytest.raises(InputError, match="do not hold what this metric needs"):
        precision_cross_entropy_score(near, 4, 2)
