"""Figures of parameters, groups, topics and maps, and the kinds of plots by name."""

from __future__ import annotations

import copy
import importlib
import re

import numpy as np
import pytest
from matplotlib.axes import Axes
from matplotlib.colors import to_hex
from matplotlib.figure import Figure

from calipers.errors import InputError
from calipers.report.plot_kinds import INPUTS, KINDS
from calipers.report.plots import (
    cells_axes,
    cells_figure,
    group_bars_axes,
    group_bars_figure,
    map_axes,
    map_figure,
    parameter_axes,
    parameter_figure,
    save_figure,
)
from calipers.report.plots.choosing import drawable
from calipers.report.plots.kinds import draw, draw_axes
from calipers.report.plots.parameter_points import families, family, last_number, points
from calipers.report.plots.parameter_scale import log_ticks, spans_decades, tick_text
from calipers.report.plots.style import COLOURS

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


def region(words, expected, produced, contribution, direction, **more):
    return {
        "words": words,
        "expected": expected,
        "produced": produced,
        "contribution": contribution,
        "share": contribution / 0.1,
        "direction": direction,
        "cells": [7],
        **more,
    }


def explained(words="sport"):
    topics = [
        region(["rest"], 0.3, 0.3, 0.01, "even"),
        region([words, "ball"], 0.5, 0.1, 0.06, "under"),
        region([], 0.2, 0.6, 0.03, "over"),
    ]
    return {"score": 0.1, "topics": topics, "cells": topics[:1], "notes": []}


def mapped(name, role, inside, shift=0.0):
    size = len(inside)
    coordinates = {"x": [shift + i for i in range(size)], "y": [2.0 * i for i in range(size)]}
    return {"name": name, "role": role, "rows": list(range(size)), **coordinates, "inside": inside}


@pytest.fixture
def report(make):
    """Report data of systems by name, with two groups, topics and a map."""

    def build(*names, views=("meaning",)):
        systems = [make["system"](name, _scores(make, place)) for place, name in enumerate(names)]
        data = make["comparison"](systems, views=list(views), group="topic", k=4)
        data["reference"]["groups"] = {"World": 300, "Sports": 200}
        sets = [mapped(name, "generated", [1, 0, 1], place) for place, name in enumerate(names)]
        layout = {"method": "pca", "explained": [0.25, 0.125]}
        return {
            "comparison": data,
            "explanations": {name: {views[0]: explained()} for name in names},
            "map": {views[0]: {**layout, "sets": [mapped("human", "reference", [1] * 4), *sets]}},
        }

    return build


def _scores(make, place):
    score = make["score"]
    value = 0.8 - 0.0625 * place
    sure = {"interval": [value - 0.125, value + 0.0625], "level": 0.95}
    groups = {"World": value, "Sports": value / 2}
    return {
        **{key: score(value, **sure) for key in ("precision", "recall", "coverage", "mauve_star")},
        "frechet_distance": score(10.0 ** (place - 1), range=[0.0, None], better="lower"),
        "type_token": score(0.5, reference=0.75, gap=0.25, better="closest"),
        **{f"recall:group={g}": score(v, **sure) for g, v in groups.items()},
        **{f"precision:group={g}": score(None if g == "World" else v) for g, v in groups.items()},
    }


def lines_of(axes):
    return {line.get_label(): line for line in axes.get_lines()}


def words_of(figure):
    legends = [*figure.legends, *(each.get_legend() for each in figure.axes)]
    return [text.get_text() for legend in legends if legend for text in legend.get_texts()]


def test_a_line_holds_the_scores_of_a_family_and_its_band_the_intervals(report):
    figure = parameter_figure(report("p-0.9", "p-0.8", "greedy-0"), metrics="recall")
    (axes,) = figure.axes
    line = lines_of(axes)["p"]
    assert line.get_xdata().tolist() == [0.8, 0.9]
    assert line.get_ydata().tolist() == [0.7375, 0.8]
    band = axes.collections[0].get_paths()[0].vertices
    assert {(0.8, 0.6125), (0.8, 0.8), (0.9, 0.675), (0.9, 0.8625)} <= set(map(tuple, band))
    assert words_of(figure) == ["p", "greedy-0", "95 % interval"]
    assert axes.get_title(loc="left") == "Recall↑"


def test_a_panel_for_each_metric_that_the_table_shows(report):
    figure = parameter_figure(report("p-1", "p-2"))
    titles = [axes.get_title(loc="left") for axes in figure.axes]
    assert titles == ["Precision↑", "Recall↑", "Coverage↑", "MAUVE*↑"]
    assert len(parameter_figure(report("p-1"), metrics=["recall"] * 2).axes) == 1


def test_axes_are_logarithmic_where_values_span_two_decades(report):
    data = report("k-1", "k-10", "k-100")
    axes = parameter_axes(data, metrics="frechet_distance")
    assert (axes.get_xscale(), axes.get_yscale()) == ("log", "log")
    assert parameter_axes(data, metrics="recall").get_yscale() == "linear"
    assert parameter_axes(report("k-1", "k-10"), metrics="recall").get_xscale() == "linear"


def test_points_of_one_line_at_one_place_are_not_joined(report):
    axes = parameter_axes(report("a-1", "b-1"), x="name", by={"a-1": "m", "b-1": "m"})
    assert lines_of(axes)["m"].get_linestyle() == "None"


def test_the_value_of_the_reference_is_a_line_of_its_own(report):
    figure = parameter_figure(report("p-1", "p-2"), metrics="type_token")
    levels = [line.get_ydata() for line in figure.axes[0].get_lines()]
    assert [0.75, 0.75] in [list(level) for level in levels]
    assert "reference" in words_of(figure)


def test_runs_that_differ_in_a_setting_give_lines_of_systems(report):
    runs = [report("a", "b"), copy.deepcopy(report("a", "b"))]
    runs[1]["comparison"]["settings"]["k"] = 8
    axes = parameter_figure(runs, x="k", metrics=["recall"], x_label="balls").axes[0]
    assert lines_of(axes)["a"].get_xdata().tolist() == [4, 8]
    assert lines_of(axes)["b"].get_ydata().tolist() == [0.7375, 0.7375]


def test_undefined_scores_leave_a_gap_and_no_interval_is_no_band(report):
    data = report("p-1", "p-2")
    for system in data["comparison"]["systems"]:
        system["scores"]["recall"] |= {"interval": None, "value": None}
    axes = parameter_axes(data, metrics="recall")
    assert np.isnan(lines_of(axes)["p"].get_ydata()).all()
    assert not axes.collections


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"metrics": ["recal"]}, "unknown metric 'recal'; did you mean 'recall'"),
        ({"metrics": []}, "at least one metric; found none"),
        ({"view": "from"}, "unknown view 'from'; did you mean 'form'"),
    ],
)
def test_parameters_are_checked(report, options, words):
    with pytest.raises(InputError, match=words):
        parameter_figure(report("a-1", views=("meaning", "form")), **options)
    with pytest.raises(InputError, match="one axes shows one metric; found 2"):
        parameter_axes(report("a-1"), metrics=["recall", "precision"])
    with pytest.raises(InputError, match="at least one comparison"):
        parameter_figure([])


def widths(axes, colour):
    bars = [patch for patch in axes.patches if to_hex(patch.get_facecolor()) == colour.lower()]
    return [bar.get_width() for bar in bars]


def test_bars_hold_the_scores_by_group_in_the_order_of_the_reference(report):
    figure = group_bars_figure(report("a", "b"))
    recall, precision = figure.axes
    assert widths(recall, COLOURS[0]) == [0.8, 0.4]
    assert widths(recall, COLOURS[1]) == [0.7375, 0.36875]
    assert [t.get_text() for t in recall.get_yticklabels()] == ["World (300)", "Sports (200)"]
    ends = [segment[:, 0].tolist() for c in recall.collections for segment in c.get_segments()]
    assert [0.675, 0.8625] in ends
    assert widths(precision, COLOURS[0]) == [0.4]
    assert [text.get_text() for text in precision.texts] == ["–", "–"]
    assert words_of(figure) == ["a", "b", "95 % interval"]


def test_one_system_keeps_its_colour(report):
    axes = group_bars_axes(report("a", "b"), system="b", metrics="recall")
    assert widths(axes, COLOURS[1]) == [0.7375, 0.36875]
    assert not widths(axes, COLOURS[0])


def test_of_many_groups_the_worst_are_shown_and_the_figure_says_so(report, make):
    data = report("a")
    names = [f"g{i:02}" for i in range(60)]
    data["comparison"]["reference"]["groups"] = dict.fromkeys(names, 50)
    scores = {f"recall:group={name}": make["score"](i / 64) for i, name in enumerate(names)}
    data["comparison"]["systems"][0]["scores"] = scores
    figure = group_bars_figure(data)
    shown = [t.get_text() for t in figure.axes[0].get_yticklabels()]
    assert shown == [f"{name} (50)" for name in names[:20]]
    assert figure.get_suptitle() == "The 20 groups of the lowest recall, of 60"


def test_groups_are_needed_and_names_checked(report):
    data = report("a")
    with pytest.raises(InputError, match="unknown metric by group 'coverage'"):
        group_bars_figure(data, metrics=["coverage"])
    for system in data["comparison"]["systems"]:
        system["scores"] = {"recall": system["scores"]["recall"]}
    with pytest.raises(InputError, match=r"nothing was measured by group.*--group"):
        group_bars_figure(data)


def test_topics_come_by_contribution_with_both_shares_and_their_part(report):
    figure = cells_figure(report("a"))
    shares, gaps = figure.axes
    assert widths(shares, "#8c8c8c") == [0.5, 0.2, 0.3]
    assert widths(shares, COLOURS[0]) == [0.1, 0.6, 0.3]
    assert [t.get_text() for t in shares.get_yticklabels()] == ["sport, ball", "cell 7", "rest"]
    assert [bar.get_width() for bar in gaps.patches] == [0.06, 0.03, 0.01]
    assert [t.get_text() for t in gaps.texts] == ["60.0 % missed", "30.0 % invented", "10.0 %"]
    assert gaps.get_title(loc="right") == "FI* 0.100"
    assert shares.get_ylim()[0] > shares.get_ylim()[1]


def test_systems_stand_below_each_other_on_one_scale(report):
    data = report("a", "b")
    for topic in data["explanations"]["b"]["meaning"]["topics"]:
        topic["contribution"] /= 8
    figure = cells_figure(data, limit=2)
    assert [axes.get_title(loc="left") for axes in figure.axes[::2]] == ["a", "b"]
    for column in (figure.axes[::2], figure.axes[1::2]):
        assert len({axes.get_xlim() for axes in column}) == 1
    assert [len(axes.get_yticks()) for axes in figure.axes] == [2, 2, 2, 2]
    assert cells_axes(data, system="b", regions="cells").get_yticks().tolist() == [0]


def test_what_is_not_explained_is_told_with_its_reason(report):
    data = report("a", views=("meaning", "form"))
    with pytest.raises(InputError, match=r"no topics of the system 'a' by the view 'form'$"):
        cells_figure(data, view="form")
    data["explanations"]["a"]["meaning"] |= {"topics": [], "notes": ["too few samples"]}
    with pytest.raises(InputError, match="by the view 'meaning': too few samples"):
        cells_figure(data)
    with pytest.raises(InputError, match="unknown regions 'topic'; did you mean 'topics'"):
        cells_figure(data, regions="topic")
    with pytest.raises(InputError, match="limit must be at least 1; found 0"):
        cells_figure(data, limit=0)


def test_a_map_marks_what_lies_outside_the_support(report):
    figure = map_figure(report("a", "b"))
    first, second = figure.axes
    lines = lines_of(second)
    assert lines["reference"].get_xdata().tolist() == [0, 1, 2, 3]
    assert lines["b"].get_xydata().tolist() == [[1, 0], [3, 4]]
    assert lines["b, outside"].get_xydata().tolist() == [[2, 2]]
    assert lines["b, outside"].get_marker() == "x"
    assert [text.get_text() for text in first.texts] == ["1 of 3 outside"]
    assert first.get_xlim() == second.get_xlim()
    assert figure.get_supxlabel() == "PC 1 (25.0 % of variance)"


def test_a_map_without_support_or_variance_says_nothing_of_them(report):
    data = report("a")
    data["map"]["meaning"] |= {"method": "umap", "explained": None}
    data["map"]["meaning"]["sets"][1]["inside"] = None
    axes = map_axes(data)
    assert axes.get_xlabel() == "UMAP 1"
    assert not lines_of(axes)["a, outside"].get_xdata().size
    assert words_of(axes.figure) == ["reference", "a"]


def test_a_system_named_reference_is_told_by_its_role(report):
    lines = map_axes(report("reference")).get_lines()
    assert [len(line.get_xdata()) for line in lines] == [4, 2, 1]


def test_a_missing_map_is_told(report):
    data = report("a", views=("meaning", "form"))
    with pytest.raises(InputError, match="no map of the samples by the view 'form'"):
        map_figure(data, view="form")
    with pytest.raises(InputError, match="unknown system 'A'"):
        map_figure(data, system="A")


FIGURES = (parameter_figure, group_bars_figure, cells_figure, map_figure)


@pytest.mark.slow
@pytest.mark.parametrize("draw", FIGURES)
def test_files_do_not_depend_on_when_they_are_written(report, tmp_path, draw):
    data = report("p-1")
    paths = [tmp_path / f"{copy}.svg" for copy in "ab"]
    for path in paths:
        save_figure(draw(data), path)
    assert paths[0].read_bytes() == paths[1].read_bytes()


@pytest.mark.slow
@pytest.mark.parametrize("draw", FIGURES)
def test_hostile_names_are_written_as_they_are(report, tmp_path, draw):
    data = report(*HOSTILE)
    data["comparison"]["settings"]["metrics_shown"] = ["recall"]
    for each in data["explanations"].values():
        each["meaning"] = explained("$\\frac{1}{$_")
    options = {"x": dict.fromkeys(HOSTILE, 1.0)} if draw is parameter_figure else {}
    save_figure(draw(data, **options), tmp_path / "a.svg")
    text = (tmp_path / "a.svg").read_text("utf-8")
    shown = "".join(re.findall(r"<text[^>]*>([^<]*)</text>", text))
    for part in ("$x^2$ and $y_1", "_hidden", "&lt;/script&gt;\\alpha{{ }}", "line break"):
        assert part in shown
    assert "\\$" not in shown
    assert not set(text) & set("\x00\u202e")


def test_formulas_and_underscores_are_plain_words():
    assert drawable("$a$") == r"\$a\$"
    assert drawable("_a") == "\N{HAIR SPACE}_a"
    assert drawable("a\nb\x00") == "a b\N{REPLACEMENT CHARACTER}"
    assert len(drawable("x" * 1_000_000)) <= 40


RANKING = {"matrix": {"names": ["a", "b"], "values": [[1, 0], [0, 1]], "kind": "spearman"}}
RANKING["matrix"]["truths"] = 1
RANKING["systems"] = ["x", "y", "z"]


@pytest.mark.parametrize("name", KINDS)
def test_every_kind_has_its_functions_and_one_line(name):
    kind = KINDS[name]
    module = importlib.import_module(f"calipers.report.plots.{kind.module}")
    assert callable(getattr(module, f"{kind.module}_figure"))
    assert callable(getattr(module, f"{kind.module}_axes"))
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


@pytest.mark.parametrize(
    ("name", "data", "options", "words"),
    [
        ("plain", {}, {}, "unknown plot 'plain'; did you mean 'plane'"),
        ("plane", RANKING, {}, "is a ranking; the plot 'plane' takes a comparison"),
        ("plane", {"a": 1}, {}, "is nothing that can be drawn"),
        ("plane", 3, {}, "is nothing that can be drawn"),
        ("sweep", RANKING, {}, r"takes a sweep \(the JSON that `calipers sweep --json` wrote\)"),
        ("plane", None, {"regions": "topics"}, "no option 'regions'; its options: view, x, y"),
        ("heat-map", None, {"view": "form"}, "no option 'view'; its options: none"),
        ("map", None, {}, "holds scores alone; the plot 'map' takes a comparison .*RUN.zip"),
        ("cells", None, {}, "holds scores alone"),
    ],
)
def test_what_a_kind_does_not_take_is_told(name, data, options, words, two_systems):
    inputs = [two_systems if data is None else data]
    with pytest.raises(InputError, match=words):
        draw(name, inputs, **options)


def test_a_kind_is_drawn_from_one_input_unless_it_takes_several(two_systems):
    with pytest.raises(InputError, match="'plane' is drawn from one input; found 2"):
        draw("plane", [two_systems, two_systems])
    with pytest.raises(InputError, match="at least one input; found 0"):
        draw("parameter", [])


@pytest.mark.parametrize(
    ("name", "before", "value", "behind"),
    [
        ("nucleus-0.9", "nucleus", 0.9, ""),
        ("nucleus-.95", "nucleus", 0.95, ""),
        ("top-k-40", "top-k", 40.0, ""),
        ("gpt2-xl,p=0.8", "gpt2-xl,p", 0.8, ""),
        ("k=1,000", "k", 1000.0, ""),
        ("1,2", "1", 2.0, ""),
        ("lr 1e-05", "lr", 1e-05, ""),
        ("llama-7B-chat", "llama", 7.0, "B-chat"),
        ("t=0.7.jsonl", "t", 0.7, "jsonl"),
        ("0.5", "", 0.5, ""),
        ("v1.2.3", "v1.2", 3.0, ""),
        ("1,2345", "1", 2345.0, ""),
    ],
)
def test_the_last_number_in_a_name(name, before, value, behind):
    assert last_number(name) == (before, value, behind)


def test_a_name_without_a_number():
    assert last_number("greedy") is None
    assert family("greedy") == "greedy"


def test_families_leave_out_single_systems_and_follow_the_number():
    names = ["t=1.0", "greedy", "p-0.9", "t=0.5", "k 3"]
    assert families(names) == [["t=0.5", "t=1.0"]]


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
        ({"x": "name"}, "reads the last number in a name; 'greedy' has none"),
        ({"x": "words"}, "the median length of 'greedy' has no value"),
        ({"x": "match_length"}, "the setting 'match_length' has no value"),
        ({"x": "views"}, r"the setting 'views' is \['meaning'\]"),
        ({"x": "shared"}, "the setting 'shared' is True"),
        ({"x": "kk"}, "unknown x 'kk'; did you mean 'k'"),
        ({"x": {"greedi": 1.0}}, "unknown system 'greedi'; did you mean 'greedy'"),
        ({"x": {"greedy": float("nan")}}, "x of the system 'greedy' is nan"),
        ({"x": "name", "system": "a-1e999"}, "the number in 'a-1e999' is inf"),
        ({"x": "k", "by": "famly"}, "unknown by 'famly'; did you mean 'family'"),
        ({"x": "k", "system": "gredy"}, "unknown system 'gredy'; did you mean 'greedy'"),
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
