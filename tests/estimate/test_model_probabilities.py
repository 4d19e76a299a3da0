"""Likelihood ratios from the probabilities of two models."""

import numpy as np
import pytest

from calipers.curves import divergence_frontier
from calipers.errors import InputError
from calipers.estimate.model_probabilities import probability_ratios

INF = np.inf


def test_two_texts_a_side_by_hand():
    found = probability_ratios(([-1.0, -2.0], [-3.0, -2.5]), ([-4.0, -1.0], [-2.0, -2.0]))
    np.testing.assert_allclose(found.log_reference, [2, 0.5])
    np.testing.assert_allclose(found.log_generated, [-2, 1])
    assert found.positive
    assert found.pins == {"estimator": "model"}


def test_the_paper_averages_over_the_own_side():
    log_p, log_q = np.array([-1.0, -2.0]), np.array([-3.0, -2.5])
    found = probability_ratios((log_p, log_q), ([-4.0, -1.0], [-2.0, -2.0]))
    frontier = divergence_frontier(found, grid=[0.3], points="own_side")
    mixture = np.log(0.3 * np.exp(log_p) + 0.7 * np.exp(log_q))
    assert frontier.reference_cost[0] == pytest.approx((log_p - mixture).mean())


def test_what_one_model_cannot_write_is_infinite():
    found = probability_ratios(([-1.0, -2.0], [-INF, -2.5]), ([-INF], [-2.0]))
    assert found.log_reference[0] == INF
    assert found.log_generated[0] == -INF
    assert not found.positive
    assert found.outside_generated == 0.5


def test_sides_may_differ_in_length_and_swap():
    p, q = np.array([-1.0, -5.0, -2.0]), np.array([-2.0, -2.0, -1.0])
    found = probability_ratios((p, q), (p[:1], q[:1]))
    swapped = probability_ratios((q[:1], p[:1]), (q, p))
    np.testing.assert_array_equal(swapped.log_generated, -found.log_reference)
    np.testing.assert_array_equal(swapped.log_reference, -found.log_generated)


def test_equal_models_have_the_ratio_one():
    logs = np.array([-120.5, -3.0])
    found = probability_ratios((logs, logs), (logs, logs))
    assert not found.log_reference.any()


def test_probabilities_may_lie_above_one_by_rounding():
    assert probability_ratios(([1e-7], [-1.0]), ([-1.0], [0.0])).positive


@pytest.mark.parametrize(
    ("reference", "generated", "words"),
    [
        (([-1, np.nan], [-1, -1]), ([-1], [-1]), "reference samples under P' .* row 2 with nan"),
        (([-1], [-1]), ([-1], [INF]), "generated samples under Q .* row 1 with inf"),
        (([-1, -2, 0.5], [-1] * 3), ([-1], [-1]), r"at most 0; 1 row\(s\) .* row 3 with 0.5"),
        (([-1], [-1, -2]), ([-1], [-1]), r"reference .*as many .* 1 and 2"),
        (([-1], [-1]), ([-1, -2], [-1]), r"generated .*as many .* 2 and 1"),
        (([], []), ([-1], [-1]), r"list, one for each sample.* shape \(0,\)"),
        (([[-1]], [[-1]]), ([-1], [-1]), r"found shape \(1, 1\)"),
        ((["a"], [-1]), ([-1], [-1]), r"reference samples under P' .*numbers"),
        (([-1, -INF], [-1, -1]), ([-1], [-1]), "possible under P'.* the first is row 2"),
        (([-1], [-1]), ([-1], [-INF]), r"generated samples .*possible under Q.* row 1"),
        ([-1, -2, -3], ([-1], [-1]), r"reference .*pair of lists.* list of 3"),
        (np.zeros((2, 4)), ([-1], [-1]), "reference must be a pair of lists"),
    ],
)
def test_bad_input_is_named(reference, generated, words):
    with pytest.raises(InputError, match=words):
        probability_ratios(reference, generated)
