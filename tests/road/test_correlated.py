"""Pairs of scores whose errors are known to go together, view by view."""

from __future__ import annotations

import numpy as np
import pytest

from calipers.road.correlated import correlations
from calipers.uncertainty.spread import Component, Spread


def moving(*deviations):
    return Spread((Component("reference", np.array(deviations, float)),))


def test_scores_of_one_view_are_paired_by_their_keys():
    up, down, across = moving(1, -1, 0), moving(-1, 1, 0), moving(1, 1, -2)
    spreads = {"precision": up, "recall": down, "form.precision": up, "form.recall": across}
    spreads |= {"density": up, "coverage": up, "form.density": up}
    assert correlations(spreads) == pytest.approx(
        {"precision|recall": -1, "form.precision|form.recall": 0, "density|coverage": 1}
    )
