"""The experiment on projections, on a small world of vectors."""

import sys
from pathlib import Path

import numpy as np
import pytest

EXPERIMENTS = Path(__file__).resolve().parents[2] / "experiments"


@pytest.fixture(scope="module")
def script():
    """The script, which finds its modules beside it."""
    sys.path.insert(0, str(EXPERIMENTS))
    try:
        import preprocessing

        yield preprocessing
    finally:
        sys.path.remove(str(EXPERIMENTS))


@pytest.fixture
def sets(rng):
    reference, held = rng.standard_normal((2, 200, 40)).astype(np.float32)
    return reference, np.repeat(held[:10], 20, axis=0)


def test_the_ways_of_projecting_differ_by_whose_rows_make_the_axes(script, sets):
    axes = {way: script.projected(way, *sets) for way in script.WORDS}
    widths = {way: rows[0].shape[1] for way, rows in axes.items()}
    assert widths["none"] == 40
    assert widths["union"] < widths["distinct"] <= widths["reference"] < 40
    np.testing.assert_array_equal(axes["balanced"][1], axes["union"][1])  # of one size
    lengths = np.linalg.norm(axes["none"][0], axis=1)
    np.testing.assert_allclose(lengths, 1, rtol=1e-6)
    alone = script.projected("reference", sets[0], sets[0][:50])
    np.testing.assert_allclose(alone[0], axes["reference"][0], atol=1e-6)


def test_capped_balls_hold_no_more_than_the_balls_themselves(script, sets):
    pair = script.Scorer("none").pair(sets[0], sets[0] + 0.5)
    inside = pair.neighbourhoods.generated.inside[:, pair.settings.k - 1] > 0
    for held in script.capped(pair).values():
        assert not (held & ~inside).any()
        assert held.any()


def test_good_rows_that_repeat_lose_precision_on_joint_axes_alone(script, rng):
    scale = 1 / np.sqrt(1 + np.arange(40.0))
    reference, held = rng.standard_normal((2, 400, 40)) * scale
    few = held[:20]
    found = {
        way: [
            script.Scorer(way).scores(reference, rows)["precision"]
            for rows in (few, np.resize(few, (400, 40)))
        ]
        for way in ("none", "distinct", "union")
    }
    assert found["union"][1] < found["union"][0] - 0.2
    assert found["none"][1] == found["none"][0]
    assert found["distinct"][1] == found["distinct"][0]
