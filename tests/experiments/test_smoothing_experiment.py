import sys
from pathlib import Path

import numpy as np
import pytest

EXPERIMENTS = Path(__file__).resolve().parents[2] / "experiments"


@pytest.fixture(scope="module")
def smoothing():
    sys.path.insert(0, str(EXPERIMENTS))
    try:
        import smoothing
        import smoothing_plot

        yield {"main": smoothing, "plot": smoothing_plot}
    finally:
        sys.path.remove(str(EXPERIMENTS))


def small(smoothing, letter, points, trials=20):
    (panel,) = (panel for panel in smoothing["main"].PANELS if panel.letter == letter)
    fields = {**panel.__dict__, "points": points}
    return smoothing["main"].run(smoothing["main"].Panel(**fields), trials=trials, seed=0)


def column(smoothing, name):
    return list(smoothing["main"].ESTIMATORS).index(name)


def test_krichevsky_trofimov_does_well_with_many_cells_and_no_worse_with_few(smoothing):
    result = small(smoothing, "b", (10, 3_000))
    empirical, kt = (column(smoothing, name) for name in ("none", "krichevsky-trofimov"))
    few, many = result.mean
    assert many[kt] < many[empirical] / 3
    assert few[kt] == pytest.approx(few[empirical], rel=0.1)


def test_good_turing_alone_holds_where_a_long_tail_meets_a_flat_one(smoothing):
    (mean,) = small(smoothing, "d", (0.5,)).mean
    best = column(smoothing, "good-turing")
    assert mean.argmin() == best
    assert mean[column(smoothing, "krichevsky-trofimov")] > 5 * mean[column(smoothing, "none")]


def test_zipf_by_hand(smoothing):
    np.testing.assert_allclose(smoothing["main"].zipf(3, 1), np.array([6, 3, 2]) / 11)
    np.testing.assert_allclose(smoothing["main"].zipf(4, 0), 0.25)


def test_a_table_marks_the_best_and_its_equals(smoothing):
    main = smoothing["main"]
    errors = np.full((1, 4, 5), 0.02)
    errors[0, :, 1] = -0.01
    errors[0, :, 2] = [0.01, -0.01, 0.01, 0.0101]
    panel = main.Panel("a", "Title", "n, samples", (1_000,), None, int)
    assert main.table(main.Result(panel, errors)) == [
        "(a) Title",
        "",
        "| n | Empirical | Braess–Sauer | Good–Turing | Krichevsky–Trofimov | Laplace |",
        "| ---: | ---: | ---: | ---: | ---: | ---: |",
        "| 1,000 | 20.0 ± 0.0 | **10.0** ± 0.0 | **10.0** ± 0.0 | 20.0 ± 0.0 | 20.0 ± 0.0 |",
        "",
    ]


def test_the_figure_has_a_line_for_every_estimator(smoothing):
    results = [small(smoothing, letter, (10, 20), trials=2) for letter in "bbbb"]
    figure = smoothing["plot"].figure(results)
    assert [len(panel.lines) for panel in figure.axes] == [5] * 4
    assert figure.axes[0].get_yscale() == "log"
