"""Scales, shapes and labels at the edge of what the estimates accept."""

import importlib.util
from pathlib import Path

import numpy as np
import pytest
from sklearn.cluster import KMeans

from calipers.curves import divergence_frontier, precision_recall_curve
from calipers.errors import InputError
from calipers.estimate import Histograms, Supports, neighbourhoods, preprocess, quantise
from calipers.estimate.axes import unit_rows
from calipers.estimate.kmeans.kernels import lay_out
from calipers.estimate.kmeans.lloyd import k_means
from calipers.metrics import prd, precision_recall
from calipers.numeric.blocks import Blocks
from calipers.numeric.threads import workers

_spec = importlib.util.spec_from_file_location(
    "brute_force", Path(__file__).with_name("brute_force.py")
)
oracle = importlib.util.module_from_spec(_spec)
_spec.loader.exec_module(oracle)

FIVE = Blocks.balanced(60, seed=0, count=5)


@pytest.fixture
def pair(rng):
    return rng.standard_normal((200, 8)), rng.standard_normal((150, 8)) * 0.9


@pytest.mark.parametrize("exponent", [-160, -60, 60, 166, 300])
def test_no_scale_changes_who_lies_in_whose_balls(pair, exponent):
    plain = precision_recall(*pair)
    scaled = precision_recall(*(np.ldexp(side, exponent) for side in pair))
    assert scaled.precision.value == plain.precision.value
    assert scaled.recall.value == plain.recall.value


@pytest.mark.parametrize("exponent", [-160, -80, 64, 130, 300])
def test_no_scale_changes_the_cells(pair, exponent):
    plain = quantise(*pair, buckets=20)
    scaled = quantise(*(np.ldexp(side, exponent) for side in pair), buckets=20)
    np.testing.assert_array_equal(scaled.best.reference, plain.best.reference)
    assert scaled.inertias == tuple(np.ldexp(plain.inertias, 2 * exponent))


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("exponent", [-80, 60, 120])
def test_no_scale_changes_the_axes(pair, dtype, exponent):
    plain = preprocess(*(side.astype(dtype) for side in pair), norm="none")
    scaled = preprocess(*(np.ldexp(side, exponent).astype(dtype) for side in pair), norm="none")
    np.testing.assert_allclose(
        np.ldexp(scaled.reference, -exponent), plain.reference, rtol=1e-4, atol=1e-5
    )


def test_what_float32_cannot_hold_is_refused(pair):
    with pytest.raises(InputError, match="too large for float32; scale them"):
        preprocess(*(side * 1e60 for side in pair), norm="none")


def test_rows_whose_squares_underflow_get_length_one():
    rows = unit_rows(np.array([[3e-170, 4e-170], [0.0, 0.0], [3.0, 4.0]]))
    np.testing.assert_allclose(rows, [[0.6, 0.8], [0, 0], [0.6, 0.8]])


@pytest.mark.parametrize("threads", [1, 3])
@pytest.mark.parametrize("distance", [30.0, 1e3, 1e4])
def test_clusters_far_apart_get_the_labels_of_a_float64_run(rng, distance, threads):
    # Float32 products of such rows cancel; only float64 distances tell the centres apart
    shift = np.repeat([[0.0, 0.0], [distance, 0.0]], 500, axis=0)
    rows = (rng.standard_normal((1000, 2)) + shift - shift.mean(axis=0)).astype(np.float32)
    with workers(threads) as pool:
        table = lay_out([rows], pool)
        found = k_means(table, 40, seed=0, max_iterations=500, workers=pool)
    first = rows[np.random.default_rng(0).choice(1000, 40, replace=False)].astype(float)
    theirs = KMeans(40, init=first, n_init=1, max_iter=500).fit(rows.astype(float))
    np.testing.assert_array_equal(found.labels, theirs.labels_)


@pytest.mark.parametrize("count", [2, 5])
def test_replicates_are_exact_when_a_block_holds_most_neighbours(rng, count):
    reference, generated = rng.standard_normal((2, 200, 5))
    labels = Blocks.balanced(200, seed=0, count=count)
    near = neighbourhoods(reference, generated, k=12, blocks=(labels, labels))
    for block in range(count):
        kept = labels.labels != block
        fewer = neighbourhoods(reference[kept], generated, k=12)
        np.testing.assert_array_equal(
            near.reference.replicates.inside_without[:, block], fewer.reference.inside[:, 11]
        )


@pytest.mark.parametrize(
    ("left", "right", "words"),
    [
        (
            Blocks.balanced(60, seed=0, count=5),
            Blocks.balanced(60, seed=0, count=20),
            "found 5 and",
        ),
        (
            Blocks.balanced(60, seed=0, count=5),
            Blocks.balanced(30, seed=0, count=5),
            "label 60 rows",
        ),
        (Blocks(np.full(60, 7), 5), Blocks(np.arange(60) % 5, 5), r"must lie in 0\.\.4"),
        (Blocks(np.arange(60) % 5, 5), Blocks.balanced(60, seed=0, count=5), "must be halved"),
    ],
)
def test_blocks_that_do_not_fit_are_refused(rng, left, right, words):
    rows = rng.standard_normal((60, 3))
    with pytest.raises(InputError, match=words):
        neighbourhoods(rows, rows, k=2, blocks=(left, right))


@pytest.mark.parametrize("difference", [1e-1, 1e-3, 1e-5, 1e-8])
def test_the_frontier_integral_of_near_equal_cells(difference):
    # To first order in x² a cell adds ⅓·(p + q)·x², with x = (p − q)/(p + q)
    more = round(difference * 10**9)
    pair = Histograms([10**9, 10**9], [10**9 + more, 10**9 - more])
    p, q = pair.probabilities
    x = (p - q) / (p + q)
    first_order = np.sum((p + q) * x**2) / 3
    found = divergence_frontier(pair).integral()
    assert found == pytest.approx(first_order, rel=difference**2, abs=1e-16)


def test_counts_beyond_exact_floats_are_refused():
    with pytest.raises(InputError, match=r"must be at most 2\^53"):
        Histograms(np.array([2**62, 2**62]), np.array([1, 1]))


@pytest.mark.parametrize("beta", [1e-160, 1e160])
def test_f_beta_of_extreme_weights_is_one_of_the_ends(beta):
    curve = precision_recall_curve(Histograms(np.array([1, 1]), np.array([2, 0])))
    expected = curve.recall.max() if beta > 1 else curve.precision.max()
    assert curve.f_beta(beta) == pytest.approx(expected)


def test_numbers_of_any_whole_kind_and_no_other(pair):
    assert quantise(*pair, buckets=np.int64(5), restarts=1).buckets == 5
    for options, words in (({"k": 2.5}, "found 2.5"), ({"k": True}, "found True")):
        with pytest.raises(InputError, match=words):
            neighbourhoods(*pair, **options)
    with pytest.raises(InputError, match="block_size must be a whole number of at least 1"):
        neighbourhoods(*pair, block_size=0)
    with pytest.raises(InputError, match="seed must be a whole number of at least 0; found -1"):
        prd(*pair, seed=-1)
    with pytest.raises(InputError, match="reference must hold finite numbers"):
        quantise(np.full((20, 2), np.nan), pair[1][:, :2])


def _assert_like_brute_force(reference, generated, k):
    supports = Supports(capped=k, smaller=k, spread=(k, 1.2))
    near = neighbourhoods(reference, generated, k=k, supports=supports)
    for balls, owners, guests in (
        (near.reference, reference, generated),
        (near.generated, generated, reference),
    ):
        held, inside, *_ = oracle.counts(owners, guests, k)
        np.testing.assert_array_equal(balls.held[:, k - 1], held)
        np.testing.assert_array_equal(balls.inside[:, k - 1], inside)
        capped, depth, missed, own = oracle.supports(owners, guests, k, 1.2)
        np.testing.assert_array_equal(balls.capped, capped)
        np.testing.assert_array_equal(balls.capped_own, own)
        np.testing.assert_allclose(balls.realism, depth, rtol=1e-6)
        np.testing.assert_allclose(balls.missed, missed, atol=3e-6)


@pytest.mark.parametrize(
    ("outlier", "dtype"),
    [(1e15, np.float32), (1e23, np.float32), (1e30, np.float32), (1e30, np.float64)],
)
def test_rows_that_two_outliers_make_vanish_in_float32(rng, outlier, dtype):
    # Their mean is 0, where all other rows lie: scaled by the outliers, products underflow
    reference, generated = rng.standard_normal((60, 5)), rng.standard_normal((50, 5))
    reference[:2] = [[outlier] * 5, [-outlier] * 5]
    _assert_like_brute_force(reference.astype(dtype), generated.astype(dtype), 3)


@pytest.mark.parametrize("scale", [1e-140, 1e-150, 1e-152])
def test_rows_whose_squares_are_hardly_above_nothing(rng, scale):
    _assert_like_brute_force(
        rng.standard_normal((60, 5)) * scale, rng.standard_normal((50, 5)) * scale, 3
    )


def test_guests_so_far_that_their_realism_is_hardly_above_nothing(rng):
    reference = rng.standard_normal((60, 2)) * 1e-3
    generated = rng.standard_normal((50, 2)) * 1e5 + 1e20
    _assert_like_brute_force(reference, generated, 3)


@pytest.mark.parametrize("spread", [0.0, 1e-9, 1e-3])
def test_clusters_tighter_than_float32_tells(rng, spread):
    centres = 100 * rng.standard_normal((4, 20))
    reference, generated = (
        centres[rng.integers(4, size=n)] + spread * rng.standard_normal((n, 20)) for n in (170, 90)
    )
    _assert_like_brute_force(reference, generated, 4)
    near = neighbourhoods(reference, generated, k=4)
    across = oracle.squared_distances(reference, generated)
    within = oracle.squared_distances(reference, reference)
    np.fill_diagonal(within, np.inf)
    np.testing.assert_array_equal(near.reference.nearest, across.argmin(axis=0))
    np.testing.assert_array_equal(near.reference.own_nearest, within.argmin(axis=1))
