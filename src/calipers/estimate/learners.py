"""The classifiers themselves: trained on rows with labels, they give log-odds of other rows."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from calipers.estimate.distances import Points

Floats = NDArray[np.float64]
Labels = NDArray[np.bool_]
Learner = Callable[[Points, Labels], Callable[[Points], Floats]]
Model = Literal["logistic", "boosted"]

# Many small steps of small trees: the log-odds of a few thousand samples need no deep ones
TREES, LEAVES, STEP = 100, 8, 0.05


def logistic(penalty: float) -> Learner:
    """Logistic regression on columns of mean 0 and variance 1, with ½ · penalty · ‖w‖²."""

    def train(rows: Points, labels: Labels) -> Callable[[Points], Floats]:
        from sklearn.exceptions import ConvergenceWarning
        from sklearn.linear_model import LogisticRegression

        mean, scale = _standard(rows)
        fitted = LogisticRegression(C=1 / penalty, tol=1e-8, max_iter=2000)
        with warnings.catch_warnings():
            # The loss is convex: what may be missing are digits that nobody reads
            warnings.simplefilter("ignore", ConvergenceWarning)
            fitted.fit((rows - mean) / scale, labels)
        return lambda held: np.asarray(fitted.decision_function((held - mean) / scale), np.float64)

    return train


def boosted(penalty: float) -> Learner:
    """Gradient-boosted trees on histograms of the columns; they know no penalty."""

    def train(rows: Points, labels: Labels) -> Callable[[Points], Floats]:
        from sklearn.ensemble import HistGradientBoostingClassifier

        fitted = HistGradientBoostingClassifier(
            max_iter=TREES,
            max_leaf_nodes=LEAVES,
            learning_rate=STEP,
            early_stopping=False,
            random_state=0,  # draws the rows that place the bins, where there are many
        )
        fitted.fit(rows, labels)
        return lambda held: np.asarray(fitted.decision_function(held), np.float64)

    return train


LEARNERS: dict[str, Callable[[float], Learner]] = {"logistic": logistic, "boosted": boosted}


def _standard(rows: Points) -> tuple[Floats, Floats]:
    """Mean and standard deviation of the columns; 1 where a column is constant up to rounding."""
    mean = rows.mean(axis=0, dtype=np.float64)
    # A power of two about the largest number of each column rounds nothing and keeps squares safe
    exponent = np.frexp(np.abs(rows).max(axis=0))[1]
    scale = np.ldexp(np.ldexp(rows, -exponent).std(axis=0, dtype=np.float64), exponent)
    return mean, np.where(scale > 1e-12 * np.abs(mean), scale, 1.0)
