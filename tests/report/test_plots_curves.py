"""Precision–recall curves and divergence frontiers: what is drawn is what was stored."""

from __future__ import annotations

import copy
import math
import xml.etree.ElementTree as ElementTree
from typing import Any

import matplotlib
import numpy as np
import pytest
from matplotlib.collections import PolyCollection
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from calipers.errors import InputError
from calipers.report import plots
from calipers.report.plots import Plot, save_figure
from calipers.report.plots.curves import band
from calipers.report.plots.style import COLOURS
from hand_made import comparison_of

Data = dict[str, Any]


def curves_plot(data: Data, **options: Any) -> Plot:
    return plots.curves_plot(comparison_of(data), **options)


def frontiers_plot(data: Data, **options: Any) -> Plot:
    return plots.frontiers_plot(comparison_of(data), **options)


Z = 1.959963984540054

HOSTILE = [
    "_a$x_1$\\alpha%",
    "</script><img onerror=1>",
    "$\\frac{$",
    "{{7*7}}|{% x %}",
    "a" * 500,
    "\x00\u202eevil\ud800\"'",
    "reference",
    " ",
]


def score(value: float, signature: str = "metric:x") -> Data:
    about = {"interval": None, "level": None, "standard_error": None, "noise_floor": None}
    return {"value": value, **about, "range": [0.0, 1.0], "signature": signature, "reason": None}


def curve_of(place: int) -> list[list[float]]:
    """A precision–recall curve of eleven points, worse for later systems."""
    best = 1 - 0.05 * place
    angles = np.linspace(0.01, math.pi / 2 - 0.01, 11)
    return [[best * math.sin(angle), best * math.cos(angle)] for angle in angles]


def frontier_of(place: int) -> list[list[float]]:
    weights = np.linspace(0.01, 0.99, 9)
    return [[w, 0.1 * w**2 * (place + 1), 0.2 * (1 - w) ** 2 * (place + 1)] for w in weights]


def report(names: list[str], views: tuple[str, ...] = ("meaning", "form")) -> Data:
    """Report data with both curves of every system in every view."""
    curves: Data = {}
    systems = []
    for place, name in enumerate(names):
        curves[name] = {}
        scores = {}
        for index, view in enumerate(views):
            before = f"{view}." if index else ""
            curves[name][f"{before}prd"] = curve_of(place)
            curves[name][f"{before}frontier_star"] = frontier_of(place)
            line = "metric:mauve_star|divergence:kl|c:4|grid:25|view:x"
            scores[f"{before}mauve_star"] = score(0.9 - 0.1 * index - 0.01 * place, line)
        systems.append({"name": name, "scores": scores})
    errors = {
        name: {key: [[0.02 * value for value in row] for row in rows] for key, rows in own.items()}
        for name, own in curves.items()
    }
    settings = {"views": list(views), "level": 0.95, "c": None}
    compared = {"settings": settings, "reference": {"name": "human"}, "systems": systems}
    return {"comparison": compared, "curves": curves, "curve_errors": errors, "correlations": {}}


@pytest.fixture
def data() -> Data:
    return report(["one", "two", "three"])


def lines(axes: Any) -> list[Line2D]:
    return [line for line in axes.lines if not str(line.get_label()).startswith("_")]


def legend_names(figure: Figure) -> list[str]:
    return [text.get_text() for text in figure.legends[0].get_texts()]


def bands(axes: Any) -> list[PolyCollection]:
    return [each for each in axes.collections if isinstance(each, PolyCollection)]


# Bands


def test_a_band_goes_there_below_and_back_above():
    points, errors = [(0.0, 0.5), (0.4, 0.4), (0.5, 0.0)], [(0.0, 0.1), (0.02, 0.02), (0.1, 0.0)]
    (polygon,) = band(points, errors, 2.0)
    expected = [(0.0, 0.3), (0.36, 0.36), (0.3, 0.0), (0.7, 0.0), (0.44, 0.44), (0.0, 0.7)]
    np.testing.assert_allclose(polygon, expected, atol=1e-15)


def test_a_band_stays_within_the_square():
    (polygon,) = band([(0.99, 0.01), (0.5, 0.98)], [(0.1, 0.1), (0.1, 0.1)], 1.0)
    np.testing.assert_allclose(polygon, [(0.89, 0), (0.4, 0.88), (0.6, 1), (1, 0.11)])
    (polygon,) = band([(3.0, 0.1), (2.0, 4.0)], [(0.5, 0.2), (0.5, 0.5)], 1.0, most=None)
    np.testing.assert_allclose(polygon, [(2.5, 0), (1.5, 3.5), (2.5, 4.5), (3.5, 0.3)])


def test_a_band_stops_where_errors_are_unknown():
    nan = float("nan")
    points = [(0.1 * i, 0.5) for i in range(6)]
    errors = [(0.0, 0.1), (0.0, 0.1), (0.0, nan), (0.0, 0.1), (nan, 0.1), (0.0, 0.1)]
    assert [len(polygon) for polygon in band(points, errors, 1.0)] == [4]
    assert band(points, [], 1.0) == []


# Precision–recall curves


def test_curves_are_the_stored_points_recall_to_the_right(data):
    for place, line in enumerate(lines(curves_plot(data, view="form").axes())):
        stored = np.array(data["curves"][("one", "two", "three")[place]]["form.prd"])
        np.testing.assert_array_equal(line.get_xdata(), stored[:, 1])
        np.testing.assert_array_equal(line.get_ydata(), stored[:, 0])
        assert line.get_color() == COLOURS[place]


def test_the_band_of_a_curve_is_its_errors_times_z(data):
    stored = np.array(data["curves"]["one"]["prd"])[:, ::-1]
    expected = np.concatenate([stored * (1 - 0.02 * Z), (stored * (1 + 0.02 * Z))[::-1]])
    (path,) = bands(curves_plot(data).axes())[0].get_paths()
    np.testing.assert_allclose(path.vertices[:-1], np.clip(expected, 0, 1), rtol=1e-12)


def test_the_level_of_the_run_sets_the_width(data):
    data["comparison"]["settings"]["level"] = 0.5
    (path,) = bands(curves_plot(data).axes())[0].get_paths()
    stored = data["curves"]["one"]["prd"][0][1]
    assert path.vertices[0][0] == pytest.approx(stored * (1 - 0.02 * 0.6744897501960817))
    assert legend_names(curves_plot(data).figure())[-1] == "50 % band"


def test_no_band_without_errors_or_when_not_wanted(data):
    assert bands(curves_plot(data, bands=False).axes()) == []
    data["curve_errors"] = {}
    figure = curves_plot(data).figure()
    assert bands(figure.axes[0]) == []
    assert legend_names(figure) == ["one", "two", "three"]


def test_a_figure_has_a_panel_for_each_view_and_one_legend_that_covers_none(data):
    figure = curves_plot(data).figure()
    assert [axes.get_title(loc="left") for axes in figure.axes] == ["By meaning", "By form"]
    assert figure.get_figwidth() == pytest.approx(6.8)
    assert [axes.get_xlabel() for axes in figure.axes] == ["Recall", "Recall"]
    figure.draw_without_rendering()
    legend = figure.legends[0].get_window_extent()
    assert not any(legend.overlaps(axes.get_tightbbox()) for axes in figure.axes)
    assert legend.x0 >= 0
    assert legend.x1 <= figure.bbox.width
    assert max(axes.get_tightbbox().y1 for axes in figure.axes) <= figure.bbox.height


def test_one_view_fits_one_column(data):
    figure = curves_plot(data, view="form").figure()
    assert figure.get_figwidth() == pytest.approx(3.4)
    assert len(figure.axes) == 1
    only = curves_plot(report(["one"], views=("meaning",))).figure()
    assert only.axes[0].get_title(loc="left") == ""


@pytest.mark.parametrize("count", [1, 3, 8, 20])
def test_the_legend_stays_within_the_figure(count):
    figure = curves_plot(
        report([f"a system of number {i}" for i in range(count)]), view="form"
    ).figure()
    figure.draw_without_rendering()
    legend = figure.legends[0].get_window_extent()
    assert legend.x0 >= 0
    assert legend.x1 <= figure.bbox.width
    assert not legend.overlaps(figure.axes[0].get_tightbbox())


def test_systems_look_different_and_keep_their_look(data):
    drawn = lines(curves_plot(report([f"s{i}" for i in range(28)])).axes())
    assert len({(line.get_color(), str(line._dash_pattern)) for line in drawn}) == 28
    del data["curves"]["one"]
    assert lines(curves_plot(data).axes())[0].get_color() == COLOURS[1]


def test_what_is_missing_is_named(data):
    del data["curves"]["one"]
    data["curves"]["two"]["form.prd"] = []
    data["curves"]["three"]["prd"] = [[None, None]] * 4
    figure = curves_plot(data).figure()
    names = legend_names(figure)
    assert names[:3] == ["one (missing)", "two (missing by form)", "three (missing by meaning)"]
    assert [len(lines(axes)) for axes in figure.axes] == [1, 1]


def test_a_gap_in_a_curve_is_a_gap(data):
    data["curves"]["one"]["prd"][4] = [None, None]
    drawn = lines(curves_plot(data).axes())[0]
    assert np.flatnonzero(np.isnan(drawn.get_xdata())).tolist() == [4]
    assert [len(path.vertices) for path in bands(curves_plot(data).axes())[0].get_paths()] == [
        9,
        13,
    ]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"view": "mening"}, "unknown view 'mening'; did you mean 'meaning'?"),
        ({"curve": "prd:knn"}, "ask for the metrics prd_f8:knn and prd_f1_8:knn; curves found: "),
        ({"curve": "prd:knn", "view": "form"}, "precision-recall curve 'prd:knn' by form: ask"),
        ({"curve": "frontier_star"}, "'frontier_star' names no precision-recall curve: such keys"),
    ],
)
def test_what_is_not_there_is_said(data, options, message):
    for draw in (Plot.figure, Plot.axes):
        with pytest.raises(InputError, match=r".") as raised:
            draw(curves_plot(data, **options))
        assert message in str(raised.value)


def test_the_json_of_a_comparison_has_no_curves(data):
    for plot in (curves_plot, frontiers_plot):
        with pytest.raises(InputError, match=r"\.save\(path\)"):
            plot(data["comparison"])


# Divergence frontiers


def test_frontiers_are_transformed_with_their_ends_by_the_c_of_the_run(data):
    line = lines(frontiers_plot(data, view="form").axes())[1]
    stored = np.array(data["curves"]["two"]["form.frontier_star"])
    expected = np.concatenate([[[1, 0]], np.exp(-4 * stored[:, 1:]), [[0, 1]]])
    np.testing.assert_allclose(line.get_xydata(), expected, rtol=1e-15)


def test_the_band_of_a_frontier_moves_costs_and_leaves_the_ends(data):
    (path,) = bands(frontiers_plot(data).axes())[0].get_paths()
    costs = np.array(data["curves"]["one"]["frontier_star"])[:, 1:]
    closer, farther = (np.exp(-4 * costs * (1 + side * 0.02 * Z)) for side in (-1, 1))
    start, end = [[1, 0]], [[0, 1]]
    expected = np.concatenate([start, closer, end, end, farther[::-1], start])
    np.testing.assert_allclose(path.vertices[:-1], expected, rtol=1e-12)


def test_the_legend_tells_the_areas_of_every_view(data):
    figure = frontiers_plot(data).figure()
    assert figure.legends[0].get_title().get_text() == "MAUVE* by meaning / by form"
    assert legend_names(figure)[:2] == ["one  0.900 / 0.800", "two  0.890 / 0.790"]
    alone = frontiers_plot(data, view="form").figure()
    assert alone.legends[0].get_title().get_text() == "MAUVE*"
    assert legend_names(alone)[0] == "one  0.800"


def test_another_c_is_another_curve_and_has_no_area_to_tell(data):
    figure = frontiers_plot(data, c=1).figure()
    assert figure.axes[0].get_xlabel() == "Generated set, exp(−1 KL(Q‖R))"
    assert legend_names(figure)[0] == "one"
    assert legend_names(frontiers_plot(data, c=4).figure())[0] == "one  0.900 / 0.800"
    cost = data["curves"]["one"]["frontier_star"][3][1]
    assert lines(figure.axes[0])[0].get_xdata()[4] == pytest.approx(math.exp(-cost))


def test_c_is_that_of_the_settings_where_no_score_tells(data):
    for system in data["comparison"]["systems"]:
        system["scores"] = {}
    assert "exp(−5 KL" in frontiers_plot(data).axes().get_xlabel()
    data["comparison"]["settings"]["c"] = 2.5
    assert "exp(−2.5 KL" in frontiers_plot(data).axes().get_xlabel()
    assert legend_names(frontiers_plot(data).figure())[0] == "one  – / –"


def test_raw_costs_are_the_stored_ones(data):
    axes = frontiers_plot(data, scale="raw").axes()
    stored = np.array(data["curves"]["three"]["frontier_star"])[:, 1:]
    np.testing.assert_array_equal(lines(axes)[2].get_xydata(), stored)
    assert axes.get_ylabel() == "Cost of the reference, KL(P‖R)"
    inner = max(max(row[1:]) for row in data["curves"]["three"]["frontier_star"][1:-1])
    assert axes.get_xlim()[1] == axes.get_ylim()[1] == pytest.approx(1.05 * inner)
    assert legend_names(frontiers_plot(data, scale="raw").figure())[:3] == ["one", "two", "three"]


def test_infinite_costs_are_where_the_curve_ends(data):
    data["curves"]["one"]["frontier_star"][0] = [0.01, 0.0, float("inf")]
    line = lines(frontiers_plot(data).axes())[0]
    assert line.get_xydata()[1].tolist() == [1.0, 0.0]
    assert np.isfinite(frontiers_plot(data, scale="raw").axes().get_ylim()[1])


def test_other_divergences_are_named(data):
    for own in data["curves"].values():
        own["frontier:interpolated_chi2=0.3:knn"] = own["frontier_star"]
    axes = frontiers_plot(data, curve="frontier:interpolated_chi2=0.3:knn").axes()
    assert axes.get_xlabel() == "Generated set, exp(−5 χ² 0.3(Q‖R))"
    assert axes.get_legend().get_title().get_text() == "MAUVE χ² 0.3 k-NN"


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"scale": "row"}, "unknown scale 'row'; did you mean 'raw'?"),
        ({"c": 0}, "c must be above 0 and finite; found 0"),
        ({"c": float("nan")}, "c must be above 0 and finite; found nan"),
        ({"curve": "frontier:chi2"}, "ask for the metric mauve:chi2; curves found: prd, frontier_"),
        ({"curve": "prd"}, "such keys begin with 'frontier' or 'frontier_star'"),
    ],
)
def test_frontiers_that_cannot_be_drawn(data, options, message):
    with pytest.raises(InputError) as raised:
        frontiers_plot(data, **options).axes()
    assert message in str(raised.value)


def test_a_missing_frontier_has_no_area(data):
    del data["curves"]["two"]
    assert legend_names(frontiers_plot(data).figure())[1] == "two (missing)"


# Both


def svg_texts(path: Any) -> list[str]:
    root = ElementTree.fromstring(path.read_text(encoding="utf-8"))
    found = ("".join(each.itertext()) for each in root.iter("{http://www.w3.org/2000/svg}text"))
    return [text.strip().lstrip("\N{HAIR SPACE}") for text in found]


@pytest.mark.parametrize("plot", [curves_plot, frontiers_plot])
def test_hostile_names_show_as_typed(plot, tmp_path):
    save_figure(plot(report(HOSTILE)).figure(), tmp_path / "figure.svg")
    shown = "\n".join(svg_texts(tmp_path / "figure.svg"))
    for name in HOSTILE[:4]:
        assert name in shown
    assert "aaaaaaaaaaaa…aaaaaaaaaaa" in shown
    assert "\ufffd\ufffdevil\ufffd\"'" in shown
    assert "(blank name)" in shown
    assert len(plot(report(HOSTILE)).figure().legends[0].get_texts()) == len(HOSTILE) + 1


@pytest.mark.slow
@pytest.mark.parametrize(
    ("plot", "suffix"),
    [(curves_plot, ".svg"), (curves_plot, ".png"), (frontiers_plot, ".pdf")],
)
def test_the_same_data_give_the_same_bytes(plot, suffix, data, tmp_path):
    before = copy.deepcopy(data)
    for name in ("a", "b"):
        save_figure(plot(data).figure(), tmp_path / f"{name}{suffix}")
    assert (tmp_path / f"a{suffix}").read_bytes() == (tmp_path / f"b{suffix}").read_bytes()
    assert data == before


@pytest.mark.parametrize("plot", [curves_plot, frontiers_plot])
def test_axes_of_a_person_keep_what_they_hold(plot, data):
    with matplotlib.rc_context({"lines.linewidth": 7, "text.color": "red"}):
        settings = dict(matplotlib.rcParams)
        figure = Figure()
        mine, other = figure.subplots(1, 2)
        (own,) = mine.plot([0.2, 0.3], [0.1, 0.2])
        mine.set_title("Mine")
        assert plot(data).axes(mine, legend=False) is mine
        assert dict(matplotlib.rcParams) == settings
    assert mine.lines[0] is own
    assert own.get_linewidth() == 7
    assert lines(mine)[-1].get_linewidth() == pytest.approx(1.4)
    assert mine.get_title() == "Mine"
    assert mine.get_legend() is None
    assert figure.legends == []
    assert not other.lines
