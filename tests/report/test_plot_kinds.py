"""The kinds of plots by name, and what all of them hold."""

from __future__ import annotations

import importlib
import re

import numpy as np
import pytest
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from calipers.commands.rank.result import Matrix, RankedMetric, Ranking
from calipers.errors import InputError
from calipers.report.plot_kinds import draw, draw_axes, kind_of, plot_kinds
from calipers.report.plots import (
    cells_plot,
    group_bars_plot,
    map_plot,
    parameter_plot,
    save_figure,
)
from calipers.results.result import Result, class_of
from calipers.results.sets import SetSummary
from calipers.results.texts import TextComparison, TextResult
from hand_made import comparison_of

HOSTILE = (
    "$x^2$ and $y_1",
    "_hidden",
    "</script>\\alpha{{ }}",
    "line\nbreak\x00\u202e",
    "\ud800 lone",
    "مرحبا",
    "%|#&" * 50,
    "reference",
)


PLOTS = (parameter_plot, group_bars_plot, cells_plot, map_plot)


@pytest.mark.slow
@pytest.mark.parametrize("plot", PLOTS)
def test_files_do_not_depend_on_when_they_are_written(report, tmp_path, plot):
    result = comparison_of(report("p-1"))
    paths = [tmp_path / f"{copy}.svg" for copy in "ab"]
    for path in paths:
        save_figure(plot(result).figure(), path)
    assert paths[0].read_bytes() == paths[1].read_bytes()


@pytest.mark.slow
@pytest.mark.parametrize("plot", PLOTS)
def test_hostile_names_are_written_as_they_are(report, tmp_path, plot):
    data = report(*HOSTILE)
    data["comparison"]["settings"]["metrics_shown"] = ["recall"]
    for each in data["explanations"].values():
        each["meaning"]["topics"][1]["keywords"][0] = "$\\frac{1}{$_"
    options = {"x": dict.fromkeys(HOSTILE, 1.0)} if plot is parameter_plot else {}
    save_figure(plot(comparison_of(data), **options).figure(), tmp_path / "a.svg")
    text = (tmp_path / "a.svg").read_text("utf-8")
    shown = "".join(re.findall(r"<text[^>]*>([^<]*)</text>", text))
    for part in ("$x^2$ and $y_1", "_hidden", "&lt;/script&gt;\\alpha{{ }}", "line break"):
        assert part in shown
    assert "\\$" not in shown
    assert not set(text) & set("\x00\u202e")


RANKING = Ranking(
    systems=("x", "y", "z"),
    metrics={key: RankedMetric(key, "higher", {}, {}, {}) for key in ("a", "b")},
    truths={},
    matrix=Matrix("spearman", ("a", "b"), 0, np.eye(2), np.full((2, 2), 3), ((None, None),) * 2),
    settings={"level": 0.95},
    chance={},
)


@pytest.mark.parametrize("name", plot_kinds())
def test_every_kind_has_its_functions_and_one_line(name):
    kind = kind_of(name)
    module, _, function = kind.drawn_by.partition(":")
    assert callable(getattr(importlib.import_module(module), function))
    assert issubclass(class_of(kind.takes), Result)
    assert kind.source
    assert "\n" not in kind.shows


def test_a_kind_is_drawn_from_scores_alone_where_it_needs_no_more(two_systems):
    options = {"x": {"model_a": 1, "model_b": 2}, "metrics": ["recall"]}
    result = comparison_of(two_systems)
    figure = draw("parameter", result, **options)
    assert isinstance(figure, Figure)
    line = figure.axes[0].get_lines()[0]
    assert line.get_ydata().tolist() == [0.8]
    axes = Figure().add_subplot()
    assert draw_axes("parameter", [result], axes, view=None, **options) is axes


def test_rankings_are_drawn_too():
    assert isinstance(draw_axes("heat-map", RANKING), Axes)
    assert len(draw("heat-map", [RANKING]).axes) == 2


def test_join_gathers_families_by_their_names(make):
    scores = {"precision": make["score"](0.5), "recall": make["score"](0.25)}
    names = ("t=2", "t=1", "x")
    data = make["comparison"]([make["system"](name, scores) for name in names], views=["meaning"])
    plain, joined = (
        draw_axes("plane", comparison_of(data), join=join) for join in (None, "family")
    )
    assert len(joined.get_lines()) > len(plain.get_lines())


@pytest.mark.parametrize(
    ("name", "data", "options", "words"),
    [
        ("plain", {}, {}, "plot 'plain'.*'plane'"),
        ("plane", RANKING, {}, "is a ranking; the plot 'plane' takes a comparison"),
        ("plane", {"a": 1}, {}, "cannot be drawn"),
        ("plane", 3, {}, "cannot be drawn"),
        ("sweep", RANKING, {}, "`calipers sweep --json`"),
        ("plane", None, {"regions": "topics"}, "no option 'regions'; its options: view, x, y"),
        ("heat-map", None, {"view": "form"}, "no option 'view'; its options: none"),
        ("map", None, {}, "holds only scores; the plot 'map' takes a comparison .*RUN.zip"),
        ("cells", None, {}, "holds only scores"),
    ],
)
def test_what_a_kind_does_not_take_is_told(name, data, options, words, two_systems):
    inputs = [comparison_of(two_systems) if data is None else data]
    with pytest.raises(InputError, match=words):
        draw(name, inputs, **options)


def test_a_kind_is_drawn_from_one_input_unless_it_takes_several(two_systems):
    with pytest.raises(InputError, match="'plane' takes one input; found 2"):
        draw("plane", [comparison_of(two_systems)] * 2)
    with pytest.raises(InputError, match="at least one input; found 0"):
        draw("parameter", [])


def test_a_result_that_no_plot_takes_cannot_be_drawn():
    summary = SetSummary("human", "", 1, 1, None, "")
    texts = TextComparison((TextResult(summary, {}),), {"metrics": []}, summary)
    with pytest.raises(InputError, match="cannot be drawn; the plot 'plane' takes a comparison"):
        draw("plane", texts)
