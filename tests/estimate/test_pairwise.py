"""Sums over pairs of rows, and estimates from distances alone."""

from dataclasses import dataclass

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from calipers.errors import InputError
from calipers.estimate import knn_ratios, neighbourhoods
from calipers.estimate.knn.from_distances import knn_ratios_from, neighbourhoods_from, pass_over
from calipers.estimate.measures import (
    CentredRows,
    ExactTiles,
    Gaussian,
    SwiftTiles,
    centred,
    squared_distances,
)
from calipers.estimate.pairwise import (
    group_sums,
    median_distance,
    pair_sums,
    power_of,
    power_sums,
    sum_of_tiles,
)
from calipers.metrics.copying import authenticity_score, near_copies_score
from calipers.metrics.knn_support import (
    coverage_score,
    density_score,
    precision_score,
    realism_score,
    recall_score,
)
from calipers.numeric.threads import Workers, workers

# Sums over pairs of rows, in tiles and by group, against whole matrices.


def exact(x, y):
    wide = np.asarray(x, np.longdouble), np.asarray(y, np.longdouble)
    return np.array([((row - wide[1]) ** 2).sum(axis=1) for row in wide[0]])


@pytest.mark.parametrize("offset", [0.0, 1e6, -1e90])
def test_squared_distances_keep_their_digits(rng, offset):
    x = rng.standard_normal((60, 5)) * 1e-3 + offset
    y = np.concatenate([x[:20], x[20:40] + 1e-9, rng.standard_normal((9, 5)) + offset])
    found, expected = squared_distances(*centred(x, y)), exact(x, y).astype(float)
    np.testing.assert_allclose(found, expected, rtol=1e-11, atol=0)
    assert found[0, 0] == 0


def test_two_far_modes_of_tiny_spread(rng):
    modes = np.repeat([[0.0], [1e6]], 30, axis=0)
    x, y = (modes + rng.standard_normal((60, 3)) * 1e-6 for _ in range(2))
    np.testing.assert_allclose(
        squared_distances(*centred(x, y)), exact(x, y).astype(float), rtol=1e-9
    )


def test_sums_over_tiles(rng, monkeypatch):
    monkeypatch.setattr("calipers.estimate.pairwise.spans", lambda n: [(0, 7), (7, 20), (20, n)])
    x, y = rng.standard_normal((45, 4)), rng.standard_normal((38, 4))
    sums = pair_sums(*centred(x, y), squared_distances, threads=3)
    assert sums.reference == pytest.approx(float(exact(x, x).sum()), rel=1e-12)
    assert sums.generated == pytest.approx(float(exact(y, y).sum()), rel=1e-12)
    assert sums.across == pytest.approx(float(exact(x, y).sum()), rel=1e-12)


def test_no_row_meets_itself(rng):
    x, y = rng.standard_normal((5, 2)), rng.standard_normal((4, 2))
    sums = pair_sums(
        *centred(x, y),
        lambda one, other: np.ones((len(one.squares), 4 + (len(other.squares) == 5))),
    )
    assert (sums.reference, sums.generated, sums.across) == (20, 12, 20)
    assert sums.unbiased() == 0


@pytest.mark.parametrize("totals", [[np.inf, -np.inf], [1e308, 1e308], [np.nan, 1.0]])
def test_sums_that_overflow_are_nan(totals):
    assert np.isnan(sum_of_tiles(totals))


def test_threads_change_no_bit_of_a_sum(rng):
    x, y = rng.standard_normal((2100, 3)), rng.standard_normal((1500, 3))
    one, more = (pair_sums(*centred(x, y), squared_distances, threads=t) for t in (1, 4))
    assert one == more


def kernel_of(rows, width):
    apart = ((rows[:, None] - rows) ** 2).sum(axis=2)
    kernel = np.exp(-apart / (2 * width**2))
    np.fill_diagonal(kernel, 0)
    return kernel


@pytest.mark.parametrize("size", [1, 7, 16, 100])
def test_as_brute_force(rng, size):
    rows, labels = rng.standard_normal((53, 3)), np.sort(rng.integers(6, size=53))
    labels[labels == 2] = 1  # a group without rows
    member = labels[:, None] == np.arange(6)
    expected = member.T @ kernel_of(rows, 1.5) @ member
    tiles = ExactTiles(CentredRows.of(rows), Gaussian(1.5))
    found = group_sums(tiles, labels, 6, Workers.alone(), size=size)
    np.testing.assert_allclose(found, expected, atol=1e-12)


@pytest.mark.parametrize("spread", [1, 6])
def test_powers_of_a_gaussian_kernel_are_narrower_kernels(rng, spread):
    rows = CentredRows.of(rng.standard_normal((53, 3)))
    labels = np.arange(53) // spread  # of one row each, or of several
    count = labels[-1] + 1
    tiles = ExactTiles(rows, Gaussian(1.5))
    found = power_sums(tiles, labels, count, Workers.alone(), (1, 4, 9), size=13)
    for sums, part in zip(found, (1, 2, 3), strict=True):
        narrow = ExactTiles(rows, Gaussian(1.5 / part))
        expected = group_sums(narrow, labels, count, Workers.alone(), size=13)
        np.testing.assert_allclose(sums, expected, rtol=1e-12)


@pytest.mark.parametrize("power", [1, 2, 3, 4, 7, 9, 16])
def test_powers(power):
    values = np.array([0.0, 0.5, 1.0, 3.0])
    np.testing.assert_array_equal(power_of(values, power), values**power)
    assert values.tolist() == [0.0, 0.5, 1.0, 3.0]


def test_swift_tiles_are_those_of_float64(rng):
    rows = rng.standard_normal((300, 20)) * 5
    whole, part = (0, 300), (40, 90)
    moved = CentredRows.of(rows, rows.mean(axis=0))
    found = SwiftTiles(moved, Gaussian(12.0))(part, whole)
    assert found.dtype == np.float32
    exact = ExactTiles(moved, Gaussian(12.0))(part, whole)
    np.testing.assert_allclose(found, exact, atol=2e-6)
    assert abs(found.mean(dtype=np.float64) - exact.mean()) < 1e-7


def test_threads_change_no_bit_of_a_group(rng):
    rows = CentredRows.of(rng.standard_normal((1_000, 4)))
    labels, found = np.arange(1_000) // 10, []
    for threads in (1, 3):
        with workers(threads) as pool:
            found.append(group_sums(SwiftTiles(rows, Gaussian(2.0)), labels, 100, pool))
    np.testing.assert_array_equal(*found)


@pytest.mark.parametrize("n", [2, 3, 251, 600])
def test_the_median_is_that_of_numpy(rng, n):
    rows = rng.standard_normal((n, 3))
    sides = CentredRows.of(rows[: n // 2]), CentredRows.of(rows[n // 2 :])
    apart = np.sqrt(((rows[:, None] - rows) ** 2).sum(axis=2))[np.triu_indices(n, 1)]
    found = median_distance(sides, Workers.alone(), seed=0, most=1_000)
    assert found == pytest.approx(np.median(apart), rel=1e-12)


def test_a_single_row_has_no_distance():
    one, none = CentredRows.of(np.ones((1, 2))), CentredRows.of(np.ones((0, 2)))
    assert median_distance((one, none), Workers.alone(), seed=0, most=10) == 0


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


@settings(max_examples=60)
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


@settings(max_examples=20)
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
        (lambda p: neighbourhoods_from(p, k=0), "k .*at least 1.* 0"),
        (lambda p: neighbourhoods_from(p, k_max=-1), "k_max must be a whole number"),
        (lambda p: neighbourhoods_from(p, k=8), "k = 8 needs at least 9 .* generated set has 8"),
        (lambda p: neighbourhoods_from(p, ties="half"), "unknown value for ties 'half'"),
        (lambda p: neighbourhoods_from(p, threads=0), "threads must be a whole number"),
        (lambda p: knn_ratios_from(p, k=17), "k .*at most 16"),
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
    with pytest.raises(InputError, match=r"rows 2 and 12 \(counted from 0"):
        neighbourhoods_from(provider)


def test_a_tile_of_the_wrong_shape_is_named():
    class Short(Given):
        def tile(self, rows, columns):
            return super().tile(rows, columns)[:-1]

    provider = Short(Given.of(*points(9, 8, 5)).matrix, (9, 8))
    with pytest.raises(InputError, match=r"\(9, 9\).*\(8, 9\)"):
        neighbourhoods_from(provider)
