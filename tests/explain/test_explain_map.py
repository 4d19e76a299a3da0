"""Cells merge into topics as Ward's method has it; the map keeps what the main axes show."""

import sys
from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.cluster.hierarchy import fcluster, ward

from calipers.errors import InputError, MissingExtraError
from calipers.explain import sample_map
from calipers.explain.topics import _ward, merged


def same(one, two):
    pairs = set(zip(one.tolist(), two.tolist(), strict=True))
    return len(pairs) == len(set(one.tolist())) == len(set(two.tolist()))


def cost(points, weights, groups):
    return sum(
        (
            weights[groups == each]
            * (
                (
                    points[groups == each]
                    - np.average(points[groups == each], axis=0, weights=weights[groups == each])
                )
                ** 2
            ).sum(axis=1)
        ).sum()
        for each in np.unique(groups)
    )


@settings(max_examples=15)
@given(st.integers(0, 10_000), st.integers(2, 40), st.integers(1, 8))
def test_equal_weights_give_scipys_ward(seed, k, groups):
    points = np.random.default_rng(seed).standard_normal((k, 3))
    found = _ward(points, np.ones(k), min(groups, k))
    assert same(found, fcluster(ward(points), min(groups, k), "maxclust"))


@settings(max_examples=15)
@given(st.integers(0, 10_000))
def test_a_weight_is_as_many_points_at_one_place(seed):
    rng = np.random.default_rng(seed)
    points, weights = rng.standard_normal((12, 2)), rng.integers(1, 6, 12)
    whole = fcluster(ward(np.repeat(points, weights, axis=0)), 4, "maxclust")
    first = np.cumsum(weights) - weights
    assert same(_ward(points, weights.astype(float), 4), whole[first])


@settings(max_examples=15)
@given(st.integers(0, 10_000), st.integers(1, 12))
def test_settling_lowers_the_cost_and_empties_nothing(seed, groups):
    rng = np.random.default_rng(seed)
    points, weights = rng.standard_normal((30, 4)), rng.integers(1, 9, 30).astype(float)
    before, after = _ward(points, weights, groups), merged(points, weights, groups)
    assert cost(points, weights, after) <= cost(points, weights, before) + 1e-9
    assert sorted(set(after.tolist())) == list(range(groups))


def test_the_order_of_the_cells_does_not_matter():
    rng = np.random.default_rng(1)
    points, weights = rng.standard_normal((60, 5)), rng.integers(1, 20, 60)
    order = rng.permutation(60)
    assert same(merged(points, weights, 7)[order], merged(points[order], weights[order], 7))


@pytest.mark.parametrize("groups", [1, 3, 9])
def test_points_that_are_all_one(groups):
    found = merged(np.ones((5, 2)), np.ones(5, int), groups)
    assert len(found) == 5
    assert found.max() < groups


def test_a_single_point():
    assert merged(np.zeros((1, 3)), np.array([4]), 12).tolist() == [0]


def sets(*sizes, d=20, seed=0):
    rng = np.random.default_rng(seed)
    centres = rng.standard_normal((len(sizes), d))
    return [
        (centre + 0.3 * rng.standard_normal((n, d))).astype(np.float32)
        for centre, n in zip(centres, sizes, strict=True)
    ]


def unit(rows):
    return rows / np.linalg.norm(rows, axis=1, keepdims=True)


def by_hand(given):
    rows = [unit(each.astype(np.float64)) for each in given]
    weights = np.concatenate([np.full(len(each), 1 / len(each) / len(rows)) for each in rows])
    together = np.concatenate(rows)
    centred = together - weights @ together
    _, values, axes = np.linalg.svd(np.sqrt(weights)[:, None] * centred, full_matrices=False)
    return centred @ axes[:2].T, (values**2 / (values**2).sum())[:2]


@pytest.mark.parametrize("d", [2, 20, 700])
def test_pca_by_hand(d):
    given = sets(30, 200, 15, d=d)
    found = sample_map(given)
    points, shares = by_hand(given)
    assert found.method == "pca"
    assert found.explained == pytest.approx(shares, rel=1e-4)
    assert [each.shape for each in found.coordinates] == [(30, 2), (200, 2), (15, 2)]
    assert {each.dtype for each in found.coordinates} == {np.dtype(np.float32)}
    together = np.concatenate(found.coordinates)
    signs = np.sign((together * points).sum(axis=0))
    assert together * signs == pytest.approx(points, abs=2e-4)


def test_the_same_again_whatever_the_order_of_rows():
    given = sets(50, 70)
    order = np.random.default_rng(3).permutation(70)
    one, two = sample_map(given), sample_map([given[0], given[1][order]])
    again = sample_map(given)
    assert all((a == b).all() for a, b in zip(one.coordinates, again.coordinates, strict=True))
    assert one.coordinates[1][order] == pytest.approx(two.coordinates[1], abs=1e-5)


def test_a_set_counts_as_much_however_large_it_is():
    one, two = sets(40, 60)
    plain, more = sample_map([one, two]), sample_map([one, np.tile(two, (5, 1))])
    assert more.coordinates[0] == pytest.approx(plain.coordinates[0], abs=1e-5)


def test_lengths_of_rows_do_not_matter():
    one, two = sets(40, 60)
    scaled = sample_map([one * np.float32(7), two * np.float32(0.01)])
    assert scaled.coordinates[0] == pytest.approx(sample_map([one, two]).coordinates[0], abs=1e-5)


@pytest.mark.parametrize(
    "given",
    [[np.ones((3, 4))], [np.zeros((2, 5)), np.zeros((1, 5))], [np.array([[2.0], [3.0]])]],
    ids=["constant", "zeros", "one column"],
)
def test_sets_without_spread_lie_on_one_point(given):
    found = sample_map(given)
    assert found.explained == (0.0, 0.0)
    assert all((each == 0).all() for each in found.coordinates)


def test_one_column_of_both_signs():
    found = sample_map([np.array([[2.0], [-3.0]])])
    assert found.coordinates[0].tolist() == [[1.0, 0.0], [-1.0, 0.0]]
    assert found.explained == (1.0, 0.0)


@pytest.fixture
def umap(monkeypatch):
    """A stand-in for umap-learn, which takes long to load, that keeps what it was asked."""
    asked = {}

    class Umap:
        def __init__(self, **options):
            asked.update(options)

        def fit_transform(self, rows):
            asked["rows"] = rows
            return rows[:, :2].astype(np.float64)

    monkeypatch.setitem(sys.modules, "umap", SimpleNamespace(UMAP=Umap))
    return asked


def test_umap_is_seeded_and_sees_all_sets(umap):
    given = sets(15, 12)
    found = sample_map(given, method="umap", seed=2)
    assert (umap["random_state"], umap["n_neighbors"]) == (2, 15)
    assert umap["rows"] == pytest.approx(unit(np.concatenate(given)), abs=1e-6)
    assert (found.method, found.explained) == ("umap", None)
    assert [each.shape for each in found.coordinates] == [(15, 2), (12, 2)]
    assert {each.dtype for each in found.coordinates} == {np.dtype(np.float32)}
    assert found.coordinates[1] == pytest.approx(unit(given[1])[:, :2], abs=1e-6)


def test_few_samples_have_fewer_neighbours(umap):
    sample_map(sets(6, 4), method="umap")
    assert umap["n_neighbors"] == 9


def test_umap_that_is_not_installed(monkeypatch):
    monkeypatch.setitem(sys.modules, "umap", None)
    with pytest.raises(MissingExtraError, match="pip install umap-learn"):
        sample_map(sets(20), method="umap")


@pytest.mark.parametrize(
    ("given", "options", "message"),
    [
        ([], {}, "at least one set of samples.* none"),
        ([np.ones((2, 3)), np.ones((2, 4))], {}, r"same number of columns.* \[3, 4\]"),
        ([np.ones((2, 3)), np.full((2, 3), np.nan)], {}, "set 2 must hold finite numbers"),
        ([np.ones(3)], {}, r"set 1 .*shape \(samples, dimensions\)"),
        ([np.ones((2, 3))], {"method": "tsne"}, "unknown method of a map 'tsne'"),
    ],
)
def test_refusals(given, options, message):
    with pytest.raises(InputError, match=message):
        sample_map(given, **options)


def test_too_few_for_umap(umap):
    with pytest.raises(InputError, match="at least 10 samples; found 4"):
        sample_map(sets(4), method="umap")


@pytest.mark.parametrize("scale", [1e-37, 1e-3, 1.0, 1e37])
def test_vectors_as_given_keep_their_lengths_on_a_map(scale):
    near, far = np.random.default_rng(0).standard_normal((2, 50, 4)).astype(np.float32)
    plain = sample_map([near, 5 * far], normalise="none")
    found = sample_map([near * np.float32(scale), 5 * far * np.float32(scale)], normalise="none")
    assert np.std(plain.coordinates[1]) > 3 * np.std(plain.coordinates[0])
    assert found.explained == pytest.approx(plain.explained, abs=1e-5)
    units = [np.abs(each.coordinates[1]).max() for each in (found, plain)]
    for one, other in zip(found.coordinates, plain.coordinates, strict=True):
        np.testing.assert_allclose(one / units[0], other / units[1], atol=1e-5)


def test_what_is_no_way_to_scale_rows_of_a_map_is_refused():
    with pytest.raises(InputError, match="normalise 'L1'; known: l2, none"):
        sample_map([np.eye(3)], normalise="L1")
