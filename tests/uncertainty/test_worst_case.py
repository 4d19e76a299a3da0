"""The worst rank correlation: by hand, against all corners one by one, and the laws that hold."""

import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import rankdata

from calipers.errors import InputError
from calipers.uncertainty.worst_case import worst_case_spearman

seeds = st.integers(0, 2**32 - 1)


def correlation(scores, truth):
    """Spearman's by its definition; scores are rounded, so that only true ties are ties."""
    x, y = (rankdata(np.round(each, 9)) for each in (scores, truth))
    x, y = x - x.mean(), y - y.mean()
    length = np.sqrt((x @ x) * (y @ y))
    return x @ y / length if length else np.nan


def brute_force(means, deviations, truth):
    signs = itertools.product([-1, 1], repeat=len(means))
    found = [correlation(means + np.array(each) * deviations, truth) for each in signs]
    return np.nan if np.isnan(found).all() else np.nanmin(found)


def drawn(seed, rounded, least=3, most=8):
    rng = np.random.default_rng(seed)
    n = int(rng.integers(least, most + 1))
    if rounded:  # many ties, also of ends
        return tuple(rng.integers(0, top, n).astype(float) for top in (6, 3, 5))
    return rng.normal(size=n), rng.uniform(0, 1, n), rng.normal(size=n)


def test_by_hand():
    # Intervals 0.4..1.6, 1.4..2.6, 8.4..9.6: the first two can change places, and then the ranks
    # 2 1 3 correlate with 1 2 3 by 1 - 6·2/(3·8) = 0.5
    found = worst_case_spearman([1, 2, 9], [0.6, 0.6, 0.6], [10, 20, 30])
    assert (found.plain, found.value, found.lower_bound, found.exact) == (1, 0.5, 0.5, True)
    assert found.signs.tolist() == [1, -1, 1]
    assert found.reason is None


def test_touching_ends_are_ties_even_if_floats_part_them():
    # 0.1 + 0.2 meets 0.5 - 0.2, though not as floats: ranks 1.5 1.5 3, √3/2 with 1 2 3
    assert 0.1 + 0.2 != 0.5 - 0.2
    found = worst_case_spearman([0.1, 0.5, 9], [0.2, 0.2, 0], [1, 2, 3])
    assert found.value == pytest.approx(np.sqrt(3) / 2)


@settings(max_examples=60, deadline=None)
@given(seeds, st.booleans())
def test_equals_all_corners_one_by_one(seed, rounded):
    means, deviations, truth = drawn(seed, rounded, most=7)
    found = worst_case_spearman(means, deviations, truth)
    expected = brute_force(means, deviations, truth)
    assert found.value == pytest.approx(expected, nan_ok=True)
    assert (found.reason is None) == (not np.isnan(expected))
    if found.reason is None:
        assert found.exact
        assert found.lower_bound == found.value
        assert correlation(means + found.signs * deviations, truth) == pytest.approx(found.value)


@settings(max_examples=40, deadline=None)
@given(seeds, st.booleans())
def test_laws(seed, rounded):
    means, deviations, truth = drawn(seed, rounded, most=14)
    found = worst_case_spearman(means, deviations, truth).value
    order = np.random.default_rng(seed).permutation(len(means))
    changed = {
        "order of systems": (means[order], deviations[order], truth[order]),
        "rising function of the truth": (means, deviations, np.exp(truth / 2) * 5 - 1),
        "unit of the metric": (means * 32 - 8, deviations * 32, truth),
        "turned on its head": (-means, deviations, -truth),
    }
    for name, given_ in changed.items():
        assert worst_case_spearman(*given_).value == pytest.approx(found, nan_ok=True), name


@settings(max_examples=40, deadline=None)
@given(seeds, st.floats(0, 3))
def test_equal_deviations_never_give_more_than_the_plain_correlation(seed, deviation):
    means, _, truth = drawn(seed, rounded=False, most=12)
    found = worst_case_spearman(means, np.full_like(means, deviation), truth)
    assert found.value <= found.plain + 1e-12
    assert found.plain == pytest.approx(correlation(means, truth))


def test_unequal_deviations_can_give_more():
    # The middle one goes to either end, and both are nearer to the truth than the middle was
    found = worst_case_spearman([1, 2, 3], [0, 5, 0], [3, 2, 1])
    assert (found.plain, found.value) == (-1, -0.5)
    # and so growing deviations do not always lower it
    assert worst_case_spearman([1, 2, 3], [0, 0.5, 0], [3, 2, 1]).value == -1


def test_without_deviations_it_is_the_plain_correlation(rng):
    means, truth = rng.normal(size=(2, 40))
    found = worst_case_spearman(means, np.zeros(40), truth)
    assert found.value == found.plain == pytest.approx(correlation(means, truth))
    assert found.exact
    assert (found.signs == 1).all()


def test_a_sign_that_changes_nothing_is_up():
    found = worst_case_spearman([1, 5, 5.5, 20], [0.5, 1, 1, 3], [1, 2, 3, 4])
    assert found.signs.tolist() == [1, 1, -1, 1]


def test_undefined_is_nan_with_a_reason():
    for few in ([], [1.0], [1.0, 2.0]):
        assert "at least 3 systems" in worst_case_spearman(few, few, few).reason
    assert "same truth" in worst_case_spearman([1, 2, 3], [1, 1, 1], [7, 7, 7]).reason
    found = worst_case_spearman([1, 1, 1], [0, 0, 0], [1, 2, 3])
    assert "same score" in found.reason
    assert np.isnan([found.value, found.plain, found.lower_bound]).all()
    assert not found.exact


def test_equal_means_have_no_plain_correlation_but_a_worst_one():
    found = worst_case_spearman([1, 1, 1], [1, 1, 1], [1, 2, 3])
    assert np.isnan(found.plain)
    assert found.value == pytest.approx(-np.sqrt(3) / 2)


@pytest.mark.parametrize(
    ("given_", "words"),
    [
        (([1, 2], [1, 2, 3], [1, 2, 3]), "one value for each system, found 2, 3 and 3"),
        (([1, np.nan, 3], [1, 1, 1], [1, 2, 3]), "means must be finite, found nan for system.* 2"),
        (([1, 2, 3], [1, 1, np.inf], [1, 2, 3]), "deviations must be finite, found inf"),
        (([1, 2, 3], [1, -0.5, 1], [1, 2, 3]), "not be negative, found -0.5 for system number 2"),
        (([1, 2, 3], [1, 1, 1], ["x", 2, 3]), "truth must be numbers"),
        (([[1, 2, 3]], [1, 1, 1], [1, 2, 3]), r"means must have the shape \(systems,\), found"),
    ],
)
def test_bad_input(given_, words):
    with pytest.raises(InputError, match=words):
        worst_case_spearman(*given_)
