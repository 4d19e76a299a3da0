"""Half of both sets, or a set without a block: read from one pass, against measuring again."""

from __future__ import annotations

import importlib.util
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from calipers.errors import InputError
from calipers.estimate.histograms import Histograms
from calipers.estimate.knn.neighbourhoods import neighbourhoods
from calipers.estimate.moments import Moments
from calipers.estimate.quantise import quantise
from calipers.metrics.knn_support import (
    coverage_score,
    density_score,
    precision_score,
    recall_score,
)
from calipers.numeric.blocks import HALVINGS, Blocks

_spec = importlib.util.spec_from_file_location(
    "brute_force", Path(__file__).with_name("brute_force.py")
)
oracle = importlib.util.module_from_spec(_spec)
_spec.loader.exec_module(oracle)

SCORES = (precision_score, recall_score, density_score, coverage_score)
KEPT = ("radii_halves", "held_halves", "inside_halves")


def clouds(rng, kind):
    """Two sets; a half of the smaller has 20 rows at least."""
    if kind == "smooth":
        return rng.standard_normal((93, 3)), rng.standard_normal((64, 3)) + 0.3
    if kind == "ties":  # a small grid: most distances are equal to others, many are 0
        return rng.integers(0, 3, (93, 2)) * 1.0, rng.integers(0, 4, (64, 2)) * 1.0
    reference = np.repeat(rng.standard_normal((19, 3)), 5, axis=0)[:93]
    return reference, np.concatenate([reference[:30], rng.standard_normal((34, 3))])


def halved(n, m, count=6, seed=0):
    return Blocks.balanced(n, seed=seed, count=count), Blocks.balanced(m, seed=seed, count=count)


def as_read(near, k):
    return (
        near.reference.held[:, k - 1],
        near.reference.inside[:, k - 1],
        near.generated.held[:, k - 1],
        near.generated.inside[:, k - 1],
    )


def assert_halves(near, sets, blocks, k, ties="closed", distance="euclidean"):
    """Every half of both sets equals a float64 brute force over its rows alone."""
    looked = 0
    if distance == "cosine":
        sets = [rows / np.sqrt((rows**2).sum(axis=1))[:, None] for rows in sets]
    for halving in range(HALVINGS):
        for which in (0, 1):
            rows = [side[own.half(halving, which)] for side, own in zip(sets, blocks, strict=True)]
            if min(map(len, rows)) <= k:
                continue
            found = near.half(halving, which, k=k)
            wanted = oracle.counts(*rows, k, closed=ties == "closed")
            for one, other in zip(as_read(found, k), wanted, strict=True):
                np.testing.assert_array_equal(one, other, str((halving, which)))
            for balls, side in ((found.reference, rows[0]), (found.generated, rows[1])):
                squared = oracle.squared_radii(side, k)
                radii = squared / 2 if distance == "cosine" else np.sqrt(squared)
                np.testing.assert_allclose(balls.radii[:, k - 1], radii, rtol=1e-12, atol=1e-15)
            looked += 1
    return looked


# Cosine distances of rows that are equal up to length are decided by rounding: no ties there
KINDS = [
    ("smooth", "euclidean"),
    ("smooth", "cosine"),
    ("ties", "euclidean"),
    ("copies", "euclidean"),
]


@pytest.mark.parametrize("k", [1, 3, 6])
@pytest.mark.parametrize("ties", ["closed", "open"])
@pytest.mark.parametrize(("kind", "distance"), KINDS)
def test_every_half_as_if_the_other_had_never_been_there(rng, kind, distance, ties, k):
    sets = clouds(rng, kind)
    blocks = halved(*map(len, sets))
    near = neighbourhoods(*sets, k=k, ties=ties, distance=distance, blocks=blocks)
    assert assert_halves(near, sets, blocks, k, ties, distance) == 2 * HALVINGS


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_scores_of_a_half_are_those_of_its_rows(rng, dtype):
    sets = [rows.astype(dtype) for rows in clouds(rng, "smooth")]
    blocks = halved(93, 64)
    near = neighbourhoods(*sets, k=2, k_max=7, blocks=blocks)
    for halving in (0, 11, 30):
        half = near.half(halving, 1, k=2)
        rows = [side[own.half(halving, 1)] for side, own in zip(sets, blocks, strict=True)]
        fresh = neighbourhoods(*rows, k=2)
        assert half.k_max == 2
        assert half.reference.inside.shape == fresh.reference.inside.shape
        assert half.generated.held.shape == fresh.generated.held.shape
        for read in SCORES:
            assert read(half, 2).value == read(fresh, 2).value
        assert [len(own.labels) for own in (half.reference_blocks, half.generated_blocks)] == [
            len(side) for side in rows
        ]


@pytest.mark.parametrize("threads", [1, 4])
@pytest.mark.parametrize("block_size", [None, 50, 1000])
def test_threads_and_the_size_of_tiles_change_nothing(rng, threads, block_size):
    reference, generated = rng.standard_normal((2, 230, 12)).astype(np.float32)
    blocks = halved(230, 230, 20)
    plain = neighbourhoods(reference, generated, k=4, blocks=blocks, threads=1)
    other = neighbourhoods(
        reference, generated, k=4, blocks=blocks, threads=threads, block_size=block_size
    )
    for side in ("reference", "generated"):
        one, two = (getattr(each, side).replicates for each in (plain, other))
        for name in KEPT:
            np.testing.assert_array_equal(getattr(one, name), getattr(two, name))


def test_rows_in_another_order_have_the_same_counts(rng):
    sets = clouds(rng, "smooth")
    blocks = halved(93, 64)
    orders = [rng.permutation(len(rows)) for rows in sets]
    plain = neighbourhoods(*sets, k=3, blocks=blocks)
    moved = neighbourhoods(
        *(rows[order] for rows, order in zip(sets, orders, strict=True)),
        k=3,
        blocks=tuple(
            Blocks(own.labels[order], own.count, own.halves[order])
            for own, order in zip(blocks, orders, strict=True)
        ),
    )
    one, two = plain.reference.replicates, moved.reference.replicates
    np.testing.assert_array_equal(two.held_halves, one.held_halves[orders[0]])
    np.testing.assert_array_equal(two.inside_halves, one.inside_halves[orders[1]])


def test_blocks_have_nothing_to_do_with_halves(rng):
    sets = clouds(rng, "ties")
    six, ten = halved(93, 64), halved(93, 64, 10)
    one, two = (neighbourhoods(*sets, k=3, blocks=each) for each in (six, ten))
    for name in KEPT:
        np.testing.assert_array_equal(
            getattr(one.generated.replicates, name), getattr(two.generated.replicates, name)
        )


@pytest.mark.parametrize("k", [1, 4])
def test_tiny_sets(rng, k):
    sets = rng.standard_normal((11, 2)), rng.standard_normal((13, 2))
    blocks = halved(11, 13, 2)
    near = neighbourhoods(*sets, k=k, blocks=blocks)
    looked = assert_halves(near, sets, blocks, k)
    assert 2 <= looked <= 2 * HALVINGS
    for halving in range(HALVINGS):  # where a half has too few rows for k, it has some counts
        half = near.half(halving, 0, k=k)
        assert np.isfinite(half.reference.radii).all()
        assert len(half.reference.held) == blocks[0].half(halving, 0).sum()


@pytest.mark.parametrize("k", [1, 3])
def test_a_row_among_many_of_the_other_half(rng, k):
    # The nearest two hundred rows of each of five lie in the other half, by every halving
    near_by = 0.1 * rng.standard_normal((205, 2))
    far_off = rng.standard_normal((40, 2)) + 50
    reference = np.concatenate([near_by, far_off])
    codes = np.full(245, 2**HALVINGS - 1, np.uint64)
    codes[[0, 50, 100, 150, 204, *range(205, 245)]] = 0
    generated = rng.standard_normal((90, 2)) * 30
    blocks = (
        replace(Blocks.balanced(245, seed=0, count=5), halves=codes),
        Blocks.balanced(90, seed=0, count=5),
    )
    found = neighbourhoods(reference, generated, k=k, blocks=blocks)
    assert assert_halves(found, (reference, generated), blocks, k) == 2 * HALVINGS


def test_nothing_is_known_without_halves(rng):
    sets = clouds(rng, "smooth")
    bare = neighbourhoods(*sets, k=3)
    with pytest.raises(InputError, match="the set was not halved"):
        bare.half(0, 0, k=3)
    blocks = halved(93, 64)
    uncut = [replace(own, halves=None) for own in blocks]
    plain = neighbourhoods(*sets, k=3, blocks=uncut)
    assert plain.reference.replicates.held_halves.shape == (93, 0)
    with pytest.raises(InputError, match="the set was not halved"):
        plain.half(0, 0, k=3)
    with pytest.raises(InputError, match="the set was not halved"):
        neighbourhoods(*sets, k=3, blocks=blocks).without("reference", 0, k=3).half(0, 0, k=3)


def test_codes_that_do_not_fit_the_rows_are_refused(rng):
    sets = clouds(rng, "smooth")
    ours, theirs = halved(93, 64)
    with pytest.raises(InputError, match="both sets or none"):
        neighbourhoods(*sets, k=3, blocks=(ours, replace(theirs, halves=None)))
    for bad in (Blocks.balanced(92, seed=0).halves, np.zeros((93, 1), np.uint64)):
        with pytest.raises(InputError, match=r"reference halves .*93 rows, uint64"):
            neighbourhoods(*sets, k=3, blocks=(replace(ours, halves=bad), theirs))
    with pytest.raises(InputError, match=r"generated halves .*\(64,\), dtype float64"):
        neighbourhoods(*sets, k=3, blocks=(ours, replace(theirs, halves=np.zeros(64))))


SIDES = ("reference", "generated")
BY_NAME = {
    "precision": precision_score,
    "recall": recall_score,
    "density": density_score,
    "coverage": coverage_score,
}


def squared(x, y, distance):
    if distance == "cosine":
        x, y = (z / np.sqrt((z**2).sum(1))[:, None] for z in (x, y))
    return np.array([((row - y) ** 2).sum(axis=1) for row in x])


def support_scores(reference, generated, k, ties="closed", distance="euclidean"):
    """All four from whole matrices of squared distances in float64."""
    x, y = np.asarray(reference, float), np.asarray(generated, float)
    within, radii = np.less_equal if ties == "closed" else np.less, []
    for each in (x, y):
        own = squared(each, each, distance)
        np.fill_diagonal(own, np.inf)
        radii.append(np.sort(own, axis=1)[:, k - 1])
    across = squared(x, y, distance)
    of_reference = within(across, radii[0][:, None])
    of_generated = within(across, radii[1][None, :])
    return {
        "precision": of_reference.any(axis=0).mean(),
        "recall": of_generated.any(axis=1).mean(),
        "density": of_reference.sum() / (k * len(y)),
        "coverage": of_reference.any(axis=1).mean(),
    }


def read(near, k):
    return {name: score(near, k).value for name, score in BY_NAME.items()}


def labels(n, m, count, seed=0):
    return Blocks.balanced(n, seed=seed, count=count), Blocks.balanced(m, seed=seed, count=count)


def kept(points, blocks, block):
    return points[blocks.labels != block]


def small_clouds(rng, kind):
    if kind == "smooth":
        return rng.standard_normal((63, 3)), rng.standard_normal((48, 3)) + 0.3
    if kind == "ties":  # a small grid: most distances are equal to others, many are 0
        return rng.integers(0, 3, (63, 2)) * 1.0, rng.integers(0, 4, (48, 2)) * 1.0
    reference = np.repeat(rng.standard_normal((13, 3)), 5, axis=0)[:63]
    return reference, np.concatenate([reference[:20], rng.standard_normal((28, 3))])


# Cosine distances of rows that are equal up to length are decided by rounding: no ties there


@pytest.mark.parametrize("k", [1, 3, 6])
@pytest.mark.parametrize("ties", ["closed", "open"])
@pytest.mark.parametrize(("kind", "distance"), KINDS)
def test_every_block_of_either_side_as_if_it_had_never_been_there(rng, kind, distance, ties, k):
    sets = small_clouds(rng, kind)
    blocks = labels(*map(len, sets), 6)
    near = neighbourhoods(*sets, k=k, ties=ties, distance=distance, blocks=blocks)
    for place, side in enumerate(SIDES):
        for block in range(6):
            rest = list(sets)
            rest[place] = kept(sets[place], blocks[place], block)
            found = read(near.without(side, block, k=k), k)
            assert found == pytest.approx(
                support_scores(*rest, k, ties, distance), rel=1e-14, abs=0
            ), (side, block)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_a_smaller_k_than_the_largest_that_was_measured(rng, dtype):
    sets = [each.astype(dtype) for each in small_clouds(rng, "smooth")]
    blocks = labels(63, 48, 5)
    near = neighbourhoods(*sets, k=2, k_max=7, blocks=blocks)
    for place, side in enumerate(SIDES):
        rest = list(sets)
        rest[place] = kept(sets[place], blocks[place], 3)
        part = near.without(side, 3, k=2)
        assert part.k_max == part.reference.inside.shape[1] == part.generated.held.shape[1] == 2
        assert part.reference.held.shape[1] == part.generated.inside.shape[1] == 2
        assert read(part, 2) == pytest.approx(support_scores(*rest, 2, "closed"), rel=1e-14)


def test_as_many_neighbours_as_a_set_without_its_block_still_has(rng):
    sets = rng.standard_normal((10, 2)), rng.standard_normal((12, 2))
    blocks = labels(10, 12, 2)
    near = neighbourhoods(*sets, k=4, blocks=blocks)
    rest = kept(sets[0], blocks[0], 1)
    assert len(rest) == 5
    found = read(near.without("reference", 1, k=4), 4)
    assert found == pytest.approx(support_scores(rest, sets[1], 4, "closed"))


@pytest.mark.parametrize("kind", ["smooth", "ties", "copies"])
def test_a_block_of_each_side_is_exact_but_for_coverage(rng, kind):
    sets = small_clouds(rng, kind)
    blocks, k = labels(63, 48, 6), 3
    near = neighbourhoods(*sets, k=k, blocks=blocks)
    gaps = []
    for one in range(6):
        for other in range(6):
            rest = [kept(x, b, c) for x, b, c in zip(sets, blocks, (one, other), strict=True)]
            found = read(near.without("reference", one, k=k).without("generated", other, k=k), k)
            wanted = support_scores(*rest, k, "closed")
            gaps.append(found.pop("coverage") - wanted.pop("coverage"))
            assert found == pytest.approx(wanted, rel=1e-14, abs=0), (one, other)
    # The guests of a block are counted in the ball as it was before it widened
    assert min(gaps) >= -1e-12
    assert max(gaps) <= 0.06


def test_rows_and_labels_that_are_left_fit_together(rng):
    sets = small_clouds(rng, "smooth")
    blocks = labels(63, 48, 6)
    near = neighbourhoods(*sets, k=3, blocks=blocks).without("generated", 2, k=3)
    assert len(near.reference_blocks.labels) == len(near.reference.held) == 63
    assert len(near.generated_blocks.labels) == len(near.generated.held) == 40
    assert len(near.reference.nearest) == len(near.reference.distance) == 40
    assert 2 not in near.generated_blocks.labels
    whole = near.without("generated", 4, k=3)
    assert len(whole.generated.radii) == 32


def test_nothing_is_known_without_blocks(rng):
    near = neighbourhoods(*small_clouds(rng, "smooth"), k=3)
    with pytest.raises(InputError, match=r"generated set .*block"):
        near.without("generated", 0, k=3)
    bare = Histograms(np.array([1, 2]), np.array([3, 4]))
    with pytest.raises(InputError, match=r"reference set .*block"):
        bare.without("reference", 0)


def test_histograms_are_recounted(rng):
    sets = small_clouds(rng, "smooth")
    blocks = labels(63, 48, 6)
    cells = quantise(*sets, buckets=7, restarts=2, blocks=blocks)
    run = int(np.argmin(cells.inertias))
    for place, side in enumerate(SIDES):
        for block in range(6):
            rest = cells.labels[place][blocks[place].labels != block]
            part = cells.runs[run].without(side, block)
            counted = np.bincount(rest, minlength=len(cells.centres))
            np.testing.assert_array_equal(getattr(part, side), counted)
            other = SIDES[1 - place]
            np.testing.assert_array_equal(getattr(part, other), getattr(cells.runs[run], other))


def test_a_smoothing_survives_and_two_blocks_can_go():
    blocks = np.array([[1, 0, 2], [3, 1, 0]])
    both = Histograms(
        blocks.sum(0), blocks.sum(0), "laplace", reference_blocks=blocks, generated_blocks=blocks
    )
    part = both.without("reference", 0).without("generated", 1)
    assert part.smoothing == "laplace"
    np.testing.assert_allclose(part.probabilities[0], np.array([4, 2, 1]) / 7)
    np.testing.assert_allclose(part.probabilities[1], np.array([2, 1, 3]) / 6)


def test_moments_are_those_of_the_rest(rng):
    points = rng.standard_normal((101, 4)) * [1, 10, 0.1, 3] + 50
    blocks = Blocks.balanced(101, seed=1, count=7)
    whole, parts = Moments.of(points), Moments.by_block(points, blocks)
    for block, part in enumerate(parts):
        found, rest = whole.without(part), Moments.of(kept(points, blocks, block))
        assert found.count == rest.count
        np.testing.assert_allclose(found.mean, rest.mean, rtol=1e-10)
        np.testing.assert_allclose(found.scatter, rest.scatter, rtol=1e-10, atol=1e-10)


def test_moments_of_one_row_that_is_left():
    points = np.array([[1.0, 2.0], [3.0, 5.0]])
    left = Moments.of(points).without(Moments.of(points[:1]))
    np.testing.assert_allclose(left.mean, [3.0, 5.0])
    np.testing.assert_allclose(left.covariance, 0, atol=1e-14)
