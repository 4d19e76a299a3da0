"""The plane of two scores and F_8 against F_1/8: points, ellipses, crosses, floors, limits."""

from __future__ import annotations

import copy
import itertools
import math
import xml.etree.ElementTree as ElementTree
from dataclasses import replace
from typing import Any

import matplotlib
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import Ellipse, Rectangle
from matplotlib.text import Annotation, Text

from calipers.errors import InputError
from calipers.report import plots
from calipers.report.plots import Plot, save_figure
from calipers.report.plots.labels import arrange
from calipers.report.plots.plane import Floor, Place, Scene, error_ellipse, span
from calipers.report.plots.style import COLOURS
from hand_made import comparison_of

Data = dict[str, Any]


def plane_plot(data: Data, **options: Any) -> Plot:
    return plots.plane_plot(comparison_of(data), **options)


def f_scores_plot(data: Data, **options: Any) -> Plot:
    return plots.f_scores_plot(comparison_of(data), **options)


RADIUS = math.sqrt(-2 * math.log(0.05))
Z = 1.959963984540054
HOSTILE = ["_a$x_1$\\alpha%", "<img onerror=1>", "$\\frac{$", "{{7*7}}|{% x %}", "b\x00\ud800c"]


def score(value: float | None, error: float | None = 0.02, floor: float | None = None) -> Data:
    known = value is not None and error is not None
    interval = [value - 2 * error, value + 2 * error] if known else None
    about = None
    if floor is not None and value is not None:
        about = {"value": floor, "spread": 0.01, "size": 250, "beside": value - 0.02}
    own = {"value": value, "standard_error": error, "interval": interval, "reason": None}
    return {**own, "noise_floor": floor, "floor": about, "range": [0.0, 1.0], "signature": "x"}


def report(points: dict[str, tuple[float, float]], views: tuple[str, ...] = ("meaning",)) -> Data:
    """Report data: recall and precision, the F-scores alike, correlations of the first two."""
    systems, correlations = [], {}
    for name, (recall, precision) in points.items():
        scores, known = {}, {}
        for index, view in enumerate(views):
            p = f"{view}." if index else ""
            scores |= {
                f"{p}recall": score(recall - 0.1 * index, 0.03, 0.9),
                f"{p}precision": score(precision, 0.04, 0.8),
                f"{p}prd_f8": score(recall),
                f"{p}prd_f1_8": score(precision, 0.01),
            }
            known[f"{p}precision|{p}recall"] = 0.5
        systems.append({"name": name, "scores": scores})
        correlations[name] = known
    settings = {"views": list(views), "level": 0.95}
    compared = {"settings": settings, "reference": {"name": "human"}, "systems": systems}
    return {"comparison": compared, "curves": {}, "curve_errors": {}, "correlations": correlations}


@pytest.fixture
def data() -> Data:
    points = {"one": (0.5, 0.7), "two": (0.6, 0.5), "three": (0.8, 0.75)}
    return report(points, ("meaning", "form"))


def many(count: int) -> Data:
    rng = np.random.default_rng(1)
    spots = rng.uniform(0.5, 0.7, (count, 2))
    return report({f"system-{i}b": (float(x), float(y)) for i, (x, y) in enumerate(spots)})


def points_of(axes: Axes) -> dict[str, tuple[float, float]]:
    shown = [line for line in axes.lines if not str(line.get_label()).startswith("_")]
    return {line.get_label(): tuple(line.get_xydata()[0]) for line in shown}


def patches(axes: Axes, kind: type) -> list[Any]:
    return [patch for patch in axes.patches if type(patch) is kind]


def names_of(axes: Axes) -> list[Annotation]:
    return [text for text in axes.texts if isinstance(text, Annotation)]


def legend_names(figure: Figure) -> list[str]:
    return [text.get_text() for legend in figure.legends for text in legend.get_texts()]


# Ellipses


def test_an_ellipse_by_hand():
    upright = error_ellipse(0.03, 0.04, 0.0, level=0.95)
    assert upright.width == pytest.approx(2 * RADIUS * 0.04)
    assert upright.height == pytest.approx(2 * RADIUS * 0.03)
    assert upright.angle == pytest.approx(90)
    # [[9, 6], [6, 16]] has the eigenvalues 12.5 ± sqrt(3.5² + 6²)
    tilted, root = error_ellipse(3, 4, 0.5, level=0.95), math.sqrt(48.25)
    assert tilted.width == pytest.approx(2 * RADIUS * math.sqrt(12.5 + root))
    assert tilted.height == pytest.approx(2 * RADIUS * math.sqrt(12.5 - root))
    assert tilted.angle == pytest.approx(math.degrees(math.atan2(12, -7)) / 2)


def test_two_standard_errors_hold_86_percent():
    assert error_ellipse(1, 1, 0, level=1 - math.exp(-2)).width == pytest.approx(4)


@given(st.floats(1e-4, 1), st.floats(1e-4, 1), st.floats(-1, 1), st.floats(0.01, 0.999))
def test_an_ellipse_reaches_the_radius_times_each_error(x_error, y_error, r, level):
    found = error_ellipse(x_error, y_error, r, level=level)
    radius = math.sqrt(-2 * math.log(1 - level))
    assert found.reach == pytest.approx((radius * x_error, radius * y_error), rel=1e-6, abs=1e-9)
    assert found.width >= found.height >= 0
    if abs(r) > 1e-6:
        assert math.copysign(1, found.angle) == math.copysign(1, r)


@pytest.mark.parametrize("unknown", [None, float("nan"), float("inf")])
def test_no_ellipse_without_all_three(unknown):
    for values in itertools.permutations([0.1, 0.1, unknown]):
        assert error_ellipse(*values, level=0.95) is None


# The plane


def test_points_and_ellipses_are_those_of_the_scores(data):
    axes = plane_plot(data, view="form").axes()
    expected = {"one": (0.4, 0.7), "two": (0.5, 0.5), "three": (0.7, 0.75)}
    for name, point in points_of(axes).items():
        assert point == pytest.approx(expected[name])
    by_hand = error_ellipse(0.03, 0.04, 0.5, level=0.95)
    drawn = patches(axes, Ellipse)[0]
    assert drawn.center == pytest.approx((0.4, 0.7))
    assert (drawn.width, drawn.height) == pytest.approx((by_hand.width, by_hand.height))
    assert drawn.angle == pytest.approx(by_hand.angle)
    assert matplotlib.colors.to_hex(drawn.get_edgecolor()) == COLOURS[0].lower()
    assert axes.get_xlabel() == "Recall (diversity)"
    assert axes.get_ylabel() == "Precision (quality)"


def test_the_correlation_may_be_named_either_way_round(data):
    there = patches(plane_plot(data).axes(), Ellipse)[0]
    back = patches(plane_plot(data, x="precision", y="recall").axes(), Ellipse)[0]
    assert (there.width, there.height) == pytest.approx((back.width, back.height))
    assert there.angle + back.angle == pytest.approx(90)


def test_the_level_of_the_run_sets_the_ellipse(data):
    data["comparison"]["settings"]["level"] = 0.5
    by_hand = error_ellipse(0.03, 0.04, 0.5, level=0.5)
    assert patches(plane_plot(data).axes(), Ellipse)[0].width == pytest.approx(by_hand.width)
    assert "50 % ellipse" in legend_names(plane_plot(data).figure())


def test_crosses_of_intervals_where_the_correlation_is_unknown(data):
    del data["correlations"]["two"]["precision|recall"]
    axes = plane_plot(data).axes()
    assert [tuple(each.center) for each in patches(axes, Ellipse)] == [(0.5, 0.7), (0.8, 0.75)]
    bars = [line.get_xydata().tolist() for line in axes.lines if "interval" in line.get_label()]
    np.testing.assert_allclose(bars, [[[0.54, 0.5], [0.66, 0.5]], [[0.6, 0.42], [0.6, 0.58]]])
    assert legend_names(plane_plot(data, view="meaning").figure())[:2] == [
        "95 % ellipse",
        "95 % intervals",
    ]


def test_a_bare_point_where_no_error_is_known(data):
    for system in data["comparison"]["systems"]:
        system["scores"]["recall"] = score(0.5, None)
        system["scores"]["precision"] = score(0.6, None)
    axes = plane_plot(data).axes()
    assert points_of(axes)["one"] == (0.5, 0.6)
    assert not patches(axes, Ellipse)
    assert not [line for line in axes.lines if "interval" in line.get_label()]
    assert axes.get_legend() is None


def test_the_floor_is_a_box_of_its_spread(data):
    (box,) = patches(plane_plot(data).axes(), Rectangle)
    assert box.get_bbox().extents == pytest.approx(
        [0.9 - 0.01 * Z, 0.8 - 0.01 * Z, 0.9 + 0.01 * Z, 0.8 + 0.01 * Z]
    )
    assert "noise floor: halves of human, 250 each" in legend_names(plane_plot(data).figure())
    without = plane_plot(data, floor=False).figure()
    assert not patches(without.axes[0], Rectangle)
    assert legend_names(without) == ["95 % ellipse"]


def test_hollow_marks_are_the_systems_at_the_size_of_the_floor(data):
    plot = plane_plot(data)
    axes, full = plot.axes(), points_of(plot.axes())
    hollow = [line for line in axes.lines if line.get_label() == "_at_floor"]
    assert len(hollow) == len(full)
    expected = [[x - 0.02, y - 0.02] for x, y in full.values()]
    assert [line.get_xydata()[0].tolist() for line in hollow] == [
        pytest.approx(at) for at in expected
    ]
    joins = [line.get_xydata().tolist() for line in axes.lines if line.get_label() == "_to_floor"]
    assert [end for _, end in joins] == [list(at) for at in full.values()]
    assert "systems at that size, to compare with the floor" in legend_names(plot.figure())
    low = min(x for x, _ in expected)
    assert axes.get_xlim()[0] < low
    without = plane_plot(data, floor=False).axes()
    assert not [line for line in without.lines if line.get_label() in ("_at_floor", "_to_floor")]


def test_axes_show_all_that_is_drawn_and_not_beyond_the_scale(data):
    axes = plane_plot(data).axes()
    for ellipse in patches(axes, Ellipse):
        box = ellipse.get_path().get_extents(ellipse.get_patch_transform())
        assert axes.get_xlim()[0] < box.x0
        assert box.x1 < axes.get_xlim()[1]
        assert axes.get_ylim()[0] < box.y0
        assert box.y1 < axes.get_ylim()[1]
    assert axes.get_xlim()[1] < 1.05
    whole = plane_plot(data, whole=True).axes()
    assert whole.get_xlim()[0] == whole.get_ylim()[0] == 0
    assert whole.get_xlim()[1] == whole.get_ylim()[1] == pytest.approx(1, abs=0.04)


def test_scores_without_an_upper_end(data):
    for place, system in enumerate(data["comparison"]["systems"]):
        system["scores"]["density"] = {**score(1.2 + place), "range": [0.0, None]}
        system["scores"]["coverage"] = score(0.4)
    axes = plane_plot(data, x="coverage", y="density").axes()
    assert axes.get_ylim()[1] > 3.24
    assert plane_plot(data, x="coverage", y="density", whole=True).axes().get_ylim()[0] == 0
    assert axes.get_xlabel() == "Coverage (diversity)"


def test_small_scores_without_an_upper_end_fill_the_axes(data):
    for place, system in enumerate(data["comparison"]["systems"]):
        system["scores"]["mmd"] = {**score(1e-4 * (1 + place), 1e-6), "range": [None, None]}
    low, high = plane_plot(data, x="mmd", y="precision").axes().get_xlim()
    assert 0 < low < 1e-4
    assert 3e-4 < high < 4e-4


def test_families_are_joined_in_their_order(data):
    axes = plane_plot(data, join=[["three", "one", "two"]]).axes()
    (line,) = [line for line in axes.lines if line.get_label() == "_family"]
    assert line.get_xydata().tolist() == [[0.8, 0.75], [0.5, 0.7], [0.6, 0.5]]


def test_missing_systems_are_named_and_the_others_keep_their_look(data):
    first, second, _ = data["comparison"]["systems"]
    first["scores"]["recall"] = score(None)
    first["scores"]["form.recall"] = score(None)
    del second["scores"]["form.precision"]
    figure = plane_plot(data).figure()
    assert legend_names(figure)[:2] == ["one (missing)", "two (missing by form)"]
    assert list(points_of(figure.axes[0])) == ["two", "three"]
    assert list(points_of(figure.axes[1])) == ["three"]
    assert figure.axes[1].lines[-1].get_color() == COLOURS[2]
    joined = plane_plot(data, join=[["one", "two", "three"]]).axes()
    assert [len(each.get_xdata()) for each in joined.lines if each.get_label() == "_family"] == [2]


def test_scores_that_are_all_undefined_leave_empty_axes(data):
    for system in data["comparison"]["systems"]:
        system["scores"] = {key: score(None) for key in system["scores"]}
    figure = plane_plot(data).figure()
    assert points_of(figure.axes[0]) == {}
    assert legend_names(figure) == ["one (missing)", "two (missing)", "three (missing)"]
    f_scores_plot(data).figure()


def test_the_json_of_a_comparison_is_enough(data):
    axes = plane_plot(data["comparison"]).axes()
    assert len(points_of(axes)) == 3
    assert not patches(axes, Ellipse)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (
            {"x": "recal"},
            "unknown score 'recal'; did you mean 'recall'?; if the name is correct, add",
        ),
        ({"view": "from"}, "unknown view 'from'; did you mean 'form'?"),
        ({"join": [["one", "tow"]]}, "unknown system 'tow'; did you mean 'two'"),
        ({"join": ["one", "two"]}, "join must be a list of lists of systems; found ['one', 'two']"),
        ({"join": "one"}, "join must be a list of lists of systems; found 'one'"),
    ],
)
def test_what_cannot_be_drawn_is_said(data, options, message):
    for draw in (Plot.figure, Plot.axes):
        with pytest.raises(InputError) as raised:
            draw(plane_plot(data, **options))
        assert message in str(raised.value)


def test_two_scores_that_no_system_has_together(data):
    for place, system in enumerate(data["comparison"]["systems"]):
        del system["scores"]["form.recall" if place else "form.precision"]
    with pytest.raises(InputError, match="'recall' and 'precision' by form"):
        plane_plot(data, view="form").axes()


# Names


@pytest.mark.parametrize("count", [1, 3, 8, 12])
def test_names_hide_neither_each_other_nor_points(count):
    figure = plane_plot(many(count)).figure()
    figure.draw_without_rendering()
    axes = figure.axes[0]
    # An annotation's own extent has its line in it
    boxes = [Text.get_window_extent(text) for text in names_of(axes)]
    assert len(boxes) == count
    for a, b in itertools.combinations(boxes, 2):
        assert not a.overlaps(b)
    for point in axes.transData.transform(list(points_of(axes).values())):
        assert not any(box.contains(*point) for box in boxes)
    assert all(axes.bbox.x0 <= box.x0 and box.x1 <= axes.bbox.x1 for box in boxes)


def test_far_names_have_a_line_to_their_point_and_near_ones_none():
    figure = plane_plot(report({f"name {i}": (0.5, 0.5) for i in range(9)})).figure()
    figure.draw_without_rendering()
    led = [text.arrow_patch.get_visible() for text in names_of(figure.axes[0])]
    assert 3 <= sum(led) < 9
    figure = plane_plot(report({"a": (0.2, 0.2), "b": (0.8, 0.8)})).figure()
    figure.draw_without_rendering()
    assert not any(text.arrow_patch.get_visible() for text in names_of(figure.axes[0]))


def test_names_find_new_places_when_the_axes_change():
    figure = plane_plot(many(8)).figure()
    places = []
    for limits in ((0.0, 1.0), (0.5, 0.7)):
        figure.axes[0].set(xlim=limits, ylim=limits)
        figure.draw_without_rendering()
        places.append([text.get_position() for text in names_of(figure.axes[0])])
    assert places[0] != places[1]


def test_a_name_stays_in_the_frame_and_off_lines():
    (right,) = arrange(((5.0, 50.0),), ((40.0, 8.0),), (), (100.0, 100.0))
    assert right[0] > 20
    (left,) = arrange(((95.0, 50.0),), ((40.0, 8.0),), (), (100.0, 100.0))
    assert left[0] < -20
    line = tuple((50.0 + x, 50.0) for x in range(30))
    ((x, y),) = arrange(((50.0, 50.0),), ((40.0, 8.0),), line, (100.0, 100.0))
    assert (x < -20 and y == 0) or abs(y) > 4
    assert arrange((), (), (), (1.0, 1.0)) == ()


def test_many_systems_are_named_in_the_legend():
    figure = plane_plot(many(13)).figure()
    assert not names_of(figure.axes[0])
    assert legend_names(figure)[:13] == [f"system-{i}b" for i in range(13)]
    assert len(names_of(plane_plot(many(13), labels=True).axes())) == 13
    assert not names_of(plane_plot(many(3), labels=False).axes())


def test_hostile_names_show_as_typed(tmp_path):
    data = report({name: (0.5, 0.1 + 0.15 * i) for i, name in enumerate(HOSTILE)})
    data["comparison"]["reference"]["name"] = "$x_1$"
    for plot in (plane_plot, f_scores_plot):
        for labels in (True, False):
            save_figure(plot(data, labels=labels).figure(), tmp_path / "figure.svg")
            root = ElementTree.fromstring((tmp_path / "figure.svg").read_bytes())
            texts = root.iter("{http://www.w3.org/2000/svg}text")
            shown = {"".join(each.itertext()).strip(" \N{HAIR SPACE}") for each in texts}
            assert {*HOSTILE[:4], "b\ufffd\ufffdc"} <= shown
            if plot is plane_plot:
                assert "noise floor: halves of $x_1$, 250 each" in shown


# F-scores


def test_f_scores_have_recall_to_the_right_and_a_diagonal(data):
    axes = f_scores_plot(data).axes()
    assert points_of(axes) == {"one": (0.5, 0.7), "two": (0.6, 0.5), "three": (0.8, 0.75)}
    assert axes.get_xlim() == axes.get_ylim()
    (diagonal,) = [line for line in axes.lines if line.get_label() == "_diagonal"]
    assert diagonal.get_slope() == 1
    x, y = diagonal.get_xy1()
    assert x == y
    assert axes.get_xlabel() == "$F_8$ (recall)"
    bars = [line.get_xydata().tolist() for line in axes.lines if "interval" in line.get_label()]
    np.testing.assert_allclose(bars[0], [[0.46, 0.7], [0.54, 0.7]])


def test_f_scores_have_ellipses_where_the_correlation_is_known(data):
    data["correlations"]["one"]["prd_f8|prd_f1_8"] = -0.5
    (ellipse,) = patches(f_scores_plot(data).axes(), Ellipse)
    by_hand = error_ellipse(0.02, 0.01, -0.5, level=0.95)
    assert (ellipse.width, ellipse.height) == pytest.approx((by_hand.width, by_hand.height))
    assert ellipse.angle == pytest.approx(by_hand.angle)


def test_f_scores_of_a_frontier_and_of_an_estimator(data):
    scores = data["comparison"]["systems"][0]["scores"]
    scores |= {"frontier_f8:knn": score(0.3), "frontier_f1_8:knn": score(0.4)}
    assert points_of(f_scores_plot(data, curve="frontier:knn").axes()) == {"one": (0.3, 0.4)}
    for curve, message in (("x", "curve must be prd or frontier"), ("prd:kde", "'prd_f8:kde'")):
        with pytest.raises(InputError, match=message):
            f_scores_plot(data, curve=curve).figure()


# Both


@pytest.mark.slow
@pytest.mark.parametrize(
    ("plot", "suffix"),
    [(plane_plot, ".png"), (plane_plot, ".pdf"), (f_scores_plot, ".svg")],
)
def test_the_same_data_give_the_same_bytes(plot, suffix, data, tmp_path):
    before = copy.deepcopy(data)
    for name in ("a", "b"):
        save_figure(plot(data).figure(), tmp_path / f"{name}{suffix}")
    assert (tmp_path / f"a{suffix}").read_bytes() == (tmp_path / f"b{suffix}").read_bytes()
    assert data == before


@pytest.mark.parametrize("plot", [plane_plot, f_scores_plot])
def test_axes_of_a_person_keep_what_they_hold(plot, data):
    with matplotlib.rc_context({"lines.markersize": 30, "text.usetex": False}):
        settings = dict(matplotlib.rcParams)
        figure = Figure()
        mine, other = figure.subplots(1, 2)
        own = mine.scatter([0.5], [0.5])
        mine.set_title("Mine")
        assert plot(data).axes(mine) is mine
        assert dict(matplotlib.rcParams) == settings
    assert own in mine.collections
    assert mine.get_title() == "Mine"
    assert figure.legends == []
    assert not other.lines
    figure.draw_without_rendering()


def test_the_legend_covers_nothing(data):
    for figure in (
        plane_plot(data).figure(),
        plane_plot(many(20)).figure(),
        f_scores_plot(many(30)).figure(),
    ):
        figure.draw_without_rendering()
        legend = figure.legends[0].get_window_extent()
        assert not any(legend.overlaps(axes.get_tightbbox()) for axes in figure.axes)
        assert legend.x0 >= 0
        assert legend.x1 <= figure.bbox.width


def test_boxes_ellipses_and_bars_are_held_whole():
    box = Floor((0.5, 0.6), (0.05, 0.1), 100)
    assert span([], [box], 2.0, 0) == pytest.approx((0.4, 0.6))
    assert span([], [box], 2.0, 1) == pytest.approx((0.4, 0.8))
    bars = Place(0, "a", 0.5, 0.6, None, (0.45, 0.7), None)
    assert span([bars], [box], 2.0, 0) == pytest.approx((0.4, 0.7))
    at_half = replace(bars, at_floor=(0.2, 0.4))
    assert span([at_half], [box], 2.0, 0) == pytest.approx((0.2, 0.7))
    assert span([at_half], [], 2.0, 0) == pytest.approx((0.45, 0.7))  # no floor, none at its size
    assert span([], [], 2.0, 0) is None


# A system that lies far from all others


def with_one_far(count: int = 12) -> Data:
    data = many(count)
    far = report({"collapsed": (0.01, 0.02)})
    data["comparison"]["systems"] += far["comparison"]["systems"]
    data["correlations"] |= far["correlations"]
    return data


def test_one_far_system_stands_at_the_border_with_its_value():
    axes = plane_plot(with_one_far()).axes()
    assert axes.get_xlim()[0] > 0.3
    assert axes.get_ylim()[0] > 0.3
    assert "collapsed" not in points_of(axes)
    (mark,) = [line for line in axes.lines if line.get_label() == "_beyond"]
    assert tuple(mark.get_xydata()[0]) == (axes.get_xlim()[0], axes.get_ylim()[0])
    assert [text.get_text() for text in names_of(axes)] == ["collapsed (0.01, 0.02)"]
    assert "collapsed" in legend_names(plane_plot(with_one_far()).figure())


def test_the_whole_scale_shows_the_far_system_in_its_place():
    axes = plane_plot(with_one_far(), whole=True).axes()
    assert points_of(axes)["collapsed"] == (0.01, 0.02)
    assert not [line for line in axes.lines if line.get_label() == "_beyond"]


def test_a_far_system_that_the_scale_reaches_is_an_ordinary_mark(monkeypatch):
    """The intervals of the others can reach as far as it lies."""
    monkeypatch.setattr(Scene, "parted", lambda scene: (scene.places[:-1], scene.places[-1:]))
    data = many(13)
    axes = plane_plot(data).axes()
    last = data["comparison"]["systems"][-1]["name"]
    assert last in points_of(axes)
    assert not [line for line in axes.lines if line.get_label() == "_beyond"]


def test_of_few_systems_none_is_far():
    axes = plane_plot(with_one_far(3)).axes()
    assert "collapsed" in points_of(axes)


def test_legends_name_in_full_what_panels_cut():
    names = [f"a-family-of-models-{size}b-instruct-v1" for size in (7, 70)]
    spots = dict(zip(names, ((0.5, 0.6), (0.6, 0.5)), strict=True))
    plot = plane_plot(report(spots))
    shown = [text.get_text() for text in names_of(plot.axes())]
    assert len(set(shown)) == 2
    assert all(len(text) <= 24 for text in shown)
    assert legend_names(plot.figure())[:2] == names
