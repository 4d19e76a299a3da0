"""Ridge regression in which no row takes part in its own prediction."""

from __future__ import annotations

import numpy as np
import pytest

from calipers.estimate.conditional_mean import ConditionalMean


def ridge(x, y, penalty):
    """The fit by its normal equations."""
    centre, mean = x.mean(0), y.mean(0)
    gram = (x - centre).T @ (x - centre) + penalty * np.eye(x.shape[1])
    weights = np.linalg.solve(gram, (x - centre).T @ (y - mean))
    return lambda rows: mean + (rows - centre) @ weights


def world(seed=0, n=40, d=6):
    rng = np.random.default_rng(seed)
    x = rng.standard_normal((n, d))
    return x, x @ rng.standard_normal((d, 3)) + 0.5 * rng.standard_normal((n, 3))


def test_rows_that_it_was_not_fitted_to():
    x, y = world()
    made = ConditionalMean.of(x, y)
    penalty = made.strength * np.square(x - x.mean(0)).sum() / len(x)
    rows = np.random.default_rng(1).standard_normal((5, 6))
    np.testing.assert_allclose(made.of_others(rows), ridge(x, y, penalty)(rows), atol=1e-10)


def test_a_row_is_predicted_by_the_others():
    x, y = world()
    made = ConditionalMean.of(x, y)
    penalty = made.strength * np.square(x - x.mean(0)).sum() / len(x)
    for row in (0, 7, 39):
        rest = np.arange(40) != row
        # The same penalty on the other rows, centred anew without the row
        expected = ridge(x[rest], y[rest], penalty)(x[[row]])[0]
        np.testing.assert_allclose(made.left_out[row], expected, atol=1e-10)


def test_what_nothing_explains_is_predicted_by_the_mean():
    rng = np.random.default_rng(2)
    x, y = rng.standard_normal((200, 4)), rng.standard_normal((200, 2))
    made = ConditionalMean.of(x, y)
    assert made.explained < 0.05
    constant = ConditionalMean.of(np.ones((200, 4)), y)
    means = (y.sum(0) - y) / 199
    np.testing.assert_allclose(constant.left_out, means, atol=1e-10)
    assert constant.explained == pytest.approx(0, abs=1e-10)


def test_what_prompts_explain_is_told():
    x, y = world(n=300)
    noise = 0.25 / y.var(axis=0).mean()
    assert ConditionalMean.of(x, y).explained == pytest.approx(1 - noise, abs=0.05)


def test_rows_that_all_are_equal():
    made = ConditionalMean.of(np.arange(20.0)[:, None], np.full((20, 2), 3.0))
    np.testing.assert_allclose(made.left_out, 3.0)
    assert made.explained == 0.0
