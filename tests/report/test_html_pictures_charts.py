"""Charts as data: the plane, the curves, the frontiers, the topics, with parts missing."""

from __future__ import annotations

import json
import math
from typing import Any

import pytest

from calipers.report.html.pictures import chart_data

Data = dict[str, Any]


@pytest.fixture
def plain(two_systems: Data) -> Data:
    return {"comparison": two_systems, "command": None, "redacted": False}


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
    plain["comparison"]["settings"]["level"] = level
    assert chart_data(plain)["level"] == 0.95


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
    assert [plane["points"][0]["correlation"] for plane in planes] == [None, 0.5]


@pytest.mark.parametrize("missing", [None, math.nan])
def test_a_system_without_a_score_is_not_on_the_plane(plain: Data, missing: float | None) -> None:
    scores(plain)["recall"]["value"] = missing
    del scores(plain, 1)["form.precision"]
    planes = chart_data(plain)["planes"]
    assert [[point["system"] for point in plane["points"]] for plane in planes] == [[1], [0]]


def test_density_and_coverage_are_a_plane_of_their_own(plain: Data) -> None:
    scores(plain)["density"] = {**scores(plain)["precision"], "value": 1.2}
    plane = chart_data(plain)["planes"][1]
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
    assert 300 < len(line["x"]) == len(line["y"]) < 500
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
    plain = {"words": ["game", "season"], "direction": "under", "share": 0.25, "contribution": 0.02}
    return {**plain, "expected": 0.1, "produced": 0.02, **more}


def test_topics_go_left_where_a_system_has_too_little(plain: Data) -> None:
    topics = [topic(), topic(direction="over", share=0.1, words=[]), topic(share=None)]
    plain["explanations"] = {"model_b": {"form": {"topics": topics}}}
    (found,) = chart_data(plain)["topics"]
    assert (found["view"], found["system"]) == (1, 1)
    assert [(bar["words"], bar["share"]) for bar in found["bars"]] == [
        (["game", "season"], -0.25),
        ([], 0.1),
    ]


def test_telling_words_are_short_and_on_one_line(plain: Data) -> None:
    words = ["<img onerror=x>", "a\nb", "w" * 1000, *"cdefghij"]
    plain["explanations"] = {"model_a": {"meaning": {"topics": [topic(words=words)]}}}
    bar = chart_data(plain)["topics"][0]["bars"][0]
    assert bar["words"][:2] == ["<img onerror=x>", "a b"]
    assert len(bar["words"]) == 8
    assert max(map(len, bar["words"])) == 24


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
