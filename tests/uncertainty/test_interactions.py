"""What both sets do together: by hand on a product of means, and not where there is nothing."""

from __future__ import annotations

import numpy as np
import pytest

from calipers.metrics.catalogue import choose, needs_of
from calipers.metrics.choice import Choice
from calipers.metrics.entries.metric import ANY, Metric
from calipers.metrics.pair import Pair, Settings
from calipers.score import Score
from calipers.uncertainty.interactions import CROSSED, crossed_variance
from calipers.uncertainty.without import Without

BLOCKS = 20


def made_up(read, name):
    metric = Metric(
        name=name,
        family="mmd",
        tells="",
        read=lambda pair, _: Score(float(read(pair)), range=ANY),
        source="",
        blind="",
        range=ANY,
        by_block=True,
    )
    return Choice(metric, None)


def rows_of(pair, side):
    """The rows that are left of a set: a pair without a block knows their number alone."""
    if not isinstance(pair, Without):
        return getattr(pair, side)
    rows = rows_of(pair.whole, side)
    return rows[pair.kept] if pair.side == side else rows


PRODUCT = made_up(
    lambda pair: rows_of(pair, "reference").mean() * rows_of(pair, "generated").mean(), "product"
)
SUM = made_up(
    lambda pair: rows_of(pair, "reference").mean() + rows_of(pair, "generated").mean(), "sum"
)


def pair_of(rng, n=100, m=120):
    return Pair(rng.standard_normal((n, 1)), rng.standard_normal((m, 1)), Settings(threads=1))


def test_a_product_of_means_by_hand(rng):
    pair = pair_of(rng)
    shares = []
    for rows, labels in zip((pair.reference, pair.generated), pair.blocks, strict=True):
        without = [rows[labels.labels != block].mean() for block in range(CROSSED)]
        # The mean square of some blocks stands for that of all; then the jackknife's factor
        shares.append(np.var(without, ddof=1) * (BLOCKS - 1) * (BLOCKS - 1) / BLOCKS)
    found = crossed_variance(pair, [PRODUCT])["product"]
    assert found == pytest.approx(shares[0] * shares[1])


def test_it_is_the_product_of_both_variances_on_average():
    worlds = [pair_of(np.random.default_rng([7, world])) for world in range(150)]
    found = [crossed_variance(pair, [PRODUCT])["product"] for pair in worlds]
    assert np.mean(found) == pytest.approx(1 / 100 / 120, rel=0.25)


def test_what_adds_up_has_none(rng):
    found = crossed_variance(pair_of(rng), [SUM, PRODUCT])
    assert found["sum"] == pytest.approx(0, abs=1e-28)
    assert found["product"] > 1e-6


def test_nothing_asked_nothing_done(rng):
    small = Pair(rng.standard_normal((9, 1)), rng.standard_normal((9, 1)), Settings())
    assert crossed_variance(small, []) == {}


def test_scores_of_the_catalogue(rng):
    asked = choose("precision density coverage mauve_star", ("v",))
    sets = rng.standard_normal((150, 3)), rng.standard_normal((140, 3))
    pair = Pair(*sets, Settings(threads=1), needs_of(each.metric for each in asked))
    found = crossed_variance(pair, asked)
    assert found.keys() == {"precision", "density", "coverage", "mauve_star"}
    assert all(0 <= value < 0.05 for value in found.values())
    again = crossed_variance(pair, asked)
    assert found == again


@pytest.mark.filterwarnings("error")
def test_a_score_that_is_infinite_without_a_block_has_no_number(rng):
    odd = made_up(lambda pair: np.inf if len(pair.generated) < 120 else 0.0, "odd")
    assert np.isnan(crossed_variance(pair_of(rng), [odd])["odd"])
