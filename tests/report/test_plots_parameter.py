"""Scores against a parameter: points, lines, bands, scales."""

from __future__ import annotations

import copy

import numpy as np
import pytest

from calipers.errors import InputError
from calipers.report.plots import (
    parameter_plot,
)
from calipers.report.plots.parameter import log_ticks, points, spans_decades, tick_text


def lines_of(axes):
    return {line.get_label(): line for line in axes.get_lines()}


def words_of(figure):
    legends = [*figure.legends, *(each.get_legend() for each in figure.axes)]
    return [text.get_text() for legend in legends if legend for text in legend.get_texts()]


def test_a_line_holds_the_scores_of_a_family_and_its_band_the_intervals(report):
    figure = parameter_plot(report("p-0.9", "p-0.8", "greedy-0"), metrics="recall").figure()
    (axes,) = figure.axes
    line = lines_of(axes)["p"]
    assert line.get_xdata().tolist() == [0.8, 0.9]
    assert line.get_ydata().tolist() == [0.7375, 0.8]
    band = axes.collections[0].get_paths()[0].vertices
    assert {(0.8, 0.6125), (0.8, 0.8), (0.9, 0.675), (0.9, 0.8625)} <= set(map(tuple, band))
    assert words_of(figure) == ["p", "greedy-0", "95 % interval"]
    assert axes.get_title(loc="left") == "Recall↑"


def test_a_panel_for_each_metric_that_the_table_shows(report):
    figure = parameter_plot(report("p-1", "p-2")).figure()
    titles = [axes.get_title(loc="left") for axes in figure.axes]
    assert titles == ["Precision↑", "Recall↑", "Coverage↑", "MAUVE*↑"]
    assert len(parameter_plot(report("p-1"), metrics=["recall"] * 2).figure().axes) == 1


def test_axes_are_logarithmic_where_values_span_two_decades(report):
    data = report("k-1", "k-10", "k-100")
    axes = parameter_plot(data, metrics="frechet_distance").axes()
    assert (axes.get_xscale(), axes.get_yscale()) == ("log", "log")
    assert parameter_plot(data, metrics="recall").axes().get_yscale() == "linear"
    assert parameter_plot(report("k-1", "k-10"), metrics="recall").axes().get_xscale() == "linear"


def test_points_of_one_line_at_one_place_are_not_joined(report):
    axes = parameter_plot(report("a-1", "b-1"), x="name", by={"a-1": "m", "b-1": "m"}).axes()
    assert lines_of(axes)["m"].get_linestyle() == "None"


def test_the_value_of_the_reference_is_a_line_of_its_own(report):
    figure = parameter_plot(report("p-1", "p-2"), metrics="type_token").figure()
    levels = [line.get_ydata() for line in figure.axes[0].get_lines()]
    assert [0.75, 0.75] in [list(level) for level in levels]
    assert "reference" in words_of(figure)


def test_runs_that_differ_in_a_setting_give_lines_of_systems(report):
    runs = [report("a", "b"), copy.deepcopy(report("a", "b"))]
    runs[1]["comparison"]["settings"]["k"] = 8
    axes = parameter_plot(runs, x="k", metrics=["recall"], x_label="balls").figure().axes[0]
    assert lines_of(axes)["a"].get_xdata().tolist() == [4, 8]
    assert lines_of(axes)["b"].get_ydata().tolist() == [0.7375, 0.7375]


def test_undefined_scores_leave_a_gap_and_no_interval_is_no_band(report):
    data = report("p-1", "p-2")
    for system in data["comparison"]["systems"]:
        system["scores"]["recall"] |= {"interval": None, "value": None}
    axes = parameter_plot(data, metrics="recall").axes()
    assert np.isnan(lines_of(axes)["p"].get_ydata()).all()
    assert not axes.collections


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"metrics": ["recal"]}, "metric 'recal'.*'recall'"),
        ({"metrics": []}, "at least one metric; found none"),
        ({"view": "from"}, "view 'from'.*'form'"),
    ],
)
def test_parameters_are_checked(report, options, words):
    with pytest.raises(InputError, match=words):
        parameter_plot(report("a-1", views=("meaning", "form")), **options).figure()
    with pytest.raises(InputError, match="one axes shows one metric; found 2"):
        parameter_plot(report("a-1"), metrics=["recall", "precision"]).axes()
    with pytest.raises(InputError, match="at least one comparison"):
        parameter_plot([]).figure()


def run(*systems, **settings):
    """A comparison of systems given as (name, median length)."""
    rows = [
        {"name": name, "n": 10, "words": words and {"median": words}, "scores": {"recall": 1}}
        for name, words in systems
    ]
    return {"comparison": {"systems": rows, "settings": {"views": ["meaning"], **settings}}}


def placed(runs, *, by=None, system=None, x="name"):
    return [(p.system, p.x, p.line) for p in points(runs, x=x, by=by, system=system)]


def test_names_give_places_and_lines():
    data = run(("top-5", 10.0), ("top-50", 12.0), ("greedy-0", None))
    assert placed([data]) == [
        ("top-5", 5, "top"),
        ("top-50", 50, "top"),
        ("greedy-0", 0, "greedy-0"),
    ]
    assert placed([data], by="system")[0] == ("top-5", 5, "top-5")
    assert placed([data], by={"top-5": "a", "top-50": "a"})[1] == ("top-50", 50, "a")
    assert [line for _, _, line in placed([data], system="top")] == ["top", "top"]
    assert [name for name, _, _ in placed([data], system="top-5")] == ["top-5"]


def test_lengths_and_sizes_give_places_without_joining_systems():
    data = run(("a-1", 100.0), ("a-2", 200.0))
    assert placed([data], x="words") == [("a-1", 100, "a-1"), ("a-2", 200, "a-2")]
    assert placed([data], x="words", by="family")[0] == ("a-1", 100, "a")
    assert placed([data], x="n") == [("a-1", 10, "a-1"), ("a-2", 10, "a-2")]


def test_settings_give_places_over_runs_also_those_of_the_embedding():
    runs = [run(("a", 1.0), k=2), run(("a", 1.0), k=9)]
    assert placed(runs, x="k") == [("a", 2, "a"), ("a", 9, "a")]
    assert placed([run(("a", 1.0), embedding={"max_length": "256"})], x="max_length")[0][1] == 256


def test_a_mapping_gives_places_and_leaves_out_what_it_does_not_name():
    data = run(("greedy", 1.0), ("p-9", 1.0), ("p-8", 1.0))
    assert placed([data], x={"p-9": 0.9, "p-8": 0.8}) == [("p-9", 0.9, "p"), ("p-8", 0.8, "p")]


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"x": "name"}, "last number in a name; 'greedy'"),
        ({"x": "words"}, "the median length of 'greedy' has no value"),
        ({"x": "match_length"}, "the setting 'match_length' has no value"),
        ({"x": "views"}, r"the setting 'views' is \['meaning'\]"),
        ({"x": "shared"}, "the setting 'shared' is True"),
        ({"x": "kk"}, "unknown x 'kk'; did you mean 'k'"),
        ({"x": {"greedi": 1.0}}, "system 'greedi'.*'greedy'"),
        ({"x": {"greedy": float("nan")}}, "x of the system 'greedy' is nan"),
        ({"x": "name", "system": "a-1e999"}, "the number in 'a-1e999' is inf"),
        ({"x": "k", "by": "famly"}, "by 'famly'.*'family'"),
        ({"x": "k", "system": "gredy"}, "system 'gredy'.*'greedy'"),
    ],
)
def test_what_cannot_be_placed_is_told(options, words):
    name = options.get("system", "greedy") if options["x"] == "name" else "greedy"
    data = run((name, None), match_length=None, shared=True, k=4)
    with pytest.raises(InputError, match=words):
        placed([data], **options)


def test_values_that_span_two_decades_get_powers_of_ten():
    assert spans_decades([5, 500])
    for values in ([5, 499], [0, 1000], [-1, 1000], []):
        assert not spans_decades(values)
    assert log_ticks(5, 1000) == [1, 10, 100, 1000]
    assert len(log_ticks(1e-9, 1e9)) <= 8
    assert [tick_text(v) for v in (1000, 0.5, -3, 1e-7)] == ["1,000", "0.5", "−3", "1e-07"]
