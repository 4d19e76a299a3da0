from dataclasses import replace

import numpy as np
import pytest
from sklearn.cluster import KMeans

import calipers.estimate.kmeans.lloyd as module
from calipers.estimate.kmeans.kernels import lay_out
from calipers.estimate.kmeans.lloyd import k_means, place_centres
from calipers.numeric.threads import Workers, workers


def fit(rows, centres, *, seed=0, threads=1, max_iterations=500):
    with workers(threads) as pool:
        table = lay_out([rows], pool)
        found = k_means(table, centres, seed=seed, max_iterations=max_iterations, workers=pool)
    return replace(found, inertia=np.ldexp(found.inertia, 2 * table.exponent))


@pytest.fixture
def rows(rng):
    topics = 2 * rng.standard_normal((12, 20))
    drawn = topics[rng.integers(0, 12, 900)] + rng.standard_normal((900, 20))
    return (drawn - drawn.mean(axis=0)).astype(np.float32)


@pytest.mark.parametrize("centres", [1, 2, 15, 90])
@pytest.mark.parametrize("seed", [0, 1])
def test_equals_lloyd_of_scikit_learn_from_the_same_start(rows, centres, seed):
    first = rows[np.random.default_rng(seed).choice(len(rows), centres, replace=False)]
    theirs = KMeans(centres, init=first, n_init=1, max_iter=500).fit(rows)
    ours = fit(rows, centres, seed=seed)
    assert ours.inertia == pytest.approx(theirs.inertia_, rel=1e-5)
    assert (ours.labels == theirs.labels_).mean() > 0.999


def test_labels_are_the_nearest_means(rows):
    found = fit(rows, 25)
    means = np.array([rows[found.labels == c].mean(axis=0, dtype=float) for c in range(25)])
    squared = ((rows[:, None].astype(float) - means) ** 2).sum(axis=-1)
    own = squared[np.arange(len(rows)), found.labels]
    np.testing.assert_allclose(own, squared.min(axis=1), rtol=1e-3)
    assert found.inertia == pytest.approx(own.sum(), rel=1e-4)


@pytest.mark.parametrize("threads", [2, 3, 8])
def test_threads_change_nothing(rows, threads):
    one, many = fit(rows, 40), fit(rows, 40, threads=threads)
    np.testing.assert_array_equal(one.labels, many.labels)
    assert one.inertia == many.inertia


def test_the_bounds_only_save_work(rows, monkeypatch):
    with_bounds = fit(rows, 40)
    monkeypatch.setattr(module, "DENSE", 1.0)
    always_single = fit(rows, 40)
    monkeypatch.setattr(module, "MOST_BOUNDS", 0)
    without = fit(rows, 40)
    np.testing.assert_array_equal(with_bounds.labels, without.labels)
    np.testing.assert_array_equal(with_bounds.labels, always_single.labels)


def test_more_rounds_never_raise_the_inertia(rows):
    inertias = [fit(rows, 30, max_iterations=rounds).inertia for rounds in (1, 2, 3, 5, 100)]
    assert inertias == sorted(inertias, reverse=True)
    assert inertias[0] > inertias[-1]


def test_duplicates_leave_no_row_away_from_its_centre():
    rows = np.repeat(np.eye(5, dtype=np.float32), 20, axis=0)
    found = fit(rows, 10)
    assert found.inertia == 0
    assert len(np.unique(found.labels)) == 5


def test_an_empty_centre_moves_to_the_farthest_row():
    # Three of the four starts fall on the same point in every seed; none may stay empty
    rows = np.array([[0.0]] * 97 + [[10.0], [20.0], [30.0]], np.float32)
    assert fit(rows, 4).inertia == 0


def test_it_stops_after_the_rounds_it_was_given(rows):
    assert fit(rows, 30, max_iterations=2).iterations == 2


def test_one_round_is_one_step_of_lloyd_with_labels_of_the_new_centres(rows, monkeypatch):
    def labels_of(centres):
        squared = ((rows[:, None].astype(float) - centres) ** 2).sum(axis=-1)
        return squared.argmin(axis=1), squared.min(axis=1).sum()

    first = rows[np.random.default_rng(0).choice(len(rows), 15, replace=False)]
    before, _ = labels_of(first)
    after, inertia = labels_of([rows[before == c].mean(axis=0, dtype=float) for c in range(15)])
    assert (before != after).any()
    stopped = fit(rows, 15, max_iterations=1)
    monkeypatch.setattr(module, "TOLERANCE", 1e9)
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
    middle = place_centres(table.rows[:300:10], None, 30)
    run = module._start(table, len(middle.low), Workers.alone())
    for _ in range(4):
        module._assign(run, middle)
        gaps = table.rows[:300, None].astype(float) - middle.values[:30].astype(float)
        exact = np.sqrt((gaps**2).sum(axis=-1))
        labels, own = run.found.labels, run.found.own
        np.testing.assert_array_equal(labels, exact.argmin(axis=1))
        np.testing.assert_allclose(own, exact.min(axis=1) ** 2, rtol=1e-12)
        exact[np.arange(300), labels] = np.inf
        assert (run.found.bounds[:, :30] - middle.total[:30] <= exact).all()
        nearest_of_group = exact[:, :16].min(axis=1), exact[:, 16:].min(axis=1)
        for group, nearest in enumerate(nearest_of_group):
            assert (run.found.groups[:, group] - middle.group_total[group] <= nearest).all()
        drifted = middle.values[:30] + (rng.standard_normal((30, 32)) / 500).astype("f4")
        drifted[:, 24:] = 0
        middle = place_centres(drifted, middle, 30)


def test_sums_that_follow_the_rows_equal_sums_made_anew(rows):
    table = lay_out([rows], Workers.alone())
    run = module._start(table, 48, Workers.alone())
    middle = place_centres(table.rows[:40], None, 40)
    for _ in range(6):
        module._assign(run, middle)
        module._sum_up(run)
        anew = [table.rows[:900][run.found.labels == c].sum(axis=0, dtype=float) for c in range(40)]
        np.testing.assert_allclose(run.sums[:40], anew, atol=1e-12)
        middle = place_centres(module._means(run, middle, 40), middle, 40)
    assert module._sum_up(run) == 0


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
    middle = place_centres(table.rows[[0, 20, 20, 40, 0]], None, 5)
    run = module._start(table, len(middle.low), Workers.alone())
    module._assign(run, middle)
    np.testing.assert_array_equal(run.found.labels, np.repeat([0, 1, 3], 20))


def weighted(sets, weights, centres, seed=0):
    table = lay_out(sets, Workers.alone(), weights)
    found = k_means(table, centres, seed=seed, max_iterations=500, workers=Workers.alone())
    return replace(found, inertia=np.ldexp(found.inertia, 2 * table.exponent))


def test_weights_equal_weighted_lloyd_of_scikit_learn(rows, monkeypatch):
    monkeypatch.setattr(module, "_draw", lambda table, centres, seed: np.arange(centres))
    each = np.repeat([0.5, 2.0], [300, 600])
    theirs = KMeans(20, init=rows[:20], n_init=1, max_iter=500).fit(rows, sample_weight=each)
    ours = weighted([rows[:300], rows[300:]], [0.5, 2.0], 20)
    assert ours.inertia == pytest.approx(theirs.inertia_, rel=1e-5)
    assert (ours.labels == theirs.labels_).mean() > 0.999


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
