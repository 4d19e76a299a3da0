"""What the pictures of the HTML report are drawn from: compact, finite, safe in JSON."""

from __future__ import annotations

import json
import math
from collections.abc import Callable
from typing import Any

import pytest

from calipers.report.html.pictures import SCRIPTS, STYLES, chart_data, map_data

Data = dict[str, Any]
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


def test_series_follow_the_table_whatever_the_order_of_the_map(mapped: Data) -> None:
    for view in ("meaning", "form"):
        sets = mapped["map"][view]["sets"]
        mapped["map"][view] = {**mapped["map"][view], "sets": [sets[0], sets[2], sets[1]]}
    assert [each["series"] for each in map_data(mapped)["sets"]] == [None, 1, 0]


def test_rows_are_left_out_where_they_only_count(mapped: Data) -> None:
    mapped["map"]["meaning"]["sets"][1]["rows"] = [3, 8, 9]
    assert [each["rows"] for each in map_data(mapped)["sets"]] == [None, [3, 8, 9], None]


def test_another_view_is_matched_row_by_row(mapped: Data) -> None:
    sets = [dict(each) for each in mapped["map"]["form"]["sets"]]
    sets[1] |= {"rows": [2, 0], "x": [4.0, 0.0], "y": [0.0, 0.0], "inside": [0, 1]}
    mapped["map"]["form"] = {**mapped["map"]["form"], "sets": sets}
    form = map_data(mapped)["views"][1]
    assert form["x"][1] == [2000, None, 9999]  # rows 0, 1 and 2; the second has no place there
    assert form["inside"][1] == "1-0"


def test_a_view_without_a_set_gives_it_no_place(mapped: Data) -> None:
    short = {**mapped["map"]["form"], "sets": mapped["map"]["form"]["sets"][:2]}
    mapped["map"]["form"] = short
    form = map_data(mapped)["views"][1]
    assert form["x"][2] == [None, None, None]
    assert form["inside"] == [None, "101", None]


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
    mapped["excerpts"][1]["excerpts"] = ["x" * 1000, "", None]
    assert map_data(mapped)["sets"][1]["excerpts"] == ["x" * 200, "", None]


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


def test_charts_of_scores_alone_have_a_plane_for_each_view(plain: Data) -> None:
    found = chart_data(plain)
    assert [(each["view"], each["up"]) for each in found["planes"]] == [
        (0, "precision"),
        (1, "precision"),
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


def test_excerpts_are_cut_alike_where_letters_take_several_bytes():
    def page(text, samples):
        sets = [{"name": "P", "role": "reference", "rows": list(range(samples)), "inside": None}]
        sets[0] |= {"x": [0.0] * samples, "y": [0.0] * samples}
        return {
            "comparison": {"reference": {"name": "P"}, "systems": [], "settings": {}},
            "map": {"meaning": {"method": "pca", "explained": None, "sets": sets}},
            "excerpts": [{"name": "P", "excerpts": [text * 200] * samples}],
        }

    assert map_data(page("a", 20_000))["longest"] == 200
    wide = map_data(page("模", 20_000))
    assert wide["longest"] == 83  # three bytes each: 12 MB into 5
    assert {len(text) for text in wide["sets"][0]["excerpts"]} == {83}
    assert map_data(page("<", 5_000))["longest"] == 166  # six bytes each in an island
    assert map_data(page("\N{GRINNING FACE}", 20_000))["longest"] == 62
