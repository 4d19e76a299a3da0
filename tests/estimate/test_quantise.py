"""Joint cells: the k-means engine, smoothed counts, cells shared by several systems."""

import importlib
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.cluster import KMeans

import calipers.estimate.kmeans.lloyd as module
from calipers.catalogue.estimation import SMOOTHING
from calipers.errors import InputError
from calipers.estimate import Histograms, Quantisation, preprocess, quantise
from calipers.estimate.histograms import check_smoothing, probabilities
from calipers.estimate.kmeans import rounds
from calipers.estimate.kmeans.kernels import cluster_by_products, lay_out
from calipers.estimate.kmeans.lloyd import LocalRounds, LocalSteps, k_means
from calipers.estimate.kmeans.rounds import Round, at_rest, inertia_of, next_centres
from calipers.estimate.quantise import bucket_count, joined_cells
from calipers.estimate.shared_cells import shared_quantise, shared_space
from calipers.numeric.blocks import Blocks
from calipers.numeric.threads import Workers, workers

# Joint cells: k-means of the union, smoothed counts, cells shared by several systems.


@pytest.fixture
def clusters(rng):
    centres = np.arange(5)[:, None] * 100.0
    reference = np.repeat(centres, 30, axis=0) + rng.standard_normal((150, 3))
    generated = np.repeat(centres[:2], 20, axis=0) + rng.standard_normal((40, 3))
    return reference, generated


def test_far_clusters_become_the_cells(clusters):
    cells = quantise(*clusters, buckets=5, restarts=20)
    best = cells.best
    assert sorted(best.reference) == [30] * 5
    assert sorted(best.generated) == [0, 0, 0, 20, 20]
    assert len(cells.runs) == len(cells.inertias) == 20
    assert cells.inertias[int(np.argmin(cells.inertias))] == min(cells.inertias)
    counted = np.bincount(cells.labels[0], minlength=5)
    np.testing.assert_array_equal(counted, best.reference)


def test_block_counts_add_up(clusters):
    labels = tuple(Blocks.balanced(len(rows), seed=0, count=10) for rows in clusters)
    for run in quantise(*clusters, buckets=7, restarts=3, blocks=labels).runs:
        np.testing.assert_array_equal(run.reference_blocks.sum(axis=0), run.reference)
        np.testing.assert_array_equal(run.generated_blocks.sum(axis=0), run.generated)
        assert (run.reference_blocks.sum(axis=1) == 15).all()


def test_a_seed_fixes_everything(clusters):
    one, two = (quantise(*clusters, buckets=9, seed=4) for _ in range(2))
    assert one.inertias == two.inertias
    np.testing.assert_array_equal(one.best.generated, two.best.generated)
    assert quantise(*clusters, buckets=9, seed=5).inertias != one.inertias


def test_cells_without_samples_are_left_out():
    same = np.ones((30, 2))
    cells = quantise(same, same, buckets=4, restarts=2)
    np.testing.assert_array_equal(cells.best.reference, [30])


def test_number_of_buckets():
    assert bucket_count("auto", 4000, 500) == 50
    assert bucket_count("auto", 3, 3) == 2
    assert bucket_count("auto", 50_000, 50_020) == bucket_count("auto", 10**6, 10**7) == 5000
    assert bucket_count(17, 10, 10) == 17
    for wrong, words in ((1, "from 2; found 1"), ("ten", "found 'ten'"), (21, "at most the 20")):
        with pytest.raises(InputError, match=words):
            bucket_count(wrong, 10, 10)


def test_bad_restarts(clusters):
    with pytest.raises(InputError, match=r"restarts .*at least 1.* 0"):
        quantise(*clusters, restarts=0)


def test_the_best_run_has_the_smallest_inertia_and_the_first_of_equals():
    runs = tuple(Histograms(np.array([n]), np.array([n])) for n in (1, 2, 3, 4))
    labels = (np.zeros(1, np.int32), np.zeros(1, np.int32))
    centres = np.zeros((1, 2))
    assert Quantisation(runs, (3.0, 1.0, 2.0, 1.0), labels, 1, centres).best is runs[1]


def test_every_restart_is_another_and_the_labels_are_those_of_the_best(rng):
    reference, generated = rng.standard_normal((80, 4)), rng.standard_normal((60, 4))
    cells = quantise(reference, generated, buckets=9, restarts=6)
    assert len(set(cells.inertias)) > 1
    best = int(np.argmin(cells.inertias))
    for labels, counts in zip(
        cells.labels, (cells.runs[best].reference, cells.runs[best].generated), strict=True
    ):
        np.testing.assert_array_equal(np.bincount(labels, minlength=9), counts)


def test_blocks_count_the_rows_that_bear_their_label(rng):
    reference, generated = rng.standard_normal((60, 3)), rng.standard_normal((60, 3))
    blocks = tuple(Blocks.balanced(60, seed=seed, count=6) for seed in (0, 1))
    cells = quantise(reference, generated, buckets=4, restarts=3, blocks=blocks)
    kept = cells.best.smoothed("laplace")
    for side, counts in ((0, kept.reference_blocks), (1, kept.generated_blocks)):
        for block in range(6):
            rows = cells.labels[side][blocks[side].labels == block]
            np.testing.assert_array_equal(counts[block], np.bincount(rows, minlength=4))


def test_far_from_the_origin_cells_are_the_same(rng):
    rows = rng.standard_normal((200, 3))
    near = quantise(rows[:100], rows[100:], buckets=8, seed=1)
    far = quantise(rows[:100] + 1e6, rows[100:] + 1e6, buckets=8, seed=1)
    np.testing.assert_array_equal(near.labels[0], far.labels[0])


def test_auto_buckets_are_rounded():
    assert bucket_count("auto", 48, 99) == 5


@pytest.mark.parametrize("exponent", [-300, -80, 62, 66, 300])
def test_cells_do_not_depend_on_the_scale(rng, exponent):
    reference, generated = rng.standard_normal((2, 100, 4))
    plain = quantise(reference, generated, buckets=8, restarts=2)
    scaled = quantise(
        np.ldexp(reference, exponent), np.ldexp(generated, exponent), buckets=8, restarts=2
    )
    for one, two in zip(plain.labels, scaled.labels, strict=True):
        np.testing.assert_array_equal(one, two)


def test_cube_root_buckets_are_the_rounded_cube_root_of_the_smaller_set():
    assert bucket_count("cube-root", 1000, 8000) == 10
    assert bucket_count("cube-root", 9261, 700) == 9  # 8.88
    assert bucket_count("cube-root", 2, 900) == 2
    with pytest.raises(InputError, match="'auto', 'cube-root'"):
        bucket_count("cuberoot", 10, 10)


def test_cube_root_buckets_are_used(rng):
    reference, generated = rng.standard_normal((2, 125, 3))
    cells = quantise(reference, generated, buckets="cube-root")
    assert cells.buckets == len(cells.best.reference) == 5


@pytest.mark.parametrize("exponent", [-70, 0, 70])
def test_centres_are_the_means_of_the_rows_of_each_cell(rng, exponent):
    reference, generated = np.ldexp(rng.standard_normal((2, 90, 5)) + 3, exponent)
    cells = quantise(reference, generated, buckets=12, restarts=3)
    union, labels = np.concatenate([reference, generated]), np.concatenate(cells.labels)
    for cell, centre in enumerate(cells.centres):
        mean = union[labels == cell].mean(axis=0)
        np.testing.assert_allclose(centre, mean, rtol=1e-6, atol=1e-6 * 2.0**exponent)
    assert cells.centres.shape == (12, 5)


def test_labels_and_centres_know_only_cells_that_hold_a_row():
    rows = np.repeat([[0.0, 0.0], [4.0, 0.0]], 15, axis=0)
    cells = quantise(rows, rows, buckets=6, restarts=2)
    assert sorted(set(cells.labels[0])) == [0, 1]
    assert len(cells.centres) == len(cells.best.reference) == 2
    np.testing.assert_allclose(cells.centres[cells.labels[0]], rows, atol=1e-12)


@pytest.mark.parametrize("threads", [1, 3])
def test_runs_side_by_side_and_one_by_one_are_the_same(rng, monkeypatch, threads):
    module = importlib.import_module("calipers.estimate.quantise")
    reference, generated = rng.standard_normal((2, 300, 6))
    small = quantise(reference, generated, restarts=4, threads=threads)
    monkeypatch.setattr(module, "SMALL", 0)
    monkeypatch.setattr("calipers.estimate.kmeans.lloyd.PIECE", 1000)
    large = quantise(reference, generated, restarts=4, threads=threads)
    assert small.inertias == large.inertias
    for one, two in zip(small.runs, large.runs, strict=True):
        np.testing.assert_array_equal(one.generated, two.generated)


def groups_of(centres, count):
    """The cells that were joined, as sets of their numbers."""
    joined = joined_cells(np.asarray(centres, float), count)
    assert joined.dtype == np.int32
    return {frozenset(np.flatnonzero(joined == group)) for group in np.unique(joined)}


def alone(*cells):
    return {frozenset([cell]) for cell in cells}


def test_cells_are_joined_by_hand():
    line = [[0.0], [1.0], [2.5], [6.0], [10.0]]
    assert groups_of(line, 5) == alone(0, 1, 2, 3, 4)
    # 0 and 1 lie closest; 2 lies closest to 1, which is not alone, so it joins 3
    assert groups_of(line, 4) == {frozenset([0, 1])} | alone(2, 3, 4)
    assert groups_of(line, 3) == {frozenset([0, 1]), frozenset([2, 3])} | alone(4)
    # None is joined twice: of five cells three are left at least
    assert groups_of(line, 1) == groups_of(line, 3)
    # Only the first of equally close ones is joined; numbers follow the first of each group
    square = [[0.0, 0.0], [9.0, 9.0], [0.0, 1.0], [9.0, 8.0]]
    assert joined_cells(np.array(square), 3).tolist() == [0, 1, 0, 2]
    assert joined_cells(np.array(square), 2).tolist() == [0, 1, 0, 1]


def test_there_may_be_nothing_to_join():
    assert joined_cells(np.zeros((1, 3)), 1).tolist() == [0]
    assert joined_cells(np.zeros((2, 3)), 0).tolist() == [0, 0]
    assert joined_cells(np.zeros((3, 3)), 9).tolist() == [0, 1, 2]
    assert joined_cells(np.zeros((4, 3)), 2).tolist() == [0, 0, 1, 1]


@given(st.integers(1, 40), st.integers(0, 45), st.integers(0, 10**6), st.booleans())
@settings(max_examples=80)
def test_so_many_cells_are_left_and_none_is_joined_twice(cells, count, seed, on_grid):
    rng = np.random.default_rng(seed)
    centres = rng.integers(0, 3, (cells, 2)) * 1.0 if on_grid else rng.standard_normal((cells, 3))
    joined = joined_cells(centres, count)
    sizes = np.bincount(joined)
    assert sizes.min() >= 1
    assert sizes.max() <= 2
    assert len(sizes) == min(cells, max(count, -(-cells // 2), 1))
    _, first = np.unique(joined, return_index=True)
    assert (np.diff(first) > 0).all()
    if not on_grid:  # where distances are equal, rounding may choose among them
        moved = joined_cells(2 * centres @ np.linalg.qr(rng.standard_normal((3, 3)))[0] + 7, count)
        np.testing.assert_array_equal(moved, joined)


@given(st.integers(2, 30), st.integers(0, 10**6))
@settings(max_examples=40)
def test_the_closest_two_are_joined_first(cells, seed):
    centres = np.random.default_rng(seed).standard_normal((cells, 2))
    (pair,) = (group for group in groups_of(centres, cells - 1) if len(group) == 2)
    apart = np.linalg.norm(centres[:, None] - centres, axis=2) + np.diag([np.inf] * cells)
    assert pair == frozenset(np.unravel_index(apart.argmin(), apart.shape))


COUNTS = st.lists(st.integers(0, 12), min_size=1, max_size=30).filter(any)


@pytest.mark.parametrize(
    ("smoothing", "weights"),
    [
        ("none", [0, 0, 1, 1, 1, 2, 7]),
        ("laplace", [1, 1, 2, 2, 2, 3, 8]),
        ("krichevsky-trofimov", [0.5, 0.5, 1.5, 1.5, 1.5, 2.5, 7.5]),
        ("braess-sauer", [0.5, 0.5, 2, 2, 2, 2.75, 7.75]),
        # φ_0 = 2, φ_1 = 3, φ_2 = 1, φ_3 = 0: a cell not seen weighs (3 + 1)·1/2, one seen once
        # (1 + 1)·2/3 unless 1 > φ_2, which it is not; seen twice 2 > φ_3
        ("good-turing", [2, 2, 4 / 3, 4 / 3, 4 / 3, 2, 7]),
    ],
)
def test_weights_by_hand(smoothing, weights):
    counts = np.array([0, 0, 1, 1, 1, 2, 7])
    np.testing.assert_allclose(
        probabilities(counts, smoothing), np.divide(weights, np.sum(weights))
    )


@pytest.mark.parametrize("smoothing", SMOOTHING.words)
@given(COUNTS)
def test_probabilities_are_shares_and_follow_the_cells(smoothing, counts):
    counts = np.array(counts)
    shares = probabilities(counts, smoothing)
    assert shares.sum() == pytest.approx(1)
    assert (shares >= 0).all()
    assert smoothing == "none" or (shares > 0).all()
    order = np.random.default_rng(0).permutation(len(counts))
    np.testing.assert_allclose(probabilities(counts[order], smoothing), shares[order])


@given(COUNTS)
def test_good_turing_as_it_is_defined(counts):
    seen = {t: counts.count(t) for t in range(14)}
    weights = [t if t > seen[t + 1] else (seen[t + 1] + 1) * (t + 1) / seen[t] for t in counts]
    expected = np.divide(weights, np.sum(weights))
    np.testing.assert_allclose(probabilities(np.array(counts), "good-turing"), expected)


def test_misspelt_smoothing():
    with pytest.raises(InputError, match=r"smoothing 'good_turing'.*'good-tur"):
        check_smoothing("good_turing")


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
        with pytest.raises(InputError, match="at least one generated set"):
            work(reference, [])
        with pytest.raises(InputError, match=r"reference and system 2 .* 8 and 3"):
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


def fit(rows, centres, *, seed=0, threads=1, max_iterations=500):
    with workers(threads) as pool:
        table = lay_out([rows], pool)
        found = k_means(table, centres, seed=seed, max_iterations=max_iterations, workers=pool)
    return replace(found, inertia=np.ldexp(found.inertia, 2 * table.exponent))


@pytest.fixture(params=["bounds", "products"])
def either_way(request, monkeypatch):
    monkeypatch.setattr(module, "FEW", 0 if request.param == "bounds" else 10**6)


either = pytest.mark.usefixtures("either_way")


@pytest.fixture
def by_bounds(monkeypatch):
    monkeypatch.setattr(module, "FEW", 0)


@pytest.fixture
def rows(rng):
    topics = 2 * rng.standard_normal((12, 20))
    drawn = topics[rng.integers(0, 12, 900)] + rng.standard_normal((900, 20))
    return (drawn - drawn.mean(axis=0)).astype(np.float32)


@either
@pytest.mark.parametrize("centres", [1, 2, 15, 90])
@pytest.mark.parametrize("seed", [0, 1])
def test_equals_lloyd_of_scikit_learn_from_the_same_start(rows, centres, seed):
    first = rows[np.random.default_rng(seed).choice(len(rows), centres, replace=False)]
    theirs = KMeans(centres, init=first, n_init=1, max_iter=500).fit(rows)
    ours = fit(rows, centres, seed=seed)
    assert ours.inertia == pytest.approx(theirs.inertia_, rel=1e-5)
    assert (ours.labels == theirs.labels_).mean() > 0.999


@either
def test_labels_are_the_nearest_means(rows):
    found = fit(rows, 25)
    means = np.array([rows[found.labels == c].mean(axis=0, dtype=float) for c in range(25)])
    squared = ((rows[:, None].astype(float) - means) ** 2).sum(axis=-1)
    own = squared[np.arange(len(rows)), found.labels]
    np.testing.assert_allclose(own, squared.min(axis=1), rtol=1e-3)
    assert found.inertia == pytest.approx(own.sum(), rel=1e-4)


@pytest.mark.usefixtures("by_bounds")
@pytest.mark.parametrize("threads", [2, 3, 8])
def test_threads_change_no_cells(rows, threads):
    one, many = fit(rows, 40), fit(rows, 40, threads=threads)
    np.testing.assert_array_equal(one.labels, many.labels)
    assert one.inertia == many.inertia


@pytest.mark.usefixtures("by_bounds")
def test_the_bounds_only_save_work(rows, monkeypatch):
    with_bounds = fit(rows, 40)
    monkeypatch.setattr(module, "DENSE", 1.0)
    always_single = fit(rows, 40)
    monkeypatch.setattr(module, "MOST_BOUNDS", 0)
    without = fit(rows, 40)
    np.testing.assert_array_equal(with_bounds.labels, without.labels)
    np.testing.assert_array_equal(with_bounds.labels, always_single.labels)


@either
def test_more_rounds_never_raise_the_inertia(rows):
    inertias = [fit(rows, 30, max_iterations=rounds).inertia for rounds in (1, 2, 3, 5, 100)]
    assert inertias == sorted(inertias, reverse=True)
    assert inertias[0] > inertias[-1]


@either
def test_duplicates_leave_no_row_away_from_its_centre():
    rows = np.repeat(np.eye(5, dtype=np.float32), 20, axis=0)
    found = fit(rows, 10)
    assert found.inertia == 0
    assert len(np.unique(found.labels)) == 5


@either
def test_an_empty_centre_moves_to_the_farthest_row():
    # Three of the four starts fall on the same point in every seed; none may stay empty
    rows = np.array([[0.0]] * 97 + [[10.0], [20.0], [30.0]], np.float32)
    assert fit(rows, 4).inertia == 0


@either
def test_it_stops_after_the_rounds_it_was_given(rows):
    assert fit(rows, 30, max_iterations=2).iterations == 2


@either
def test_one_round_is_one_step_of_lloyd_with_labels_of_the_new_centres(rows, monkeypatch):
    def labels_of(centres):
        squared = ((rows[:, None].astype(float) - centres) ** 2).sum(axis=-1)
        return squared.argmin(axis=1), squared.min(axis=1).sum()

    first = rows[np.random.default_rng(0).choice(len(rows), 15, replace=False)]
    before, _ = labels_of(first)
    after, inertia = labels_of([rows[before == c].mean(axis=0, dtype=float) for c in range(15)])
    assert (before != after).any()
    stopped = fit(rows, 15, max_iterations=1)
    monkeypatch.setattr(rounds, "TOLERANCE", 1e9)
    for found in (stopped, fit(rows, 15)):
        assert found.iterations == 1
        np.testing.assert_array_equal(found.labels, after)
        assert found.inertia == pytest.approx(inertia, rel=1e-6)


@pytest.mark.parametrize("few", [0.0, 1.0])
def test_bounds_never_lie_above_the_distances(rng, monkeypatch, few):
    # Two far groups: within one, the float32 products cancel nearly all of the lengths
    monkeypatch.setattr(module, "DENSE", few)
    rows = (rng.standard_normal((300, 24)) / 50 + np.repeat([[-1], [1]], 150, axis=0)).astype("f4")
    table = lay_out([rows], Workers.alone())
    at = Round.first(table.rows[:300:10])
    run = LocalSteps(table, 48, Workers.alone(), bounded=True)
    for _ in range(4):
        run.assign(at)
        middle = at.centres
        gaps = table.rows[:300, None].astype(float) - middle.values[:30].astype(float)
        exact = np.sqrt((gaps**2).sum(axis=-1))
        labels, own = run.labels, run.own
        np.testing.assert_array_equal(labels, exact.argmin(axis=1))
        np.testing.assert_allclose(own, exact.min(axis=1) ** 2, rtol=1e-12)
        exact[np.arange(300), labels] = np.inf
        assert (run.found.bounds[:, :30] - middle.total[:30] <= exact).all()
        nearest_of_group = exact[:, :16].min(axis=1), exact[:, 16:].min(axis=1)
        for group, nearest in enumerate(nearest_of_group):
            assert (run.found.groups[:, group] - middle.group_total[group] <= nearest).all()
        drifted = middle.values[:30] + (rng.standard_normal((30, 32)) / 500).astype("f4")
        drifted[:, 24:] = 0
        at = at.following(drifted)


def test_sums_that_follow_the_rows_equal_sums_made_anew(rows):
    table = lay_out([rows], Workers.alone())
    run = LocalSteps(table, 48, Workers.alone(), bounded=True)
    at = Round.first(table.rows[:40])
    for _ in range(6):
        run.assign(at)
        sums = run.sum_up()
        anew = [table.rows[:900][run.labels == c].sum(axis=0, dtype=float) for c in range(40)]
        np.testing.assert_allclose(sums.rows[:40] / table.unit, anew, atol=1e-12)
        np.testing.assert_array_equal(sums.mass[:40], np.bincount(run.labels) * table.unit)
        at = at.following(next_centres(table, run, sums, at))
    assert run.sum_up().changed == 0


@either
@pytest.mark.parametrize(("n", "d"), [(1, 1), (47, 16), (48, 17), (97, 3)])
def test_sizes_that_fill_no_vector(rng, n, d):
    rows = rng.standard_normal((n, d)).astype("f4")
    centres = max(1, n // 3)
    first = rows[np.random.default_rng(0).choice(n, centres, replace=False)]
    theirs = KMeans(centres, init=first, n_init=1, max_iter=500, tol=1e-7).fit(rows)
    assert fit(rows, centres).inertia == pytest.approx(theirs.inertia_, rel=1e-4, abs=1e-12)


def test_the_nearest_of_two_equal_centres_is_the_first():
    rows = np.repeat(np.array([[0.0], [1.0], [3.0]], np.float32), 20, axis=0)
    table = lay_out([rows], Workers.alone())
    run = LocalSteps(table, 48, Workers.alone(), bounded=True)
    run.assign(Round.first(table.rows[[0, 20, 20, 40, 0]]))
    np.testing.assert_array_equal(run.labels, np.repeat([0, 1, 3], 20))


def weighted(sets, weights, centres, seed=0):
    table = lay_out(sets, Workers.alone(), weights)
    found = k_means(table, centres, seed=seed, max_iterations=500, workers=Workers.alone())
    return replace(found, inertia=np.ldexp(found.inertia, 2 * table.exponent))


@either
def test_weights_equal_weighted_lloyd_of_scikit_learn(rows, monkeypatch):
    monkeypatch.setattr(module, "_draw", lambda table, centres, seed: np.arange(centres))
    each = np.repeat([0.5, 2.0], [300, 600])
    theirs = KMeans(20, init=rows[:20], n_init=1, max_iter=500).fit(rows, sample_weight=each)
    ours = weighted([rows[:300], rows[300:]], [0.5, 2.0], 20)
    assert ours.inertia == pytest.approx(theirs.inertia_, rel=1e-5)
    assert (ours.labels == theirs.labels_).mean() > 0.999


@either
def test_weights_count_as_copies_of_a_row_do(rows, monkeypatch):
    monkeypatch.setattr(module, "_draw", lambda table, centres, seed: np.arange(centres))
    few, many = rows[:200], rows[200:500]
    threefold = fit(np.concatenate([few, many, many, many]), 15)
    heavy = weighted([few, many], [1.0, 3.0], 15)
    np.testing.assert_array_equal(heavy.labels, threefold.labels[:500])
    assert heavy.inertia == pytest.approx(threefold.inertia, rel=1e-6)


def test_first_centres_are_drawn_in_proportion_to_the_weights(rng):
    rows = rng.standard_normal((100, 2)).astype("f4")
    table = lay_out([rows[:50], rows[50:]], Workers.alone(), [1.0, 9.0])
    drawn = np.concatenate([module._draw(table, 1, seed) for seed in range(600)])
    assert 0.85 < (drawn >= 50).mean() < 0.95


KINDS = ("plain", "copies", "blobs", "grid", "far", "halves")


def of_kind(kind, n, d, rng):
    """Rows of which some, or none, are equal or hardly differ."""
    rows = rng.standard_normal((n, d)).astype("f4")
    if kind == "copies":
        return rows[rng.integers(0, max(1, n // 6), n)]
    if kind == "blobs":
        return rows[rng.integers(0, min(5, n), n)] + np.float32(1e-3) * rows
    if kind == "grid":
        return np.round(rows)
    if kind == "far":
        return rows * np.float32(1e-3) + np.float32(100)
    if kind == "halves":  # mirrored: every row is as far from two centres
        return np.concatenate([rows[: n - n // 2], -rows[: n // 2]])
    return rows


@given(
    kind=st.sampled_from(KINDS),
    n=st.integers(2, 120),
    d=st.sampled_from([1, 2, 3, 16, 33, 200]),
    share=st.floats(0, 1),
    heavy=st.sampled_from([1.0, 0.37, 50.0]),
    rounds=st.sampled_from([0, 1, 2, 500]),
    seed=st.integers(0, 2**20),
)
@settings(max_examples=200)
def test_products_and_bounds_come_to_the_same_to_the_last_bit(
    kind, n, d, share, heavy, rounds, seed
):
    rows = of_kind(kind, n, d, np.random.default_rng(seed))
    table = lay_out([rows[: n // 2], rows[n // 2 :]], Workers.alone(), [1.0, heavy])
    first = module._draw(table, max(1, round(share * n)), seed)
    found = cluster_by_products(table, first, rest=at_rest(table), max_iterations=rounds)
    expected = LocalRounds(Workers.alone()).run(table, table.rows[first], rounds)
    if found is None:  # more centres than different rows
        assert len(first) > len(np.unique(table.rows[:n], axis=0))
        return
    labels, own, number = found
    np.testing.assert_array_equal(labels, expected.labels)
    assert inertia_of(own, table) == expected.inertia
    assert number == expected.iterations


def test_wrong_products_are_put_right_where_they_are_close(rng):
    # Off by as much as float32 sums may be, they must not decide
    rows = of_kind("blobs", 90, 24, rng)
    table = lay_out([rows], Workers.alone())
    first = module._draw(table, 12, 0)
    expected = LocalRounds(Workers.alone()).run(table, table.rows[first], 500)
    off = rng.uniform(-1, 1, (90, 90)) * 24 * 2.0**-24
    vars(table)["products"] = (table.products * (1 + (off + off.T) / 2)).astype("f4")
    labels, _, _ = cluster_by_products(table, first, rest=at_rest(table), max_iterations=500)
    np.testing.assert_array_equal(labels, expected.labels)


@pytest.mark.parametrize("first", [[], [-1], [5]])
def test_first_centres_must_be_rows(first):
    table = lay_out([np.eye(5, dtype="f4")], Workers.alone())
    with pytest.raises(ValueError, match="some of 5 rows"):
        cluster_by_products(table, np.array(first, np.int64), rest=0.0, max_iterations=5)


def test_few_rows_go_by_products_unless_rounds_run_elsewhere(rng, monkeypatch):
    calls = []

    def watched(table, first, **options):
        calls.append(len(first))
        return cluster_by_products(table, first, **options)

    monkeypatch.setattr(module, "cluster_by_products", watched)
    rows = rng.standard_normal((module.FEW + 1, 3)).astype("f4")
    fit(rows, 3)
    assert calls == []
    fit(rows[1:], 4)
    assert calls == [4]
