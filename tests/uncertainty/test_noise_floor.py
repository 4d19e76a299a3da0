"""The noise floor, and how many samples lie outside it."""

from __future__ import annotations

import math
from statistics import NormalDist

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from calipers.errors import InputError
from calipers.numeric.blocks import cluster_sets
from calipers.score import NoiseFloor
from calipers.uncertainty.noise_floor import floor_size, noise_floor, split_rows, widening
from calipers.uncertainty.sample_size import Nested, extrapolate, separating_n

# The noise floor: how the reference is split, and how often an equal system lies outside.


SIZES = st.integers(4, 60)


def test_four_splits_by_hand():
    halves, beside = np.array([0.8, 0.9, 0.8, 0.9]), np.array([0.6, 0.7, 0.7, 0.6])
    found = noise_floor(halves, beside, n=100, m=100, size=50)
    deviation = math.sqrt(4 * 0.05**2 / 3)
    assert found.value == pytest.approx(0.85)
    assert found.beside == pytest.approx(0.65)
    assert found.spread == pytest.approx(deviation)
    assert found.beside_spread == pytest.approx(deviation)
    # Student's t with 6 degrees of freedom leaves 5 % beyond 2.4469; a quarter is for four splits
    assert found.margin == pytest.approx(2.4469 * deviation * math.sqrt(1.25), rel=1e-4)
    assert (found.size, found.splits, found.inside) == (50, 4, False)


def test_a_side_that_never_varies_brings_no_certainty():
    halves, beside = np.array([0.8, 0.9, 0.8, 0.9]), np.full(4, 0.6)
    found = noise_floor(halves, beside, n=100, m=100, size=50)
    # Student's t with 3 degrees of freedom leaves 5 % beyond 3.1824
    assert found.margin == pytest.approx(3.1824 * found.spread * math.sqrt(0.5 * 1.25), rel=1e-4)


def test_scores_that_never_vary_must_agree():
    ones = np.ones(10)
    assert noise_floor(ones, ones, n=100, m=100, size=50).inside
    assert not noise_floor(ones, 0.99 * ones, n=100, m=100, size=50).inside


def test_inside_ends_at_the_margin():
    def floor(beside, margin):
        return NoiseFloor(0.5, 0.125, beside, 0.1, 50, 10, margin)

    assert floor(0.75, 0.25).inside
    assert floor(0.25, 0.25).inside
    assert not floor(0.76, 0.25).inside
    assert floor(0.75, None).inside
    assert not floor(0.76, None).inside


@pytest.mark.parametrize("wrong", [math.nan, math.inf])
@pytest.mark.parametrize("side", [0, 1])
def test_no_floor_where_a_split_has_no_value(wrong, side):
    values = np.array([[0.8, 0.9], [0.7, 0.6]])
    values[side, 1] = wrong
    assert noise_floor(*values, n=10, m=10, size=5) is None


@given(n=SIZES, m=SIZES, seed=st.integers(0, 5), split=st.integers(0, 20))
def test_halves_share_no_row_and_all_have_one_size(n, m, seed, split):
    size = floor_size(n, m)
    found = split_rows(n, m, size=size, seed=seed, split=split)
    both = np.concatenate([found.first, found.second])
    assert len(found.first) == len(found.second) == len(found.generated) == size
    assert len(set(both.tolist())) == 2 * size
    assert set(both.tolist()) <= set(range(n))
    assert len(set(found.generated.tolist())) == size
    assert set(found.generated.tolist()) <= set(range(m))
    for rows in (found.first, found.second, found.generated):
        assert (np.diff(rows) > 0).all()


def test_systems_of_any_size_share_the_halves():
    one, other = (split_rows(40, m, size=15, seed=3, split=2) for m in (15, 400))
    assert one.first.tolist() == other.first.tolist()
    assert one.second.tolist() == other.second.tolist()
    assert one.seed == other.seed


def test_another_split_or_seed_draws_other_rows():
    drawn = [
        split_rows(40, 40, size=20, seed=seed, split=split) for seed in (0, 1) for split in (0, 1)
    ]
    assert len({found.first.tobytes() for found in drawn}) == 4
    assert len({found.seed for found in drawn}) == 4


def test_prompts_that_both_sets_continue_stay_out_of_the_first_half():
    found = split_rows(30, 30, size=15, seed=0, split=0)
    assert not set(found.generated.tolist()) & set(found.first.tolist())


def test_all_rows_have_the_same_chance():
    drawn = np.concatenate(
        [split_rows(20, 50, size=10, seed=0, split=split).generated for split in range(500)]
    )
    counts = np.bincount(drawn, minlength=50)
    assert counts.min() > 60
    assert counts.max() < 140


def outside(score, *, n, m, one_set=False, worlds=400, shift=0.0, each=1, known=True):
    """Share of worlds in which a system of the reference's law (but for a shift) is outside.

    So many rows in turn are the same; whether that is `known` as their cluster.
    """
    rng, found = np.random.default_rng(7), 0
    names = [np.arange(rows) // each + start for rows, start in ((n, 0), (m, n))]
    clusters = in_clusters(*names) if each > 1 and known else None
    size = floor_size(n, m, clusters and clusters[0])
    for world in range(worlds):
        left, right = (
            np.repeat(rng.standard_normal((-(-rows // each), 2)), each, axis=0)[:rows]
            for rows in (n, m)
        )
        right = right + shift
        halves, beside = [], []
        for split in range(10):
            rows = split_rows(n, m, size=size, seed=world, split=split, clusters=clusters)
            halves.append(score(left[rows.first], left[rows.second]))
            beside.append(score(left[rows.first], right[rows.generated]))
        scores = np.array(halves), np.array(beside)
        found += not noise_floor(*scores, n=n, m=m, size=size, one_set=one_set).inside
    return found / worlds


def linear(reference, generated):
    """The hardest case: nothing averages out over the splits."""
    return reference[:, 0].mean() + generated[:, 1].mean()


@pytest.mark.slow
@pytest.mark.parametrize(("n", "m"), [(60, 60), (60, 30), (60, 45), (90, 30), (60, 200)])
def test_an_equal_system_is_outside_in_one_run_of_twenty(n, m):
    assert 0 < outside(linear, n=n, m=m) < 0.08


@pytest.mark.slow
@pytest.mark.parametrize("m", [300, 200])
def test_so_is_one_of_clusters_that_are_known(m):
    assert 0 < outside(linear, n=300, m=m, each=5) < 0.08
    assert outside(linear, n=300, m=m, each=5, known=False) > 0.2


@pytest.mark.slow
@pytest.mark.parametrize("m", [60, 30])
def test_so_is_one_by_a_statistic_of_one_set(m):
    def own(reference, generated):
        return generated[:, 0].mean()

    assert 0.02 < outside(own, n=60, m=m, one_set=True) < 0.08


@pytest.mark.slow
def test_a_score_of_second_order_is_outside_less_often():
    def squared(reference, generated):
        return float(((reference.mean(0) - generated.mean(0)) ** 2).sum())

    assert outside(squared, n=60, m=60) < 0.05


def test_a_system_far_off_is_outside():
    assert outside(linear, n=60, m=60, worlds=50, shift=1.5) == 1


def test_widening_is_never_below_one():
    assert widening(10_000, 10_000, size=50) == 1
    assert widening(60, 60, size=30, one_set=True) == pytest.approx(2)


def in_clusters(*sets):
    return cluster_sets([labels.tolist() for labels in sets])


def test_no_cluster_lies_in_both_halves():
    rng = np.random.default_rng(4)
    reference, other = rng.integers(0, 30, 150), rng.integers(100, 140, 200)
    clusters = in_clusters(reference, other)
    size = floor_size(150, 200, clusters[0])
    assert size == (150 - np.bincount(reference).max() + 1) // 2
    for split in range(20):
        found = split_rows(150, 200, size=size, seed=1, split=split, clusters=clusters)
        assert [len(rows) for rows in (found.first, found.second, found.generated)] == [size] * 3
        assert not set(reference[found.first]) & set(reference[found.second])
        parts = (np.isin(reference, reference[rows]) for rows in (found.first, found.second))
        assert all(each.sum() - size < np.bincount(reference).max() for each in parts)
        assert len(set(found.generated.tolist())) == size


def test_shared_clusters_stay_out_of_the_first_half():
    labels = np.repeat(np.arange(40), 4)
    again = np.random.default_rng(0).permutation(np.repeat(np.arange(40), 3))
    for generated, size in ((labels, 60), (again, 55)):
        clusters = in_clusters(labels, generated)
        found = split_rows(160, len(generated), size=size, seed=0, split=3, clusters=clusters)
        assert not set(labels[found.first]) & set(generated[found.generated])
    alike = split_rows(160, 160, size=60, seed=0, split=3, clusters=in_clusters(labels, labels))
    np.testing.assert_array_equal(alike.generated, alike.second)
    few = in_clusters(labels, np.repeat(np.arange(40), 2))
    assert len(split_rows(160, 80, size=70, seed=0, split=0, clusters=few).generated) == 70


@pytest.mark.parametrize("m", [60, 45])
def test_clusters_of_one_row_are_split_as_rows_are(m):
    clusters = in_clusters(np.arange(60), np.arange(100, 100 + m))
    one = split_rows(60, m, size=30, seed=2, split=1)
    other = split_rows(60, m, size=30, seed=2, split=1, clusters=clusters)
    for name in ("first", "second", "generated"):
        np.testing.assert_array_equal(getattr(one, name), getattr(other, name))
    assert one.seed == other.seed
    assert floor_size(60, m, clusters[0]) == floor_size(60, m)


# Where nested values lead, and how many samples separate two systems.


SMALL = st.floats(-10, 10)


@given(limit=SMALL, slope=SMALL, error=st.floats(0, 1))
def test_the_law_one_over_n_is_followed_to_its_end(limit, slope, error):
    means = [limit + slope * parts for parts in (8, 4, 2, 1)]
    found = extrapolate(means, error)
    assert found.limit == pytest.approx(limit, abs=1e-9)
    assert found.error == error


def test_a_slower_law_stops_on_the_right_side_by_hand():
    means = [1 / math.sqrt(n) for n in (100, 200, 400, 800)]
    assert extrapolate(means, 0.0).limit == pytest.approx(2 / math.sqrt(800) - 1 / 20)
    assert 0 < extrapolate(means, 0.0).limit < means[-1]


@pytest.mark.parametrize("sign", [1, -1])
def test_steps_that_do_not_shrink_lead_nowhere(sign):
    means = [sign * value for value in (0.1, 0.2, 0.3, 0.4)]
    assert math.isnan(extrapolate(means, 0.001).limit)
    assert math.isnan(extrapolate(means, 0.001).error)


def test_steps_within_chance_are_no_steps():
    assert extrapolate([0.1, 0.2, 0.3, 0.4], 0.08).limit == pytest.approx(0.5)


def test_a_late_start_is_forgiven_once_the_last_steps_shrink():
    assert extrapolate([0.139, 0.0965, 0.0569, 0.0291], 0.001).limit == pytest.approx(0.0013)


def test_the_limit_keeps_to_the_range():
    assert extrapolate([0.67, 0.8, 0.91, 0.97], 0.01, range=(0, 1)).limit == 1
    assert extrapolate([0.4, 0.2, 0.1, 0.03], 0.01, range=(0, math.inf)).limit == 0


@pytest.mark.parametrize("wrong", [math.nan, math.inf])
def test_a_level_without_a_value_leaves_no_limit(wrong):
    assert math.isnan(extrapolate([wrong, 0.5, 0.4, 0.35], 0.01).limit)


def nested(score, n=64, orders=3, seed=0):
    """Score the parts of random orders of n rows."""
    levels = [
        np.array(
            [
                [score(part) for part in np.split(order, parts)]
                for order in (
                    np.random.default_rng([seed, i]).permutation(n) for i in range(orders)
                )
            ]
        )
        for parts in (8, 4, 2, 1)
    ]
    return Nested(tuple(levels))


def test_parts_by_hand():
    levels = [[[1, 3, 5, 7, 1, 3, 5, 7]], [[3, 7, 3, 7]], [[6, 6]], [[6.5]]]
    found = Nested(tuple(np.array(level, float) for level in levels))
    assert found.means == (4, 5, 6, 6.5)
    # Quarters less the mean of their eighths: 1, 1, 1, 1; halves less their quarters: 1, 1
    assert found.step_error == 0
    assert found.spread == pytest.approx(math.sqrt(np.var([3, 7], ddof=1) * 2 / 3 / 4))


def test_rows_move_all_levels_alike():
    rows = np.random.default_rng(1).standard_normal(64)
    found = nested(lambda part: rows[part].mean())
    assert np.ptp(found.means) < 1e-12
    assert found.step_error < 1e-12
    assert found.spread == pytest.approx(rows.std(ddof=1) / 8, rel=0.5)


def test_the_error_of_the_step_is_no_less_than_worlds_show():
    def squared_mean(rng):
        rows = rng.standard_normal(64)
        found = nested(lambda part: rows[part].mean() ** 2, seed=int(rng.integers(2**31)))
        return found.means[-1] - found.means[-2], found.step_error

    rng = np.random.default_rng(2)
    steps, errors = np.array([squared_mean(rng) for _ in range(200)]).T
    assert steps.std() < math.sqrt(np.mean(errors**2)) < 4 * steps.std()


def test_the_limit_over_fixed_cells_is_nearer_than_all_samples():
    # The squared distance of two histograms of the same law: (1/n + 1/n)(1 - sum of squares), 0
    def world(rng):
        cells = rng.integers(20, size=(2, 512))

        def score(part):
            p, q = (np.bincount(side[part], minlength=20) / len(part) for side in cells)
            return float(((p - q) ** 2).sum())

        found = nested(score, n=512, seed=int(rng.integers(2**31)))
        return found.means[-1], extrapolate(found.means, found.step_error).limit

    rng = np.random.default_rng(3)
    plain, limits = np.array([world(rng) for _ in range(60)]).T
    assert plain.mean() == pytest.approx(2 / 512 * 0.95, rel=0.1)
    assert abs(np.nanmean(limits)) < 0.15 * plain.mean()


def test_samples_to_separate_by_hand():
    # At 7,849 samples the error is 0.01 * sqrt(1000 / 7849) = 0.003569, and 0.01 is 2.802 of it
    assert separating_n(0.01, 0.01, 1_000) == 7_849
    assert separating_n(-0.01, 0.01, 1_000) == 7_849


@given(
    difference=st.floats(0.001, 0.1),
    error=st.floats(0.001, 0.1),
    level=st.floats(0.5, 0.99),
    power=st.floats(0.5, 0.99),
)
def test_the_number_reaches_the_power_and_one_less_does_not(difference, error, level, power):
    found = separating_n(difference, error, 500, level=level, power=power)
    normal = NormalDist()
    bound = normal.inv_cdf((1 + level) / 2)
    if found is None:
        assert difference >= bound * error
        return

    def reached(n):
        return normal.cdf(difference / (error * math.sqrt(500 / n)) - bound)

    assert reached(found) >= power - 1e-9
    assert reached(found - 1) < power + 1e-9
    assert found > 500


@pytest.mark.parametrize(
    ("difference", "error"),
    [(0.0, 0.1), (0.3, 0.1), (0.1, 0.0), (math.nan, 0.1), (0.1, math.nan), (0.1, math.inf)],
)
def test_no_number_where_none_is_needed_or_known(difference, error):
    assert separating_n(difference, error, 1_000) is None


def test_no_number_beyond_a_milliard():
    assert separating_n(1e-6, 1e-3, 100) == pytest.approx(7.849e8, rel=1e-3)
    assert separating_n(1e-6, 1e-3, 1_000) is None
    assert separating_n(5e-324, 1.0, 1_000) is None


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"level": 1.0}, "level must lie between 0 and 1; found 1.0"),
        ({"level": math.nan}, "level must lie between 0 and 1; found nan"),
        ({"power": 0.0}, "power must lie between 0 and 1; found 0.0"),
        ({"n": 0}, "n must be at least 1; found 0"),
    ],
)
def test_bad_input_to_separating_n(options, message):
    with pytest.raises(InputError, match=message.replace(".", r"\.")):
        separating_n(**({"difference": 0.1, "standard_error": 0.1, "n": 10} | options))
