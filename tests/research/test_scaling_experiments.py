"""The cost model of large runs: counts by hand, and rates that are found again."""

from __future__ import annotations

import numpy as np
import pytest

from calipers.engine.tiles import grid


@pytest.fixture(scope="module")
def model(experiments):
    import scaling_model

    return scaling_model


def test_operations_of_ten_million_rows(model):
    assert model.operations(10**7, 1024) == pytest.approx(4.1e17, rel=0.01)


def test_tiles_of_one_range_and_of_several(model):
    assert model.tiles(100) == 3  # one a side, one across
    ranges = len(grid(100_000))
    assert ranges > 9
    assert model.tiles(100_000) == ranges * (ranges + 1) + ranges**2


def test_more_workers_than_cores_take_turns(model):
    one, two, four = (model.Point(9_000, 64, workers, 2, 1.0) for workers in (1, 2, 4))
    assert (one.parallel, two.parallel, four.parallel) == (1, 2, 2)
    rates = model.Model((0.0, 0.0, 1e-11, 0.0, 0.0))
    assert rates.seconds(two) == rates.seconds(four) == pytest.approx(rates.seconds(one) / 2)


def test_rates_are_found_again(model):
    rates = (0.3, 2e-9, 3e-11, 4e-10, 0.01)
    truth, points = model.Model(rates), []
    for n in (3_000, 9_000, 27_000):
        for d in (16, 128, 512):
            for workers in (1, 2):
                point = model.Point(n, d, workers, 2, 1.0)
                points.append(model.Point(n, d, workers, 2, truth.seconds(point)))
    found = model.Model.fitted(points)
    assert found.rates == pytest.approx(rates, rel=1e-6)
    assert min(model.Model.fitted([points[0], points[-1]]).rates) >= 0


def test_the_cost_of_a_run_by_hand(model):
    rates = model.Rates(texts=100.0, centres=1e9, rounds=10.0, result=50.0, network=1e9)
    found = model.cost(
        model.Model((0.0, 0.0, 1e-10, 0.0, 1e-6)), rates, 10_000, 100, cores=4, cells=500
    )
    assert found.embedding == pytest.approx(20_000 / 100 / 4 / 3600)
    assert found.neighbours == pytest.approx(4 * 1e8 * 100 * 1e-10 / 4 / 3600)
    assert found.centres == pytest.approx(10 * 2 * 20_000 * 500 * 100 / 1e9 / 4 / 3600)
    ranges = -(-10_000 // 2400)
    many = ranges * (ranges + 1) + ranges**2
    assert found.read == many * 2 * 2400 * 100 * 8
    assert found.merging == pytest.approx(1e-6 * many * 2 * 10_000 / ranges / 3600)
    assert found.network == pytest.approx(found.read / 1e9 / 3600)
    assert found.disk == 2 * 10_000 * 100 * 8 + many * 2 * 2400 * 50


def test_points_are_written_as_plain_data(model):
    point = model.Point(5, 2, 2, 2, 0.5)
    assert [model.Point(**each) for each in model.as_data([point])] == [point]
    assert np.all(model.terms(point) > 0)
