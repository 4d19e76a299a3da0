import numpy as np
import pytest
from sklearn.cluster import KMeans

import calipers.estimate.kmeans as module
from calipers.estimate.kmeans import k_means
from calipers.estimate.tiles import workers


def fit(rows, centres, *, seed=0, threads=1, max_iterations=500):
    with workers(threads) as pool:
        return k_means(rows, centres, seed=seed, max_iterations=max_iterations, workers=pool)


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


def test_bounds_never_lie_above_the_distances(rng):
    # Two far groups: within one, the float32 products cancel nearly all of the lengths
    rows = (rng.standard_normal((300, 24)) / 50 + np.repeat([[-1], [1]], 150, axis=0)).astype("f4")
    middle = rows[::10].copy()
    state = module._state(rows, len(middle))
    with workers(1) as pool:
        module._assign(state, middle, None, [(0, 300)], pool)
    exact = np.sqrt(((rows[:, None].astype(float) - middle.astype(float)) ** 2).sum(axis=-1))
    assert (state.bounds <= exact).all()
    np.testing.assert_array_equal(state.labels, exact.argmin(axis=1))
