"""What cells add to the frontier integral: worked by hand, as parts of the whole, and as laws."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from calipers.catalogue.estimation import SMOOTHING
from calipers.curves import DIVERGENCES, contributions, custom_divergence, divergence_frontier
from calipers.errors import InputError
from calipers.estimate import Histograms, LikelihoodRatios

WEIGHTED = ("interpolated_kl=0.3", "interpolated_chi2=0.6", "skew_jensen_shannon=0.8")
NAMES = (*DIVERGENCES, *WEIGHTED)
FINITE = tuple(name for name in NAMES if name != "reverse_kl")
COUNTS = st.lists(st.integers(0, 30), min_size=6, max_size=6).filter(any)
smoothed = pytest.mark.parametrize("smoothing", SMOOTHING.words)


def test_worked_by_hand():
    # f̃(t) = (t + 1)/2 − t·log t/(t − 1) for KL; f̃(0) = ½, and t·f̃(1/t) → ½ for p alone
    found = contributions(Histograms([4, 4, 2, 0], [4, 2, 0, 4]))
    two = 0.2 * (1.5 - 2 * np.log(2))  # p = 0.4, q = 0.2
    assert found == pytest.approx([0.0, two, 0.1, 0.2], abs=1e-14)


def test_disjoint_sets_split_the_largest_value_by_their_mass():
    assert contributions(Histograms([1, 3, 0], [0, 0, 5])).tolist() == pytest.approx(
        [0.125, 0.375, 0.5]
    )


@smoothed
@pytest.mark.parametrize("name", FINITE)
@settings(max_examples=8, deadline=None)
@given(p=COUNTS, q=COUNTS)
def test_they_add_up_to_the_frontier_integral(name, smoothing, p, q):
    histograms = Histograms(p, q, smoothing=smoothing)
    found = contributions(histograms, name)
    whole = divergence_frontier(histograms, divergence=name).integral()
    assert found.dtype == np.float64
    assert found.shape == (6,)
    assert (found >= 0).all()
    assert found.sum() == pytest.approx(whole, rel=1e-12, abs=1e-13)


@pytest.mark.parametrize("smoothing", [each for each in SMOOTHING.words if each != "none"])
def test_a_divergence_with_infinite_ends_needs_smoothing_alone(smoothing):
    histograms = Histograms([9, 0, 3], [1, 5, 0], smoothing=smoothing)
    whole = divergence_frontier(histograms, divergence="reverse_kl").integral()
    assert contributions(histograms, "reverse_kl").sum() == pytest.approx(whole, rel=1e-12)


@pytest.mark.parametrize("name", FINITE)
@settings(max_examples=10, deadline=None)
@given(p=COUNTS, q=COUNTS)
def test_swapping_the_sets_changes_nothing(name, p, q):
    one, two = contributions(Histograms(p, q), name), contributions(Histograms(q, p), name)
    assert one == pytest.approx(two, abs=1e-15)


@smoothed
@pytest.mark.parametrize("name", FINITE)
def test_cells_of_equal_share_add_nothing(name, smoothing):
    histograms = Histograms([3, 0, 7, 1], [3, 0, 7, 1], smoothing=smoothing)
    assert contributions(histograms, name) == pytest.approx(np.zeros(4), abs=1e-15)


@given(COUNTS, COUNTS, st.permutations(range(6)))
def test_they_follow_the_order_of_the_cells(p, q, order):
    plain = contributions(Histograms(p, q))
    turned = contributions(Histograms(np.array(p)[order], np.array(q)[order]))
    assert turned == pytest.approx(plain[order], abs=1e-15)


def test_a_divergence_of_ones_own():
    own = custom_divergence(
        lambda t: (t - 1) ** 2 / (t + 1), at_zero=1.0, conjugate_at_zero=1.0, name="triangle"
    )
    histograms = Histograms([5, 0, 2], [1, 4, 2])
    whole = divergence_frontier(histograms, divergence=own).integral()
    assert contributions(histograms, own).sum() == pytest.approx(whole, rel=1e-12)


def test_refusals_say_why():
    with pytest.raises(InputError, match=r"unknown divergence 'kll'; did you mean 'kl'"):
        contributions(Histograms([1], [1]), "kll")
    with pytest.raises(InputError, match=r"reverse_kl is infinite: 50.00% of the generated"):
        contributions(Histograms([1, 0], [1, 1]), "reverse_kl")
    with pytest.raises(InputError, match=r"of Histograms; found LikelihoodRatios"):
        contributions(LikelihoodRatios([0.0], [0.0]))
