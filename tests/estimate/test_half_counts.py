"""Counts of half of both sets, read from one pass, against measuring the halves again."""

from __future__ import annotations

import importlib.util
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from calipers.errors import InputError
from calipers.estimate.knn.neighbourhoods import neighbourhoods
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
    with pytest.raises(InputError, match="either both sets or none must be halved"):
        neighbourhoods(*sets, k=3, blocks=(ours, replace(theirs, halves=None)))
    for bad in (Blocks.balanced(92, seed=0).halves, np.zeros((93, 1), np.uint64)):
        with pytest.raises(InputError, match=r"reference halves must be codes of 93 rows, uint64"):
            neighbourhoods(*sets, k=3, blocks=(replace(ours, halves=bad), theirs))
    with pytest.raises(InputError, match=r"generated halves .* found shape \(64,\), dtype float64"):
        neighbourhoods(*sets, k=3, blocks=(ours, replace(theirs, halves=np.zeros(64))))
