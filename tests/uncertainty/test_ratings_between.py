"""Two groups who rated the same items: by hand, beside scikit-learn's κ, and laws."""

from __future__ import annotations

import math

import numpy as np
import pytest

from calipers.uncertainty.rater_agreement import ratings_between
from extras import need


def rated(values, rater="p"):
    return [(f"t{place}", rater, value) for place, value in enumerate(values)]


def test_by_hand():
    # Squared distances 0, 0, 1: 1/3 on average; of independent ones 35/3 + 26/3 - 2·3·8/3 = 13/3
    found = ratings_between(rated([1, 3, 5]), rated([1, 3, 4], "m"))
    assert found.share.value == pytest.approx(2 / 3)
    assert found.kappa.value == pytest.approx(1 - (1 / 3) / (13 / 3))
    assert found.kappa.interval[0] <= found.kappa.value <= found.kappa.interval[1]
    assert math.isnan(found.decided.value)


def test_as_quadratic_kappa_of_scikit_learn():
    metrics = need("sklearn.metrics")
    rng = np.random.default_rng(0)
    one = rng.integers(1, 6, 60)
    other = np.clip(one + rng.integers(-1, 2, 60), 1, 5)
    found = ratings_between(rated(one.tolist()), rated(other.tolist(), "m"))
    assert found.kappa.value == pytest.approx(
        metrics.cohen_kappa_score(one, other, weights="quadratic")
    )


def test_items_count_once_and_nobody_agrees_with_themselves():
    people = [("t", "ann", 1.0), ("t", "bob", 3.0), ("u", "ann", 5.0), ("v", "ann", 5.0)]
    model = [("t", "m", 1.0), ("u", "m", 5.0), ("w", "m", 2.0)]
    found = ratings_between(people, model)
    assert found.items == 2
    assert found.share.value == pytest.approx(0.75)
    among = ratings_between(people, people)
    assert (among.items, among.share.value) == (1, 0.0)


def test_order_and_scale_do_not_matter():
    rng = np.random.default_rng(1)
    one, other = rated(rng.integers(1, 6, 30)), rated(rng.integers(1, 6, 30), "m")
    base = ratings_between(one, other).kappa.value
    assert ratings_between(one[::-1], other).kappa.value == pytest.approx(base)
    assert ratings_between(other, one).kappa.value == pytest.approx(base)
    moved = [[(item, rater, 3 * value - 7) for item, rater, value in side] for side in (one, other)]
    assert ratings_between(*moved).kappa.value == pytest.approx(base)


def test_nothing_to_compare():
    found = ratings_between(rated([1, 2]), [("x", "m", 1.0)])
    assert found.items == 0
    assert found.share.reason == "no item has answers of both"
    constant = ratings_between(rated([2, 2]), rated([2, 2], "m"))
    assert constant.share.value == 1
    assert math.isnan(constant.kappa.value)
    assert "nothing to disagree about" in constant.kappa.reason
