import numpy as np
import pytest

from calipers.errors import InputError
from calipers.estimate import preprocess, quantise
from calipers.estimate.shared_cells import shared_quantise, shared_space
from calipers.numeric.blocks import Blocks


@pytest.fixture
def run(rng):
    reference = rng.standard_normal((120, 8)) * np.linspace(2, 0.2, 8)
    systems = [rng.standard_normal((size, 8)) + shift for size, shift in ((60, 0.5), (300, 1.5))]
    return reference, systems


def test_one_system_of_equal_size_gives_what_a_pair_gives(rng):
    reference, generated = rng.standard_normal((2, 200, 6))
    space, pair = shared_space(reference, [generated]), preprocess(reference, generated)
    np.testing.assert_array_equal(space.reference, pair.reference)
    np.testing.assert_array_equal(space.systems[0], pair.generated)
    assert space.explained_variance == pair.explained_variance
    (ours,), theirs = shared_quantise(reference, [generated]), quantise(reference, generated)
    assert ours.inertias == theirs.inertias
    for one, two in zip(ours.runs, theirs.runs, strict=True):
        np.testing.assert_array_equal(one.reference, two.reference)
        np.testing.assert_array_equal(one.generated, two.generated)
    np.testing.assert_array_equal(ours.centres, theirs.centres)


def test_the_axes_are_those_of_the_weighted_union(run):
    reference, systems = run
    space = shared_space(reference, systems, norm="none", pca=0.8)
    sets, shares = [reference, *systems], [1 / 2, 1 / 4, 1 / 4]
    mean = sum(share * rows.mean(axis=0) for share, rows in zip(shares, sets, strict=True))
    spread = sum(
        share * (rows - mean).T @ (rows - mean) / len(rows)
        for share, rows in zip(shares, sets, strict=True)
    )
    variances, axes = np.linalg.eigh(spread)
    kept = np.cumsum(variances[::-1]) / variances.sum()
    q = int(np.searchsorted(kept, 0.8)) + 1
    assert space.explained_variance == pytest.approx(kept[q - 1])
    for found, rows in zip((space.reference, *space.systems), sets, strict=True):
        expected = (rows - mean) @ axes[:, ::-1][:, :q]
        np.testing.assert_allclose(np.abs(found), np.abs(expected), atol=1e-5)


def test_a_system_given_twice_over_weighs_no_more(run):
    reference, (one, two) = run
    plain = shared_space(reference, [one, two], norm="none")
    longer = shared_space(reference, [one, np.concatenate([two] * 3)], norm="none")
    np.testing.assert_allclose(np.abs(plain.reference), np.abs(longer.reference), atol=1e-5)
    assert plain.explained_variance == pytest.approx(longer.explained_variance)


def test_all_systems_are_counted_over_the_same_cells(run):
    reference, systems = run
    cells = shared_quantise(reference, systems, buckets=15, restarts=3)
    assert [len(each.labels[1]) for each in cells] == [60, 300]
    for one, two in zip(cells[0].runs, cells[1].runs, strict=True):
        np.testing.assert_array_equal(one.reference, two.reference)
    first, second = cells
    np.testing.assert_array_equal(first.centres, second.centres)
    np.testing.assert_array_equal(first.labels[0], second.labels[0])
    union = np.concatenate([reference, *systems])
    labels = np.concatenate([first.labels[0], first.labels[1], second.labels[1]])
    weights = np.repeat([1 / 240, 1 / 240, 1 / 1200], [120, 60, 300])
    for cell, centre in enumerate(first.centres):
        rows, each = union[labels == cell], weights[labels == cell]
        np.testing.assert_allclose(centre, np.average(rows, axis=0, weights=each), atol=1e-5)


def test_cells_that_only_another_system_fills_stay(rng):
    reference = rng.standard_normal((40, 2))
    far = rng.standard_normal((40, 2)) + 1000
    near, other = shared_quantise(reference, [reference, far], buckets=4, restarts=2)
    empty = (near.best.reference == 0) & (near.best.generated == 0)
    assert empty.any()
    assert len(near.best.reference) == len(other.best.reference) == 4
    assert other.best.generated[empty].sum() == 40


def test_labels_lie_at_the_weighted_means(run):
    reference, systems = run
    first, second = shared_quantise(reference, systems, buckets=9, restarts=1)
    union = np.concatenate([reference, *systems])
    labels = np.concatenate([*first.labels, second.labels[1]])
    squared = ((union[:, None] - first.centres) ** 2).sum(axis=-1)
    own = squared[np.arange(len(union)), labels]
    np.testing.assert_allclose(own, squared.min(axis=1), rtol=2e-2)
    weights = np.repeat([2.0, 2.0, 0.4], [120, 60, 300])
    assert first.inertias[0] == pytest.approx((own * weights).sum(), rel=1e-3)
    assert first.inertias == second.inertias


def test_threads_change_nothing(run):
    one, many = (shared_quantise(*run, restarts=3, threads=threads) for threads in (1, 3))
    for left, right in zip(one, many, strict=True):
        assert left.inertias == right.inertias
        np.testing.assert_array_equal(left.labels[1], right.labels[1])


def test_auto_buckets_are_those_of_the_smallest_set(run):
    assert {each.buckets for each in shared_quantise(*run, restarts=1)} == {6}
    assert {each.buckets for each in shared_quantise(*run, buckets="cube-root")} == {4}


def test_blocks_are_counted_for_each_pair(run):
    reference, systems = run
    blocks = [Blocks.balanced(len(rows), seed=0, count=5) for rows in (reference, *systems)]
    cells = shared_quantise(reference, systems, blocks=(blocks[0], blocks[1:]), restarts=2)
    for each in cells:
        best = each.best
        np.testing.assert_array_equal(best.reference_blocks.sum(axis=0), best.reference)
        np.testing.assert_array_equal(best.generated_blocks.sum(axis=0), best.generated)
    with pytest.raises(InputError, match="each of the 2 systems; found 1"):
        shared_quantise(reference, systems, blocks=(blocks[0], blocks[1:2]))


def test_bad_input(run):
    reference, systems = run
    for work in (shared_space, shared_quantise):
        with pytest.raises(InputError, match="at least one generated set; found none"):
            work(reference, [])
        with pytest.raises(InputError, match=r"reference and system 2 .* found 8 and 3"):
            work(reference, [systems[0], systems[1][:, :3]])
        with pytest.raises(InputError, match="system 1 must"):
            work(reference, [[[np.nan] * 8]])
    with pytest.raises(InputError, match="at most the 180 samples"):
        shared_quantise(reference, systems, buckets=200)
    with pytest.raises(InputError, match="pca must be a share"):
        shared_space(reference, systems, pca=2)


def test_precisions_are_brought_together(run):
    reference, systems = run
    space = shared_space(reference.astype("f4"), systems, pca=None, norm="none")
    assert {rows.dtype for rows in (space.reference, *space.systems)} == {np.dtype("f8")}
