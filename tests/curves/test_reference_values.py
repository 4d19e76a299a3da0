"""Scores of given histograms against the figures of the official implementations."""

import json
from pathlib import Path

import numpy as np
import pytest

from calipers.curves import divergence_frontier, precision_recall_curve
from calipers.estimate import Histograms

FIGURES = json.loads(
    (Path(__file__).parent.parent / "data" / "histograms.json").read_text(encoding="utf-8")
)
CASES = pytest.mark.parametrize("case", FIGURES["cases"], ids=lambda case: case["name"])


def histograms(case, smoothing="none"):
    return Histograms(
        np.array(case["reference_counts"]), np.array(case["generated_counts"]), smoothing=smoothing
    )


@CASES
@pytest.mark.parametrize(("suffix", "smoothing"), [("", "none"), ("_star", "krichevsky-trofimov")])
def test_mauve_and_frontier_integral(case, suffix, smoothing):
    frontier = divergence_frontier(histograms(case, smoothing))
    assert frontier.area(5) == pytest.approx(case[f"mauve{suffix}"], abs=1e-6)
    assert frontier.integral() == pytest.approx(case[f"frontier_integral{suffix}"], abs=1e-6)


@pytest.mark.parametrize("case", FIGURES["equal"], ids=lambda case: str(case["counts"][:5]))
@pytest.mark.parametrize("smoothing", ["none", "krichevsky-trofimov"])
def test_equal_histograms_score_one_where_mauve_text_gives_less(case, smoothing):
    both = {"reference_counts": case["counts"], "generated_counts": case["counts"]}
    frontier = divergence_frontier(histograms(both, smoothing))
    assert frontier.area(5) == 1.0
    # All points are (1, 1). Sorted along x with the end (1, 0) first, as mauve-text has them, the
    # trapezoid runs from (0, 1) straight to (1, 0)
    x, y = frontier.points(5).T
    along_x, along_y = np.argsort(x, kind="stable"), np.argsort(y, kind="stable")
    areas = [np.trapezoid(y[along_x], x[along_x]), np.trapezoid(x[along_y], y[along_y])]
    assert np.mean(areas) == pytest.approx(case["mauve_text"], abs=1e-9)


@CASES
def test_divergence_curve(case):
    points = divergence_frontier(histograms(case)).points(5)
    np.testing.assert_allclose(points, case["divergence_curve"], atol=1e-6)


@CASES
def test_prd_curve_and_f_scores(case):
    curve = precision_recall_curve(histograms(case))
    expected = case["prd_every_25th_angle"]
    np.testing.assert_allclose(curve.precision[::25], expected["precision"], atol=1e-6)
    np.testing.assert_allclose(curve.recall[::25], expected["recall"], atol=1e-6)
    assert curve.f_beta(8) == pytest.approx(case["prd_f8_recall"], abs=1e-6)
    assert curve.f_beta(1 / 8) == pytest.approx(case["prd_f1_8_precision"], abs=1e-6)
