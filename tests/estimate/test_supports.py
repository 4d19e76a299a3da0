"""The further supports of the pass, the nearest on the other side, and the cosine distance."""

import importlib.util
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from calipers.errors import InputError
from calipers.estimate import Supports, neighbourhoods

_spec = importlib.util.spec_from_file_location(
    "brute_force", Path(__file__).with_name("brute_force.py")
)
oracle = importlib.util.module_from_spec(_spec)
_spec.loader.exec_module(oracle)

ALL = Supports(capped=3, smaller=3, spread=(3, 1.2))


def assert_supports(reference, generated, *, ties="closed", exact=True, **options):
    near = neighbourhoods(reference, generated, k=2, supports=ALL, ties=ties, **options)
    for balls, owners, guests in (
        (near.reference, reference, generated),
        (near.generated, generated, reference),
    ):
        capped, depth, missed, own = oracle.supports(
            owners, guests, 3, 1.2, closed=ties == "closed"
        )
        if exact:
            np.testing.assert_array_equal(balls.capped, capped)
            np.testing.assert_array_equal(balls.capped_own, own)
        np.testing.assert_allclose(balls.realism, depth, rtol=1e-6)
        np.testing.assert_allclose(balls.missed, missed, atol=2e-6)
        across = oracle.squared_distances(owners, guests)
        np.testing.assert_array_equal(balls.nearest, across.argmin(axis=0))
        np.testing.assert_allclose(balls.distance**2, across.min(axis=0), rtol=1e-12)
        within = oracle.squared_distances(owners, owners)
        np.fill_diagonal(within, np.inf)
        np.testing.assert_array_equal(balls.own_nearest, within.argmin(axis=1))


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("ties", ["closed", "open"])
@pytest.mark.parametrize(("n", "m", "d"), [(130, 210, 6), (96, 48, 90), (60, 61, 1)])
def test_equal_brute_force(rng, dtype, ties, n, m, d):
    reference = rng.standard_normal((n, d)).astype(dtype)
    generated = (rng.standard_normal((m, d)) * 1.2 + 0.1).astype(dtype)
    generated[:3] = reference[:3]
    assert_supports(reference, generated, ties=ties, block_size=64)


def test_equal_brute_force_in_tight_clusters_far_apart(rng):
    # From cluster to cluster 2,000, within them about 0.01: float32 products tell nothing there
    centres = np.array([[1e3, 0, 0], [-1e3, 0, 0]])
    reference = centres[np.arange(80) % 2] + rng.standard_normal((80, 3)) * 0.01
    generated = centres[np.arange(70) % 2] + rng.standard_normal((70, 3)) * 0.01
    assert_supports(reference, generated, block_size=48)


@settings(max_examples=40, deadline=None)
@given(
    arrays(np.float32, st.tuples(st.integers(5, 25), st.just(2)), elements=st.integers(-2, 2)),
    arrays(np.float32, st.tuples(st.integers(5, 25), st.just(2)), elements=st.integers(-2, 2)),
)
def test_equal_brute_force_on_small_grids(reference, generated):
    # A median between two radii is rounded, and a tie with it may fall either way
    assert_supports(reference, generated, exact=False)


def test_supports_of_four_points_by_hand():
    # Radii of the reference 0, 1, 3, 7 for k = 1: 1, 1, 2, 4; median 1.5, mean 2
    near = neighbourhoods(
        [[0.0], [1], [3], [7]],
        [[2.0], [4], [5.5], [20]],
        k=1,
        supports=Supports(capped=1, smaller=1, spread=(1, 1.0)),
    )
    balls = near.reference
    assert balls.capped.tolist() == [2, 1, 1, 0]  # 2 in those of 1 and 3, 4 in 3's, 5.5 in 7's
    assert balls.capped_own.tolist() == [1, 1, 0, 0]
    assert balls.realism.tolist() == [1, 1 / 3, 1 / 4.5, 1 / 19]  # from 1, whose ball is smaller
    np.testing.assert_allclose(balls.missed, [1 / 4, 1 / 2, 3 / 4, 1])  # 2: d = 2, 1, 1, R = 2
    assert balls.nearest.tolist() == [1, 2, 3, 3]
    assert balls.distance.tolist() == [1, 1, 1.5, 13]
    assert balls.own_nearest.tolist() == [1, 0, 1, 2]
    assert balls.first.tolist() == [1, 1, 1, 2]


def test_what_was_not_asked_for_is_not_there(rng):
    near = neighbourhoods(*rng.standard_normal((2, 20, 3)), k=2)
    assert near.reference.capped is None
    assert near.reference.capped_own is None
    assert near.generated.realism is None
    assert near.generated.missed is None


def test_the_smallest_k_whose_ball_holds_a_guest(rng):
    reference, generated = rng.standard_normal((50, 3)), rng.standard_normal((40, 3)) + 1
    near = neighbourhoods(reference, generated, k=6)
    for guest, first in enumerate(near.reference.first):
        inside = [k for k in range(1, 7) if near.reference.inside[guest, k - 1]]
        assert first == (inside[0] if inside else 7)
    assert {1, 7} <= set(near.reference.first.tolist())


@pytest.mark.parametrize("threads", [1, 3])
@pytest.mark.parametrize("block_size", [48, 100, 1024])
def test_neither_threads_nor_blocks_change_the_supports(rng, threads, block_size):
    reference, generated = rng.standard_normal((2, 230, 12)).astype(np.float32)
    plain = neighbourhoods(reference, generated, supports=ALL, threads=1).reference
    other = neighbourhoods(
        reference, generated, supports=ALL, threads=threads, block_size=block_size
    ).reference
    for name in ("capped", "capped_own", "realism", "nearest", "distance"):
        np.testing.assert_array_equal(getattr(plain, name), getattr(other, name))
    np.testing.assert_allclose(plain.missed, other.missed, atol=1e-6)


def test_capped_balls_of_a_set_with_more_ties_than_are_kept():
    # 30 copies of one point: far more lie on the rim of its ball than neighbours are kept
    reference = np.concatenate([np.zeros((30, 2)), np.eye(2), 5 * np.eye(2)])
    near = neighbourhoods(reference, reference[:10], k=2, supports=Supports(capped=2))
    assert near.reference.capped_own.tolist() == [29] * 30 + [0] * 4
    assert near.reference.capped.tolist() == [30] * 10


def test_many_near_ties_leave_the_nearest_exact():
    # A shell whose radii differ by less than float32 can tell, so the candidates do not suffice
    rng = np.random.default_rng(5)
    shell = rng.standard_normal((60, 30))
    shell *= ((1 + 1e-10 * rng.permutation(60)) / np.linalg.norm(shell, axis=1))[:, None]
    near = neighbourhoods(shell, np.zeros((3, 30)), k=1)
    lengths = (shell**2).sum(axis=1)
    assert near.reference.nearest[0] == lengths.argmin()
    assert near.reference.distance[0] == pytest.approx(np.sqrt(lengths.min()), rel=1e-15)


@pytest.mark.parametrize("ties", ["closed", "open"])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_cosine_is_one_less_the_cosine(rng, ties, dtype):
    reference = rng.standard_normal((90, 8)).astype(dtype) * rng.uniform(0.1, 9, (90, 1))
    generated = (rng.standard_normal((70, 8)) + 0.3).astype(reference.dtype)
    near = neighbourhoods(reference, generated, k=3, distance="cosine", ties=ties, supports=ALL)
    one, two = (x / np.linalg.norm(x, axis=1, keepdims=True) for x in (reference, generated))
    cosine = 1 - one @ two.T
    np.testing.assert_allclose(near.reference.distance, cosine.min(axis=0), atol=1e-12)
    own = np.sort(1 - one @ one.T, axis=1)[:, 1:4]
    np.testing.assert_allclose(near.reference.radii, own, atol=1e-12)
    holds = cosine <= own[:, 2:] if ties == "closed" else cosine < own[:, 2:]
    np.testing.assert_array_equal(near.reference.inside[:, 2], holds.sum(axis=0))
    radius = 1.2 * own[:, 2].mean()
    missed = np.where(cosine <= radius, cosine / radius, 1).prod(axis=0)
    np.testing.assert_allclose(near.reference.missed, missed, atol=2e-6)


def test_the_length_of_a_row_does_not_matter_to_the_cosine(rng):
    reference, generated = rng.standard_normal((2, 60, 5))
    plain = neighbourhoods(reference, generated, distance="cosine")
    scaled = neighbourhoods(reference * 2.0 ** rng.integers(-9, 9, (60, 1)), generated,
                            distance="cosine")  # fmt: skip
    np.testing.assert_array_equal(plain.reference.inside, scaled.reference.inside)
    np.testing.assert_array_equal(plain.generated.inside, scaled.generated.inside)


def test_rows_of_zeros_have_no_direction():
    rows = np.eye(6)
    rows[3] = 0
    with pytest.raises(InputError, match=r"generated: .* not all zero; 1 row\(s\) are, .* row 4$"):
        neighbourhoods(np.eye(6), rows, k=1, distance="cosine")


def test_bad_choices_are_refused(rng):
    pair = rng.standard_normal((2, 20, 3))
    with pytest.raises(InputError, match="value for distance 'l1'"):
        neighbourhoods(*pair, distance="l1")
    with pytest.raises(InputError, match="k of capped must be a whole number of at least 1"):
        neighbourhoods(*pair, supports=Supports(capped=0))
    with pytest.raises(
        InputError, match=r"the factor of spread must be above 0 and at most 1e\+06; found -1"
    ):
        neighbourhoods(*pair, supports=Supports(spread=(4, -1)))
    with pytest.raises(InputError, match="k = 20 needs at least 21 samples"):
        neighbourhoods(*pair, supports=Supports(smaller=20))
