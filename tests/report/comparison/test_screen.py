"""The first screen of a comparison: few lines, a line a system, every mark explained."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from rich.cells import cell_len

from calipers.report.comparison import document as compare
from calipers.report.render.text import plain
from hand_made import comparison_of

Data = dict[str, Any]
Make = dict[str, Callable[..., Data]]

METRICS = {"metrics_shown": None}


def sure(make: Make, names: list[str]) -> Data:
    """Systems with intervals, tests and floors, by the metrics of the default table.

    By default none of them is approximate.
    """
    data = make["sure"](names)
    for system in data["systems"]:
        for score in system["scores"].values():
            score["approximate"] = False
    data["settings"] |= METRICS
    for test in data["tests"]:
        test["score"] = test["score"].replace("accuracy", "auc")
    return data | {"advice": []}


def screen(data: Data, width: int = 80, **options: Any) -> str:
    return plain(compare.document(comparison_of(data), **options), width=width)


@pytest.mark.parametrize(("count", "most"), [(1, 25), (2, 25), (3, 25), (8, 40)])
def test_it_is_short(make: Make, count: int, most: int) -> None:
    data = sure(make, [f"system_{place}" for place in range(count)])
    lines = screen(data).splitlines()
    assert len(lines) <= most
    assert max(map(cell_len, lines)) <= 80


@pytest.mark.parametrize("width", [40, 60, 80, 100, 140])
@pytest.mark.parametrize("name", ["model_", "模型" * 30, "long" * 40, "/a very/long path" * 3])
def test_no_line_is_longer_than_asked(make: Make, width: int, name: str) -> None:
    data = sure(make, [f"{name}{place}" for place in range(4)])
    for details in (False, width >= 60):
        lines = screen(data, width, details=details).splitlines()
        assert max(map(cell_len, lines)) <= width


def test_the_verdict_comes_first_and_then_a_table_a_view(make: Make) -> None:
    lines = screen(sure(make, ["model_a", "model_b"])).splitlines()
    assert "is closest to human" in lines[0]
    heads = [line.split() for line in lines if line.startswith(("meaning ", "form "))]
    heads = [[word for word in head if word.strip("-")] for head in heads]
    assert heads == [
        ["meaning", "quality", "diversity", "closeness"],
        ["form", "quality", "diversity", "closeness"],
    ]
    assert lines[lines.index("") + 2].split() == [
        *("Precision↑", "Recall↑", "Coverage↑", "MAUVE*↑", "AUC↑")
    ]


def test_a_line_holds_value_interval_and_marks_in_places_of_their_own(make: Make) -> None:
    score, system = make["score"], make["system"]
    inside = {"value": 0.9, "spread": 0.01, "beside": 0.9, "beside_spread": 0.01, "size": 250}
    inside |= {"splits": 10, "margin": 0.02, "inside": True}
    recall = score(0.9, interval=[0.85, 0.93], level=0.95, floor=inside)
    other = score(0.05, interval=[0.01, 0.1], level=0.95, approximate=True)
    data = make["comparison"](
        [system("a", {"recall": recall}), system("b", {"recall": other})], views=["meaning"]
    )
    data["tests"] = [make["significance"]("a", "b", "recall", 0.85, 0.001)]
    lines = screen(data).splitlines()
    rows = [line for line in lines if line.startswith(("a  ", "b  "))]
    assert rows == ["a        .90 [.85,.93]  ✓▲", "b        .05 [.01,.10]~"]
    assert (
        "▲ best   ✓ within the noise floor (at n = 250)   [95 % interval]   ~ approximate" in lines
    )


def test_values_have_a_third_decimal_where_intervals_are_narrow_or_missing(make: Make) -> None:
    def shown(*bounds: float) -> str:
        interval = {"interval": list(bounds), "level": 0.95} if bounds else {}
        scores = {"recall": make["score"](0.9, **interval)}
        data = make["comparison"]([make["system"]("a", scores)], views=["meaning"])
        return next(line for line in screen(data).splitlines() if line.startswith("a   "))

    assert shown(0.8, 0.95).split() == ["a", ".90", "[.80,.95]"]
    assert shown(0.899, 0.901).split() == ["a", ".900", "[.899,.901]"]
    assert shown().split() == ["a", ".900"]


def test_sizes_stand_below_and_beside_the_names_where_they_differ(make: Make) -> None:
    scores = {"recall": make["score"](0.5)}
    systems = [make["system"]("a", scores), make["system"]("b", scores, n=700, n_given=700)]
    alike = make["comparison"](systems[:1], views=["meaning"])
    assert "signature n:500|ref:human0|embedder:minilm|seed:7|" in screen(alike)
    assert "each" not in screen(alike)
    alike["systems"][0]["n_given"] = alike["reference"]["n_given"] = 1234
    assert "n = 500 each (cut from 1,234)" in screen(alike)
    differ = make["comparison"](systems, views=["meaning"])
    text = screen(differ)
    assert "signature n:500|m:500-700|ref:human0|" in text
    assert next(line for line in text.splitlines() if line.startswith("b ")).split()[1] == "700"


def test_what_was_asked_for_is_shown_and_a_dash_says_why(make: Make) -> None:
    scores = {
        "density": make["score"](1.2, range=[0.0, None]),
        "realism": make["score"](None, reason="too few"),
    }
    data = make["comparison"](
        [make["system"]("a", scores)], views=["meaning"], metrics_shown=["density", "realism"]
    )
    text = screen(data)
    assert "meaning  Density↑  Realism↑" in text
    assert "– a, Realism by meaning: too few" in text


def test_details_say_the_rest(make: Make) -> None:
    data = sure(make, ["model_a", "model_b", "model_c"])
    data["systems"][0]["warnings"] = ["beware"]
    brief, whole = screen(data), screen(data, details=True)
    assert "1 warning, noise floor, tests, legend: `.document(details=True)`" in brief
    for heading in (
        "Sets",
        "Distinguishable from the reference?",
        "Noise floor",
        "Differences between systems",
        "warning: model_a: beware",
        "Recall     share of",
    ):
        assert heading in whole
        assert heading not in brief


def test_cautions_share_a_line_where_they_fit(make: Make) -> None:
    data = sure(make, ["model_a", "model_b"])
    for kind, system in zip(("duplicates", "copies"), data["systems"], strict=True):
        system["cautions"] = [
            {"kind": kind, "brief": "14 % duplicates", "movement": 0.5, "text": "x"}
        ]
    assert "! model_a: 14 % duplicates   ! model_b: 14 % duplicates" in screen(data).splitlines()
    assert "! model_b: 14 % duplicates" in screen(data, 40).splitlines()
