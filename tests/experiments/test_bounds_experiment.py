import sys
from pathlib import Path

import numpy as np
import pytest

EXPERIMENTS = Path(__file__).resolve().parents[2] / "experiments"


@pytest.fixture(scope="module")
def bounds():
    sys.path.insert(0, str(EXPERIMENTS))
    try:
        import bounds
        import bounds_plot
        import bounds_populations

        yield {"main": bounds, "plot": bounds_plot, "populations": bounds_populations}
    finally:
        sys.path.remove(str(EXPERIMENTS))


@pytest.fixture(scope="module")
def population(bounds):
    rng = np.random.default_rng(0)
    rows = rng.normal(size=(2, 300, 4))
    rows[1, :, 0] += 1
    return bounds["populations"].Population("Small", "two clouds", *rows)


@pytest.fixture(scope="module")
def found(bounds, population):
    return bounds["main"].sweeps(
        population, sizes=(50, 500, 5_000), cells=(4, 40), trials=20, seed=0, threads=1
    )


def test_errors_fall_with_n_and_grow_with_k_below_the_bounds(found):
    over_n, over_k = found
    assert over_n.slope("error") < -0.4
    assert over_k.slope("error") > 0
    for sweep in found:
        assert np.all(sweep.values("error") < sweep.values("equation_10"))
        assert np.all(sweep.values("error") < sweep.values("equation_11"))


def test_slopes_are_powers(bounds, found):
    over_n, over_k = found
    assert -0.5 < over_n.slope("free", last=2) < 0
    points = [
        bounds["main"].Point(n, 4, 0, 0, n**-0.5, 0, 0, 1, 0, n**-1.0, 1, 1, 1) for n in (10, 100)
    ]
    sweep = bounds["main"].Sweep("Made", "n", "k = 4", tuple(points))
    assert sweep.slope("error") == pytest.approx(-0.5)
    assert sweep.slope("oracle", last=2) == pytest.approx(-1)
    assert over_k.values("k").tolist() == [4, 40]


def test_the_table_ends_with_the_slopes(bounds, found):
    lines = bounds["main"].table(found[0])
    assert lines[0] == "Small, k = 64"
    assert lines[4].startswith("| 50 | ")
    assert [line.split(" | ")[0] for line in lines[-3:-1]] == ["| slope", "| slope at the end"]
    assert len({line.count("|") for line in lines[2:-1]}) == 1


def test_the_synthetic_population_is_always_there(bounds, tmp_path):
    (make,) = bounds["populations"].populations(tmp_path, seed=0)
    population = make()
    assert population.name == "Synthetic"
    assert population.reference.shape == population.generated.shape
    p, q = population.cells(8, seed=0, threads=1)
    assert p.sum() == pytest.approx(1)
    assert np.abs(p - q).sum() > 0.1


def test_the_figure_has_two_panels_for_a_population(bounds, found):
    figure = bounds["plot"].figure(found)
    assert [len(panel.lines) for panel in figure.axes] == [4, 4]
    assert figure.axes[1].get_xlabel() == "k, cells"
