"""Cross-entropies by nearest neighbours: by brute force, for Gaussians, without blocks of rows."""

import numpy as np
import pytest
from scipy.spatial.distance import cdist
from scipy.special import digamma, gammaln

from calipers.errors import InputError
from calipers.estimate.knn.balls import Supports
from calipers.estimate.knn.neighbourhoods import neighbourhoods
from calipers.metrics.entropies import (
    precision_cross_entropy,
    precision_cross_entropy_score,
    recall_cross_entropy,
    recall_cross_entropy_score,
    recall_entropy,
    recall_entropy_score,
)
from calipers.numeric.blocks import Blocks

ALL = (precision_cross_entropy, recall_cross_entropy, recall_entropy)
SCORES = (precision_cross_entropy_score, recall_cross_entropy_score, recall_entropy_score)


def brute(reference, generated, k):
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
def test_equals_brute_force(rng, k, n, m, d, dtype):
    reference = rng.standard_normal((n, d)).astype(dtype)
    generated = (rng.standard_normal((m, d)) * 1.2 + 0.3).astype(dtype)
    expected = brute(reference.astype(float), generated.astype(float), k)
    found = [metric(reference, generated, k=k).value for metric in ALL]
    assert found == pytest.approx(expected, rel=1e-12, abs=1e-12)


def test_cosine_is_of_rows_of_length_one(rng):
    reference, generated = rng.standard_normal((2, 60, 4))
    ones = [rows / np.linalg.norm(rows, axis=1)[:, None] for rows in (reference, generated)]
    found = [metric(reference, generated, k=2, distance="cosine").value for metric in ALL]
    assert found == pytest.approx(brute(*ones, 2), rel=1e-9)


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
    with pytest.raises(InputError, match="k = 4 needs at least 5 samples in each set"):
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
        assert found == pytest.approx(brute(*sets, 4), rel=1e-12)


def test_what_was_not_measured_is_refused(rng):
    near = neighbourhoods(*rng.standard_normal((2, 30, 2)), k=4)
    with pytest.raises(InputError, match="do not hold what this metric needs"):
        precision_cross_entropy_score(near, 4, 2)
