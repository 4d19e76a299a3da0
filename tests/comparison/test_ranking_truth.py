"""Which metric is best beside a truth, and when that cannot be said."""

from __future__ import annotations

import math

import pytest

from calipers.comparison.ranking import Beside, Truth


def truth(**worst):
    cells = {
        name: Beside(name, 5, 0.9, None, value, value == bound, bound, 0.9, None)
        for name, (value, bound) in worst.items()
    }
    return Truth("liked", "t.csv", "scores", {}, cells)


@pytest.mark.parametrize(
    ("worst", "best"),
    [
        ({"a": (0.5, 0.5), "b": (0.7, 0.7), "c": (0.1, 0.1)}, "b"),
        ({"a": (0.7, 0.7), "b": (0.7, 0.7)}, None),
        ({"a": (0.7, 0.7)}, None),
        ({"a": (0.7, 0.7), "b": (math.nan, math.nan)}, None),
        ({"a": (0.7, 0.6), "b": (0.55, 0.55)}, "a"),
        ({"a": (0.7, 0.6), "b": (0.65, 0.65)}, None),
    ],
)
def test_the_best_is_named_only_where_it_is_sure(worst, best):
    assert truth(**worst).best == best
    assert truth(**worst).to_dict()["best"] == best
