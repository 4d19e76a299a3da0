"""What the pictures of the HTML report are drawn from: compact, finite, safe in JSON."""

from __future__ import annotations

import json
import math
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from calipers.report.html import map as maps
from calipers.report.html import pictures
from calipers.report.html.pictures import SCRIPTS, STYLES
from hand_made import comparison_of

Data = dict[str, Any]


def map_data(data: Data) -> Data:
    return maps.map_data(comparison_of(data), redacted=data.get("redacted", False))


def chart_data(data: Data) -> Data:
    return pictures.chart_data(comparison_of(data))


EMPTY: Data = {"planes": [], "curves": [], "frontiers": [], "topics": []}


@pytest.fixture
def plain(two_systems: Data) -> Data:
    """Report data with nothing but the scores."""
    return {"comparison": two_systems, "command": None, "redacted": False}


@pytest.fixture
def mapped(plain: Data) -> Data:
    """The same with a map of three samples a set, by two views."""
    names = ("reference", "model_a", "model_b")
    sets = [
        {
            "name": name,
            "role": "reference" if name == "reference" else "generated",
            "rows": [0, 1, 2],
            "x": [place - 1.0, place + 0.0, place + 1.0],
            "y": [0.0, 0.5, 0.25],
            "inside": [1, 0, 1],
        }
        for place, name in enumerate(names)
    ]
    view = {"method": "pca", "explained": [0.25, 0.125], "sets": sets}
    texts = [{"name": name, "excerpts": [f"{name} {i}" for i in range(3)]} for name in names]
    return {**plain, "map": {"meaning": view, "form": view}, "excerpts": texts}


def test_a_map_has_whole_coordinates_of_one_scale(mapped: Data) -> None:
    view = map_data(mapped)["views"][0]
    assert (view["width"], view["height"]) == (9999, 1250)  # 4 across, 0.5 up
    assert view["x"][0] == [0, 2500, 5000]
    assert view["x"][2][2] == 9999
    assert view["y"][0] == [0, 1250, 625]


def test_a_map_says_what_a_view_sees_and_holds(mapped: Data) -> None:
    views = map_data(mapped)["views"]
    assert [view["name"] for view in views] == ["meaning", "form"]
    assert views[0]["sees"] == "topics and content"
    assert views[0]["explained"] == [0.25, 0.125]


def test_excerpts_are_held_once_for_all_views(mapped: Data) -> None:
    text = json.dumps(map_data(mapped))
    assert text.count("model_a 1") == 1


def test_the_reference_has_no_inside_and_no_series(mapped: Data) -> None:
    found = map_data(mapped)
    assert found["views"][0]["inside"] == [None, "101", "101"]
    assert [each["series"] for each in found["sets"]] == [None, 0, 1]


def test_a_map_calls_the_reference_by_its_name(mapped: Data) -> None:
    assert [each["name"] for each in map_data(mapped)["sets"]] == ["human", "model_a", "model_b"]


def test_a_system_called_reference_is_told_from_the_reference(mapped: Data) -> None:
    mapped["comparison"]["systems"][0]["name"] = "reference"
    mapped["map"]["meaning"]["sets"][1]["name"] = "reference"
    mapped["map"]["form"] = mapped["map"]["meaning"]
    first = map_data(mapped)
    assert [each["name"] for each in first["sets"]] == ["human", "reference (generated)", "model_b"]
    assert first["views"][1]["inside"] == [None, "101", "101"]
    assert chart_data(mapped)["systems"] == ["reference (generated)", "model_b"]


def test_rows_are_left_out_where_they_only_count(mapped: Data) -> None:
    assert [each["rows"] for each in map_data(mapped)["sets"]] == [None, None, None]
    many = {axis: [i / 5000 for i in range(5000)] for axis in "xy"}
    mapped["map"]["meaning"]["sets"][1] |= {**many, "inside": [1] * 5000}
    mapped["excerpts"] = None
    mapped["map"] = {"meaning": mapped["map"]["meaning"]}
    first, large, last = map_data(mapped)["sets"]
    assert (first["rows"], last["rows"]) == (None, None)
    assert (large["size"], large["rows"][:3], large["rows"][-1]) == (4000, [0, 1, 3], 4999)


@pytest.mark.parametrize("odd", [None, math.nan, math.inf])
def test_a_sample_without_a_finite_place_is_not_drawn(mapped: Data, odd: float | None) -> None:
    mapped["map"]["meaning"]["sets"][2]["x"] = [odd, 2.0, 3.0]
    found = map_data(mapped)
    assert found["views"][0]["x"][2] == [None, 7499, 9999]
    json.dumps(found, allow_nan=False)


def test_one_point_is_a_map(mapped: Data) -> None:
    for each in mapped["map"]["meaning"]["sets"]:
        each |= {"rows": [0], "x": [2.0], "y": [2.0], "inside": None}
    mapped["map"] = {"meaning": mapped["map"]["meaning"]}
    view = map_data(mapped)["views"][0]
    assert (view["width"], view["height"]) == (0, 0)
    assert view["x"] == [[0], [0], [0]]
    assert view["inside"] == [None, None, None]


def test_a_redacted_map_has_no_excerpts_even_where_some_were_left(mapped: Data) -> None:
    found = map_data({**mapped, "redacted": True})
    assert found["redacted"] is True
    assert [each["excerpts"] for each in found["sets"]] == [None, None, None]


def test_excerpts_are_no_longer_than_promised(mapped: Data) -> None:
    mapped["excerpts"][1]["excerpts"] = ["x" * 1000, "", "y"]
    assert map_data(mapped)["sets"][1]["excerpts"] == ["x" * 200, "", "y"]


def test_without_a_map_there_is_none(plain: Data) -> None:
    assert map_data(plain) == {"redacted": False, "longest": 200, "sets": [], "views": []}


def test_names_are_one_short_line(plain: Data) -> None:
    plain["comparison"]["systems"][0]["name"] = "<b>\n\x00\ud800\u202e" + "x" * 500
    name = chart_data(plain)["systems"][0]
    assert name.startswith("<b> \N{REPLACEMENT CHARACTER}")
    assert len(name) <= 40
    json.dumps(name).encode("ascii")
    name.encode("utf-8")


def test_names_that_are_alike_once_short_are_told_apart(plain: Data) -> None:
    for system, middle in zip(plain["comparison"]["systems"], "ab", strict=True):
        system["name"] = "x" * 100 + middle + "x" * 100
    first, second = chart_data(plain)["systems"]
    assert second == f"{first} (2)"


def test_charts_of_scores_alone_have_planes_for_each_view(plain: Data) -> None:
    found = chart_data(plain)
    assert [(each["view"], each["across"], each["up"]) for each in found["planes"]] == [
        (view, across, "precision") for view in (0, 1) for across in ("recall", "coverage")
    ]
    assert {key: found[key] for key in ("curves", "frontiers", "topics")} == {
        key: [] for key in ("curves", "frontiers", "topics")
    }


def test_charts_without_systems_are_empty(make: dict[str, Callable[..., Data]]) -> None:
    found = chart_data({"comparison": make["comparison"]([])})
    assert {key: found[key] for key in EMPTY} == EMPTY
    assert found["systems"] == []


def test_the_view_of_strings_has_no_charts(plain: Data) -> None:
    plain["comparison"]["settings"]["views"] = ["meaning", "form", "text"]
    assert [view["name"] for view in chart_data(plain)["views"]] == ["meaning", "form"]


def test_every_script_and_style_is_there() -> None:
    from importlib.resources import files

    static = files("calipers.report.html") / "static"
    for name in (*SCRIPTS, *STYLES):
        assert (static / name).read_text(encoding="utf-8")


def test_scripts_never_write_markup_nor_run_text() -> None:
    from importlib.resources import files

    static = files("calipers.report.html") / "static"
    for name in SCRIPTS:
        script = (static / name).read_text(encoding="utf-8")
        for unsafe in (
            "innerHTML",
            "outerHTML",
            "insertAdjacent",
            "eval(",
            "new Function",
            "http:",
        ):
            assert unsafe not in script.replace("http://www.w3.org/2000/svg", ""), (name, unsafe)


def test_excerpts_are_cut_alike_where_letters_take_several_bytes(make):
    def page(text, samples):
        names = [f"model_{place}" for place in range(-(-samples // 4000))][1:]
        place = {axis: [0.0] * (samples // (len(names) + 1)) for axis in "xy"}
        sets = [{"name": name, **place, "inside": None} for name in ("P", *names)]
        return {
            "comparison": make["comparison"]([make["system"](name, {}) for name in names]),
            "map": {"meaning": {"method": "pca", "explained": None, "sets": sets}},
            "excerpts": [{"excerpts": [text * 200] * len(one["x"])} for one in sets],
        }

    assert map_data(page("a", 20_000))["longest"] == 200
    wide = map_data(page("模", 20_000))
    assert wide["longest"] == 83  # three bytes each: 12 MB into 5
    assert {len(text) for text in wide["sets"][0]["excerpts"]} == {83}
    assert map_data(page("<", 5_000))["longest"] == 166  # six bytes each in an island
    assert map_data(page("\N{GRINNING FACE}", 20_000))["longest"] == 62


def scores(data: Data, row: int = 0) -> Data:
    found: Data = data["comparison"]["systems"][row]["scores"]
    return found


def test_the_ellipse_holds_what_the_level_says(plain: Data) -> None:
    found = chart_data(plain)
    assert found["level"] == 0.95
    assert found["z"] == pytest.approx(1.95996, abs=1e-5)
    assert found["radius"] == pytest.approx(2.44775, abs=1e-5)  # chi-squared, two degrees: 5.9915
    plain["comparison"]["settings"]["level"] = 0.9
    assert chart_data(plain)["z"] == pytest.approx(1.64485, abs=1e-5)


@pytest.mark.parametrize("level", [None, 0, 1, 2.0])
def test_a_level_that_is_none_is_the_usual_one(plain: Data, level: float | None) -> None:
    found = comparison_of(plain)
    odd = replace(found, settings={**found.settings, "level": level})
    assert pictures.chart_data(odd)["level"] == 0.95


def test_a_bare_point_has_its_values_alone(plain: Data) -> None:
    plane = chart_data(plain)["planes"][0]
    assert plane["points"][0] == {
        "system": 0,
        "x": 0.8,
        "y": 0.91,
        "error": [None, None],
        "interval": [None, None],
        "correlation": None,
        "beside": None,
    }
    assert plane["floor"] is None


def test_the_reach_of_a_plane_leaves_out_what_lies_far(
    make: dict[str, Callable[..., Data]],
) -> None:
    values = [0.5 + place / 100 for place in range(12)]
    systems = [
        make["system"](f"s{place}", {"precision": make["score"](v), "recall": make["score"](v)})
        for place, v in enumerate([*values, 0.01])
    ]
    plane = chart_data({"comparison": make["comparison"](systems, views=["meaning"])})["planes"][0]
    assert plane["bulk"] == [(0.5, 0.61), (0.5, 0.61)]
    assert len(plane["points"]) == 13


def test_a_point_with_everything(plain: Data) -> None:
    floor = {"value": 0.9, "spread": 0.01, "beside": 0.88, "size": 250}
    more = {"standard_error": 0.02, "interval": [0.7, 0.95], "floor": floor}
    for key in ("precision", "recall"):
        scores(plain)[key].update(more)
    plain["correlations"] = {"model_a": {"precision|recall": -0.25}}
    plane = chart_data(plain)["planes"][0]
    assert plane["points"][0]["error"] == [0.02, 0.02]
    assert plane["points"][0]["interval"] == [[0.7, 0.95], [0.7, 0.95]]
    assert plane["points"][0]["correlation"] == -0.25
    assert plane["points"][0]["beside"] == [0.88, 0.88]
    assert plane["points"][1]["correlation"] is None
    assert plane["floor"] == {"middle": [0.9, 0.9], "half": [0.02, 0.02], "size": 250}


def test_another_view_has_its_own_correlation(plain: Data) -> None:
    plain["correlations"] = {"model_a": {"form.precision|form.recall": 0.5}}
    planes = chart_data(plain)["planes"]
    assert [plane["points"][0]["correlation"] for plane in planes] == [None, None, 0.5, None]


@pytest.mark.parametrize("missing", [None, math.nan])
def test_a_system_without_a_score_is_not_on_the_plane(plain: Data, missing: float | None) -> None:
    scores(plain)["recall"]["value"] = missing
    del scores(plain, 1)["form.precision"]
    planes = [each for each in chart_data(plain)["planes"] if each["across"] == "recall"]
    assert [[point["system"] for point in plane["points"]] for plane in planes] == [[1], [0]]


def test_density_and_coverage_are_a_plane_of_their_own(plain: Data) -> None:
    scores(plain)["density"] = {**scores(plain)["precision"], "value": 1.2, "range": [0.0, None]}
    plane = chart_data(plain)["planes"][2]
    assert (plane["across"], plane["up"]) == ("coverage", "density")
    assert [(point["x"], point["y"]) for point in plane["points"]] == [(0.75, 1.2)]


def prd(n: int = 1001) -> list[list[float]]:
    """Points on a quarter of a circle: precision, recall."""
    turns = [math.pi / 2 * i / (n - 1) for i in range(n)]
    return [[math.sin(turn), math.cos(turn)] for turn in turns]


def test_a_curve_is_thinned_and_keeps_its_ends(plain: Data) -> None:
    plain["curves"] = {"model_b": {"prd": prd()}}
    (kind,) = chart_data(plain)["curves"]
    (line,) = kind["lines"]
    assert (kind["view"], line["system"]) == (0, 1)
    assert 120 < len(line["x"]) == len(line["y"]) < 200
    assert (line["x"][0], line["y"][0]) == (1.0, 0.0)  # recall across, precision up
    assert (line["x"][-1], line["y"][-1]) == (0.0, 1.0)
    assert max(abs(math.hypot(x, y) - 1) for x, y in zip(line["x"], line["y"], strict=True)) < 1e-4
    steps = [abs(a - b) for a, b in zip(line["x"], line["x"][1:], strict=False)]
    assert max(steps) < 0.01


def test_errors_go_with_the_points_that_are_kept(plain: Data) -> None:
    points = prd(50)
    plain["curves"] = {"model_a": {"prd": points}}
    plain["curve_errors"] = {"model_a": {"prd": [[0.1 * p, 0.1 * r] for p, r in points]}}
    plain["curve_errors"]["model_a"]["prd"][3] = [None, None]
    line = chart_data(plain)["curves"][0]["lines"][0]
    assert line["x_error"][3] is None
    assert line["x_error"][0] == pytest.approx(0.1)
    assert line["y_error"][-1] == pytest.approx(0.1)
    assert len(line["x_error"]) == len(line["x"])


@pytest.mark.parametrize("errors", [None, [], [[0.1, 0.1]]])
def test_errors_that_do_not_match_are_none(plain: Data, errors: Any) -> None:
    plain["curves"] = {"model_a": {"prd": prd(50)}}
    plain["curve_errors"] = {"model_a": {"prd": errors}}
    line = chart_data(plain)["curves"][0]["lines"][0]
    assert line["x_error"] is None
    assert line["y_error"] is None


def test_points_that_are_not_known_are_left_out(plain: Data) -> None:
    curve: list[list[float | None]] = [[0.0, 1.0], [None, 0.5], [math.nan, 0.4], [1.0, 0.0]]
    plain["curves"] = {"model_a": {"prd": curve}, "model_b": {"prd": []}}
    (kind,) = chart_data(plain)["curves"]
    assert [line["x"] for line in kind["lines"]] == [[1.0, 0.0]]


def test_kinds_stand_by_view_and_the_usual_one_first(plain: Data) -> None:
    keys = ("prd:knn", "form.prd", "prd", "frontier:chi2", "frontier", "frontier_star")
    curve = [[0.1, 0.2, 0.9], [0.9, 0.8, 0.1]]
    plain["curves"] = {"model_a": dict.fromkeys(keys, curve)}
    found = chart_data(plain)
    assert [(kind["view"], kind["says"]) for kind in found["curves"]] == [
        (0, "from cells of k-means"),
        (0, "from nearest neighbours"),
        (1, "from cells of k-means"),
    ]
    assert [kind["says"] for kind in found["frontiers"]] == [
        "smoothed by Krichevsky and Trofimov",
        "unsmoothed",
        "unsmoothed, χ²",
    ]


def test_a_frontier_has_the_generated_cost_across(plain: Data) -> None:
    plain["curves"] = {"model_a": {"frontier_star": [[0.0, 0.0, 2.0], [1.0, 3.0, 0.0]]}}
    (kind,) = chart_data(plain)["frontiers"]
    assert kind["lines"][0]["x"] == [0.0, 3.0]
    assert kind["lines"][0]["y"] == [2.0, 0.0]


def test_the_scaling_constant_is_that_of_the_score(plain: Data) -> None:
    plain["curves"] = {"model_a": {"frontier_star": [[0, 0, 1], [1, 1, 0]], "frontier:knn": []}}
    assert chart_data(plain)["frontiers"][0]["c"] == 5.0
    plain["comparison"]["settings"]["c"] = 2
    assert chart_data(plain)["frontiers"][0]["c"] == 2.0
    scores(plain)["mauve_star"]["signature"] = "metric:mauve_star|divergence:kl|c:1.5|grid:25"
    scores(plain)["mauve_star:knn"] = {"value": 0.1, "signature": "metric:mauve_star|c:9"}
    assert chart_data(plain)["frontiers"][0]["c"] == 1.5


def topic(**more: Any) -> Data:
    plain = {"keywords": ["game", "season"], "direction": "under", "share": 0.25}
    plain |= {"contribution": 0.02, "significant": True, "ratio": 0.2, "interval": [0.1, 0.4]}
    return {**plain, "expected": 0.1, "produced": 0.02, **more}


def test_topics_go_left_where_a_system_has_too_little(plain: Data) -> None:
    topics = [
        topic(),
        topic(direction="over", share=0.1, keywords=[], significant=False),
        topic(share=None),
    ]
    plain["explanations"] = {"model_b": {"form": {"topics": topics}}}
    (found,) = chart_data(plain)["topics"]
    assert (found["view"], found["system"]) == (1, 1)
    assert [(bar["keywords"], bar["share"], bar["significant"]) for bar in found["bars"]] == [
        (["game", "season"], -0.25, True),
        ([], 0.1, False),
    ]
    assert found["bars"][0]["ratio"] == "0.20×, 95 % interval 0.10–0.40"


def test_topics_begin_with_the_system_furthest_from_the_reference(plain: Data) -> None:
    names = ("model_a", "model_b")
    plain["explanations"] = {name: {"meaning": {"topics": [topic()]}} for name in names}
    assert [found["system"] for found in chart_data(plain)["topics"]] == [1, 0]
    for system in plain["comparison"]["systems"]:
        system["scores"]["mauve_star"]["value"] = {"model_a": 0.2, "model_b": 0.6}[system["name"]]
    assert [found["system"] for found in chart_data(plain)["topics"]] == [0, 1]


def test_keywords_are_short_and_on_one_line(plain: Data) -> None:
    words = ["<img onerror=x>", "a\nb", "w" * 1000, *"cdefghij"]
    plain["explanations"] = {"model_a": {"meaning": {"topics": [topic(keywords=words)]}}}
    bar = chart_data(plain)["topics"][0]["bars"][0]
    assert bar["keywords"][:2] == ["<img onerror=x>", "a b"]
    assert len(bar["keywords"]) == 8
    assert max(map(len, bar["keywords"])) == 24


def test_nothing_is_not_a_number(plain: Data) -> None:
    scores(plain)["precision"]["standard_error"] = math.nan
    scores(plain)["precision"]["interval"] = [math.nan, 1.0]
    plain["curves"] = {"model_a": {"prd": [[0.1, 0.2], [math.inf, 0.3], [0.4, 0.5]]}}
    plain["curve_errors"] = {"model_a": {"prd": [[math.nan, 0.2], [0.1, 0.3], [0.1, 0.1]]}}
    plain["explanations"] = {"model_a": {"meaning": {"topics": [topic(share=math.nan)]}}}
    json.dumps(chart_data(plain), allow_nan=False)


def test_eight_systems_keep_their_places(plain: Data) -> None:
    first = plain["comparison"]["systems"][0]
    plain["comparison"]["systems"] = [{**first, "name": f"m{i}"} for i in range(8)]
    found = chart_data(plain)
    assert [point["system"] for point in found["planes"][0]["points"]] == list(range(8))
