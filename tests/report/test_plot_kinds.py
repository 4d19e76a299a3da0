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
from calipers.report.plot_kinds import INPUTS, KINDS, draw, draw_axes
from calipers.report.plots import (
    cells_plot,
    group_bars_plot,
    map_plot,
    parameter_plot,
    save_figure,
)

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
    data = report("p-1")
    paths = [tmp_path / f"{copy}.svg" for copy in "ab"]
    for path in paths:
        save_figure(plot(data).figure(), path)
    assert paths[0].read_bytes() == paths[1].read_bytes()


@pytest.mark.slow
@pytest.mark.parametrize("plot", PLOTS)
def test_hostile_names_are_written_as_they_are(report, tmp_path, plot):
    data = report(*HOSTILE)
    data["comparison"]["settings"]["metrics_shown"] = ["recall"]
    for each in data["explanations"].values():
        each["meaning"]["topics"][1]["keywords"][0] = "$\\frac{1}{$_"
    options = {"x": dict.fromkeys(HOSTILE, 1.0)} if plot is parameter_plot else {}
    save_figure(plot(data, **options).figure(), tmp_path / "a.svg")
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
).to_dict()


@pytest.mark.parametrize("name", KINDS)
def test_every_kind_has_its_functions_and_one_line(name):
    kind = KINDS[name]
    module, _, function = kind.drawn_by.partition(":")
    assert callable(getattr(importlib.import_module(f"calipers.{module}"), function))
    assert kind.takes in INPUTS
    assert "\n" not in kind.shows


def test_a_kind_is_drawn_from_scores_alone_where_it_needs_no_more(two_systems):
    options = {"x": {"model_a": 1, "model_b": 2}, "metrics": ["recall"]}
    figure = draw("parameter", two_systems, **options)
    assert isinstance(figure, Figure)
    line = figure.axes[0].get_lines()[0]
    assert line.get_ydata().tolist() == [0.8]
    axes = Figure().add_subplot()
    assert draw_axes("parameter", [two_systems], axes, view=None, **options) is axes


def test_rankings_are_drawn_too():
    assert isinstance(draw_axes("heat-map", RANKING), Axes)
    assert len(draw("heat-map", [RANKING]).axes) == 2


def test_join_gathers_families_by_their_names(make):
    scores = {"precision": make["score"](0.5), "recall": make["score"](0.25)}
    names = ("t=2", "t=1", "x")
    data = make["comparison"]([make["system"](name, scores) for name in names], views=["meaning"])
    plain, joined = (draw_axes("plane", data, join=join) for join in (None, "family"))
    assert len(joined.get_lines()) > len(plain.get_lines())


JUDGING = {"reference": "human", "systems": ["a"], "settings": {}, "judges": {}, "between": []}


@pytest.mark.parametrize(
    ("name", "data", "options", "words"),
    [
        ("plain", {}, {}, "plot 'plain'.*'plane'"),
        ("plane", RANKING, {}, "is a ranking; the plot 'plane' takes a comparison"),
        ("plane", {"a": 1}, {}, "cannot be drawn"),
        ("plane", 3, {}, "cannot be drawn"),
        ("plane", JUDGING, {}, "cannot be drawn"),
        ("sweep", RANKING, {}, "`calipers sweep --json`"),
        ("plane", None, {"regions": "topics"}, "no option 'regions'; its options: view, x, y"),
        ("heat-map", None, {"view": "form"}, "no option 'view'; its options: none"),
        ("map", None, {}, "holds only scores; the plot 'map' takes a comparison .*RUN.zip"),
        ("cells", None, {}, "holds only scores"),
    ],
)
def test_what_a_kind_does_not_take_is_told(name, data, options, words, two_systems):
    inputs = [two_systems if data is None else data]
    with pytest.raises(InputError, match=words):
        draw(name, inputs, **options)


def test_a_kind_is_drawn_from_one_input_unless_it_takes_several(two_systems):
    with pytest.raises(InputError, match="'plane' takes one input; found 2"):
        draw("plane", [two_systems, two_systems])
    with pytest.raises(InputError, match="at least one input; found 0"):
        draw("parameter", [])
