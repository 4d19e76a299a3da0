from dataclasses import dataclass

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from calipers.errors import InputError
from calipers.estimate import knn_ratios, neighbourhoods
from calipers.estimate.knn.from_distances import knn_ratios_from, neighbourhoods_from, pass_over
from calipers.metrics.copying import authenticity_score, near_copies_score
from calipers.metrics.knn_support import (
    coverage_score,
    density_score,
    precision_score,
    realism_score,
    recall_score,
)

READ = ("radii", "held", "inside", "own_nearest", "nearest", "distance")


@dataclass
class Given:
    """Distances that are known already, one matrix for the rows of both sets."""

    matrix: np.ndarray
    sizes: tuple[int, int]
    name: str = "euclidean"

    def tile(self, rows, columns):
        return self.matrix[slice(*rows), slice(*columns)]

    @classmethod
    def of(cls, reference, generated):
        union = np.concatenate([reference, generated])
        squared = ((union[:, None] - union[None]) ** 2).sum(axis=-1)
        return cls(np.sqrt(squared), (len(reference), len(generated)))


def points(n, m, values, seed=0):
    """Few different values make many ties and copies."""
    rng = np.random.default_rng(seed)
    return (rng.integers(0, values, (rows, 3)).astype(np.float64) for rows in (n, m))


def assert_equal(found, known):
    for side in ("reference", "generated"):
        for name in READ:
            mine, theirs = getattr(getattr(found, side), name), getattr(getattr(known, side), name)
            assert mine.dtype == theirs.dtype
            np.testing.assert_array_equal(mine, theirs, err_msg=f"{side}.{name}")


def test_four_points_by_hand():
    # Reference 0 and 1, generated 1 and 3: the ball of 0 reaches to 1, that of 3 back to 1
    near = neighbourhoods_from(Given.of(np.array([[0.0], [1.0]]), np.array([[1.0], [3.0]])), k=1)
    assert near.reference.radii.tolist() == [[1.0], [1.0]]
    assert near.generated.radii.tolist() == [[2.0], [2.0]]
    assert near.reference.held.tolist() == [[1], [1]]
    assert near.reference.inside.tolist() == [[2], [0]]
    assert near.generated.inside.tolist() == [[1], [2]]
    assert near.reference.nearest.tolist() == [1, 1]
    assert near.generated.nearest.tolist() == [0, 0]
    assert (precision_score(near, 1).value, recall_score(near, 1).value) == (0.5, 1.0)


def test_ratios_of_four_points_by_hand():
    # Nearest of 0: 1 and 1, tied, one of each side: p/q = (2/2) / (1/2); of 3: again one of each
    ratios = knn_ratios_from(Given.of(np.array([[0.0], [1.0]]), np.array([[1.0], [3.0]])), k=1)
    np.testing.assert_allclose(np.exp(ratios.log_reference), [2.0, 1.0])
    np.testing.assert_allclose(np.exp(ratios.log_generated), [1.0, 0.5])
    assert ratios.pins["k"] == 1
    assert ratios.pins["distance"] == "euclidean"


@pytest.mark.parametrize("ties", ["closed", "open"])
@pytest.mark.parametrize(("n", "m", "values"), [(70, 90, 4), (150, 33, 2), (20, 200, 1000)])
def test_euclidean_distances_give_what_vectors_give(n, m, values, ties):
    reference, generated = points(n, m, values)
    known = neighbourhoods(reference, generated, k=3, k_max=6, ties=ties)
    provider = Given.of(reference, generated)
    found = neighbourhoods_from(provider, k=3, k_max=6, ties=ties, threads=2)
    assert_equal(found, known)
    for score in (precision_score, recall_score, density_score, coverage_score):
        assert score(found, 3).value == score(known, 3).value
        assert score(found, 3).signature == score(known, 3).signature
    assert authenticity_score(found).value == authenticity_score(known).value
    assert near_copies_score(found).value == near_copies_score(known).value


@pytest.mark.parametrize(("n", "m", "values"), [(70, 90, 4), (150, 33, 2), (20, 200, 1000)])
@pytest.mark.parametrize("k", [1, 7, 40])
def test_ratios_equal_those_of_vectors(n, m, values, k):
    reference, generated = points(n, m, values)
    known = knn_ratios(reference, generated, k=k, dimensions=None)
    found = knn_ratios_from(Given.of(reference, generated), k=k, threads=2)
    np.testing.assert_array_equal(found.log_reference, known.log_reference)
    np.testing.assert_array_equal(found.log_generated, known.log_generated)


@settings(max_examples=60, deadline=None)
@given(st.integers(3, 40), st.integers(3, 40), st.integers(1, 5), st.integers(0, 10**6))
def test_ties_without_end_still_count(n, m, values, seed):
    rng = np.random.default_rng(seed)
    matrix = rng.integers(0, values, (n + m, n + m)).astype(np.float64)
    matrix = np.triu(matrix, 1) + np.triu(matrix, 1).T
    found = knn_ratios_from(Given(matrix, (n, m)), k=2)
    np.fill_diagonal(matrix, np.inf)
    inside = matrix <= np.sort(matrix, axis=1)[:, [1]]
    near = inside[:, :n].sum(axis=1) + (np.arange(n + m) < n)
    far = inside[:, n:].sum(axis=1) + (np.arange(n + m) >= n)
    with np.errstate(divide="ignore"):
        logs = np.log(near * m) - np.log(far * n)
    np.testing.assert_array_equal(found.log_reference, logs[:n])
    np.testing.assert_array_equal(found.log_generated, logs[n:])


@settings(max_examples=20, deadline=None)
@given(st.integers(0, 10**6))
def test_neither_the_order_of_rows_nor_threads_change_a_count(seed):
    reference, generated = points(90, 70, 5, seed)
    order = np.random.default_rng(seed).permutation(90)
    one = neighbourhoods_from(Given.of(reference, generated), threads=1)
    many = neighbourhoods_from(Given.of(reference, generated), threads=4)
    assert_equal(many, one)
    moved = neighbourhoods_from(Given.of(reference[order], generated), threads=3)
    np.testing.assert_array_equal(moved.reference.held, one.reference.held[order])
    np.testing.assert_array_equal(moved.reference.inside, one.reference.inside)
    np.testing.assert_array_equal(moved.generated.held, one.generated.held)


def test_both_estimates_come_from_one_look():
    reference, generated = points(60, 50, 6)
    asked = []

    class Asked(Given):
        def tile(self, rows, columns):
            asked.append((rows, columns))
            return super().tile(rows, columns)

    provider = Asked(Given.of(reference, generated).matrix, (60, 50))
    seen = pass_over(provider, k_max=4, k_union=9, threads=1)
    pairs = sum((r[1] - r[0]) * (c[1] - c[0]) for r, c in asked)
    assert len(set(asked)) == len(asked)
    assert pairs < 110**2  # each tile off the diagonal once
    assert_equal(seen.neighbourhoods, neighbourhoods_from(provider, k=4))
    np.testing.assert_array_equal(
        seen.ratios.log_reference, knn_ratios_from(provider, k=9).log_reference
    )


def test_further_supports_say_that_they_were_not_measured():
    near = neighbourhoods_from(Given.of(*points(30, 30, 9)))
    assert near.reference.replicates is None
    with pytest.raises(InputError, match="do not hold what this metric needs"):
        realism_score(near, 3)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda p: neighbourhoods_from(p, k=0), "k must be a whole number of at least 1; found 0"),
        (lambda p: neighbourhoods_from(p, k_max=-1), "k_max must be a whole number"),
        (lambda p: neighbourhoods_from(p, k=8), "k = 8 needs at least 9 .* generated set has 8"),
        (lambda p: neighbourhoods_from(p, ties="half"), "unknown value for ties 'half'"),
        (lambda p: neighbourhoods_from(p, threads=0), "threads must be a whole number"),
        (lambda p: knn_ratios_from(p, k=17), "k must be at most 16, the number of other samples"),
        (lambda p: knn_ratios_from(p, k=1.5), "k must be a whole number"),
    ],
)
def test_options_out_of_range(call, message):
    with pytest.raises(InputError, match=message):
        call(Given.of(*points(9, 8, 5)))


@pytest.mark.parametrize("value", [np.nan, -1.0, np.inf])
def test_a_distance_that_is_none_is_named(value):
    provider = Given.of(*points(9, 8, 5))
    provider.matrix[2, 12] = value
    with pytest.raises(InputError, match=r"that of rows 2 and 12 \(counted from 0 .*\) is "):
        neighbourhoods_from(provider)


def test_a_tile_of_the_wrong_shape_is_named():
    class Short(Given):
        def tile(self, rows, columns):
            return super().tile(rows, columns)[:-1]

    provider = Short(Given.of(*points(9, 8, 5)).matrix, (9, 8))
    with pytest.raises(InputError, match=r"must have shape \(9, 9\); found \(8, 9\)"):
        neighbourhoods_from(provider)
